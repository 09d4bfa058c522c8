"""Shortest ways around obstacles, over a grid, and whose are which cells.

Distances spread from several points at once as in Dijkstra's algorithm, but a way need not go from cell to cell: where
a cell can be seen from the point at which the way to its neighbour last turned, it is reached from there in a straight
line (the idea of Theta*, Nash et al. 2007). Without obstacles all distances are thus exact. All lengths are in cells.
"""

from __future__ import annotations

from math import floor, inf, sqrt

import numpy as np

from airloom.compiled import compiled

NOBODY = -1
_PUSHES = 9  # a cell is pushed by its neighbours, each at most once, and by sources beside it


@compiled
def in_sight(blocked, ax, ay, bx, by):
    """Whether no blocked cell lies on the line from a to b; those of both ends do not count.

    It visits all cells that the line crosses (Amanatides and Woo 1987).
    """
    column, row, last_column, last_row = floor(ax), floor(ay), floor(bx), floor(by)
    dx, dy = bx - ax, by - ay
    step_x, step_y = (1 if dx > 0.0 else -1), (1 if dy > 0.0 else -1)
    per_x, per_y = (1.0 / abs(dx) if dx != 0.0 else inf), (1.0 / abs(dy) if dy != 0.0 else inf)
    to_x = (column + (1 if dx > 0.0 else 0) - ax) / dx if dx != 0.0 else inf
    to_y = (row + (1 if dy > 0.0 else 0) - ay) / dy if dy != 0.0 else inf
    for _ in range(abs(last_column - column) + abs(last_row - row) - 1):
        if to_x < to_y:
            column += step_x
            to_x += per_x
        else:
            row += step_y
            to_y += per_y
        inside = 0 <= row < blocked.shape[0] and 0 <= column < blocked.shape[1]
        if inside and blocked[row, column]:
            return False
    return True


@compiled
def _push(keys, items, count, key, item):
    if count == keys.shape[0]:
        return count  # the way that there is stays: longer, but a way
    at = count
    while at > 0:
        above = (at - 1) // 2
        if keys[above] <= key:
            break
        keys[at], items[at] = keys[above], items[above]
        at = above
    keys[at], items[at] = key, item
    return count + 1


@compiled
def _pop(keys, items, count):
    """Move the first to the end, beyond the count that is returned."""
    count -= 1
    first, which, key, item = keys[0], items[0], keys[count], items[count]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= count:
            break
        if below + 1 < count and keys[below + 1] < keys[below]:
            below += 1
        if key <= keys[below]:
            break
        keys[at], items[at] = keys[below], items[below]
        at = below
    keys[at], items[at] = key, item
    keys[count], items[count] = first, which
    return count


@compiled
def _offer(row, column, length, whose, x, y, lengths, owners, turns, keys, items, count):
    """A way to a cell that last turned at (x, y), if it is shorter than the one there is."""
    total = length + sqrt((column + 0.5 - x) ** 2 + (row + 0.5 - y) ** 2)
    if total >= lengths[row, column]:
        return count
    lengths[row, column], owners[row, column] = total, whose
    turns[row, column, 0], turns[row, column, 1], turns[row, column, 2] = x, y, length
    return _push(keys, items, count, total, row * lengths.shape[1] + column)


@compiled
def _nearest_open(closed, x, y):
    """Row and column of the open cell nearest to a place, which may be outside; -1 if all are closed."""
    best, row, column = inf, -1, -1
    for r in range(closed.shape[0]):
        for c in range(closed.shape[1]):
            square = (c + 0.5 - x) ** 2 + (r + 0.5 - y) ** 2
            if not closed[r, c] and square < best:
                best, row, column = square, r, c
    return row, column


@compiled
def _spread(closed, points, known, lengths, owners, turns, keys, items):
    rows, columns = closed.shape
    count = 0
    for k in range(points.shape[0]):
        if not known[k]:
            continue
        x, y, before = points[k, 0], points[k, 1], count
        column, row = floor(x), floor(y)
        for r in range(max(row - 1, 0), min(row + 2, rows)):
            for c in range(max(column - 1, 0), min(column + 2, columns)):
                if not closed[r, c]:
                    count = _offer(r, c, 0.0, k, x, y, lengths, owners, turns, keys, items, count)
        if count == before:
            r, c = _nearest_open(closed, x, y)
            if r >= 0:
                count = _offer(r, c, 0.0, k, x, y, lengths, owners, turns, keys, items, count)
    while count > 0:
        count = _pop(keys, items, count)
        row, column = items[count] // columns, items[count] % columns
        if keys[count] > lengths[row, column]:
            continue  # a shorter way was found meanwhile
        x, y, length = turns[row, column, 0], turns[row, column, 1], turns[row, column, 2]
        for r in range(max(row - 1, 0), min(row + 2, rows)):
            for c in range(max(column - 1, 0), min(column + 2, columns)):
                if closed[r, c] or closed[row, c] or closed[r, column]:
                    continue
                straight = length + sqrt((c + 0.5 - x) ** 2 + (r + 0.5 - y) ** 2)
                if straight >= lengths[r, c]:
                    continue
                if in_sight(closed, x, y, c + 0.5, r + 0.5):
                    count = _offer(r, c, length, owners[row, column], x, y, lengths, owners, turns, keys, items, count)
                else:
                    count = _offer(
                        r, c, lengths[row, column], owners[row, column], column + 0.5, row + 0.5,
                        lengths, owners, turns, keys, items, count,
                    )  # fmt: skip


@compiled
def _first_turn(turns, row, column, ax, ay, out):
    """Where the way from a to a cell turns first."""
    out[0], out[1] = column + 0.5, row + 0.5
    while not (turns[row, column, 0] == ax and turns[row, column, 1] == ay):
        out[0], out[1] = turns[row, column, 0], turns[row, column, 1]
        row, column = floor(out[1]), floor(out[0])


class Ways:
    """From points to all cells that can be reached."""

    def __init__(self, shape: tuple[int, int]) -> None:
        cells = shape[0] * shape[1]
        self.lengths = np.empty(shape)
        """Of the shortest way to a cell; infinite if there is none."""
        self.owners = np.empty(shape, np.int64)
        """Which point is nearest; of equally near ones the first."""
        self._turns = np.empty((*shape, 3))
        self._keys, self._items = np.empty(_PUSHES * cells + _PUSHES), np.empty(_PUSHES * cells + _PUSHES, np.int64)

    def spread(self, closed: np.ndarray, points: np.ndarray, known: np.ndarray) -> None:
        """From those of the points [point, 2] that are known [point], around closed cells [row, column]."""
        self.lengths.fill(np.inf)
        self.owners.fill(NOBODY)
        self._points = points
        _spread(closed, points, known, self.lengths, self.owners, self._turns, self._keys, self._items)

    def turn(self, row: int, column: int) -> np.ndarray:
        """Where the way to a cell turns first, coming from the point that is nearest to it; or the cell itself."""
        out = np.empty(2)
        _first_turn(self._turns, row, column, *self._points[self.owners[row, column]], out)
        return out
