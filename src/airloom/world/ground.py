"""The ground: a plane or a height field, its height and slope anywhere, and rays that meet it or an obstacle.

The compiled loop sees the world as one flat array: a header of named places, then heights, then obstacles.
"""

from __future__ import annotations

from math import ceil, cos, floor, inf, sin, sqrt
from pathlib import Path

import numpy as np

from airloom.commands import EDGE
from airloom.compiled import compiled
from airloom.errors import UserError
from airloom.scenario.models import HeightField, World

(
    W_GRAVITY, W_PRESSURE, W_TEMPERATURE, W_LATITUDE, W_LONGITUDE, W_ALTITUDE,
    W_FIELD_X, W_FIELD_Y, W_FIELD_Z, W_STEP,
    W_BASE, W_TOP, W_COLUMNS, W_ROWS, W_X0, W_Y0, W_DX, W_DY, W_STEEPEST, W_OBSTACLES, W_HEIGHTS,
) = range(21)  # fmt: skip
"""Places in the world array. W_BASE is the plane's height, and the height field's lowest, which also lies around it."""

OBSTACLE_WIDTH = 9  # shape, half size x, y, z, position x, y, z, cos yaw, sin yaw
SMALLEST_STRIDE = 1e-6  # m, so that rounding cannot hold a ray on a line
SHAPES = {"box": 0, "cylinder": 1, "sphere": 2}


class TerrainError(UserError):
    """The heights cannot be used; the message is meant for the user."""


def read_heights(terrain: HeightField) -> np.ndarray:
    """Heights as rows (south to north) of columns (west to east)."""
    if terrain.heights is not None:
        source, rows = "terrain.heights", terrain.heights
        if len({len(row) for row in rows}) != 1:
            raise TerrainError("terrain.heights: all rows must have the same length")
        heights = np.array(rows, dtype=float)
    else:
        source = str(terrain.file)
        heights = _heights_from_file(Path(source))
    if heights.ndim != 2 or min(heights.shape) < 2:
        raise TerrainError(f"{source}: expected a grid of at least 2 × 2 heights, got shape {heights.shape}")
    if not np.isfinite(heights).all():
        raise TerrainError(f"{source}: {np.sum(~np.isfinite(heights))} heights are not finite numbers")
    if (most := np.abs(heights).max()) > EDGE:
        raise TerrainError(f"{source}: a height may be {EDGE:g} m at most, got {most:g}")
    return heights


def _heights_from_file(path: Path) -> np.ndarray:
    try:
        if path.suffix == ".npy":
            return np.asarray(np.load(path, allow_pickle=False), dtype=float)
        if path.suffix == ".csv":
            return np.loadtxt(path, delimiter=",", ndmin=2)
    except (OSError, ValueError) as error:
        raise TerrainError(f"{path}: heights cannot be read: {error}") from error
    raise TerrainError(f"{path}: heights come from a .npy or a .csv file")


def world_array(world: World, step: float) -> np.ndarray:
    """The world as the compiled loop sees it."""
    header = np.zeros(W_HEIGHTS)
    header[W_GRAVITY], header[W_STEP] = world.gravity, step
    header[W_PRESSURE], header[W_TEMPERATURE] = world.pressure, world.temperature
    header[W_LATITUDE] = np.radians(world.origin.latitude)
    header[W_LONGITUDE] = np.radians(world.origin.longitude)
    header[W_ALTITUDE] = world.origin.altitude
    header[W_FIELD_X : W_FIELD_Z + 1] = world.magnetic_field
    header[W_OBSTACLES] = len(world.obstacles)
    obstacles = [
        [SHAPES[o.shape], *(0.5 * s for s in o.size), *o.position, cos(o.yaw), sin(o.yaw)]
        for o in world.obstacles.values()
    ]
    heights = np.zeros(0)
    if isinstance(world.terrain, HeightField):
        grid = read_heights(world.terrain)
        header[W_ROWS], header[W_COLUMNS] = grid.shape
        header[W_DX] = world.terrain.size[0] / (grid.shape[1] - 1)
        header[W_DY] = world.terrain.size[1] / (grid.shape[0] - 1)
        header[W_X0] = world.terrain.center[0] - world.terrain.size[0] / 2
        header[W_Y0] = world.terrain.center[1] - world.terrain.size[1] / 2
        header[W_BASE], header[W_TOP] = grid.min(), grid.max()
        header[W_STEEPEST] = _steepest(grid, header[W_DX], header[W_DY])
        heights = grid.ravel()
    else:
        header[W_BASE] = header[W_TOP] = world.terrain.height
    return np.concatenate([header, heights, np.array(obstacles, dtype=float).ravel()])


def _steepest(grid: np.ndarray, dx: float, dy: float) -> float:
    """No slope is greater: every triangle has an edge along each of the grid's two directions."""
    return float(np.hypot(np.abs(np.diff(grid, axis=1)).max() / dx, np.abs(np.diff(grid, axis=0)).max() / dy))


