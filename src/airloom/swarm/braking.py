"""The ideal braking curve, by which flocks see in time what they must avoid."""

from __future__ import annotations

from math import sqrt

from airloom.compiled import compiled


@compiled
def braking_speed(r, a, p):
    """Speed from which one stops within a distance (Vásárhelyi et al. 2018, eq. 3).

        D(r, a, p) = 0                   r ≤ 0
                     p r                 0 < p r < a/p
                     √(2 a r − a²/p²)    otherwise

    r   distance left, m
    a   greatest acceleration, m/s²
    p   gain of the last, exponential part, 1/s
    """
    if r <= 0.0:
        return 0.0
    if p * r < a / p:
        return p * r
    return sqrt(2.0 * a * r - a * a / (p * p))


def braking_distance(v: float, a: float, p: float) -> float:
    """The distance in which one stops from a speed v: the opposite of `braking_speed`."""
    return v / p if v < a / p else 0.5 * (v * v / a + a / (p * p))
