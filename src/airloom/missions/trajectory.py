"""Smooth trajectories: piecewise polynomials of degree 7 that minimise snap through waypoints.

Mellinger and Kumar, "Minimum snap trajectory generation and control for quadrotors", ICRA 2011; in the closed form of
unconstrained optimisation: with rest at both ends and the waypoints in between, the snap-optimal trajectory is
the one whose first six derivatives are continuous at every waypoint (Richter, Bry, Roy, ISRR 2013).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, perm, pi, sin
from typing import ClassVar

import numpy as np

from airloom.compiled import Kernel
from airloom.flight_stack import guide_kernel
from airloom.physics.rows import LANES, SAX, SCOS, SPX, SSIN, SVX, SYAW, SYAWRATE

ORDER = 8  # coefficients of a piece
AXES = 4  # x, y, z, yaw
# A plan: the step, when the present piece began, where it lies in the plan (0 when all is over); then the pieces, each
# a duration and its coefficients.
STEP, BEGAN, PRESENT, FIRST_PIECE = range(4)
PIECE_WIDTH = 1 + AXES * ORDER


class PathError(ValueError):
    """A path that cannot be flown; the message is meant for the user."""


@guide_kernel
def follow_trajectory(w, i, tick, plan):
    """Place, velocity, acceleration, yaw and yaw rate at this tick; at the end it rests and falls silent."""
    at = int(plan[PRESENT])
    if at == 0:
        return
    t = tick * plan[STEP] - plan[BEGAN]
    while t > plan[at] and at + PIECE_WIDTH < plan.size:
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
        if over:
            v, a = 0.0, 0.0
        if axis < 3:
            w[SPX + axis * LANES + i], w[SVX + axis * LANES + i], w[SAX + axis * LANES + i] = p, v, a
        else:
            w[SYAW + i], w[SYAWRATE + i] = p, v
            w[SCOS + i], w[SSIN + i] = cos(p), sin(p)


@dataclass(frozen=True)
class PiecewisePolynomial:
    """`coefficients[piece, axis, power]`, each piece in its own time from 0 to its duration."""

    durations: np.ndarray
    coefficients: np.ndarray
    kernel: ClassVar[Kernel] = follow_trajectory

    @property
    def duration(self) -> float:
        return float(self.durations.sum())

    def at(self, t: float, derivative: int = 0) -> np.ndarray:
        """x, y, z, yaw or their derivatives; held at the ends."""
        t = min(max(t, 0.0), self.duration)
        edges = np.concatenate([[0.0], np.cumsum(self.durations)])
        piece = min(int(np.searchsorted(edges, t, side="right")) - 1, len(self.durations) - 1)
        powers = _powers(t - edges[piece], derivative)
        return self.coefficients[piece] @ powers

    def plan(self, tick: int, step: float) -> np.ndarray:
        n = len(self.durations)
        plan = np.empty(FIRST_PIECE + n * PIECE_WIDTH)
        plan[:FIRST_PIECE] = step, tick * step, FIRST_PIECE
        pieces = plan[FIRST_PIECE:].reshape(n, PIECE_WIDTH)
        pieces[:, 0], pieces[:, 1:] = self.durations, self.coefficients.reshape(n, -1)
        return plan


_EXPONENTS = np.arange(ORDER)
_FACTORS = np.array([[perm(n, k) for n in range(ORDER)] for k in range(ORDER)], dtype=float)
"""n! / (n − k)!: what k derivatives of tⁿ bring to the front; 0 for n < k."""


def _powers(t: float, derivative: int) -> np.ndarray:
    """d^k/dt^k of (1, t, t², …)."""
    row = np.zeros(ORDER)
    row[derivative:] = _FACTORS[derivative, derivative:] * t ** _EXPONENTS[: ORDER - derivative]
    return row


def minimum_snap(points: np.ndarray, durations: np.ndarray) -> PiecewisePolynomial:
    """Through `points` (n × axes), from rest to rest, with the given time for each leg."""
    points, durations = np.asarray(points, dtype=float), np.asarray(durations, dtype=float)
    n = len(durations)
    if len(points) != n + 1 or n < 1:
        raise PathError(f"a trajectory needs at least two points and a duration for each leg, got {len(points)} points")
    if not (durations > 0).all():
        raise PathError("every leg of a trajectory needs a duration above 0")
    if n == 1:
        return _from_rest_to_rest(points, durations)
    matrix, right = np.zeros((ORDER * n, ORDER * n)), np.zeros((ORDER * n, points.shape[1]))
    row = 0

    def equation(piece: int, t: float, derivative: int, value: np.ndarray | float = 0.0) -> None:
        nonlocal row
        matrix[row, ORDER * piece : ORDER * (piece + 1)] += _powers(t, derivative)
        right[row] = value
        row += 1

    for derivative in (1, 2, 3):
        equation(0, 0.0, derivative)
        equation(n - 1, durations[-1], derivative)
    for piece in range(n):
        equation(piece, 0.0, 0, points[piece])
        equation(piece, durations[piece], 0, points[piece + 1])
    for piece in range(n - 1):
        for derivative in range(1, 7):
            matrix[row, ORDER * (piece + 1) : ORDER * (piece + 2)] -= _powers(0.0, derivative)
            equation(piece, durations[piece], derivative)
    coefficients = np.linalg.solve(matrix, right)
    return PiecewisePolynomial(durations, coefficients.reshape(n, ORDER, -1).transpose(0, 2, 1))


_REST_TO_REST = np.array([0.0, 0.0, 0.0, 0.0, 35.0, -84.0, 70.0, -20.0])
"""What one leg of minimum snap is in closed form: 35 τ⁴ − 84 τ⁵ + 70 τ⁶ − 20 τ⁷, τ from 0 to 1."""


def _from_rest_to_rest(points: np.ndarray, durations: np.ndarray) -> PiecewisePolynomial:
    coefficients = np.outer(points[1] - points[0], _REST_TO_REST / durations[0] ** _EXPONENTS)
    coefficients[:, 0] = points[0]
    return PiecewisePolynomial(durations, coefficients[None])


def leg_durations(points: np.ndarray, speed: float, acceleration: float) -> np.ndarray:
    """Time for each leg: at the cruise speed, and long enough to stay within the acceleration on short ones.

    A rest-to-rest leg of minimum snap peaks at 2.19 times its mean speed and 7.5 times distance / time².
    """
    lengths = np.linalg.norm(np.diff(points[:, :3], axis=0), axis=1)
    return np.maximum(2.19 * lengths / speed, np.sqrt(7.52 * lengths / acceleration)) + 1e-3


def through(
    waypoints: np.ndarray, yaws: np.ndarray | float, speed: float, acceleration: float = 2.0
) -> PiecewisePolynomial:
    """The smooth way through waypoints (n × 3) with yaws, from rest to rest; yaw takes the short way round."""
    waypoints = np.asarray(waypoints, dtype=float)
    if waypoints.ndim != 2 or waypoints.shape[1] != 3 or len(waypoints) < 2:
        raise PathError(f"a path needs at least two points of three numbers, got shape {waypoints.shape}")
    if not np.isfinite(waypoints).all():
        raise PathError("a path must hold finite numbers only")
    yaws = np.unwrap(np.broadcast_to(np.asarray(yaws, dtype=float), len(waypoints)), period=2 * pi)
    points = np.column_stack([waypoints, yaws])
    durations = leg_durations(points, speed, acceleration)
    return minimum_snap(points, np.maximum(durations, 0.05))
