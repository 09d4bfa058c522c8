"""What drops meet above the ground: porous leaves, in which some stay, and solid things, on which all end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import cos, sin, sqrt
from typing import TYPE_CHECKING

import numpy as np

from airloom.compiled import compiled
from airloom.world.objects.vine_row import FREE, SOLID_HEIGHT, SOLID_WIDTH

if TYPE_CHECKING:
    from airloom.world.land import Land
    from airloom.world.things import Solid, Thing

BOX, ROUND, BALL = range(3)  # a box, an upright cylinder, an ellipsoid
SHAPE, LEAVES, HALF, MIDDLE, TURN, BODY_WIDTH = 0, 1, 2, 5, 8, 17
"""Columns of a body: what it is, 1 if of leaves, half sizes, middle, rotation matrix row by row."""
SMALLEST_CELL, MOST_CELLS = 1.0, 1_000_000  # m, of the grid
CROWN = 1.0 / 0.6  # a crown is wider than the solid in it, see world/objects/tree.py


@dataclass(frozen=True)
class Bodies:
    """All of them, and a grid that says which are in which of its cells."""

    table: np.ndarray
    """[body, column]"""
    first: np.ndarray
    """[cell + 1]: where the bodies of a cell begin in `members`"""
    members: np.ndarray
    tops: np.ndarray
    """[cell]: nothing in it is higher, m"""
    grid: np.ndarray
    """corner x, corner y, side of a cell, columns, rows"""


def bodies_of(land: Land) -> Bodies:
    rows = [*_of_obstacles(land), *(row for thing in land.things for row in _of_thing(thing))]
    table = np.array(rows, dtype=float).reshape(-1, BODY_WIDTH)
    if not len(table):
        return Bodies(table, np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0), np.array([0.0, 0, 1, 0, 0]))
    reach = np.einsum("nij,nj->ni", np.abs(table[:, TURN:].reshape(-1, 3, 3)), table[:, HALF:MIDDLE])
    low, high = table[:, MIDDLE:TURN] - reach, table[:, MIDDLE:TURN] + reach
    corner = low[:, :2].min(axis=0)
    span = high[:, :2].max(axis=0) - corner
    side = max(SMALLEST_CELL, sqrt(float(np.prod(span)) / MOST_CELLS))
    columns, lines = (int(s // side) + 1 for s in span)
    from_cell, to_cell = ((edge[:, :2] - corner) // side for edge in (low, high))
    found: list[list[int]] = [[] for _ in range(columns * lines)]
    tops = np.full(columns * lines, -np.inf)
    for n, ((west, south), (east, north)) in enumerate(zip(from_cell.astype(int), to_cell.astype(int), strict=True)):
        for line in range(south, min(north, lines - 1) + 1):
            for column in range(west, min(east, columns - 1) + 1):
                found[line * columns + column].append(n)
                tops[line * columns + column] = max(tops[line * columns + column], high[n, 2])
    first = np.concatenate([[0], np.cumsum([len(cell) for cell in found])]).astype(np.int64)
    members = np.array([n for cell in found for n in cell], dtype=np.int64)
    return Bodies(table, first, members, tops, np.array([*corner, side, columns, lines], dtype=float))


def _of_obstacles(land: Land) -> Iterator[list[float]]:
    shapes = {"box": BOX, "cylinder": ROUND, "sphere": BALL}
    for it in land.world.obstacles.values():
        c, s = cos(it.yaw), sin(it.yaw)
        half = [0.5 * (it.size[0] if it.shape == "sphere" else side) for side in it.size]
        yield [shapes[it.shape], 0.0, *half, *it.position, c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0]


def _of_thing(thing: Thing) -> Iterator[list[float]]:
    for solid in thing.solids:
        if thing.kind == "vine_row":
            yield _row(
                solid, BOX, True, (1.0, 1.0 / SOLID_WIDTH, 1.0), rise=(1.0 - SOLID_HEIGHT) / (SOLID_HEIGHT - FREE)
            )
        elif thing.kind == "tree" and solid.half[0] > 0.1 * solid.half[2]:  # slimmer ones are trunks
            shape = BALL if solid.shape == "capsule" else ROUND
            yield _row(solid, shape, True, (CROWN, CROWN, 1.0))
        else:
            yield _row(solid, {"cylinder": ROUND, "sphere": BALL, "capsule": ROUND}.get(solid.shape, BOX), False)


def _row(solid: Solid, shape: int, leaves: bool, grown=(1.0, 1.0, 1.0), rise: float = 0.0) -> list[float]:
    """Wider than the solid, and higher at its top by a share of the solid's height."""
    half = [h * g for h, g in zip(solid.half, grown, strict=True)]
    higher = rise * half[2]
    middle = (*solid.position[:2], solid.position[2] + higher)
    return [shape, float(leaves), half[0], half[1], half[2] + higher, *middle, *solid.rotation.ravel()]


@compiled
def body_at(table, first, members, tops, grid, x, y, z):
    """The number of a body that a place is in; −1 for none."""
    u, v = (x - grid[0]) / grid[2], (y - grid[1]) / grid[2]
    if not (u >= 0.0 and v >= 0.0 and u < grid[3] and v < grid[4]):
        return -1
    cell = int(v) * int(grid[3]) + int(u)
    if z > tops[cell]:
        return -1
    for k in range(first[cell], first[cell + 1]):
        n = members[k]
        dx, dy, dz = x - table[n, MIDDLE], y - table[n, MIDDLE + 1], z - table[n, MIDDLE + 2]
        a = (table[n, TURN] * dx + table[n, TURN + 3] * dy + table[n, TURN + 6] * dz) / table[n, HALF]
        b = (table[n, TURN + 1] * dx + table[n, TURN + 4] * dy + table[n, TURN + 7] * dz) / table[n, HALF + 1]
        c = (table[n, TURN + 2] * dx + table[n, TURN + 5] * dy + table[n, TURN + 8] * dz) / table[n, HALF + 2]
        if table[n, SHAPE] == BOX:
            inside = abs(a) <= 1.0 and abs(b) <= 1.0 and abs(c) <= 1.0
        elif table[n, SHAPE] == ROUND:
            inside = a * a + b * b <= 1.0 and abs(c) <= 1.0
        else:
            inside = a * a + b * b + c * c <= 1.0
        if inside:
            return n
    return -1
