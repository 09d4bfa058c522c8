"""What there is to be seen: the ground, obstacles and things in scenes by place, vehicles where they are now."""

from __future__ import annotations

from collections import OrderedDict
from functools import cached_property
from math import acos, ceil, cos, floor, inf, pi, sin
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from airloom.basics.rotations import matrix_from_quaternion
from airloom.compiled import rows as row
from airloom.eyes import rays
from airloom.eyes.embree import Triangles
from airloom.eyes.rays import Packet, measure
from airloom.scenario.models import Obstacle
from airloom.world.meshes import Mesh, ngon, painted, prism, rectangle
from airloom.world.triangulation import TILE, tiles_of

if TYPE_CHECKING:
    from airloom.engines.fleet import Craft, Fleet
    from airloom.eyes.eye import EyeErrors
    from airloom.eyes.stage import Stage
    from airloom.sensors.faults import Fault

MOST_CELLS = 500_000  # in a scene, each two triangles; of more ground the finest mesh is seen
KEPT = 4  # scenes
SAGITTA = 1e-3  # m, by which a round obstacle's sides may lie within it
MOST_SIDES = 256
GREY = (150, 150, 150)

_BOX = prism(rectangle(1.0, 1.0), -0.5, 0.5, GREY)


class Window(NamedTuple):
    """The part of a grid from these rows and columns to those, as it is seen from over one of its tiles."""

    south: int
    west: int
    north: int
    east: int
    tile: tuple[int, int] | None = None
    """Column and row; None if it is all of the grid."""
    reach: float = inf
    """m"""

    @property
    def cells(self) -> int:
        return max(self.north - self.south, 0) * max(self.east - self.west, 0)


class LandScene(NamedTuple):
    triangles: Triangles | None
    center: np.ndarray
    """From which single precision counts."""


