"""Voronoi coverage: each member goes to the centroid of its own cell (Cortés et al. 2004, after Lloyd 1982).

    V_i = {q : d(q, p_i) ≤ d(q, p_j) for all j},  c_i = ∫_{V_i} φ(q) q dq / ∫_{V_i} φ(q) dq,
    H = Σ_i ∫_{V_i} φ(q) d(q, p_i)² dq

d is the length of the shortest way around obstacles, φ the importance of a place. Without obstacles, going to the c_i
never increases H. With obstacles the centroid may be hidden or in one: then its member goes to the place of its own
cell that is nearest to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

import numpy as np

from airloom.compiled import compiled
from airloom.swarm.coverage.area import Area
from airloom.swarm.coverage.parameters import Spot
from airloom.swarm.coverage.ways import Ways


@compiled
def _centroid(owners, me, weights, out):
    """Of the cells that are mine, in cells; whether there are any."""
    mass, x, y = 0.0, 0.0, 0.0
    for row in range(owners.shape[0]):
        for column in range(owners.shape[1]):
            if owners[row, column] == me:
                mass += weights[row, column]
                x += weights[row, column] * (column + 0.5)
                y += weights[row, column] * (row + 0.5)
    if mass == 0.0:
        return False
    out[0], out[1] = x / mass, y / mass
    return True


@compiled
def _nearest_of_mine(owners, me, x, y):
    best, found_row, found_column = np.inf, -1, -1
    for row in range(owners.shape[0]):
        for column in range(owners.shape[1]):
            square = (column + 0.5 - x) ** 2 + (row + 0.5 - y) ** 2
            if owners[row, column] == me and square < best:
                best, found_row, found_column = square, row, column
    return found_row, found_column


def importance(spots: Sequence[Spot], area: Area) -> np.ndarray:
    """Of each cell, [row, column]."""
    weights, middles = np.ones(area.shape), area.middles()
    for spot in spots:
        squares = ((middles - spot.position) ** 2).sum(axis=-1)
        weights += spot.weight * np.exp(-0.5 * squares / spot.deviation**2)
    return weights


def centroid(ways: Ways, me: int, weights: np.ndarray) -> np.ndarray | None:
    """Where the one that is `me` among the points that ways have spread from should go, cells; None: nothing is its."""
    goal = np.empty(2)
    if not _centroid(ways.owners, me, weights, goal):
        return None
    row, column = floor(goal[1]), floor(goal[0])
    if ways.owners[row, column] != me:
        row, column = _nearest_of_mine(ways.owners, me, *goal)
        goal[:] = column + 0.5, row + 0.5
    return goal


def cost(ways: Ways, weights: np.ndarray, cell: float) -> float:
    """H of the points that ways have spread from, m⁴: the same for all who know of the same points."""
    reached = np.isfinite(ways.lengths)
    return float((weights[reached] * ways.lengths[reached] ** 2).sum()) * cell**4
