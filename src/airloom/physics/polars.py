"""Coefficients of a profile from a table over the angle of attack, continued over the full circle.

Between the table's rows they are linear. Beyond its last angle α_s > 0 up to 90° follow Viterna and Corrigan (Fixed
Pitch Rotor Performance of Large Horizontal Axis Wind Turbines, NASA CP-2230, 1982) for an aspect ratio A:

    C_L = A₁ sin 2α + A₂ cos²α/sin α,    A₁ = C_D,max/2,  A₂ = (C_L,s − C_D,max sin α_s cos α_s) sin α_s/cos²α_s
    C_D = C_D,max sin²α + B₂ cos α,      B₂ = (C_D,s − C_D,max sin²α_s)/cos α_s,  C_D,max = 1.11 + 0.018 A

and likewise below the first, with both turned over. Air from behind meets a blunt edge first: beyond 90°, with
α' = 180° − α, C_L is −0.7 of that at α', and C_D that at α'; below α_s both go linearly to the values at 180°, no
lift and the drag of the table at 0. The moment about the quarter chord goes linearly to −C_D,max/4 at 90°, a plate
that is pressed at its middle, and to 0 at 180°. All of it is continuous.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin

import numpy as np

from airloom.compiled import compiled
from airloom.compiled.rows import LANES

# Of each side, above and below: angle, lift, drag and moment where the table ends, A₂ and B₂.
# Then C_D,max, the drag at 0, and the moment at 90°. All moments are times the chord.
END, END_LIFT, END_DRAG, END_MOMENT, A_2, B_2 = (k * LANES for k in range(6))
ABOVE, BELOW = 0, 6 * LANES
PLATE, DRAG_AT_ZERO, MOMENT_ACROSS = 12 * LANES, 13 * LANES, 14 * LANES
POLAR_ROWS = 15
BACKWARDS = 0.7


def plate_drag(aspect: float) -> float:
    return 1.11 + 0.018 * min(aspect, 50.0)


def side_numbers(end: Sequence[float] | np.ndarray, plate: float) -> list[float]:
    """Of one side, from where the table ends on it; all as if it were the upper one."""
    alpha, lift, drag, moment = end
    s, c = sin(alpha), cos(alpha)
    if c < 1e-6:  # the table goes beyond 90°, so nothing follows but what it says
        return [alpha, lift, drag, moment, 0.0, 0.0]
    return [alpha, lift, drag, moment, (lift - plate * s * c) * s / (c * c), (drag - plate * s * s) / c]


@compiled
def _plate_ahead(p, side, plate, size):
    s, c = sin(size), cos(size)
    lift = plate * s * c + p[side + A_2] * c * c / s
    return lift, plate * s * s + p[side + B_2] * c


@compiled
def _beyond(p, at, side, size):
    """Lift, drag and moment at an angle beyond the table's end on one side, as if that were the upper one."""
    plate, end = p[at + PLATE], p[side + END]
    if size <= 0.5 * pi:
        lift, drag = _plate_ahead(p, side, plate, size)
        share = (size - end) / (0.5 * pi - end)
        return lift, drag, p[side + END_MOMENT] + share * (p[at + MOMENT_ACROSS] - p[side + END_MOMENT])
    turned = pi - size
    moment = p[at + MOMENT_ACROSS] * turned / (0.5 * pi)
    if turned >= end:
        lift, drag = _plate_ahead(p, side, plate, turned)
        return -BACKWARDS * lift, drag, moment
    share, least = turned / end, p[at + DRAG_AT_ZERO]
    return -BACKWARDS * share * p[side + END_LIFT], least + share * (p[side + END_DRAG] - least), moment


@compiled
def _knot_below(p, table, knots, alpha):
    low, high = 0, knots - 1
    while high - low > 1:
        middle = (low + high) // 2
        if p[table + 4 * middle * LANES] <= alpha:
            low = middle
        else:
            high = middle
    return low


@compiled
def look_up(p, at, knots, alpha):
    """Lift, drag and moment over area (and chord, which is in the moment already) at −π ≤ α ≤ π."""
    table = at + POLAR_ROWS * LANES
    if alpha > p[table + 4 * (knots - 1) * LANES]:
        return _beyond(p, at, at + ABOVE, alpha)
    if alpha < p[table]:
        lift, drag, moment = _beyond(p, at, at + BELOW, -alpha)
        return -lift, drag, -moment
    here = table + 4 * _knot_below(p, table, knots, alpha) * LANES
    after = here + 4 * LANES
    share = (alpha - p[here]) / (p[after] - p[here])
    return (
        p[here + LANES] + share * (p[after + LANES] - p[here + LANES]),
        p[here + 2 * LANES] + share * (p[after + 2 * LANES] - p[here + 2 * LANES]),
        p[here + 3 * LANES] + share * (p[after + 3 * LANES] - p[here + 3 * LANES]),
    )
