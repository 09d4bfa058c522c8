"""A GeoTIFF, or another raster that `reading` knows, in parts, as heights in metres."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from airloom.commands import EDGE
from airloom.reading.rasters import RasterFile
from airloom.scenario.terrain import TerrainError
from airloom.terrain.frame import LOCAL, crs_of, horizontal_unit, metres_in, vertical_unit

LOOK = 512  # pixels each way of a first look


@dataclass
class Raster:
    """One band of a raster, from a window of pixels."""

    file: Path
    data: RasterFile
    crs: Any
    band: int
    unit: float
    """metres in the unit of its heights"""
    window: tuple[int, int, int, int]
    """first column, first row, width, height"""
    warnings: list[str] = field(default_factory=list)

    @property
    def transform(self) -> Any:
        """From pixels, counted from the file's corner, to coordinates."""
        return self.data.transform

    @property
    def pixel(self) -> tuple[float, float]:
        """Length along a row and along a column, in units of the coordinates."""
        t = self.transform
        return float(np.hypot(t.a, t.d)), float(np.hypot(t.b, t.e))

    @property
    def alpha(self) -> int | None:
        """The band that says where something is, which GDAL minds only beside whole numbers."""
        return next((n for n, name in enumerate(self.data.interpretations, 1) if name == "alpha"), None)

    @property
    def outline(self) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates of points along the window's border: the middles of its outermost pixels."""
        column, row, width, height = self.window
        c, r = np.linspace(column, column + width - 1, 33), np.linspace(row, row + height - 1, 33)
        columns = np.concatenate([c, np.full(33, c[-1]), c, np.full(33, c[0])])
        rows = np.concatenate([np.full(33, r[0]), r, np.full(33, r[-1]), r])
        return applied(self.transform, columns + 0.5, rows + 0.5)

    @property
    def middle(self) -> tuple[float, float]:
        """Its coordinates."""
        column, row, width, height = self.window
        return applied(self.transform, column + width / 2, row + height / 2)

    def pixels(self, east: np.ndarray, north: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Columns and rows, whole numbers at the middles of pixels. Longitudes may be told a turn apart."""
        if self.crs is not None and self.crs.is_geographic:
            east = self.middle[0] + (east - self.middle[0] + 180.0) % 360.0 - 180.0
        columns, rows = applied(~self.transform, east, north)
        return columns - 0.5, rows - 0.5

    def read(self, column: int, row: int, width: int, height: int, shape: tuple[int, int] | None = None) -> np.ndarray:
        """Heights of a window, m, float32; NaN where there are none. With a `shape` only so many, evenly chosen."""
        heights = self.data.heights(self.band, self.alpha, (column, row, width, height), shape)
        scale, offset = self.data.scales[self.band - 1], self.data.offsets[self.band - 1]
        if (scale, offset, self.unit) != (1.0, 0.0, 1.0):
            heights = ((heights * scale + offset) * self.unit).astype(np.float32)
        heights[~(np.abs(heights) < EDGE)] = np.nan  # what no ground can be is a nodata value that nobody declared
        return heights

    def altitude(self, east: float, north: float) -> float:
        """Of the ground at a place; where it has none, the middle of the heights there are."""
        column, row, width, height = self.window
        c, r = (float(np.rint(p)) for p in self.pixels(np.array(east), np.array(north)))
        if column <= c < column + width and row <= r < row + height:
            there = float(self.read(int(c), int(r), 1, 1)[0, 0])
            if abs(there) < EDGE:  # and a number; else there is nothing, whatever the file says
                return there
        look = self.read(*self.window, (min(height, LOOK), min(width, LOOK)))
        first = 0
        while not np.isfinite(look).any():
            if first >= height:
                raise TerrainError(
                    f"{self.file}: every pixel says that it has no height (nodata {self.data.nodata}); use another "
                    "file or --band"
                )
            look = self.read(column, row + first, width, min(LOOK, height - first))
            first += LOOK
        return float(np.nanmedian(look))


def applied(transform: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """An affine transform."""
    return transform.a * x + transform.b * y + transform.c, transform.d * x + transform.e * y + transform.f


def opened(
    file: Path,
    crs: str | None = None,
    band: int | None = None,
    units: str | None = None,
    window: tuple[int, int, int, int] | None = None,
    other_crs: str | None = None,
) -> Raster:
    """A raster, checked: what follows can rely on it, but reading may find that the file is damaged.

    `crs` is used instead of its own coordinate system, `other_crs` only if it has none.
    """
    data = RasterFile.look_at(file, TerrainError)
    system = _system(file, data, crs or (other_crs if data.crs is None else None))
    raster = Raster(file, data, system, _band(file, data, band), 1.0, _window(file, data, window))
    raster.unit = _unit(raster, units)
    return raster


def _system(file: Path, data: RasterFile, crs: str | None) -> Any:
    if crs is None and data.crs is None:
        raise TerrainError(
            f"{file} does not say where on Earth it lies: name its coordinate system with --crs EPSG:NUMBER, or with "
            f"--crs {LOCAL} if its coordinates are metres east and north"
        )
    if data.transform.is_identity:
        raise TerrainError(
            f"{file} is a picture without a georeference: nothing says how large its pixels are; give it one with "
            "rasterio's own command, for pixels of 0.5 m: rio edit-info --transform '[0.5, 0, 0, 0, -0.5, 0]' FILE"
        )
    return crs_of(crs or data.crs, str(file))


def _band(file: Path, data: RasterFile, band: int | None) -> int:
    if band is None:
        heights = [n for n, kind in enumerate(data.interpretations, 1) if kind != "alpha"]
        if len(heights) != 1:
            raise TerrainError(
                f"{file} has {len(heights)} bands ({', '.join(data.interpretations)}), and heights need one: choose it "
                "with --band N; a picture of the ground goes with --colour"
            )
        band = heights[0]
    if not 1 <= band <= data.count:
        raise TerrainError(f"{file} has no band {band}: they go from 1 to {data.count}")
    if data.dtypes[band - 1].startswith("complex"):
        raise TerrainError(f"{file}: band {band} has complex numbers, and heights are real: take another with --band N")
    return band


def _window(file: Path, data: RasterFile, window: tuple[int, int, int, int] | None) -> tuple[int, int, int, int]:
    column, row, width, height = window or (0, 0, data.width, data.height)
    first = max(column, 0), max(row, 0)
    last = min(column + width, data.width), min(row + height, data.height)
    if last[0] <= first[0] or last[1] <= first[1]:
        raise TerrainError(f"the crop lies outside {file}, which has {data.width} columns and {data.height} rows")
    width, height = last[0] - first[0], last[1] - first[1]
    if min(width, height) < 2:
        raise TerrainError(f"{file}: a surface needs at least 2 × 2 pixels, and here are {width} × {height}")
    return *first, width, height


def _unit(raster: Raster, units: str | None) -> float:
    """What the user says, else the band, else the coordinate system; the map's own unit where nothing is said."""
    if units is not None:
        if (known := metres_in(units)) is None:
            raise TerrainError(f"'{units}' is no unit of heights that is known: metres or feet")
        return known
    said = raster.data.units[raster.band - 1] or vertical_unit(raster.crs)
    if said and (known := metres_in(said)) is not None:
        return known
    if said:
        raster.warnings.append(f"the unit of its heights, '{said}', is not known: they are taken as metres (--units)")
    return assumed_unit(raster.crs, raster.warnings)


def assumed_unit(crs: Any, warnings: list[str]) -> float:
    """Of heights whose file does not say: that of its map, with a warning if that is feet."""
    unit = metres_in(horizontal_unit(crs) or "m") or 1.0
    if unit != 1.0:
        warnings.append(
            "the map is in feet and nothing is said of the heights: they are taken as feet too (else --units metres)"
        )
    return unit
