"""Pure pursuit: steer towards a point of the path that lies a lookahead distance ahead (Coulter, CMU-RI-TR-92-01).

Lookahead and limits as in uav_gazebo: L = clamp(2 + 1 s · speed, 2, 8) m, 50 Hz, at most 12 m/s.
"""

from __future__ import annotations

from math import atan2
from typing import Any

import numpy as np

from airloom.missions.trajectory import PathError

RATE = 50.0
SHORTEST, LONGEST, PER_SPEED = 2.0, 8.0, 1.0
TOP_SPEED = 12.0
CLOSE = 0.3  # m from the end of the path


def lookahead(speed: float) -> float:
    """How far ahead to look at a speed, m."""
    return min(max(SHORTEST + PER_SPEED * speed, SHORTEST), LONGEST)


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
        self._lengths = lengths
        self._starts = np.concatenate([[0.0], np.cumsum(lengths)])

    @property
    def length(self) -> float:
        return float(self._starts[-1])

    def at(self, s: float) -> np.ndarray:
        """The point at a distance along the path, held at its ends."""
        s = min(max(s, 0.0), self.length)
        leg = min(int(np.searchsorted(self._starts, s, side="right")) - 1, len(self._lengths) - 1)
        return self.points[leg] + (s - self._starts[leg]) * self._directions[leg]

    def nearest(self, position: np.ndarray, from_s: float, to_s: float) -> float:
        """Distance along the path of the point nearest to a position, between two distances."""
        along = np.clip(((position - self.points[:-1]) * self._directions).sum(axis=1), 0.0, self._lengths)
        s = np.clip(self._starts[:-1] + along, from_s, to_s)
        gaps = [float(np.linalg.norm(self.at(x) - position)) for x in s]
        return float(s[int(np.argmin(gaps))])


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
        reach = lookahead(float(np.linalg.norm(velocity)))
        self.progress = self.path.nearest(position, self.progress, min(self.progress + reach, self.path.length))
        self.target = self.path.at(self.progress + reach)
        ahead = self.target - position
        distance = float(np.linalg.norm(ahead))
        left = self.path.length - self.progress + float(np.linalg.norm(self.path.at(self.progress) - position))
        wanted = ahead / max(distance, 1e-9) * min(self.speed, 0.8 * left)
        return wanted, self._yaw_rate(position, wanted, yaw)

    def _yaw_rate(self, position: np.ndarray, wanted: np.ndarray, yaw: float) -> float:
        """Along the movement ("path"), fixed (a number), or towards a point."""
        if isinstance(self.yaw, str):
            if np.hypot(wanted[0], wanted[1]) < 0.2:
                return 0.0
            heading = atan2(wanted[1], wanted[0])
        elif np.ndim(self.yaw) == 0:
            heading = float(self.yaw)
        else:
            heading = atan2(self.yaw[1] - position[1], self.yaw[0] - position[0])
        error = heading - yaw
        return self.yaw_gain * atan2(np.sin(error), np.cos(error))
