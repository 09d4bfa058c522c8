"""Where the corners of a grid lie, before their heights are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, hypot, log10
from typing import Any

import numpy as np

from airloom.scenario.terrain import TerrainError
from airloom.terrain.frame import Frame, degrees_of

MOST_CORNERS = 1 << 28
"""16 384 × 16 384: 1 GB of heights."""
FARTHEST_ORIGIN = 100_000.0  # m, where the Earth has curved down by 800 m
BARELY = 1e-6  # of a cell: rounding must not cost a row


@dataclass(frozen=True)
class Box:
    """m east and north of the origin."""

    west: float
    south: float
    east: float
    north: float

    @staticmethod
    def around(points: np.ndarray) -> Box:
        (west, south), (east, north) = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
        return Box(float(west), float(south), float(east), float(north))

    def within(self, other: Box) -> Box | None:
        """What both have in common."""
        box = Box(
            max(self.west, other.west), max(self.south, other.south),
            min(self.east, other.east), min(self.north, other.north),
        )  # fmt: skip
        return box if box.west < box.east and box.south < box.north else None

    def __str__(self) -> str:
        return f"{self.west:,.1f} … {self.east:,.1f} m east and {self.south:,.1f} … {self.north:,.1f} m north"


@dataclass(frozen=True)
class Layout:
    """Of a grid: rows run north, columns east."""

    frame: Frame
    corner: tuple[float, float]
    cell: tuple[float, float]
    rows: int
    columns: int

    @staticmethod
    def of(frame: Frame, box: Box, cell: tuple[float, float], anchor: tuple[float, float] = (0.0, 0.0)) -> Layout:
        """All corners in a box, whole cells away from the anchor."""
        farthest = max(abs(side) for side in (box.west, box.south, box.east, box.north))
        if not farthest / min(cell) < MOST_CORNERS**2:
            raise TerrainError(f"cells of {min(cell):g} m are too small for a surface that reaches {farthest:g} m far")
        first = [
            ceil((low - at) / size - BARELY)
            for low, at, size in zip((box.west, box.south), anchor, cell, strict=True)
        ]  # fmt: skip
        last = [
            floor((high - at) / size + BARELY)
            for high, at, size in zip((box.east, box.north), anchor, cell, strict=True)
        ]  # fmt: skip
        columns, rows = (b - a + 1 for a, b in zip(first, last, strict=True))
        if min(rows, columns) < 2:
            raise TerrainError(
                f"the surface would have {max(columns, 0)} × {max(rows, 0)} corners, and needs 2 × 2: take smaller "
                f"cells than {cell[0]:g} × {cell[1]:g} m (--cell), or a larger crop"
            )
        if rows * columns > MOST_CORNERS:
            larger = rounded(max(cell) * (rows * columns / MOST_CORNERS) ** 0.5 * 1.01)
            raise TerrainError(
                f"the surface would have {columns:,} × {rows:,} corners of {cell[0]:g} m, and may have "
                f"{MOST_CORNERS:,}: take larger cells (--cell {larger:g}) or a part of it (--crop)"
            )
        corner = tuple(at + size * n for at, size, n in zip(anchor, cell, first, strict=True))
        return Layout(frame, corner, cell, rows, columns)  # type: ignore[arg-type]

    @property
    def box(self) -> Box:
        (x, y), (east, north) = self.corner, self.cell
        return Box(x, y, x + (self.columns - 1) * east, y + (self.rows - 1) * north)


def rounded(length: float, digits: int = 3) -> float:
    """To so many digits that matter: 0.49983 m is 0.5 m on a map whose scale is not quite one."""
    return round(length, digits - 1 - floor(log10(length)))


@dataclass(frozen=True)
class Crop:
    """A part of a survey: `pixels` column, row, width, height; `metres` or `lonlat` west, south, east, north."""

    kind: str
    numbers: tuple[float, float, float, float]

    @staticmethod
    def read(text: str) -> Crop:
        """From text such as metres:-50,-50,50,50."""
        kind, _, rest = text.partition(":")
        form = "pixels:COLUMN,ROW,WIDTH,HEIGHT, metres:WEST,SOUTH,EAST,NORTH or lonlat:WEST,SOUTH,EAST,NORTH"
        try:
            a, b, c, d = (float(number) for number in rest.split(","))
        except ValueError:
            raise TerrainError(f"'{text}' is no crop: expected {form}") from None
        is_empty = (c <= 0 or d <= 0) if kind == "pixels" else (c <= a or d <= b)
        if kind not in ("pixels", "metres", "lonlat") or not np.isfinite([a, b, c, d]).all() or is_empty:
            raise TerrainError(f"'{text}' is no crop, or has nothing in it: expected {form}")
        return Crop(kind, (a, b, c, d))

    @property
    def window(self) -> tuple[int, int, int, int] | None:
        """Of pixels, if it is one."""
        return tuple(int(n) for n in self.numbers) if self.kind == "pixels" else None  # type: ignore[return-value]

    def box(self, frame: Frame, altitude: float) -> Box | None:
        """In local metres, unless it is one of pixels."""
        west, south, east, north = self.numbers
        if self.kind == "metres":
            return Box(west, south, east, north)
        if self.kind == "lonlat":
            if frame.crs is None:
                raise TerrainError(
                    "a survey in local metres is not cropped by longitude and latitude: use --crop metres:…"
                )
            x, y = np.meshgrid(np.linspace(west, east, 17), np.linspace(south, north, 17))
            return Box.around(Frame(frame.origin, "EPSG:4326").local(x, y, altitude))
        return None


def check_degrees(crop: Crop | None, crs: Any, outline: tuple[Any, Any], file: object) -> None:
    """That a part which is named by degrees is not elsewhere on Earth; the outline is in the survey's coordinates."""
    if crs is None or crop is None or crop.kind != "lonlat":
        return
    west, south, east, north = crop.numbers
    longitudes, latitudes = degrees_of(crs, *outline)
    longitudes = (west + east) / 2 + (longitudes - (west + east) / 2 + 180.0) % 360.0 - 180.0
    first, last, lowest, highest = longitudes.min(), longitudes.max(), latitudes.min(), latitudes.max()
    if west > last or east < first or south > highest or north < lowest:
        raise TerrainError(
            f"the crop ({west:g} … {east:g}° east, {south:g} … {north:g}° north) lies outside {file}, which reaches "
            f"over {first:.5f} … {last:.5f}° east and {lowest:.5f} … {highest:.5f}° north"
        )


def check_origin(origin: Sequence[float] | None, box: Box, crs: Any, file: object, warnings: list[str]) -> None:
    """That local metres around it can reach the survey."""
    away = hypot(max(box.west, -box.east, 0.0), max(box.south, -box.north, 0.0))
    if away < FARTHEST_ORIGIN:
        return
    if crs is None:
        warnings.append(
            f"the ground lies {away / 1000:,.0f} km from (0, 0), where vehicles usually start: if these are "
            "coordinates of a map, name it, or a similar one (--crs EPSG:NUMBER)"
        )
    elif origin:
        raise TerrainError(
            f"the origin ({origin[0]:g}°, {origin[1]:g}°) is {away / 1000:,.0f} km away from {file}: name a place in "
            "or near it (--origin LATITUDE,LONGITUDE)"
        )


def cropped(box: Box, crop: Crop | None, frame: Frame, altitude: float, file: object) -> Box:
    wanted = crop.box(frame, altitude) if crop else None
    if wanted is None:
        return box
    if (common := box.within(wanted)) is None:
        raise TerrainError(f"the crop ({wanted}) lies outside {file}, which reaches over {box}")
    return common
