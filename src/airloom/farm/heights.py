"""The ground under a field, and heights to fly at along a line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from airloom.compiled import compiled
from airloom.farm.field import Field
from airloom.farm.geojson import FarmError, shapely
from airloom.scenario.models import Origin, World
from airloom.world.ground import ground
from airloom.world.land import Land

Surface = Literal["ground", "top"]
STEP = 2.0  # m between two looks at the ground
AROUND = 2.0  # m along the line within which the highest leaf counts, where the terrain has the leaves in it
FINEST = 0.2  # m between two looks for leaves
MOST_LOOKS = 5e6
EXACT = 0.05  # m by which straight pieces may differ from the ground


@compiled
def _fill(world, x, y, heights):
    for k in range(heights.size):
        heights[k] = ground(world, x[k], y[k])[0]


@dataclass(frozen=True)
class Ground:
    """A world's ground; without a world it is level, 0 m high."""

    world: World | None = None

    @property
    def origin(self) -> Origin | None:
        return self.world.origin if self.world else None

    @cached_property
    def _land(self) -> Land | None:
        return Land(self.world) if self.world else None

    def heights(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if self._land is None:
            return np.zeros(len(x))
        heights = np.empty(len(x))
        _fill(self._land.bare, np.ascontiguousarray(x), np.ascontiguousarray(y), heights)
        return heights

    def fineness(self, area: float) -> float:
        """Distance of places that miss no leaf which the terrain shows, in fields of a sensible size, m."""
        grid = self._land.grid if self._land else None
        return max(min(grid.cell) if grid is not None else STEP, FINEST, (area / MOST_LOOKS) ** 0.5)

    def check_is_under(self, field: Field) -> None:
        """Refuse a field that is not all on the terrain, or over a hole of it."""
        grid = self._land.grid if self._land else None
        if grid is None:
            return
        (west, south), (width, depth) = grid.corner, grid.size
        terrain = shapely().box(west, south, west + width, south + depth)
        off = field.outline.difference(terrain).area
        if off > 0:
            x, y = field.outline.centroid.coords[0]
            size = f"{width:.0f} × {depth:.0f} m around ({west + width / 2:.0f}, {south + depth / 2:.0f})"
            raise FarmError(
                f"{field.name}: {off / field.outline.area:.0%} of the field lie off the terrain, which has {size} m; "
                f"the field's middle is at ({x:.0f}, {y:.0f}) m"
            )
        if np.isnan(grid.heights).any():
            self._refuse_holes(field, grid)

    @staticmethod
    def _refuse_holes(field: Field, grid: Any) -> None:
        rows, columns = np.nonzero(np.isnan(grid.heights))
        x, y = grid.east[columns], grid.north[rows]
        inside = shapely().contains_xy(field.outline, x, y)
        if inside.any():
            k = int(np.argmax(inside))
            raise FarmError(
                f"{field.name}: the terrain has no height at ({x[k]:.1f}, {y[k]:.1f}) m, in the field; build it with "
                "--holes fill"
            )


@dataclass(frozen=True)
class Clearance:
    """How far above what."""

    ground: Ground
    height: float
    """above the canopy, m"""
    canopy: float
    """its height above the ground, m"""
    surface: Surface
    """whether the terrain is the ground, or the top of the canopy"""
    swath: float
    fineness: float = STEP
    """distance of looks for leaves, m"""

    def highest(self, start: tuple[float, float], end: tuple[float, float]) -> float:
        """The top of what stands on the way between two places, m."""
        tops, _ = self._tops(start, end)
        return float(tops.max()) + (self.canopy if self.surface == "ground" else 0.0)

    def jut(self, start: tuple[float, float], end: tuple[float, float]) -> tuple[float, np.ndarray]:
        """How far what stands on the swath juts out of the ground below the line at most, m, and where."""
        tops, places = self._tops(start, end)
        jut = tops - self.ground.heights(*places.T)
        return float(jut.max()), places[jut.argmax()]

    def _tops(self, start: tuple[float, float], end: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
        """Heights of what the terrain shows on the way between two places, and places on it."""
        way = np.subtract(end, start)
        if np.hypot(*way) < self.fineness:
            way = np.array([self.fineness, 0.0])
        length = float(np.hypot(*way))
        along = np.linspace(0.0, length, int(length / self.fineness) + 2)
        places = np.asarray(start) + along[:, None] / length * way
        return self._top(places, way / length, along[1]), places

    def along(self, start: tuple[float, float], end: tuple[float, float]) -> list[tuple[float, float]]:
        """Distances along a line and heights, as few as follow the ground exactly enough."""
        way = np.subtract(end, start)
        length = float(np.hypot(*way))
        step = STEP if self.surface == "ground" else self.fineness
        along = np.linspace(0.0, length, max(int(length / step) + 2, 2))
        places = np.asarray(start) + along[:, None] / length * way
        if self.surface == "ground":
            heights = self.ground.heights(places[:, 0], places[:, 1]) + self.canopy
        else:
            heights = self._top(places, way / length, along[1])
        line = shapely().LineString(np.column_stack([along, heights + self.height])).simplify(EXACT)
        return [(round(s, 2), round(z, 3)) for s, z in line.coords]

    def _top(self, places: np.ndarray, direction: np.ndarray, step: float) -> np.ndarray:
        """The highest leaf on the swath, a little ahead and behind too."""
        aside = np.array([-direction[1], direction[0]])
        across = np.linspace(-0.5, 0.5, int(self.swath / self.fineness) + 2) * self.swath
        reach = int(np.ceil(AROUND / step))
        beyond = np.arange(1, reach + 1)[:, None] * step * direction
        longer = np.concatenate([places[0] - beyond[::-1], places, places[-1] + beyond])
        tops = np.max([self.ground.heights(*(longer + a * aside).T) for a in across], axis=0)
        return np.lib.stride_tricks.sliding_window_view(tops, 2 * reach + 1).max(axis=1)
