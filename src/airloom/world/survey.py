"""A terrain folder, as `airloom terrain build` leaves it. Large files in it are mapped, not read."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np

from airloom.scenario.terrain import CEILINGS, FILE, HEIGHTS, TILES, TRIANGLES, TerrainError, read_terrain_file
from airloom.world.grid import BLOCK, Grid
from airloom.world.triangulation import Level, tiles_of


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

    def _mapped(self, name: str, shape: tuple[int, ...], kind: type[np.generic] = np.float32) -> np.ndarray:
        file = self.folder / name
        try:
            array = np.load(file, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise TerrainError(f"{file} cannot be read: {error}; build the terrain anew") from None
        if array.shape != shape or array.dtype != kind or not array.flags.c_contiguous:
            raise TerrainError(
                f"{file} does not fit {FILE}: expected {shape} of {np.dtype(kind)}, got {array.shape} of "
                f"{array.dtype}; build the terrain anew"
            )
        return array
