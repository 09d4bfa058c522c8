"""Asked against given: the prescription beside what a run has left on the field."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from airloom.basics.drawing import in_style
from airloom.farm.field import Field, frame_of
from airloom.farm.geojson import FarmError, shapely
from airloom.farm.job import SQUARE_METRES
from airloom.farm.prescription import MOST_PIXELS, Rates
from airloom.reading.rasters import RasterFile
from airloom.terrain.extras import library
from airloom.terrain.frame import Frame, crs_of
from airloom.terrain.raster import applied

CLOSE = 0.2
"""A place has got what was asked for if it got so much of it more or less."""
SQUARE = 1.0  # m: side of the squares whose means are compared
MAP_WIDTH, MAP_HEIGHT, DPI = 8.0, 7.0, 110  # inches of one map, at most


@dataclass(frozen=True)
class Comparison:
    """Maps in litres per hectare, and what they come to."""

    asked: np.ndarray
    """[rows, columns], NaN outside the field"""
    given: np.ndarray
    cell_area: float
    """m²"""

    @property
    def difference(self) -> np.ndarray:
        """Given less asked; NaN outside the field."""
        return self.given - self.asked

    @property
    def _in_field(self) -> np.ndarray:
        return np.isfinite(self.asked)

    def _litres(self, per_hectare: np.ndarray) -> float:
        return float(per_hectare.sum() * self.cell_area / SQUARE_METRES)

    @property
    def asked_litres(self) -> float:
        return self._litres(self.asked[self._in_field])

    @property
    def given_litres(self) -> float:
        """Inside the field."""
        return self._litres(self.given[self._in_field])

    @property
    def outside_litres(self) -> float:
        return self._litres(self.given[~self._in_field])

    @property
    def over_litres(self) -> float:
        """Where there is more than was asked for, how much more."""
        return self._litres(np.maximum(self.difference[self._in_field], 0.0))

    @property
    def under_litres(self) -> float:
        """Where there is less than was asked for, how much less."""
        return self._litres(np.maximum(-self.difference[self._in_field], 0.0))

    @property
    def mean_error(self) -> float:
        """L/ha; more was given than asked for if it is above 0."""
        return float(self.difference[self._in_field].mean())

    @property
    def mean_deviation(self) -> float:
        """L/ha, without its sign."""
        return float(np.abs(self.difference[self._in_field]).mean())

    @property
    def close_share(self) -> float:
        """Of the area where something was asked for, that which got it within 20 %."""
        asked, given = self.asked[self._in_field], self.given[self._in_field]
        treated = asked > 0
        if not treated.any():
            return float("nan")
        return float((np.abs(given - asked)[treated] <= CLOSE * asked[treated]).mean())

    def numbers(self) -> dict[str, float]:
        """With their units, as they are told."""
        return {
            "asked, L": self.asked_litres, "given in the field, L": self.given_litres, "too much, L": self.over_litres,
            "too little, L": self.under_litres, "outside the field, L": self.outside_litres,
            "mean error, L/ha": self.mean_error, "mean deviation, L/ha": self.mean_deviation,
            "within ±20 %, share": self.close_share,
        }  # fmt: skip


def compare(asked: np.ndarray, given: np.ndarray, cell_area: float) -> Comparison:
    """Maps of the same cells, L/ha; `asked` is NaN outside the field. A cell has an area in m²."""
    asked, given = np.asarray(asked, dtype=float), np.asarray(given, dtype=float)
    if asked.shape != given.shape:
        raise FarmError(f"maps of {asked.shape} and {given.shape} cells cannot be compared")
    if not np.isfinite(asked).any():
        raise FarmError("the map lies nowhere in the field: was the run in the same place?")
    return Comparison(asked, np.nan_to_num(given, nan=0.0), cell_area)


@dataclass(frozen=True)
class Deposit:
    """A map of what was given, from a GeoTIFF: its bands (ground, canopy) together, L/ha."""

    given: np.ndarray
    transform: Any
    crs: str
    """WKT"""

    @staticmethod
    def read(file: Path) -> Deposit:
        data = RasterFile.look_at(file, FarmError)
        if data.crs is None:
            raise FarmError(f"{file}: the raster names no coordinate system")
        bands = data.values(list(range(1, data.count + 1)), MOST_PIXELS)
        return Deposit(np.nan_to_num(bands).sum(axis=0), data.transform, data.crs)

    def in_squares(self, side: float, field: Field) -> Deposit:
        """With pixels of about so many metres: no sprayer is finer, and where single drops fall is chance."""
        count = max(round(side / self._cell_area(field) ** 0.5), 1)
        rows, columns = (size // count for size in self.given.shape)
        if count == 1 or not rows or not columns:
            return self
        whole = self.given[: rows * count, : columns * count]
        means = whole.reshape(rows, count, columns, count).mean(axis=(1, 3))
        return Deposit(means, self.transform @ self.transform.scale(count), self.crs)

    def _frame(self, field: Field) -> Frame:
        return frame_of(field.origin, crs_of(self.crs, "the map"))

    def _cell_area(self, field: Field) -> float:
        """m²"""
        corners = applied(self.transform, np.eye(3)[1], np.eye(3)[2])
        origin, right, down = self._frame(field).local(*corners, 0.0)[:, :2]
        (a, b), (c, d) = right - origin, down - origin
        return abs(a * d - b * c)

    def against(self, field: Field, rates: Rates) -> Comparison:
        """With what was asked for at the middle of each pixel."""
        rows, columns = np.indices(self.given.shape)
        east, north = applied(self.transform, columns.ravel() + 0.5, rows.ravel() + 0.5)
        x, y, _ = self._frame(field).local(east, north, field.origin.altitude).T
        inside = shapely().contains_xy(field.area, x, y)
        asked = np.full(x.size, np.nan)
        asked[inside] = rates.at(x[inside], y[inside])
        return compare(asked.reshape(self.given.shape), self.given, self._cell_area(field))

    def save(self, comparison: Comparison, file: Path) -> None:
        """The difference as a GeoTIFF of the same pixels."""
        rasterio = library("rasterio", "a map of the difference", "farm")
        rows, columns = self.given.shape
        look = {"driver": "GTiff", "width": columns, "height": rows, "count": 1, "dtype": "float32", "nodata": np.nan}
        try:
            with rasterio.open(file, "w", crs=self.crs, transform=self.transform, compress="deflate", **look) as data:
                data.write(comparison.difference.astype("f4"), 1)
                data.set_band_description(1, "given less asked, litres per hectare")
        except (OSError, rasterio.errors.RasterioError) as error:
            raise FarmError(f"{file} cannot be written: {error}") from None


def deposit_in(run: Path) -> Path:
    """The map that the spray system has left in a run's folder."""
    if run.is_file():
        return run
    found = sorted(run.glob("*.tif"))
    found = [file for file in found if not file.name.startswith("difference")]
    if len(found) != 1:
        names = ", ".join(file.name for file in found) or "none"
        raise FarmError(f"{run}: a run with the system 'spray' leaves one map there, a GeoTIFF; found: {names}")
    return found[0]


