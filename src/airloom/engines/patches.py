"""The piece of a height field under each vehicle, as MuJoCo sees it.

MuJoCo would keep all heights of a large terrain in its model, twice. Instead every vehicle has a small height field of
its own that only it can touch, filled with the heights around it whenever it comes to other cells. So terrain costs the
same however large it is, and there are no seams. Which cells these are follows from the vehicle's place alone, not from
how it came there: equal states have equal contacts.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import mujoco
import numpy as np

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.world.grid import Grid
from airloom.world.ground import W_COLUMNS, W_DX, W_DY, W_ROWS, W_X0, W_Y0, height_at, is_over_heights

BASE_THICKNESS = 1.0  # m below the lowest height of a patch
TRAVEL = 0.5  # m that a vehicle may move in a tick
LEAST_SPAN = 1e-6  # m between the lowest and the highest height, by which MuJoCo divides
NOWHERE = -2  # no row or column, for −1 is the one beyond the edge


class PatchSize(NamedTuple):
    """In cells: how far from a vehicle its patch must reach at least, how far it moves at once, what it holds."""

    need: int
    stride: int
    rows: int
    columns: int

    @staticmethod
    def of(grid: Grid, reach: float) -> PatchSize:
        """For vehicles that extend `reach` from their origin, m."""
        need = ceil((reach + TRAVEL) / min(grid.cell)) + 1
        stride = max(need, 4)
        rows, columns = (min(2 * need + stride + 1, n + 2) for n in grid.heights.shape)
        return PatchSize(need, stride, rows, columns)


class Patches(NamedTuple):
    """What the compiled loop needs to move the patches: arrays of MuJoCo's model, and of the one for hard impacts."""

    size: PatchSize
    corners: np.ndarray
    """int64 [vehicle, row and column of the south-west]"""
    geoms: np.ndarray
    """int64, the number of each vehicle's patch"""
    places: np.ndarray
    """MuJoCo's `geom_xpos`"""
    own: tuple[np.ndarray, ...]
    """`hfield_data`, `hfield_size`, `geom_pos`, `geom_aabb`, `geom_rbound`"""
    hard: tuple[np.ndarray, ...]


def patches_of(
    size: PatchSize, names: list[str], model: mujoco.MjModel, hard: mujoco.MjModel, data: mujoco.MjData
) -> Patches:
    geoms = np.array([model.geom(patch_name(name)).id for name in names], dtype=np.int64)
    return Patches(size, np.full((len(names), 2), NOWHERE), geoms, data.geom_xpos, _arrays(model), _arrays(hard))


def no_patches(model: mujoco.MjModel, data: mujoco.MjData) -> Patches:
    return Patches(
        PatchSize(0, 1, 0, 0), np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64), data.geom_xpos,
        _arrays(model), _arrays(model),
    )  # fmt: skip


def _arrays(model: mujoco.MjModel) -> tuple[np.ndarray, ...]:
    return model.hfield_data, model.hfield_size, model.geom_pos, model.geom_aabb, model.geom_rbound


def patch_name(vehicle: str) -> str:
    return f"{vehicle}/ground"


@compiled
def move_patches(patches, blocks, vehicles, world):
    """Fill those anew whose vehicle has come to other cells."""
    if patches.corners.shape[0] == 0:
        return
    for b in range(blocks.shape[0]):
        w = blocks[b]
        for i in range(LANES):
            own = vehicles[b, i]
            if own < 0 or not is_over_heights(world, w[row.PX + i], w[row.PY + i], patches.size.need):
                continue
            u, v = (w[row.PX + i] - world[W_X0]) / world[W_DX], (w[row.PY + i] - world[W_Y0]) / world[W_DY]
            r = _corner(v, patches.size, patches.size.rows, world[W_ROWS])
            c = _corner(u, patches.size, patches.size.columns, world[W_COLUMNS])
            if r != patches.corners[own, 0] or c != patches.corners[own, 1]:
                patches.corners[own, 0], patches.corners[own, 1] = r, c
                _fill(patches, patches.own, own, r, c, world)
                _fill(patches, patches.hard, own, r, c, world)


@compiled
def _corner(along, size, cells, most):
    """The first row, or column, of the patch of a vehicle that is `along` the grid; −1 is that beyond the edge."""
    first = int(along) // size.stride * size.stride - size.need
    return min(max(first, -1), int(most) + 1 - cells)


@compiled
def _fill(patches, model, v, first_row, first_column, world):
    data, sizes, places, boxes, bounds = model
    rows, columns = patches.size.rows, patches.size.columns
    low, high, start = np.inf, -np.inf, v * rows * columns
    for r in range(rows):
        for c in range(columns):
            height = height_at(world, first_row + r, first_column + c)
            low, high = min(low, height), max(high, height)
    span = max(high - low, LEAST_SPAN)
    for r in range(rows):
        for c in range(columns):
            data[start + r * columns + c] = (height_at(world, first_row + r, first_column + c) - low) / span
    x, y = 0.5 * (columns - 1) * world[W_DX], 0.5 * (rows - 1) * world[W_DY]
    geom = patches.geoms[v]
    sizes[v, 2] = span
    places[geom, 0] = world[W_X0] + first_column * world[W_DX] + x
    places[geom, 1] = world[W_Y0] + first_row * world[W_DY] + y
    places[geom, 2] = low
    boxes[geom, 2], boxes[geom, 5] = 0.5 * (span - BASE_THICKNESS), 0.5 * (span + BASE_THICKNESS)
    bounds[geom] = np.sqrt(x * x + y * y + max(span, BASE_THICKNESS) ** 2)
    for k in range(3):
        patches.places[geom, k] = places[geom, k]
