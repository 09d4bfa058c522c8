"""The ground as triangles, large where it is even and small where it is not, at several finenesses.

A square of cells is two right triangles; each is cut in half through the middle of its longest side as long as the
ground under it is farther from it than some error (RTIN: Evans, Kirkpatrick and Townsend, "Right-triangulated irregular
networks", 2001). Whether a corner is in the mesh depends on one number of its own, which the triangles on both sides of
it share, so there are no gaps: neither within a tile nor between tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from airloom.compiled import compiled
from airloom.world.grid import Grid

TILE = 64  # cells each way
FINENESS = 0.1, 0.4, 1.6, 6.4  # m, errors of the levels unless somebody asks for others
SMALLEST_SHARE = 0.005  # of the highest above the lowest: the finest error, where the ground has little relief
DEEPEST = 32  # triangles that wait to be cut, at most; a tile is halved 12 times


@dataclass(frozen=True)
class Level:
    """A mesh of the whole ground at one fineness, in tiles from west to east, then from south to north."""

    error: float
    """that was asked for, m: no corner of the grid is farther above or below the mesh"""
    faces: np.ndarray
    """uint32 [n, 3], numbers of the grid's corners (row · columns + column), counterclockwise from above"""
    starts: np.ndarray
    """int64 [tiles + 1], where each tile's faces begin"""
    largest: float
    """error at the grid's corners, m"""
    mean: float

    def tile(self, number: int) -> np.ndarray:
        """Its faces."""
        return self.faces[self.starts[number] : self.starts[number + 1]]