@in_style
def draw_comparison(comparison: Comparison, file: Path, title: str) -> None:
    from matplotlib.figure import Figure

    rows, columns = _part_in_field(comparison.asked)
    maps = [
        ("asked", comparison.asked), ("given", comparison.given), ("given less asked", comparison.difference),
    ]  # fmt: skip
    top = float(np.nanpercentile(np.concatenate([comparison.asked[rows, columns].ravel(),
                                                 comparison.given[rows, columns].ravel()]), 99)) or 1.0  # fmt: skip
    side = comparison.cell_area**0.5
    height, width = (rows.stop - rows.start) * side, (columns.stop - columns.start) * side
    wide = min(MAP_WIDTH, MAP_HEIGHT * width / height)
    shape, size = ((3, 1), (wide + 2.0, 3 * (wide * height / width + 0.7) + 0.5))
    if height > width:
        shape, size = ((1, 3), (3 * (wide + 2.0), wide * height / width + 1.5))
    figure = Figure(figsize=size, dpi=DPI, layout="constrained")
    for axes, (name, values) in zip(figure.subplots(*shape).ravel(), maps, strict=True):
        look: dict[str, Any] = {"cmap": "YlGnBu", "vmin": 0.0, "vmax": top}
        if name == "given less asked":
            look = {"cmap": "RdBu", "vmin": -top, "vmax": top}
        drawn = axes.imshow(values[rows, columns], extent=(0.0, width, 0.0, height), interpolation="nearest", **look)
        axes.set_facecolor("#dddddd")
        axes.set_title(name, loc="left", fontsize=10)
        axes.set(xlabel="m", ylabel="m")
        figure.colorbar(drawn, ax=axes, label="L/ha", shrink=0.9)
    figure.suptitle(title)
    figure.savefig(file, metadata={"Software": None})


def _part_in_field(asked: np.ndarray) -> tuple[slice, slice]:
    """The rows and columns of the field, and a little around it."""
    spans = []
    for axis in (1, 0):
        there = np.flatnonzero(np.isfinite(asked).any(axis=axis))
        edge = max(int(0.08 * (there[-1] - there[0] + 1)), 2)
        spans.append(slice(max(there[0] - edge, 0), min(there[-1] + edge + 1, asked.shape[1 - axis])))
    return spans[0], spans[1]
