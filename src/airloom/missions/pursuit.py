"""Pure pursuit: steer towards a point of the path that lies a lookahead distance ahead (Coulter, CMU-RI-TR-92-01).

Lookahead and limits as in uav_gazebo: L = clamp(2 + 1 s · speed, 2, 8) m, 50 Hz, at most 12 m/s.
"""

from __future__ import annotations

from math import atan2, cos, hypot, inf, sin, sqrt
from typing import Any, ClassVar

import numpy as np

from airloom.bus.bus import Topic
from airloom.commands import Mode
from airloom.compiled import Kernel, compiled
from airloom.compiled import rows as row
from airloom.control.flight_stack import ARRIVED, guide_kernel
from airloom.missions.trajectory import ARRIVED_WITHIN, PathError

SHORTEST, LONGEST, PER_SPEED = 2.0, 8.0, 1.0
TOP_SPEED = 12.0
CLOSE = 0.3  # m from the end of the path
TAPE_LENGTH = 64

# A leg: how far along the path it begins, where, and in which direction it leads.
LEG_S, LEG_X, LEG_Y, LEG_Z, LEG_DX, LEG_DY, LEG_DZ, LEG_WIDTH = range(8)
# A plan: whether the vehicle has arrived, how far it has come, the point it steers for, what it was told; a tape of
# (tick, x, y, z) of the points it steered for, if somebody wants them; then the legs.
(
    PROGRESS, TARGET_X, TARGET_Y, TARGET_Z, SPEED, LENGTH, LOOK, LOOK_X, LOOK_Y, YAW_GAIN, WANTED, TAPED, TAPE,
) = range(ARRIVED + 1, ARRIVED + 14)  # fmt: skip
FIRST_LEG = TAPE + 4 * TAPE_LENGTH
ALONG_PATH, AT_YAW, AT_POINT = range(3)  # where to look: LOOK_X is a yaw, or LOOK_X and LOOK_Y a point


@compiled
def lookahead(speed):
    """How far ahead to look at a speed, m."""
    return min(max(SHORTEST + PER_SPEED * speed, SHORTEST), LONGEST)


@compiled
def measure_legs(points, legs):
    """Fill the legs between points and return their length together; 0 if one of them has none."""
    length = 0.0
    for leg in range(points.shape[0] - 1):
        at, square = leg * LEG_WIDTH, 0.0
        for axis in range(3):
            square += (points[leg + 1, axis] - points[leg, axis]) ** 2
        if square == 0.0:
            return 0.0
        legs[at + LEG_S] = length
        for axis in range(3):
            legs[at + LEG_X + axis] = points[leg, axis]
            legs[at + LEG_DX + axis] = (points[leg + 1, axis] - points[leg, axis]) / sqrt(square)
        length += sqrt(square)
    return length


@compiled
def nearest_along(legs, length, x, y, z, from_s, to_s):
    """Distance along the legs of the point nearest to (x, y, z), between two distances."""
    best, smallest = from_s, inf
    for at in range(0, legs.size, LEG_WIDTH):
        begin, end = legs[at + LEG_S], legs[at + LEG_WIDTH] if at + LEG_WIDTH < legs.size else length
        low, high = max(from_s, begin), min(to_s, end)
        if low > high:
            continue
        ax, ay, az = x - legs[at + LEG_X], y - legs[at + LEG_Y], z - legs[at + LEG_Z]
        dx, dy, dz = legs[at + LEG_DX], legs[at + LEG_DY], legs[at + LEG_DZ]
        s = min(max(begin + ax * dx + ay * dy + az * dz, low), high)
        along = s - begin
        gap = (ax - along * dx) ** 2 + (ay - along * dy) ** 2 + (az - along * dz) ** 2
        if gap < smallest:
            best, smallest = s, gap
    return best


