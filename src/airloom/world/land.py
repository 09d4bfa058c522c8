"""The land: all that is fixed in a world, as everybody sees it. The ground, obstacles, and what stands there."""

from __future__ import annotations

from functools import cached_property
from math import cos, sin

import numpy as np

from airloom.scenario.generated import Generated
from airloom.scenario.models import HeightField, Survey, World
from airloom.world import ground as at
from airloom.world.generated import generated_grid
from airloom.world.grid import Grid, grid_of
from airloom.world.ground import ground, ray
from airloom.world.objects import things_of
from airloom.world.survey import Surveyed
from airloom.world.things import Thing
from airloom.world.tree import tree_of
from airloom.world.triangulation import SMALL, Level, triangulate, usual_errors, whole
from airloom.world.water import water_numbers

_LATEST: dict[str, list[Thing]] = {}
"""Things of the world that was looked at last."""
SHAPES = {"box": 0, "cylinder": 1, "sphere": 2}


class Land:
    """A world's surfaces. Compiled code sees them by `array`, which is good as long as this lives."""

    def __init__(self, world: World, step: float = 0.001) -> None:
        self.world = world
        self._step = step

    @cached_property
    def survey(self) -> Surveyed | None:
        """The terrain folder, if the ground is one."""
        return Surveyed(self.world.terrain.folder) if isinstance(self.world.terrain, Survey) else None

    @cached_property
    def grid(self) -> Grid | None:
        """The ground's heights, unless it is a plane."""
        if self.survey is not None:
            return self.survey.grid
        if isinstance(self.world.terrain, Generated):
            return generated_grid(self.world.terrain)
        return grid_of(self.world.terrain) if isinstance(self.world.terrain, HeightField) else None

    @cached_property
    def levels(self) -> list[Level]:
        """Meshes of the ground from fine to coarse; none of a plane."""
        if self.survey is not None and self.survey.levels:
            return self.survey.levels
        if self.grid is None:
            return []
        return (
            [whole(self.grid)] if self.grid.heights.size <= SMALL else triangulate(self.grid, usual_errors(self.grid))
        )

    @property
    def base(self) -> float:
        """Height of the plane, which lies around and under a height field too, at its lowest."""
        return self.world.terrain.height if self.grid is None else self.grid.low  # type: ignore[union-attr]

    @cached_property
    def things(self) -> list[Thing]:
        """What stands on the ground."""
        overhangs = self.survey.overhangs if self.survey is not None else None
        return [*([overhangs] if overhangs else []), *self._objects()]

    def _objects(self) -> list[Thing]:
        """Made once for a world: every edit of a vehicle makes another land, with the same things on it."""
        key = self.world.model_dump_json(include={"terrain", "objects"})
        if key not in _LATEST:
            things = things_of(self.world, self.height)
            _LATEST.clear()
            _LATEST[key] = things
        return _LATEST[key]

    @cached_property
    def array(self) -> np.ndarray:
        """The world as the compiled loop sees it."""
        world, header = self.world, self.bare.copy()
        header[at.W_OBSTACLES] = len(world.obstacles)
        self._fill_things(header)
        obstacles = [
            [SHAPES[o.shape], *(0.5 * s for s in o.size), *o.position, cos(o.yaw), sin(o.yaw)]
            for o in world.obstacles.values()
        ]
        return np.concatenate([header, np.array(obstacles, dtype=float).ravel()])

    @cached_property
    def bare(self) -> np.ndarray:
        """The same without obstacles and things, which is all that somebody needs who puts things there."""
        world, header = self.world, np.zeros(at.W_HEADER)
        header[at.W_GRAVITY], header[at.W_STEP] = world.gravity, self._step
        header[at.W_PRESSURE], header[at.W_TEMPERATURE] = world.pressure, world.temperature
        header[at.W_HUMIDITY] = world.weather.humidity
        header[at.W_LATITUDE] = np.radians(world.origin.latitude)
        header[at.W_LONGITUDE] = np.radians(world.origin.longitude)
        header[at.W_ALTITUDE] = world.origin.altitude
        header[at.W_FIELD_X : at.W_FIELD_Z + 1] = world.magnetic_field
        header[at.W_BASE] = header[at.W_TOP] = self.base
        if self.water.size:
            header[at.W_WATER], header[at.W_WATER_LENGTH] = self.water.ctypes.data, self.water.size
        self._fill_grid(header)
        return header

    @cached_property
    def water(self) -> np.ndarray:
        """Numbers of the water, which may change during a run; none without water."""
        return np.empty(0) if self.world.water is None else water_numbers(self.world.water, self.world.gravity, 0)

    def begin(self, key: int) -> None:
        """A run begins: the water is as its file says, with the waves of a key."""
        if self.world.water is not None:
            self.water[:] = water_numbers(self.world.water, self.world.gravity, key)

    def _fill_grid(self, header: np.ndarray) -> None:
        if (grid := self.grid) is None:
            return
        header[[at.W_ROWS, at.W_COLUMNS]] = grid.heights.shape
        header[[at.W_X0, at.W_Y0]], header[[at.W_DX, at.W_DY]] = grid.corner, grid.cell
        header[at.W_TOP] = grid.high
        header[at.W_GRID], header[at.W_CEILINGS] = grid.heights.ctypes.data, grid.ceilings.ctypes.data

    def _fill_things(self, header: np.ndarray) -> None:
        if not self.things:
            return
        corners = np.concatenate([thing.mesh.vertices[thing.mesh.faces] for thing in self.things])
        order, boxes = tree_of(corners.min(axis=1), corners.max(axis=1))
        a, b, c = (corners[order, k] for k in range(3))
        self._triangles, self._triangle_boxes = np.hstack([a, b - a, c - a]), boxes
        header[at.W_TRIANGLES], header[at.W_TRIANGLES_AT] = len(order), self._triangles.ctypes.data
        header[at.W_TRIANGLE_LEAVES], header[at.W_TRIANGLE_BOXES] = len(boxes) // 2, boxes.ctypes.data
        solids = [solid for thing in self.things for solid in thing.solids]
        if not solids:
            return
        extents = np.array([solid.extent for solid in solids])
        order, boxes = tree_of(extents[:, 0], extents[:, 1])
        rows = [[*solid.half, *solid.position, *solid.rotation.ravel()] for solid in solids]
        self._solids, self._solid_boxes = np.array(rows)[order], boxes
        header[at.W_SOLIDS], header[at.W_SOLIDS_AT] = len(order), self._solids.ctypes.data
        header[at.W_SOLID_LEAVES], header[at.W_SOLID_BOXES] = len(boxes) // 2, boxes.ctypes.data

    def height(self, x: float, y: float) -> float:
        """Of the ground, m."""
        return float(ground(self.bare, x, y)[0])

    def hit(self, origin: np.ndarray, direction: np.ndarray, reach: float) -> float:
        """Distance along a unit ray to the ground, an obstacle or a thing, at most `reach`."""
        return float(ray(self.array, *origin, *direction, reach))
