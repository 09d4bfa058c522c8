"""A terrain folder, as `airloom terrain build` leaves it. Large files in it are mapped, not read."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np

from airloom.scenario.terrain import CEILINGS, FILE, HEIGHTS, TerrainError, read_terrain_file
from airloom.world.grid import BLOCK, Grid


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

    def _mapped(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        file = self.folder / name
        try:
            array = np.load(file, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise TerrainError(f"{file} cannot be read: {error}; build the terrain anew") from None
        if array.shape != shape or array.dtype != np.float32 or not array.flags.c_contiguous:
            raise TerrainError(
                f"{file} does not fit {FILE}: expected {shape} single-precision numbers, got {array.shape} of "
                f"{array.dtype}; build the terrain anew"
            )
        return array