@compiled
def point_along(legs, s):
    """The point at a distance along the legs."""
    at = 0
    while at + LEG_WIDTH < legs.size and legs[at + LEG_WIDTH] <= s:
        at += LEG_WIDTH
    along = s - legs[at + LEG_S]
    x, y, z = legs[at + LEG_X], legs[at + LEG_Y], legs[at + LEG_Z]
    return x + along * legs[at + LEG_DX], y + along * legs[at + LEG_DY], z + along * legs[at + LEG_DZ]


@compiled
def steer(plan, x, y, z, speed, yaw):
    """Velocity and yaw rate at a place, speed and yaw."""
    legs, length, reach = plan[FIRST_LEG:], plan[LENGTH], lookahead(speed)
    s = nearest_along(legs, length, x, y, z, plan[PROGRESS], min(plan[PROGRESS] + reach, length))
    here_x, here_y, here_z = point_along(legs, s)
    target_x, target_y, target_z = point_along(legs, min(s + reach, length))
    plan[PROGRESS], plan[TARGET_X], plan[TARGET_Y], plan[TARGET_Z] = s, target_x, target_y, target_z
    left = length - s + sqrt((here_x - x) ** 2 + (here_y - y) ** 2 + (here_z - z) ** 2)
    dx, dy, dz = target_x - x, target_y - y, target_z - z
    pace = min(plan[SPEED], 0.8 * left) / max(sqrt(dx * dx + dy * dy + dz * dz), 1e-9)
    vx, vy, vz = dx * pace, dy * pace, dz * pace
    return vx, vy, vz, turn(plan, x, y, vx, vy, yaw)


@compiled
def turn(plan, x, y, vx, vy, yaw):
    """Yaw rate towards where the plan wants to look."""
    if plan[LOOK] == ALONG_PATH:
        if hypot(vx, vy) < 0.2:
            return 0.0
        heading = atan2(vy, vx)
    elif plan[LOOK] == AT_YAW:
        heading = plan[LOOK_X]
    else:
        heading = atan2(plan[LOOK_Y] - y, plan[LOOK_X] - x)
    error = heading - yaw
    return plan[YAW_GAIN] * atan2(sin(error), cos(error))


@compiled
def is_at_end(plan, x, y, z):
    if plan[PROGRESS] < plan[LENGTH] - CLOSE:
        return False
    end_x, end_y, end_z = point_along(plan[FIRST_LEG:], plan[LENGTH])
    return sqrt((end_x - x) ** 2 + (end_y - y) ** 2 + (end_z - z) ** 2) < 2 * ARRIVED_WITHIN


@guide_kernel
def pursue(w, i, tick, plan):
    speed = sqrt(w[row.VX + i] ** 2 + w[row.VY + i] ** 2 + w[row.VZ + i] ** 2)
    a, b, c, d = w[row.QW + i], w[row.QX + i], w[row.QY + i], w[row.QZ + i]
    yaw = atan2(2.0 * (a * d + b * c), 1.0 - 2.0 * (c * c + d * d))
    w[row.BVX + i], w[row.BVY + i], w[row.BVZ + i], w[row.BYAWRATE + i] = steer(
        plan, w[row.PX + i], w[row.PY + i], w[row.PZ + i], speed, yaw
    )
    w[row.BAX + i], w[row.BAY + i], w[row.BAZ + i], w[row.B_IN_BODY + i] = 0.0, 0.0, 0.0, 0.0
    plan[ARRIVED] = is_at_end(plan, w[row.PX + i], w[row.PY + i], w[row.PZ + i])
    if plan[WANTED]:
        at = TAPE + 4 * int(plan[TAPED])
        plan[at], plan[at + 1], plan[at + 2], plan[at + 3] = tick, plan[TARGET_X], plan[TARGET_Y], plan[TARGET_Z]
        plan[TAPED] += 1.0


