"""Smooth trajectories: piecewise polynomials of degree 7 that minimise snap through waypoints.

Mellinger and Kumar, "Minimum snap trajectory generation and control for quadrotors", ICRA 2011; in the closed form of
unconstrained optimisation: with rest at both ends and the waypoints in between, the snap-optimal trajectory is
the one whose first six derivatives are continuous at every waypoint, or in other words, whose velocities,
accelerations and jerks there make ∫ snap² stationary (Richter, Bry, Roy, ISRR 2013).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import cos, inf, perm, pi, sin, sqrt
from typing import ClassVar

import numpy as np

from airloom.commands import Mode
from airloom.compiled import Kernel, compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.control.flight_stack import ARRIVED, guide_kernel
from airloom.errors import Refusal
from airloom.missions.grading import graded, strays

ORDER = 8  # coefficients of a piece
AXES = 4  # x, y, z, yaw
ARRIVED_WITHIN = 0.2  # m, of small vehicles
STILL_BELOW = 0.3  # m/s
LOOKS = 17  # on each leg, whether a path keeps near it
PATIENCE, MOST_PATIENCE = 3.0, 3.0  # s until an arrival need not be as exact any more, and how much less in the end
LEASH, END_OF_LEASH = 1.0, 3.0  # m
# A plan: whether the vehicle has arrived, the step, when the present piece began, where it lies in the plan (0 when all
# is over), whether it waits, when it last looked, how near it must come to its end, the end; then the pieces, each a
# duration and its coefficients.
STEP, BEGAN, PRESENT, WAITS, LOOKED, WITHIN, GOAL_X, GOAL_Y, GOAL_Z, FIRST_PIECE = range(ARRIVED + 1, ARRIVED + 11)
PIECE_WIDTH = 1 + AXES * ORDER


class PathError(Refusal):
    """A path that cannot be flown; the message is meant for the user."""


@compiled
def pace_on_leash(w, i):
    """How fast the setpoint goes on: as planned near the vehicle, not at all when it is far ahead."""
    x, y, z = (
        w[row.PX + i] - w[row.SPX + i],
        w[row.PY + i] - w[row.SPX + LANES + i],
        w[row.PZ + i] - w[row.SPX + 2 * LANES + i],
    )
    gap = sqrt(x * x + y * y + z * z)
    return min(max((END_OF_LEASH - gap) / (END_OF_LEASH - LEASH), 0.0), 1.0)


@compiled
def set_setpoint(w, i, tick, plan):
    """Place, velocity, acceleration, yaw and yaw rate at this tick; at rest at the end."""
    at, pace = int(plan[PRESENT]), 1.0
    if plan[WAITS] != 0.0:
        pace = pace_on_leash(w, i)
        plan[BEGAN] += (1.0 - pace) * (tick * plan[STEP] - plan[LOOKED])
    plan[LOOKED] = tick * plan[STEP]
    t = tick * plan[STEP] - plan[BEGAN]
    while t >= plan[at] and at + PIECE_WIDTH < plan.size:
        t -= plan[at]
        plan[BEGAN] += plan[at]
        at += PIECE_WIDTH
    over = t >= plan[at]
    plan[PRESENT] = 0.0 if over else at
    t = min(t, plan[at])
    for axis in range(AXES):
        first = at + 1 + axis * ORDER
        p, v, a = 0.0, 0.0, 0.0
        for n in range(ORDER - 1, -1, -1):
            a = a * t + 2.0 * v
            v = v * t + p
            p = p * t + plan[first + n]
        v, a = (0.0, 0.0) if over else (v * pace, a * pace * pace)
        if axis < 3:
            w[row.SPX + axis * LANES + i], w[row.SVX + axis * LANES + i], w[row.SAX + axis * LANES + i] = (
                p,
                v,
                a,
            )
        else:
            w[row.SYAW + i], w[row.SYAWRATE + i] = p, v
            w[row.SCOS + i], w[row.SSIN + i] = cos(p), sin(p)


@guide_kernel
def follow_trajectory(w, i, tick, plan):
    if plan[PRESENT] != 0.0:
        set_setpoint(w, i, tick, plan)
    if plan[PRESENT] == 0.0:
        plan[ARRIVED] = has_arrived(w, i, tick, plan)


@compiled
def has_arrived(w, i, tick, plan):
    """Whether it is near and still. In eddies that toss it about, the longer that takes, the less it must be so."""
    x, y, z = w[row.PX + i] - plan[GOAL_X], w[row.PY + i] - plan[GOAL_Y], w[row.PZ + i] - plan[GOAL_Z]
    speed = sqrt(w[row.VX + i] ** 2 + w[row.VY + i] ** 2 + w[row.VZ + i] ** 2)
    waited = tick * plan[STEP] - plan[LOOKED]
    slack = min(max(waited / PATIENCE, 1.0), MOST_PATIENCE)
    return sqrt(x * x + y * y + z * z) < slack * plan[WITHIN] and speed < slack * STILL_BELOW


@dataclass(frozen=True)
class PiecewisePolynomial:
    """`coefficients[piece, axis, power]`, each piece in its own time from 0 to its duration."""

    durations: np.ndarray
    coefficients: np.ndarray
    waits: bool = False
    """Whether it goes on more slowly, and stands still, while the vehicle is behind."""
    within: float = ARRIVED_WITHIN
    """How near the vehicle must come to its end to have arrived, m"""
    kernel: ClassVar[Kernel] = follow_trajectory
    mode: ClassVar[Mode] = Mode.POSITION_YAW

    @cached_property
    def duration(self) -> float:
        return float(self.durations.sum())

    def at(self, t: float, derivative: int = 0) -> np.ndarray:
        """x, y, z, yaw or their derivatives; held at the ends."""
        values = np.empty(self.coefficients.shape[1])
        _evaluate(self.durations, self.coefficients, t, derivative, values)
        return values

    @property
    def end(self) -> np.ndarray:
        return self.at(inf)

    def places(self) -> np.ndarray:
        """Where its pieces begin and where it ends."""
        return np.vstack([self.coefficients[:, :3, 0], self.end[:3]])

    def samples(self, count: int) -> np.ndarray:
        """Places (pieces × count × 3), evenly in time within each piece."""
        powers = (np.linspace(0.0, 1.0, count) * self.durations[:, None])[..., None] ** np.arange(ORDER)
        return np.einsum("ktn,kan->kta", powers, self.coefficients[:, :3])

    def plan(self, tick: int, step: float) -> np.ndarray:
        plan = np.empty(FIRST_PIECE + len(self.durations) * PIECE_WIDTH)
        _fill_plan(self.durations, self.coefficients, tick, step, plan)
        plan[WAITS], plan[WITHIN] = self.waits, self.within
        return plan


_FACTORS = np.array([[perm(n, k) for n in range(ORDER)] for k in range(ORDER)], dtype=float)
"""n! / (n − k)!: what k derivatives of tⁿ bring to the front; 0 for n < k."""


@compiled
def _evaluate(durations, coefficients, t, derivative, values):
    piece = 0
    while piece < durations.size - 1 and t >= durations[piece]:
        t -= durations[piece]
        piece += 1
    t = min(max(t, 0.0), durations[piece])
    for axis in range(values.size):
        values[axis] = 0.0
        for n in range(ORDER - 1, derivative - 1, -1):
            values[axis] = values[axis] * t + _FACTORS[derivative, n] * coefficients[piece, axis, n]


@compiled
def _fill_plan(durations, coefficients, tick, step, plan):
    plan[ARRIVED], plan[STEP], plan[BEGAN], plan[PRESENT] = 0.0, step, tick * step, FIRST_PIECE
    plan[LOOKED] = tick * step
    _evaluate(durations, coefficients, inf, 0, plan[GOAL_X : GOAL_Z + 1])
    for piece in range(durations.size):
        at = FIRST_PIECE + piece * PIECE_WIDTH
        plan[at] = durations[piece]
        for axis in range(AXES):
            for n in range(ORDER):
                plan[at + 1 + axis * ORDER + n] = coefficients[piece, axis, n]


# -- minimum snap ------------------------------------------------------------------------------------------------------

ENDS = 8  # of a leg: position, velocity, acceleration, jerk at its start, then at its end
INNER = 3  # velocity, acceleration, jerk at a waypoint, which minimum snap is free to choose
BAND = 2 * INNER - 1  # how far from the diagonal two of them still belong to one leg
_FROM_ENDS = np.array([
    [1, 0, 0, 0, 0, 0, 0, 0],
    [0, 1, 0, 0, 0, 0, 0, 0],
    [0, 0, 1 / 2, 0, 0, 0, 0, 0],
    [0, 0, 0, 1 / 6, 0, 0, 0, 0],
    [-35, -20, -5, -2 / 3, 35, -15, 5 / 2, -1 / 6],
    [84, 45, 10, 1, -84, 39, -7, 1 / 2],
    [-70, -36, -15 / 2, -2 / 3, 70, -34, 13 / 2, -1 / 2],
    [20, 10, 2, 1 / 6, -20, 10, -2, 1 / 6],
])  # fmt: skip
"""The coefficients of a leg that takes 1 s from its ends (Hermite interpolation)."""
_SNAP_OF_COEFFICIENTS = np.array(
    [[_FACTORS[4, n] * _FACTORS[4, m] / max(n + m - 7, 1) for m in range(ORDER)] for n in range(ORDER)]
)
_SNAP_OF_ENDS = _FROM_ENDS.T @ _SNAP_OF_COEFFICIENTS @ _FROM_ENDS
"""∫ snap² over a leg that takes 1 s, as a quadratic form of its ends."""


def minimum_snap(points: np.ndarray, durations: np.ndarray) -> PiecewisePolynomial:
    """Through `points` (n × axes), from rest to rest, with the given time for each leg."""
    points, durations = np.ascontiguousarray(points, dtype=float), np.ascontiguousarray(durations, dtype=float)
    n = len(durations)
    if len(points) != n + 1 or n < 1:
        raise PathError(f"a trajectory needs at least two points and a duration for each leg, got {len(points)} points")
    if not all(0.0 < duration < inf for duration in durations.tolist()):
        raise PathError("every leg of a trajectory needs a finite duration above 0")
    inner = np.zeros((INNER * (n + 1), points.shape[1]))
    if n > 1:
        _choose_inner(points, durations, np.zeros((INNER * (n - 1), 2 * BAND + 1)), inner[INNER:-INNER])
    coefficients = np.empty((n, points.shape[1], ORDER))
    interpolate(points, durations, inner, coefficients)
    return PiecewisePolynomial(durations, coefficients)


@compiled
def _choose_inner(points, durations, band, inner):
    """The derivatives at the waypoints between the ends for which ∫ snap² is stationary: R_pp d_p = −R_pf d_f.

    The matrix has a band of blocks, a waypoint's beside those of its neighbours, and is positive definite: no pivots
    are needed.
    """
    for leg in range(durations.size):
        _add_leg(leg, points, durations[leg], band, inner)
    size = inner.shape[0]
    for u in range(size):
        for below in range(u + 1, min(u + BAND + 1, size)):
            factor = band[below, BAND + u - below] / band[u, BAND]
            for k in range(BAND + 1):
                band[below, BAND + u - below + k] -= factor * band[u, BAND + k]
            for axis in range(inner.shape[1]):
                inner[below, axis] -= factor * inner[u, axis]
    for u in range(size - 1, -1, -1):
        for axis in range(inner.shape[1]):
            for k in range(1, min(BAND + 1, size - u)):
                inner[u, axis] -= band[u, BAND + k] * inner[u + k, axis]
            inner[u, axis] /= band[u, BAND]


@compiled
def _add_leg(leg, points, duration, band, right):
    """What one leg adds to the equations of its ends; those at rest have none."""
    for a in range(ENDS):
        equation, order = INNER * (leg - 1 + a // 4) + a % 4 - 1, a % 4
        if order == 0 or not 0 <= equation < band.shape[0]:
            continue
        for b in range(ENDS):
            weight = _SNAP_OF_ENDS[a, b] * duration ** (order + b % 4 - 7)
            column = INNER * (leg - 1 + b // 4) + b % 4 - 1
            if b % 4 == 0:
                for axis in range(right.shape[1]):
                    right[equation, axis] -= weight * points[leg + b // 4, axis]
            elif 0 <= column < band.shape[0]:
                band[equation, BAND + column - equation] += weight


@compiled
def interpolate(points, durations, inner, coefficients):
    """The polynomials between points with velocity, acceleration and jerk at each."""
    for leg in range(durations.size):
        duration = durations[leg]
        for axis in range(points.shape[1]):
            for n in range(ORDER):
                total = _FROM_ENDS[n, 0] * points[leg, axis] + _FROM_ENDS[n, 4] * points[leg + 1, axis]
                for order in range(1, 4):
                    at = INNER * leg + order - 1
                    pair = _FROM_ENDS[n, order] * inner[at, axis] + _FROM_ENDS[n, 4 + order] * inner[at + INNER, axis]
                    total += pair * duration**order
                coefficients[leg, axis, n] = total / duration**n


def leg_durations(points: np.ndarray, speed: float, acceleration: float, shortest: float = 0.0) -> np.ndarray:
    """Time for each leg: at the cruise speed, and long enough to stay within the acceleration on short ones.

    A rest-to-rest leg of minimum snap peaks at 2.19 times its mean speed and 7.5 times distance / time².
    """
    durations = np.empty(len(points) - 1)
    _time_legs(points, speed, acceleration, shortest, durations)
    return durations


@compiled
def _time_legs(points, speed, acceleration, shortest, durations):
    for leg in range(durations.size):
        square = 0.0
        for axis in range(3):
            square += (points[leg + 1, axis] - points[leg, axis]) ** 2
        length = sqrt(square)
        duration = max(2.19 * length / speed, sqrt(7.52 * length / acceleration)) + 1e-3
        durations[leg] = max(duration, shortest)


def through(
    waypoints: np.ndarray, yaws: np.ndarray | float, speed: float, acceleration: float = 2.0
) -> PiecewisePolynomial:
    """The smooth way through waypoints (n × 3) with yaws, from rest to rest; yaw takes the short way round.

    Where it would swing far out beside a short leg, further points hold it near the lines between the waypoints.
    """
    waypoints = np.asarray(waypoints, dtype=float)
    if waypoints.ndim != 2 or waypoints.shape[1] != 3 or len(waypoints) < 2:
        raise PathError(f"a path needs at least two points of three numbers, got shape {waypoints.shape}")
    if not np.isfinite(waypoints).all():
        raise PathError("a path must hold finite numbers only")
    points = np.empty((len(waypoints), AXES))
    points[:, :3], points[:, 3] = waypoints, yaws
    _unwrap(points[:, 3])
    smooth = minimum_snap(points, leg_durations(points, speed, acceleration, shortest=0.05))
    if len(points) > 2 and strays(points[:, :3], smooth.samples(LOOKS)):
        points = graded(points)
        smooth = minimum_snap(points, leg_durations(points, speed, acceleration, shortest=0.05))
    return smooth


@compiled
def _unwrap(angles):
    for k in range(1, angles.size):
        turn = angles[k] - angles[k - 1]
        angles[k] = angles[k - 1] + turn - 2 * pi * round(turn / (2 * pi))
