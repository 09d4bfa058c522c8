"""Flying at a speed: from rest to rest along a path, with a smooth rise to the speed, a cruise, and a smooth fall.

In a rise of T seconds to V m/s the speed is V (10 τ³ − 15 τ⁴ + 6 τ⁵), τ = t / T: acceleration and jerk are zero at both
ends. It is 15 V / (8 T) at its steepest and covers V T / 2. What is flown is a piecewise polynomial that has the place,
velocity, acceleration and jerk of the path at each end of its pieces.
"""

from __future__ import annotations

from collections.abc import Callable
from math import atan2, cos, pi, sin, sqrt

import numpy as np

from airloom.missions.trajectory import AXES, INNER, ORDER, PathError, PiecewisePolynomial, interpolate

STEEPEST = 15 / 8
ACCELERATION = 2.0  # m/s²
YAW_RATE, YAW_ACCELERATION = 1.5, 2.0  # rad/s, rad/s²
CLIMB_RATE = 3.0  # m/s, along the ground
LONGEST_ARC = pi / 12
GROUND_STEP = 2.0  # m between two looks at the ground
MOST_LOOKS = 5000
CLOSER = 9  # looks for what juts out of the ground between two neighbours of a look
SMOOTHED_OVER = 3.0  # m, standard deviation at least

Path = Callable[[float], np.ndarray]
"""What lies at a distance: rows place, first, second and third derivative; columns x, y, z, yaw."""


class Pace:
    """How far one has come when, from rest to rest."""

    def __init__(self, distance: float, speed: float, acceleration: float) -> None:
        if not (distance > 0 and speed > 0 and acceleration > 0):
            raise PathError(f"a flight needs a distance and a speed above 0, got {distance:g} m at {speed:g} m/s")
        self.distance = distance
        self.top = min(speed, sqrt(distance * acceleration / STEEPEST))
        self.rise = STEEPEST * self.top / acceleration
        self.cruise = max(distance / self.top - self.rise, 0.0)

    @property
    def duration(self) -> float:
        return 2 * self.rise + self.cruise

    def at(self, t: float) -> tuple[float, float, float, float]:
        """Distance, speed, acceleration and jerk."""
        if t > self.duration / 2:
            s, v, a, j = self.at(max(self.duration - t, 0.0))
            return self.distance - s, v, -a, j
        if t >= self.rise:
            return self.top * (t - self.rise / 2), self.top, 0.0, 0.0
        x = t / self.rise
        s = self.top * self.rise * x**4 * (2.5 - 3 * x + x**2)
        v = self.top * x**3 * (10 - 15 * x + 6 * x**2)
        return (
            s,
            v,
            self.top / self.rise * 30 * (x * (1 - x)) ** 2,
            self.top / self.rise**2 * 60 * x * (1 - x) * (1 - 2 * x),
        )

    def times(self, longest: float) -> np.ndarray:
        """The ends of pieces: those of rise, cruise and fall, each cut so that none covers more than a distance."""
        ends, found = [self.rise, self.rise + self.cruise, self.duration], [0.0]
        for end in ends:
            count = int((end - found[-1]) * self.top / longest) + 1
            if end - found[-1] > 1e-9 * self.duration:
                found += np.linspace(found[-1], end, count + 1)[1:].tolist()
        return np.array(found)


def paced(path: Path, pace: Pace, longest: float) -> PiecewisePolynomial:
    """A path at a pace, in pieces of at most this length."""
    times = pace.times(longest)
    points, inner = np.empty((len(times), AXES)), np.empty((INNER * len(times), AXES))
    for k, t in enumerate(times.tolist()):
        s, v, a, j = pace.at(t)
        place, first, second, third = path(s)
        points[k] = place
        inner[INNER * k] = first * v
        inner[INNER * k + 1] = second * v**2 + first * a
        inner[INNER * k + 2] = third * v**3 + 3 * second * v * a + first * j
    durations = np.diff(times)
    coefficients = np.empty((len(durations), AXES, ORDER))
    interpolate(points, durations, inner, coefficients)
    return PiecewisePolynomial(durations, coefficients)


def straight(
    start: np.ndarray, goal: np.ndarray, yaw: float, turn: float, speed: float, yaw_rate: float = YAW_RATE
) -> PiecewisePolynomial:
    """From a place to another while turning by an angle, which may take longer than the way."""
    way = np.append(goal - start, turn)
    length, angle = float(np.linalg.norm(way[:3])), abs(turn)
    limits = [(speed / length, ACCELERATION / length)] if length > 0 else []
    limits += [(yaw_rate / angle, YAW_ACCELERATION / angle)] if angle > 0 else []
    top, acceleration = (min(column) for column in zip(*limits or [(20.0, 1e4)], strict=True))
    begin, nothing = np.append(start, yaw), np.zeros(AXES)
    return paced(lambda s: np.array([begin + s * way, way, nothing, nothing]), Pace(1.0, top, acceleration), 1.0)


