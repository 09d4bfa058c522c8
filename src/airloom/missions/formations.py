"""Formations of many vehicles, and who goes where.

If everybody starts and arrives at the same time, flies straight, and places are shared out so that the sum of squared
distances is smallest, no two come closer than 1/√2 of the smallest gap in both formations (Turpin, Michael, Kumar,
"CAPT: Concurrent assignment and planning of trajectories for multiple robots", IJRR 2014).
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, pi, sqrt

import numpy as np

GOLDEN_ANGLE = pi * (3.0 - sqrt(5.0))


def grid(count: int) -> np.ndarray:
    """Rows of a square."""
    columns = ceil(sqrt(count))
    k = np.arange(count)
    return np.column_stack([k % columns, k // columns, np.zeros(count)]).astype(float)


def circle(count: int) -> np.ndarray:
    angles = 2 * pi * np.arange(count) / count
    return np.column_stack([np.cos(angles), np.sin(angles), np.zeros(count)])


def helix(count: int) -> np.ndarray:
    """Two turns, each rising by its radius."""
    turns = 2.0 * np.arange(count) / count
    return np.column_stack([np.cos(2 * pi * turns), np.sin(2 * pi * turns), turns])


def sphere(count: int) -> np.ndarray:
    """Evenly spread over a ball's surface (Fibonacci lattice)."""
    k = np.arange(count)
    z = 1.0 - (2.0 * k + 1.0) / count
    level = np.sqrt(1.0 - z * z)
    return np.column_stack([level * np.cos(GOLDEN_ANGLE * k), level * np.sin(GOLDEN_ANGLE * k), z])


SHAPES: dict[str, Callable[[int], np.ndarray]] = {"grid": grid, "circle": circle, "helix": helix, "sphere": sphere}


def smallest_gap(points: np.ndarray) -> float:
    """Distance of the closest two; infinite if there are no two."""
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    return float(gaps.min(initial=np.inf))


def formation(shape: str, count: int, spacing: float, middle: np.ndarray, lowest: float) -> np.ndarray:
    """Places (count × 3) in a shape, `spacing` apart where they are closest, around a middle (x, y)."""
    points = SHAPES[shape](count)
    if count > 1:
        points *= spacing / smallest_gap(points)
    points[:, :2] += middle - points[:, :2].mean(axis=0)
    points[:, 2] += lowest - points[:, 2].min()
    return points


def share_out(starts: np.ndarray, goals: np.ndarray) -> np.ndarray:
    """Which goal each start gets, so that the sum of squared distances is smallest."""
    return assign(((starts[:, None] - goals[None]) ** 2).sum(axis=2))


def assign(costs: np.ndarray) -> np.ndarray:
    """The column for each row of a square matrix with the smallest total cost (Hungarian method).

    Rows are matched one by one: each along the cheapest chain of reassignments, as told by the row and column prices.
    """
    n = len(costs)
    row_prices, column_prices = np.zeros(n), np.zeros(n + 1)
    row_of = np.full(n + 1, -1)  # by column; the last column is where a new row enters
    for row in range(n):
        row_of[n] = row
        column, cheapest = n, np.full(n, np.inf)
        came_from, visited = np.full(n, n), np.zeros(n + 1, dtype=bool)
        while row_of[column] >= 0:
            visited[column] = True
            here, free = row_of[column], ~visited[:n]
            reduced = costs[here] - row_prices[here] - column_prices[:n]
            better = free & (reduced < cheapest)
            cheapest[better], came_from[better] = reduced[better], column
            following = int(np.argmin(np.where(free, cheapest, np.inf)))
            step = cheapest[following]
            row_prices[row_of[visited]] += step
            column_prices[visited] -= step
            cheapest[free] -= step
            column = following
        while column != n:
            row_of[column] = row_of[came_from[column]]
            column = came_from[column]
    found = np.empty(n, dtype=int)
    found[row_of[:n]] = np.arange(n)
    return found
