"""Points that stand alone are left out, the others made evenly dense, and then put on a grid."""

from __future__ import annotations

from itertools import product

import numpy as np

from airloom.compiled import compiled
from airloom.terrain.layout import Layout

FAR = 3.0  # times the extent of nearly all points: what lies farther out, east or north, is an error
NEAR = 4.0  # times the usual distance of points: the cubes in which a point's neighbours are looked for
FEWEST = 3  # points in a cube and those around it, or they are an error: a bird, an echo


def spacing_of(points: np.ndarray) -> float:
    """The usual distance of points seen from above, m, where there are some."""
    extent = np.ptp(points[:, :2], axis=0)
    area = float(max(extent[0], 1e-3) * max(extent[1], 1e-3))
    side = 4.0 * np.sqrt(area / len(points))
    columns, rows = (np.floor((line - line.min()) / side).astype(np.int64) for line in points.T[:2])
    return float(np.sqrt(_different(columns * (rows.max() + 1) + rows) * side**2 / len(points)))


def _different(numbers: np.ndarray) -> int:
    """How many there are that differ; sorting takes longer, but the numbers of a long and narrow strip are large."""
    if numbers.max() > 10 * len(numbers):
        return len(np.unique(numbers))
    is_there = np.zeros(numbers.max() + 1, dtype=bool)
    is_there[numbers] = True
    return int(np.count_nonzero(is_there))


def are_near(points: np.ndarray) -> np.ndarray:
    """Which points are not far outside of where nearly all are, east and north."""
    low, high = np.percentile(points[:, :2], [1, 99], axis=0)
    reach = FAR * np.maximum(high - low, 1.0)
    return ((points[:, :2] >= low - reach) & (points[:, :2] <= high + reach)).all(axis=1)


def have_neighbours(points: np.ndarray, spacing: float) -> np.ndarray:
    """Which points do not stand alone."""
    numbers, steps = _cubes(points, NEAR * spacing)
    cubes, which, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    around = np.zeros(len(cubes), dtype=np.int64)
    for offset in product((-1, 0, 1), repeat=3):
        wanted = cubes + int(np.dot(offset, steps))
        at = np.minimum(np.searchsorted(cubes, wanted), len(cubes) - 1)
        around += np.where(cubes[at] == wanted, counts[at], 0)
    return (around >= FEWEST)[which]


def _cubes(points: np.ndarray, side: float) -> tuple[np.ndarray, np.ndarray]:
    """The number of each point's cube, and what a step along each axis adds to it."""
    cells = np.floor((points - points.min(axis=0)) / side).astype(np.int64) + 1
    _, wide, high = cells.max(axis=0) + 2
    steps = np.array([wide * high, high, 1])
    return cells @ steps, steps


def evenly(points: np.ndarray, side: float) -> np.ndarray:
    """The mean of the points in each cube of a uniform grid."""
    _, which, counts = np.unique(_cubes(points, side)[0], return_inverse=True, return_counts=True)
    return np.column_stack([np.bincount(which, points[:, k]) / counts for k in range(3)])


def put_on_grid(points: np.ndarray, layout: Layout, by: str, heights: np.ndarray) -> None:
    """Mean, highest or lowest of the points in the square around each corner; NaN where there is none."""
    count = np.zeros(heights.shape, dtype=np.int32)
    heights[:] = 0.0
    _gather(points, *layout.corner, *layout.cell, {"mean": 0, "max": 1, "min": -1}[by], heights, count)
    if by == "mean":
        heights /= np.maximum(count, 1)
    heights[count == 0] = np.nan


@compiled
def _gather(points, x0, y0, dx, dy, sense, heights, count):
    for k in range(len(points)):
        c, r = int(np.floor((points[k, 0] - x0) / dx + 0.5)), int(np.floor((points[k, 1] - y0) / dy + 0.5))
        if not (0 <= r < heights.shape[0] and 0 <= c < heights.shape[1]):
            continue
        z = points[k, 2]
        if count[r, c] == 0:
            heights[r, c] = z
        elif sense == 0:
            heights[r, c] += z
        elif sense > 0:
            heights[r, c] = max(heights[r, c], z)
        else:
            heights[r, c] = min(heights[r, c], z)
        count[r, c] += 1


def grown(is_there: np.ndarray, cells: int) -> np.ndarray:
    """Where something is not farther away than so many cells, along rows and columns."""
    wider = is_there.copy()
    for _ in range(cells):
        before = wider.copy()
        wider[1:] |= before[:-1]
        wider[:-1] |= before[1:]
        wider[:, 1:] |= before[:, :-1]
        wider[:, :-1] |= before[:, 1:]
    return wider
