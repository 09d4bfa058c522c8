"""Pure pursuit: steer towards a point of the path that lies a lookahead distance ahead (Coulter, CMU-RI-TR-92-01).

Lookahead and limits as in uav_gazebo: L = clamp(2 + 1 s · speed, 2, 8) m, 50 Hz, at most 12 m/s.
"""

from __future__ import annotations

from bisect import bisect_right
from math import atan2, cos, dist, hypot, inf, sin
from typing import Any

import numpy as np

from airloom.compiled import compiled
from airloom.missions.trajectory import PathError

RATE = 50.0
SHORTEST, LONGEST, PER_SPEED = 2.0, 8.0, 1.0
TOP_SPEED = 12.0
CLOSE = 0.3  # m from the end of the path


def lookahead(speed: float) -> float:
    """How far ahead to look at a speed, m."""
    return min(max(SHORTEST + PER_SPEED * speed, SHORTEST), LONGEST)


@compiled
def nearest_along(points, directions, edges, x, y, z, from_s, to_s):
    """Distance along the legs of the point nearest to (x, y, z), between two distances."""
    best, smallest = from_s, inf
    for leg in range(directions.shape[0]):
        low, high = max(from_s, edges[leg]), min(to_s, edges[leg + 1])
        if low > high:
            continue
        ax, ay, az = x - points[leg, 0], y - points[leg, 1], z - points[leg, 2]
        dx, dy, dz = directions[leg, 0], directions[leg, 1], directions[leg, 2]
        s = min(max(edges[leg] + ax * dx + ay * dy + az * dz, low), high)
        along = s - edges[leg]
        gap = (ax - along * dx) ** 2 + (ay - along * dy) ** 2 + (az - along * dz) ** 2
        if gap < smallest:
            best, smallest = s, gap
    return best


class Polyline:
    """A path of straight legs, measured along its length."""

    def __init__(self, points: Any) -> None:
        self.points = np.asarray(points, dtype=float)
        if self.points.ndim != 2 or self.points.shape[1] != 3 or len(self.points) < 2:
            raise PathError(f"a path needs at least two points of three numbers, got shape {self.points.shape}")
        if not np.isfinite(self.points).all():
            raise PathError("a path must hold finite numbers only")
        legs = np.diff(self.points, axis=0)
        lengths = np.linalg.norm(legs, axis=1)
        if not lengths.all():
            raise PathError("a path must not stand still: two points in a row are the same")
        self._directions = legs / lengths[:, None]
        self._edges = np.concatenate([[0.0], np.cumsum(lengths)])

    @property
    def length(self) -> float:
        return float(self._edges[-1])

    def at(self, s: float) -> np.ndarray:
        """The point at a distance along the path, held at its ends."""
        s = min(max(s, 0.0), self.length)
        leg = min(bisect_right(self._edges, s), len(self._directions)) - 1
        return self.points[leg] + (s - self._edges[leg]) * self._directions[leg]

    def nearest(self, position: np.ndarray, from_s: float, to_s: float) -> float:
        """Distance along the path of the point nearest to a position, between two distances."""
        return float(nearest_along(self.points, self._directions, self._edges, *position, from_s, to_s))


class Pursuit:
    """Follows a path: `steer` gives velocity and yaw rate for the present position."""

    def __init__(self, path: Polyline, speed: float, yaw: Any = "path", yaw_gain: float = 1.5) -> None:
        if not 0 < speed <= TOP_SPEED:
            raise PathError(f"pursuit flies at 0 to {TOP_SPEED:g} m/s, got {speed:g}")
        self.path, self.speed, self.yaw, self.yaw_gain = path, speed, yaw, yaw_gain
        self.progress = 0.0
        self.target = path.at(0.0)
        """The point steered for, for figures."""

    @property
    def arrived(self) -> bool:
        return self.progress >= self.path.length - CLOSE

    def steer(self, position: np.ndarray, velocity: np.ndarray, yaw: float) -> tuple[np.ndarray, float]:
        reach = lookahead(hypot(*velocity))
        self.progress = self.path.nearest(position, self.progress, min(self.progress + reach, self.path.length))
        self.target = self.path.at(self.progress + reach)
        ahead = self.target - position
        left = self.path.length - self.progress + dist(self.path.at(self.progress), position)
        wanted = ahead / max(hypot(*ahead), 1e-9) * min(self.speed, 0.8 * left)
        return wanted, self._yaw_rate(position, wanted, yaw)

    def _yaw_rate(self, position: np.ndarray, wanted: np.ndarray, yaw: float) -> float:
        """Along the movement ("path"), fixed (a number), or towards a point."""
        if isinstance(self.yaw, str):
            if hypot(wanted[0], wanted[1]) < 0.2:
                return 0.0
            heading = atan2(wanted[1], wanted[0])
        elif np.ndim(self.yaw) == 0:
            heading = float(self.yaw)
        else:
            heading = atan2(self.yaw[1] - position[1], self.yaw[0] - position[0])
        error = heading - yaw
        return self.yaw_gain * atan2(sin(error), cos(error))
