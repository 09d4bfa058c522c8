"""The map that all members know: which area is to be covered, in square cells, and what stands in it.

Arrays have a row a cell to the north and a column a cell to the east. Compiled functions measure in cells from the
south-west corner: `Area.to_cells` and `Area.to_metres` lead there and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, cos, floor, sin
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field, model_validator

from airloom.compiled import compiled
from airloom.plugin import Parameters
from airloom.scenario.values import Extent, Point, Positive
from airloom.swarm.surroundings import Obstacle, out_of, outlines

if TYPE_CHECKING:
    from airloom.scenario.models import Obstacle as Solid
    from airloom.scenario.models import World

MOST_CELLS = 100_000


class AreaParameters(Parameters):
    """A rectangle, seen from above."""

    center: Point = Field((0.0, 0.0), description="east and north, m")
    size: tuple[Extent, Extent] = Field(description="extent east and north, m")
    cell: Positive = Field(3.0, description="side of the cells that members reckon with, m")

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return ceil(self.size[1] / self.cell - 1e-9), ceil(self.size[0] / self.cell - 1e-9)

    @model_validator(mode="after")
    def _can_be_reckoned_with(self) -> AreaParameters:
        rows, columns = self.shape
        if rows * columns > MOST_CELLS:
            raise ValueError(f"{rows} × {columns} cells are more than {MOST_CELLS}: choose a larger cell")
        return self


class Area:
    def __init__(self, parameters: AreaParameters, obstacles: Sequence[Obstacle], clearance: float) -> None:
        self.cell, self.shape = parameters.cell, parameters.shape
        rows, columns = self.shape
        self.corner = np.array(parameters.center) - 0.5 * self.cell * np.array([columns, rows])
        self.obstacles = outlines(list(obstacles))
        depths = np.empty(self.shape)
        _outside(self.corner, self.cell, *self.obstacles, depths)
        self.opaque = depths <= 0.0
        """What nobody sees through: cells whose middle lies in an obstacle."""
        self.closed = depths <= clearance
        """Where nobody flies: cells whose middle is nearer to an obstacle than the clearance."""
        self.clearance = clearance / self.cell

    def to_cells(self, places: np.ndarray) -> np.ndarray:
        """[…, 2], m."""
        return (places - self.corner) / self.cell

    def to_metres(self, places: np.ndarray) -> np.ndarray:
        """[…, 2], cells."""
        return places * self.cell + self.corner

    def within(self, place: Point) -> tuple[int, int] | None:
        """Row and column of a place, m; None outside."""
        column, row = (floor(x) for x in self.to_cells(np.array(place)).tolist())
        return (row, column) if 0 <= row < self.shape[0] and 0 <= column < self.shape[1] else None

    def middles(self) -> np.ndarray:
        """Of all cells, [row, column, 2], m."""
        rows, columns = self.shape
        x, y = np.meshgrid(np.arange(columns) + 0.5, np.arange(rows) + 0.5)
        return self.to_metres(np.stack([x, y], axis=-1))


@compiled
def _outside(corner, cell, corners, starts, radii, out):
    """How far the middle of each cell is from the nearest obstacle, m, negative inside; infinite without obstacles."""
    for row in range(out.shape[0]):
        for column in range(out.shape[1]):
            x, y = corner[0] + (column + 0.5) * cell, corner[1] + (row + 0.5) * cell
            out[row, column] = np.inf
            for k in range(radii.shape[0]):
                r = out_of(x, y, corners, starts[k], starts[k + 1])[0]
                out[row, column] = min(out[row, column], r - radii[k])


def standing_in(world: World, height: float, margin: float) -> list[Obstacle]:
    """The obstacles of a world that reach to within a margin of a height, as seen from above."""
    return [
        _footprint(solid)
        for solid in world.obstacles.values()
        if abs(solid.position[2] - height) < 0.5 * _tallness(solid) + margin
    ]


def _tallness(solid: Solid) -> float:
    return solid.size[0] if solid.shape == "sphere" else solid.size[2]


def _footprint(solid: Solid) -> Obstacle:
    x, y, _ = solid.position
    if solid.shape != "box":
        return Obstacle(corners=[(x, y)], radius=0.5 * solid.size[0])
    c, s, long, wide = cos(solid.yaw), sin(solid.yaw), 0.5 * solid.size[0], 0.5 * solid.size[1]
    corners = [(long, wide), (-long, wide), (-long, -wide), (long, -wide)]
    return Obstacle(corners=[(x + a * c - b * s, y + a * s + b * c) for a, b in corners])