def tiles_of(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of tiles of a grid."""
    rows, columns = shape
    return -(-(rows - 1) // TILE), -(-(columns - 1) // TILE)


def usual_errors(grid: Grid) -> list[float]:
    """Of the levels, from fine to coarse, m."""
    finest = min(FINENESS[0], SMALLEST_SHARE * (grid.high - grid.low))
    return [finest * error / FINENESS[0] for error in FINENESS]


def triangulate(
    grid: Grid, errors: Sequence[float], progress: Callable[[float], None] | None = None, empty=np.empty
) -> list[Level]:
    """Meshes of the ground with these errors. `empty(shape, dtype)` makes arrays, `progress` is told the part done."""
    needed = needed_corners(grid.heights, progress, empty)
    levels = [level_of(grid.heights, needed, error, empty) for error in errors]
    if progress:
        progress(1.0)
    return levels


def needed_corners(heights: np.ndarray, progress: Callable[[float], None] | None = None, empty=np.empty) -> np.ndarray:
    """The error of a mesh without it, m, for each corner, up to whole tiles. Borders and edges of holes: infinite."""
    down, across = tiles_of(heights.shape)
    needed = empty((down * TILE + 1, across * TILE + 1), np.float32)
    needed[:] = 0.0
    for row in range(down):
        _measure_tiles(heights, needed, row)
        if progress:
            progress((row + 1) / (down + 1))
    rows, columns = heights.shape
    needed[[0, rows - 1], :columns] = inf
    needed[:rows, [0, columns - 1]] = inf
    _include_children(needed)
    return needed


def level_of(heights: np.ndarray, needed: np.ndarray, error: float, empty=np.empty) -> Level:
    """The mesh of those corners that are needed more than this error, m."""
    down, across = tiles_of(heights.shape)
    starts, figures = np.zeros(down * across + 1, dtype=np.int64), np.zeros(2)
    nothing, waiting = np.empty((0, 3), dtype=np.uint32), np.empty((DEEPEST, 6), dtype=np.int64)
    for tile in range(down * across):
        starts[tile + 1] = starts[tile] + _cut(heights, needed, error, *divmod(tile, across), waiting, nothing, figures)
    faces = empty((int(starts[-1]), 3), np.uint32)
    for tile in range(down * across):
        place = faces[starts[tile] : starts[tile + 1]]
        if len(place):
            _cut(heights, needed, error, *divmod(tile, across), waiting, place, figures)
    corners = np.count_nonzero(np.isfinite(heights))
    return Level(float(error), faces, starts, float(figures[0]), float(figures[1] / max(corners, 1)))


@compiled
def _is_within(heights, r, c):
    return 0 <= r < heights.shape[0] and 0 <= c < heights.shape[1]


@compiled
def _error_of_legs(heights, r, c, down, across, n):
    """Largest error of a triangle and the sum of errors in it: legs along row and column, of n cells, meet at (r, c).

    `down` and `across` are the signs of their directions. What lies on a side counts half: two triangles have it.
    """
    if not (_is_within(heights, r, c) and _is_within(heights, r + down * n, c + across * n)):
        return inf, 0.0
    corner = heights[r, c]
    along_column, along_row = (heights[r + down * n, c] - corner) / n, (heights[r, c + across * n] - corner) / n
    largest, total = 0.0, 0.0
    for i in range(n + 1):
        for j in range(n - i + 1):
            error = abs(corner + i * along_column + j * along_row - heights[r + down * i, c + across * j])
            if not error < inf:
                return inf, 0.0
            largest = max(largest, error)
            total += 0.5 * error if i == 0 or j == 0 or i + j == n else error
    return largest, total


@compiled
def _error_of_base(heights, r, c, up, right, n):
    """The same of a triangle whose longest side, of 2 n cells, has its middle at (r, c); the tip is at (up, right)."""
    if not (
        _is_within(heights, r + n * up - n * abs(right), c + n * right - n * abs(up))
        and _is_within(heights, r + n * up + n * abs(right), c + n * right + n * abs(up))
        and _is_within(heights, r - n * abs(right), c - n * abs(up))
        and _is_within(heights, r + n * abs(right), c + n * abs(up))
    ):
        return inf, 0.0
    first, last = heights[r - n * abs(right), c - n * abs(up)], heights[r + n * abs(right), c + n * abs(up)]
    middle, along = 0.5 * (first + last), (last - first) / (2 * n)
    rise = (heights[r + n * up, c + n * right] - middle) / n
    largest, total = 0.0, 0.0
    for j in range(n + 1):
        for i in range(j - n, n - j + 1):
            height = heights[r + j * up + i * abs(right), c + j * right + i * abs(up)]
            error = abs(middle + i * along + j * rise - height)
            if not error < inf:
                return inf, 0.0
            largest = max(largest, error)
            total += 0.5 * error if j == 0 or abs(i) == n - j else error
    return largest, total


@compiled
def _is_diagonal_north_east(r, c, n):
    """Whether a square of n cells is cut from south-west to north-east: neighbours are cut in turn."""
    return (r // n + c // n) % 2 == 0


@compiled
def _measure_tiles(heights, needed, row):
    """The error of every triangle there may be in a row of tiles goes to the corner that would cut it in half."""
    for west in range(0, needed.shape[1] - 1, TILE):
        n = 1
        while 2 * n <= TILE:
            for r in range(row * TILE + n, (row + 1) * TILE, 2 * n):
                for c in range(west + n, west + TILE, 2 * n):
                    slant = 1 if _is_diagonal_north_east(r - n, c - n, 2 * n) else -1
                    one, _ = _error_of_legs(heights, r - n, c + slant * n, 1, -slant, 2 * n)
                    other, _ = _error_of_legs(heights, r + n, c - slant * n, -1, slant, 2 * n)
                    needed[r, c] = max(one, other)
                    for up, right in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                        error, _ = _error_of_base(heights, r - n * up, c - n * right, up, right, n)
                        needed[r - n * up, c - n * right] = max(needed[r - n * up, c - n * right], error)
            n *= 2


@compiled
def _largest_around(needed, r, c, up, right):
    """Of a corner and the four around it that `up` and `right`, turned by right angles, lead to."""
    largest = needed[r, c]
    for _ in range(4):
        if _is_within(needed, r + up, c + right):
            largest = max(largest, needed[r + up, c + right])
        up, right = -right, up
    return largest


@compiled
def _include_children(needed):
    """A corner is needed as much as those that are in the mesh only if it is: from the finest to the coarsest."""
    rows, columns = needed.shape
    n = 1
    while 2 * n <= TILE:
        if n > 1:
            half = n // 2
            for r in range(0, rows, n):
                for c in range(n if (r // n) % 2 == 0 else 0, columns, 2 * n):
                    needed[r, c] = _largest_around(needed, r, c, half, half)
        for r in range(n, rows, 2 * n):
            for c in range(n, columns, 2 * n):
                needed[r, c] = _largest_around(needed, r, c, n, 0)
        n *= 2


@compiled
def _set(waiting, k, ar, ac, br, bc, cr, cc):
    """A triangle: the ends of its longest side, then its tip, counterclockwise."""
    waiting[k, 0], waiting[k, 1], waiting[k, 2] = ar, ac, br
    waiting[k, 3], waiting[k, 4], waiting[k, 5] = bc, cr, cc


@compiled
def _is_ground(heights, r, c):
    return _is_within(heights, r, c) and heights[r, c] == heights[r, c]


@compiled
def _error_of(heights, ar, ac, br, bc, cr, cc):
    if ar == br or ac == bc:
        n = max(abs(ar - br), abs(ac - bc)) // 2
        mr, mc = (ar + br) // 2, (ac + bc) // 2
        return _error_of_base(heights, mr, mc, (cr - mr) // n, (cc - mc) // n, n)
    n = abs(ar - br)
    return _error_of_legs(heights, cr, cc, (ar + br - 2 * cr) // n, (ac + bc - 2 * cc) // n, n)


@compiled
def _cut(heights, needed, error, row, column, waiting, faces, figures):
    """The number of triangles of a tile; they go into `faces` if there is room, else their errors into `figures`."""
    r, c, n = row * TILE, column * TILE, TILE
    if _is_diagonal_north_east(r, c, n):
        _set(waiting, 0, r + n, c + n, r, c, r, c + n)
        _set(waiting, 1, r, c, r + n, c + n, r + n, c)
    else:
        _set(waiting, 0, r, c + n, r + n, c, r, c)
        _set(waiting, 1, r + n, c, r, c + n, r + n, c + n)
    left, count, columns = 2, 0, heights.shape[1]
    while left:
        left -= 1
        ar, ac, br = waiting[left, 0], waiting[left, 1], waiting[left, 2]
        bc, cr, cc = waiting[left, 3], waiting[left, 4], waiting[left, 5]
        mr, mc = (ar + br) // 2, (ac + bc) // 2
        is_smallest = abs(ar - br) + abs(ac - bc) == 2 and ar != br and ac != bc
        if not is_smallest and needed[mr, mc] > error:
            _set(waiting, left, cr, cc, ar, ac, mr, mc)
            _set(waiting, left + 1, br, bc, cr, cc, mr, mc)
            left += 2
        elif _is_ground(heights, ar, ac) and _is_ground(heights, br, bc) and _is_ground(heights, cr, cc):
            if len(faces):
                faces[count, 0] = ar * columns + ac
                faces[count, 1] = br * columns + bc
                faces[count, 2] = cr * columns + cc
            elif not is_smallest:
                largest, total = _error_of(heights, ar, ac, br, bc, cr, cc)
                figures[0] = max(figures[0], largest)
                figures[1] += total
            count += 1
    return count