class Sight:
    """What the eyes of a fleet see."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet, self.step_ns = fleet, fleet.step_ns
        self._land = fleet.land
        self._scenes: OrderedDict[Window, LandScene] = OrderedDict()
        self._packet = Packet()
        self._stages: dict[tuple[int, int], Stage] = {}

    def is_buried(self, position: np.ndarray) -> bool:
        """Whether a place is in the ground, from where nothing is seen."""
        return bool(position[2] < self._land.height(position[0], position[1]))

    def stage(self, width: int, height: int) -> Stage:
        """What draws pictures of this size."""
        if (width, height) not in self._stages:
            from airloom.eyes.stage import Stage

            self._stages[width, height] = Stage(self._fleet, width, height)
        return self._stages[width, height]

    def distances(
        self,
        vehicle: str,
        position: np.ndarray,
        rotation: np.ndarray,
        directions: np.ndarray,
        scale: np.ndarray,
        limits: tuple[float, float],
        errors: EyeErrors,
        fault: Fault,
        key: int,
        tick: int,
    ) -> np.ndarray:
        """What an eye of a vehicle reads along unit directions [n, 3] of its own; `scale` as in `measure`."""
        out = np.empty(len(directions), dtype=np.float32)
        if self.is_buried(position):
            out[:] = np.nan
            return out
        reach = 1.1 * limits[1] / float(scale.min(initial=1.0)) + 1.0  # noise may bring nearer what is beyond
        land, others = self._land_around(position, reach), self._vehicles_around(vehicle, position, reach)
        numbers = np.zeros(rays.NUMBERS)
        numbers[rays.PLACE_X : rays.PLACE_Z + 1] = position - land.center
        numbers[rays.ROTATION : rays.ROTATION + 9] = rotation.ravel()
        numbers[rays.BASE], numbers[rays.REACH] = self._land.base - land.center[2], reach
        numbers[[rays.NEAREST, rays.FARTHEST]] = limits
        numbers[rays.SIGMA], numbers[rays.GROWTH] = np.hypot(errors.noise, fault.noise[0]), errors.growth
        numbers[rays.OFFSET] = errors.bias + fault.offset[0]
        numbers[rays.DROPOUT], numbers[rays.GRAZING] = errors.dropout, sin(errors.grazing)
        seen = self._scene_of_vehicles(others, land.center)
        scenes = np.array([scene.address if scene else 0 for scene in (land.triangles, seen)])
        packet = self._packet
        measure(
            scenes, packet.addresses, packet.rays, packet.whole, numbers, directions, scale, np.uint64(key), tick, out
        )
        return out

    # -- vehicles ------------------------------------------------------------------------------------------------

    def _vehicles_around(self, own: str, position: np.ndarray, reach: float) -> list[Craft]:
        fleet = self._fleet
        states = fleet.flight.blocks.reshape(len(fleet.blocks), -1, row.LANES)
        at = states[:, row.PX // row.LANES : row.PX // row.LANES + 3]
        near = np.linalg.norm(at - position[:, None], axis=1) < reach + fleet.reach
        return [craft for craft in fleet.crafts if near[craft.block, craft.lane] and craft.name != own]

    def _scene_of_vehicles(self, crafts: list[Craft], center: np.ndarray) -> Triangles | None:
        if not crafts:
            return None
        columns = np.array([self._fleet.column(craft)[row.STATE // row.LANES :][:7] for craft in crafts])
        turns = matrix_from_quaternion(columns[:, 3:])
        bodies = [craft.vehicle.body for craft in crafts]
        boxes = (
            _BOX.vertices * np.array([body.size for body in bodies])[:, None]
            + np.array([body.position for body in bodies])[:, None]
        )
        corners = np.einsum("nij,nkj->nki", turns, boxes) + (columns[:, :3] - center)[:, None]
        faces = _BOX.faces + len(_BOX.vertices) * np.arange(len(crafts), dtype=np.uint32)[:, None, None]
        return Triangles(corners.reshape(-1, 3), faces.reshape(-1, 3))

    # -- the land ------------------------------------------------------------------------------------------------

    def _land_around(self, position: np.ndarray, reach: float) -> LandScene:
        """The scene depends on the place alone, so that what is seen does not depend on where one has looked before."""
        window, middle = self._window(position, reach)
        if window not in self._scenes:
            self._scenes[window] = self._build(window, middle)
            if len(self._scenes) > KEPT:
                self._scenes.popitem(last=False)
        self._scenes.move_to_end(window)
        return self._scenes[window]

    def _window(self, position: np.ndarray, reach: float) -> tuple[Window, np.ndarray]:
        """What is within reach of the tile that a place is over, with a middle; all the ground, if it is little."""
        grid = self._land.grid
        if grid is None:
            return Window(0, 0, 0, 0), np.zeros(3)
        rows, columns = grid.heights.shape
        if rows * columns <= MOST_CELLS:
            middle = np.array([*np.add(grid.corner, np.divide(grid.size, 2)), 0.0])
            return Window(0, 0, rows - 1, columns - 1), middle
        tile = [floor((position[axis] - grid.corner[axis]) / (TILE * grid.cell[axis])) for axis in (0, 1)]
        beyond = [ceil(reach / cell) for cell in grid.cell]
        west, south = (TILE * tile[axis] - beyond[axis] for axis in (0, 1))
        east, north = (TILE * (tile[axis] + 1) + beyond[axis] for axis in (0, 1))
        x, y = (grid.corner[axis] + (tile[axis] + 0.5) * TILE * grid.cell[axis] for axis in (0, 1))
        edges = max(south, 0), max(west, 0), min(north, rows - 1), min(east, columns - 1)
        return Window(*edges, (tile[0], tile[1]), reach), np.array([x, y, 0.0])

    def _build(self, window: Window, middle: np.ndarray) -> LandScene:
        near = [mesh for mesh in self._solids if window.tile is None or self._is_near(mesh, middle, window.reach)]
        parts = [(mesh.vertices - middle, mesh.faces) for mesh in near]
        if window.cells:
            vertices, faces = self._all_cells(window) if window.cells <= MOST_CELLS else self._finest_mesh(window)
            parts.append((vertices - middle, faces))
            if self._has_edge(window):
                parts += [(vertices - middle, faces) for vertices, faces in self._edges]
        if not parts:
            return LandScene(None, middle)
        firsts = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
        numbered = [faces + np.uint32(first) for (_, faces), first in zip(parts, firsts[:-1], strict=True)]
        return LandScene(Triangles(np.concatenate([v for v, _ in parts]), np.concatenate(numbered)), middle)

    def _is_near(self, mesh: Mesh, middle: np.ndarray, reach: float) -> bool:
        """Whether a mesh may be seen from over a tile with this middle."""
        grid, (low, high) = self._land.grid, mesh.extent
        assert grid is not None
        around = reach + 0.5 * TILE * np.array(grid.cell)
        return bool((low[:2] < middle[:2] + around).all() and (high[:2] > middle[:2] - around).all())

    def _all_cells(self, window: Window) -> tuple[np.ndarray, np.ndarray]:
        """Of the grid in a window."""
        grid = self._land.grid
        assert grid is not None
        rows, columns = slice(window.south, window.north + 1), slice(window.west, window.east + 1)
        up = np.nan_to_num(grid.heights[rows, columns], nan=self._land.base)
        return cells_of(grid.east[columns], grid.north[rows], up)

    def _has_edge(self, window: Window) -> bool:
        assert self._land.grid is not None
        rows, columns = self._land.grid.heights.shape
        return min(window.south, window.west) == 0 or window.north == rows - 1 or window.east == columns - 1

    @cached_property
    def _edges(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of the grid, south, north, west and east: the cell in which the ground falls to its lowest height."""
        grid, base = self._land.grid, self._land.base
        assert grid is not None
        (x0, y0), (dx, dy), (width, depth) = grid.corner, grid.cell, grid.size
        east = np.concatenate([[x0 - dx], grid.east, [x0 + width + dx]])
        edges = [np.nan_to_num(line, nan=base) for line in (*grid.heights[[0, -1]], *grid.heights[:, [0, -1]].T)]
        south, north = (np.pad(line, 1, constant_values=base) for line in edges[:2])
        low, lower = np.full_like(south, base), np.full_like(edges[2], base)
        return [
            cells_of(east, np.array([y0 - dy, y0]), np.stack([low, south])),
            cells_of(east, np.array([y0 + depth, y0 + depth + dy]), np.stack([north, low])),
            cells_of(east[:2], grid.north, np.stack([lower, edges[2]], axis=1)),
            cells_of(east[-2:], grid.north, np.stack([edges[3], lower], axis=1)),
        ]

    def _finest_mesh(self, window: Window) -> tuple[np.ndarray, np.ndarray]:
        """The tiles of the ground's mesh in a window."""
        grid, level = self._land.grid, self._land.levels[0]
        assert grid is not None
        across = tiles_of(grid.heights.shape)[1]
        rows = range(window.south // TILE, -(-window.north // TILE))
        first, last = window.west // TILE, -(-window.east // TILE)
        strips = [level.faces[level.starts[r * across + first] : level.starts[r * across + last]] for r in rows]
        used, faces = np.unique(np.concatenate(strips), return_inverse=True)
        row, column = np.divmod(used, grid.heights.shape[1])
        vertices = np.column_stack([grid.east[column], grid.north[row], grid.heights[row, column]])
        return vertices, faces.reshape(-1, 3).astype(np.uint32)

    @cached_property
    def _solids(self) -> list[Mesh]:
        """Obstacles and things."""
        return [
            *(obstacle_mesh(obstacle) for obstacle in self._land.world.obstacles.values()),
            *(thing.mesh for thing in self._land.things),
        ]


def cells_of(east: np.ndarray, north: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cells between corners [north, east] as two triangles each, split as `ground` splits them."""
    x, y = np.meshgrid(east, north)
    corners = np.arange(up.size, dtype=np.uint32).reshape(up.shape)
    southwest, southeast, northwest, northeast = (
        corners[a, b].ravel() for a in (slice(-1), slice(1, None)) for b in (slice(-1), slice(1, None))
    )
    faces = np.stack([southwest, southeast, northeast, southwest, northeast, northwest], axis=1).reshape(-1, 3)
    return np.column_stack([x.ravel(), y.ravel(), up.ravel()]), faces


def obstacle_mesh(obstacle: Obstacle) -> Mesh:
    """An obstacle in its place; round ones have as many sides as a millimetre asks for."""
    length, width, height = obstacle.size
    sagitta = SAGITTA / (2.0 if obstacle.shape == "sphere" else 1.0)  # which is round both ways
    sides = min(max(ceil(pi / acos(max(1.0 - 2.0 * sagitta / length, 0.0))), 16), MOST_SIDES)
    if obstacle.shape == "box":
        mesh = prism(rectangle(length, width), -height / 2, height / 2, GREY)
    elif obstacle.shape == "cylinder":
        mesh = prism(ngon(length / 2, sides), -height / 2, height / 2, GREY)
    else:
        mesh = _sphere(length / 2, sides)
    c, s = cos(obstacle.yaw), sin(obstacle.yaw)
    return mesh.turned(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])).moved(obstacle.position)


def _sphere(radius: float, sides: int) -> Mesh:
    rings = np.linspace(-pi / 2, pi / 2, sides // 2 + 1)
    flat = ngon(1.0, sides)
    vertices = np.concatenate([radius * np.column_stack([cos(t) * flat, np.full(sides, sin(t))]) for t in rings])
    k, j = np.meshgrid(np.arange(len(rings) - 1), np.arange(sides), indexing="ij")
    a, b = (k * sides + j).ravel(), (k * sides + (j + 1) % sides).ravel()
    faces = np.concatenate([np.stack([a, b, b + sides], 1), np.stack([a, b + sides, a + sides], 1)])
    return painted(vertices, faces, GREY)