@compiled
def ground(world, x, y):
    """Height of the ground and its slope east and north. A cell is two triangles, split as MuJoCo splits it."""
    columns, rows = int(world[W_COLUMNS]), int(world[W_ROWS])
    if columns == 0:
        return world[W_BASE], 0.0, 0.0
    u, v = (x - world[W_X0]) / world[W_DX], (y - world[W_Y0]) / world[W_DY]
    if not (u >= 0.0 and v >= 0.0 and u <= columns - 1 and v <= rows - 1):
        return world[W_BASE], 0.0, 0.0
    c, r = min(int(u), columns - 2), min(int(v), rows - 2)
    u, v = u - c, v - r
    corner = W_HEIGHTS + r * columns + c
    southwest, southeast = world[corner], world[corner + 1]
    northwest, northeast = world[corner + columns], world[corner + columns + 1]
    if u > v:
        east, north = southeast - southwest, northeast - southeast
    else:
        east, north = northeast - northwest, northwest - southwest
    return southwest + u * east + v * north, east / world[W_DX], north / world[W_DY]


@compiled
def first_buried(world, points, rise):
    """The first of some points that lies less than `rise` above the ground; −1 if none does."""
    for k in range(points.shape[0]):
        if points[k, 2] < ground(world, points[k, 0], points[k, 1])[0] + rise:
            return k
    return -1


@compiled
def _to_next_line(x, rate):
    """How far along a ray, on which x changes at `rate`, to the next whole number."""
    if rate > 0.0:
        return (floor(x) + 1.0 - x) / rate
    if rate < 0.0:
        return (x - ceil(x) + 1.0) / -rate
    return inf


@compiled
def _ray_to_ground(world, px, py, pz, dx, dy, dz, reach):
    """Distance along a unit ray to the ground, at most `reach`.

    Between the lines of the grid and the diagonals of its cells the ground is flat, so the ray's height above it
    changes evenly from one line to the next, and where it becomes negative the ray has met the ground.
    """
    if world[W_COLUMNS] == 0.0:
        distance = (world[W_BASE] - pz) / dz if dz != 0.0 else inf
        return distance if 0.0 <= distance <= reach else reach
    du, dv = dx / world[W_DX], dy / world[W_DY]
    near = 0.0
    while near < reach:
        u, v = (px + near * dx - world[W_X0]) / world[W_DX], (py + near * dy - world[W_Y0]) / world[W_DY]
        line = min(_to_next_line(u, du), _to_next_line(v, dv), _to_next_line(u - v, du - dv))
        far = min(near + max(line, SMALLEST_STRIDE), reach)
        middle = 0.5 * (near + far)
        height, east, north = ground(world, px + middle * dx, py + middle * dy)
        above, climb = pz + middle * dz - height, dz - east * dx - north * dy
        if above + climb * (near - middle) < 0.0:
            return near
        if above + climb * (far - middle) < 0.0:
            return middle - above / climb
        near = far
    return reach


@compiled
def _slab(p, d, half):
    """Where a line enters and leaves −half … half."""
    if d == 0.0:
        return (-inf, inf) if -half <= p <= half else (inf, -inf)
    a, b = (-half - p) / d, (half - p) / d
    return (a, b) if a < b else (b, a)


@compiled
def _round(a, b, c):
    """Real roots of a t² + 2 b t + c = 0 as an interval."""
    inside = b * b - a * c
    if inside < 0.0:
        return inf, -inf
    root = sqrt(inside)
    return (-b - root) / a, (-b + root) / a


@compiled
def _ray_to_obstacle(world, at, px, py, pz, dx, dy, dz):
    """Distance along a unit ray to an obstacle, infinite if missed, 0 inside."""
    shape, hx, hy, hz = int(world[at]), world[at + 1], world[at + 2], world[at + 3]
    x, y, z = px - world[at + 4], py - world[at + 5], pz - world[at + 6]
    c, s = world[at + 7], world[at + 8]
    x, y = c * x + s * y, c * y - s * x
    dx, dy = c * dx + s * dy, c * dy - s * dx
    if shape == 2:
        enter, leave = _round(1.0, x * dx + y * dy + z * dz, x * x + y * y + z * z - hx * hx)
    else:
        enter, leave = _slab(z, dz, hz)
        if shape == 0:
            a, b = _slab(x, dx, hx)
            enter, leave = max(enter, a), min(leave, b)
            a, b = _slab(y, dy, hy)
        elif dx * dx + dy * dy > 0.0:
            a, b = _round(dx * dx + dy * dy, x * dx + y * dy, x * x + y * y - hx * hx)
        else:
            a, b = (-inf, inf) if x * x + y * y <= hx * hx else (inf, -inf)
        enter, leave = max(enter, a), min(leave, b)
    if leave < max(enter, 0.0):
        return inf
    return max(enter, 0.0)


@compiled
def ray(world, px, py, pz, dx, dy, dz, reach):
    """Distance along the unit ray (dx, dy, dz) from a point to the ground or an obstacle, at most `reach`."""
    distance = _ray_to_ground(world, px, py, pz, dx, dy, dz, reach)
    first = W_HEIGHTS + int(world[W_COLUMNS]) * int(world[W_ROWS])
    for k in range(int(world[W_OBSTACLES])):
        distance = min(distance, _ray_to_obstacle(world, first + k * OBSTACLE_WIDTH, px, py, pz, dx, dy, dz))
    return distance
