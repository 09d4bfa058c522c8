"""A terrain folder, as `airloom terrain build` leaves it. Large files in it are mapped, not read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from airloom.basics.arrays import read_array
from airloom.basics.pictures import read_picture
from airloom.reading.box import read_boxed
from airloom.reading.meshes import triangles
from airloom.scenario.terrain import CEILINGS, FILE, HEIGHTS, TILES, TRIANGLES, TerrainError, read_terrain_file
from airloom.world.grid import BLOCK, Grid
from airloom.world.meshes import Mesh, painted
from airloom.world.things import Solid, Thing
from airloom.world.triangulation import Level, tiles_of

if TYPE_CHECKING:
    from PIL import Image

MOST_NUMBERS = 10**10
OVERHANG_COLOUR = 122, 128, 104
OVERHANG_CELLS = 4  # each way, of a piece
SKIN = 0.5  # cells: how thick what was scanned is taken to be


class Surveyed:
    """The ground from a terrain folder."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.about = read_terrain_file(folder)

    @cached_property
    def grid(self) -> Grid:
        about = self.about
        blocks = tuple(-(-(n - 1) // BLOCK) for n in (about.rows, about.columns))
        heights = self._mapped(HEIGHTS, (about.rows, about.columns))
        return Grid(heights, self._mapped(CEILINGS, blocks), about.corner, about.cell, about.low, about.high)

    @cached_property
    def levels(self) -> list[Level]:
        """Meshes of the ground, from fine to coarse."""
        return [self._level(number) for number in range(len(self.about.levels))]

    def _level(self, number: int) -> Level:
        about, (down, across) = self.about.levels[number], tiles_of((self.about.rows, self.about.columns))
        faces = self._mapped(TRIANGLES.format(number), (about.triangles, 3), np.uint32)
        starts = self._mapped(TILES.format(number), (down * across + 1,), np.int64)
        return Level(about.error, faces, starts, about.largest, about.mean)

    @cached_property
    def overhangs(self) -> Thing | None:
        """What stands out of the ground, if the survey was built with it; solid in small pieces."""
        if self.about.overhangs is None:
            return None
        try:
            found = read_boxed(triangles, self.folder / self.about.overhangs, refusal=TerrainError)
        except TerrainError as error:
            raise TerrainError(f"{error}; build the terrain anew") from None
        mesh = painted(found["vertices"], found["faces"], OVERHANG_COLOUR)
        return Thing("overhangs", "survey", mesh, tuple(_pieces(mesh, OVERHANG_CELLS * max(self.about.cell))))

    def photo(self) -> Image.Image:
        """The ground's colours, north up."""
        assert self.about.colour is not None
        return read_picture(self.folder / self.about.colour, TerrainError, "build the terrain anew").convert("RGB")

    def _mapped(self, name: str, shape: tuple[int, ...], kind: type[np.generic] = np.float32) -> np.ndarray:
        file = self.folder / name
        array = read_array(file, TerrainError, MOST_NUMBERS, "build the terrain anew", mapped=True)
        if array.shape != shape or array.dtype != kind or not array.flags.c_contiguous:
            raise TerrainError(
                f"{file} does not fit {FILE}: expected {shape} of {np.dtype(kind)}, got {array.shape} of "
                f"{array.dtype}; build the terrain anew"
            )
        return array


def _pieces(mesh: Mesh, side: float) -> Iterator[Solid]:
    """The triangles in each cube: engines that know convex shapes only then still come close to the whole.

    A scan has a surface and no inside, so each piece is given a skin below it.
    """
    cubes = np.floor(mesh.vertices[mesh.faces].mean(axis=1) / side).astype(np.int64)
    _, which = np.unique(cubes, axis=0, return_inverse=True)
    order = np.argsort(which, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(which[order])) + 1):
        used, faces = np.unique(mesh.faces[part], return_inverse=True)
        upper = mesh.vertices[used]
        vertices = np.concatenate([upper, upper - [0.0, 0.0, SKIN * side / OVERHANG_CELLS]])
        faces = faces.reshape(-1, 3)
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        middle = (low + high) / 2
        solid = painted(vertices - middle, np.concatenate([faces, faces[:, ::-1] + len(used)]), OVERHANG_COLOUR)
        yield Solid("exact", tuple((high - low) / 2), tuple(middle), mesh=solid)