def circle_speed(radius: float, speed: float) -> float:
    """What can be flown on a circle without more than the acceleration that missions allow themselves."""
    return min(speed, sqrt(ACCELERATION * radius))


def circle(centre: np.ndarray, radius: float, bearing: float, angle: float, speed: float) -> PiecewisePolynomial:
    """Around a centre and looking at it, beginning at a bearing from it, through an angle (negative: clockwise)."""

    def path(s: float) -> np.ndarray:
        theta = bearing + side * s / radius
        c, n = cos(theta), sin(theta)
        place = [centre[0] + radius * c, centre[1] + radius * n, centre[2], start_yaw + side * s / radius]
        first = [-side * n, side * c, 0.0, side / radius]
        second = [-c / radius, -n / radius, 0.0, 0.0]
        third = [side * n / radius**2, -side * c / radius**2, 0.0, 0.0]
        return np.array([place, first, second, third])

    side, start_yaw = (1.0 if angle > 0 else -1.0), atan2(-sin(bearing), -cos(bearing))
    pace = Pace(abs(angle) * radius, circle_speed(radius, speed), ACCELERATION)
    return paced(path, pace, LONGEST_ARC * radius)


def over_ground(
    start: np.ndarray,
    goal: np.ndarray,
    yaw: float,
    turn: float,
    speed: float,
    height: Callable[[float, float], float],
    lowest: float,
) -> PiecewisePolynomial:
    """Level straight on, up and down with the ground, which is smoothed; heights above it change evenly.

    Slower where the ground is steep or rough: it climbs at most 3 m/s. Over what juts out it is lifted in time, so that
    it is never less than `lowest` above the ground.
    """
    way = goal - start
    length = float(np.hypot(way[0], way[1]))
    if length < GROUND_STEP:
        return straight(start, goal, yaw, turn, speed)
    along = np.linspace(0.0, length, min(int(length / GROUND_STEP) + 2, MOST_LOOKS))
    step = along[1]
    reach = int(3 * max(SMOOTHED_OVER, speed / 2) / step) + 1
    level = way[:2] / length
    ground = _smoothed(_looks(height, start, level, np.arange(-reach, len(along) + reach) * step), reach)
    gaps = np.interp(along, [0.0, length], [start[2] - ground[0], goal[2] - ground[-1]])
    around = along[:, None] + np.linspace(-1.0, 1.0, CLOSER) * step
    highest = _looks(height, start, level, np.clip(around, 0.0, length).ravel()).reshape(around.shape).max(axis=1)
    heights = [ground + gaps + _lift(highest + lowest - ground - gaps, reach)]
    for _ in range(3):
        heights.append(np.gradient(heights[-1], step))
    steepest, sharpest = np.abs(heights[1]).max(), np.abs(heights[2]).max()
    top = min(speed, CLIMB_RATE / max(steepest, 1e-9), sqrt(ACCELERATION / max(sharpest, 1e-9)))

    def path(s: float) -> np.ndarray:
        z = [np.interp(s, along, column) for column in heights]
        share = s / length
        rows = np.zeros((4, AXES))
        rows[0] = [*(start[:2] + s * level), z[0], yaw + share * turn]
        rows[1] = [*level, z[1], turn / length]
        rows[2:, 2] = z[2:]
        return rows

    return paced(path, Pace(length, top, ACCELERATION), step)


def _looks(
    height: Callable[[float, float], float], start: np.ndarray, level: np.ndarray, along: np.ndarray
) -> np.ndarray:
    return np.array([height(start[0] + s * level[0], start[1] + s * level[1]) for s in along.tolist()])


def _smoothed(raw: np.ndarray, reach: int) -> np.ndarray:
    """Heights along a way, averaged with so many before and behind by a bell curve."""
    offsets = np.arange(-reach, reach + 1)
    weights = np.exp(-0.5 * (3 * offsets / reach) ** 2)
    return np.convolve(raw, weights / weights.sum(), mode="valid")


def _lift(missing: np.ndarray, reach: int) -> np.ndarray:
    """As smooth as what it lifts, and everywhere enough: each mean is one of maxima that all see its middle.

    0 at both ends, where start and goal say how high.
    """
    if missing[1:-1].max(initial=0.0) <= 0.0:
        return np.zeros(len(missing))
    padded = np.pad(np.maximum(missing, 0.0), 2 * reach)
    lifted = _smoothed(np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).max(axis=1), reach)
    return lifted * np.minimum(1.0, np.minimum(np.arange(len(missing)), np.arange(len(missing))[::-1]) / reach)