class Polyline:
    """A path of straight legs, measured along its length."""

    def __init__(self, points: Any) -> None:
        self.points = np.ascontiguousarray(points, dtype=float)
        if self.points.ndim != 2 or self.points.shape[1] != 3 or len(self.points) < 2:
            raise PathError(f"a path needs at least two points of three numbers, got shape {self.points.shape}")
        if not np.isfinite(self.points).all():
            raise PathError("a path must hold finite numbers only")
        self.legs = np.empty((len(self.points) - 1) * LEG_WIDTH)
        self.length = measure_legs(self.points, self.legs)
        if self.length == 0.0:
            raise PathError("a path must not stand still: two points in a row are the same")

    def at(self, s: float) -> np.ndarray:
        """The point at a distance along the path, held at its ends."""
        return np.array(point_along(self.legs, min(max(s, 0.0), self.length)))

    def nearest(self, position: np.ndarray, from_s: float, to_s: float) -> float:
        """Distance along the path of the point nearest to a position, between two distances."""
        return float(nearest_along(self.legs, self.length, *position, from_s, to_s))


class Pursuit:
    """Follows a path: `steer` gives velocity and yaw rate for the present position."""

    kernel: ClassVar[Kernel] = pursue
    mode: ClassVar[Mode] = Mode.VELOCITY_YAWRATE

    def __init__(self, path: Polyline, speed: float, yaw: Any = "path", yaw_gain: float = 1.5) -> None:
        if not 0 < speed <= TOP_SPEED:
            raise PathError(f"pursuit flies at 0 to {TOP_SPEED:g} m/s, got {speed:g}")
        self.path, self.speed = path, speed
        self._plan = np.zeros(FIRST_LEG + path.legs.size)
        self._plan[TARGET_X:SPEED] = path.points[0]
        self._plan[SPEED], self._plan[LENGTH], self._plan[YAW_GAIN] = speed, path.length, yaw_gain
        self._plan[LOOK : LOOK_Y + 1] = _look(yaw)
        self._plan[FIRST_LEG:] = path.legs

    def plan(self, tick: int, step: float) -> np.ndarray:
        return self._plan

    @property
    def progress(self) -> float:
        """How far along the path it has come, m."""
        return float(self._plan[PROGRESS])

    @property
    def target(self) -> np.ndarray:
        """The point steered for, for figures."""
        return self._plan[TARGET_X:SPEED].copy()

    @property
    def arrived(self) -> bool:
        return self.progress >= self.path.length - CLOSE

    def steer(self, position: np.ndarray, velocity: np.ndarray, yaw: float) -> tuple[np.ndarray, float]:
        *wanted, yaw_rate = steer(self._plan, *position, hypot(*velocity), yaw)
        return np.array(wanted), yaw_rate


def _look(yaw: Any) -> tuple[float, float, float]:
    """Along the movement ("path"), fixed (a number), or towards a point."""
    if isinstance(yaw, str):
        return ALONG_PATH, 0.0, 0.0
    return (AT_YAW, float(yaw), 0.0) if np.ndim(yaw) == 0 else (AT_POINT, float(yaw[0]), float(yaw[1]))


class Targets:
    """The points that a vehicle in pursuit steers for, on their way to a topic."""

    def __init__(self, topic: Topic, pursuit: Pursuit, ticks: int) -> None:
        self.topic, self.ticks, self.over = topic, ticks, False
        self._plan = pursuit.plan(0, 0.0)

    def listen(self, wanted: bool) -> None:
        self._plan[WANTED] = wanted
        if not wanted:
            self._plan[TAPED] = 0.0

    def take(self) -> tuple[np.ndarray, np.ndarray]:
        count = int(self._plan[TAPED])
        self._plan[TAPED] = 0.0
        samples = self._plan[TAPE:FIRST_LEG].reshape(-1, 4)[:count]
        values = np.zeros((count, 7))
        values[:, :3], values[:, 3] = samples[:, 1:], 1.0
        return samples[:, 0].astype(np.int64), values
