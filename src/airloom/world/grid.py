"""Heights of the ground on a regular grid: written in the scenario, in a file, or in a terrain folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from airloom.basics.arrays import read_array
from airloom.basics.given import MEGABYTE, text_of
from airloom.commands import EDGE
from airloom.scenario.models import HeightField
from airloom.scenario.terrain import TerrainError

MOST_HEIGHTS = 100_000_000
LARGEST_TEXT = 256 * MEGABYTE
COARSER = "give a coarser grid, or make a terrain folder of it"
BLOCK = 16  # cells each way, for which the highest point is known: whoever is above it need not look closer


@dataclass(frozen=True)
class Grid:
    """Heights at the corners of cells: rows run north, columns east. NaN is a hole, its floor the lowest height."""

    heights: np.ndarray
    """float32 [rows, columns], m; may be mapped from a file"""
    ceilings: np.ndarray
    """float32, the highest corner of each block"""
    corner: tuple[float, float]
    """x and y of the south-west, m"""
    cell: tuple[float, float]
    """m east and north"""
    low: float
    high: float

    @staticmethod
    def of(heights: np.ndarray, corner: tuple[float, float], cell: tuple[float, float]) -> Grid:
        heights = np.ascontiguousarray(heights, dtype=np.float32)
        return Grid(heights, ceilings_of(heights), corner, cell, float(np.nanmin(heights)), float(np.nanmax(heights)))

    @property
    def size(self) -> tuple[float, float]:
        """m east and north"""
        rows, columns = self.heights.shape
        return (columns - 1) * self.cell[0], (rows - 1) * self.cell[1]

    @property
    def east(self) -> np.ndarray:
        """x of the columns."""
        return self.corner[0] + self.cell[0] * np.arange(self.heights.shape[1])

    @property
    def north(self) -> np.ndarray:
        """y of the rows."""
        return self.corner[1] + self.cell[1] * np.arange(self.heights.shape[0])


def ceilings_of(heights: np.ndarray) -> np.ndarray:
    """The highest corner of each block, those that it shares with its neighbours among them; −∞ where all is a hole."""
    rows, columns = (-(-(n - 1) // BLOCK) for n in heights.shape)
    tops = np.full((rows, columns), -np.inf, dtype=np.float32)
    for r in range(rows):
        strip = np.fmax.reduce(heights[r * BLOCK : (r + 1) * BLOCK + 1], axis=0)
        for c in range(columns):
            tops[r, c] = np.fmax.reduce(strip[c * BLOCK : (c + 1) * BLOCK + 1], initial=-np.inf)
    return tops


def grid_of(terrain: HeightField) -> Grid:
    heights = _read_heights(terrain)
    rows, columns = heights.shape
    (east, north), (x, y) = terrain.size, terrain.center
    return Grid.of(heights, (x - east / 2, y - north / 2), (east / (columns - 1), north / (rows - 1)))


def _read_heights(terrain: HeightField) -> np.ndarray:
    """Heights as rows (south to north) of columns (west to east)."""
    if terrain.heights is not None:
        source, heights = "terrain.heights", np.array(terrain.heights, dtype=float)
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
    if path.suffix == ".npy":
        return read_array(path, TerrainError, MOST_HEIGHTS, COARSER).astype(float)
    if path.suffix == ".csv":
        text = text_of(path, TerrainError, LARGEST_TEXT, COARSER)
        if not text.strip():
            raise TerrainError(f"{path}: is empty")
        try:
            return np.loadtxt(text.splitlines(), delimiter=",", ndmin=2)
        except ValueError as error:
            raise TerrainError(f"{path}: heights cannot be read: {error}") from error
    raise TerrainError(f"{path}: heights come from a .npy or a .csv file")
