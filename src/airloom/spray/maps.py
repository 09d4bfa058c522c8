"""Deposition maps: litres per hectare on the ground and in the leaves, on a regular grid of the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.basics.drawing import in_style
from airloom.errors import UserError

if TYPE_CHECKING:
    from airloom.scenario.models import Origin

MOST_CELLS = 16_000_000
HECTARE = 10_000.0  # m²
COLOURS = ["#ffffff", "#cfe8f3", "#8cc6de", "#3e97c6", "#1b63a5", "#12316e"]
"""Of the picture, from nothing to much."""
LEFT_OUT = 0.005  # of the liquid, which the picture does not show on each of its sides
HIGHEST = 6.0  # inches of a picture
NARROWEST = 0.6  # of a picture: its shorter side over its longer


class MapError(UserError):
    """A map cannot be made or written; the message is meant for the user."""


@dataclass(frozen=True)
class Extent:
    """A part of the world, m."""

    west: float
    south: float
    east: float
    north: float

    def grown(self, margin: float) -> Extent:
        return Extent(self.west - margin, self.south - margin, self.east + margin, self.north + margin)


def cells_in(extent: Extent, cell: float) -> tuple[int, int]:
    """Rows and columns."""
    rows = ceil((extent.north - extent.south) / cell - 1e-9)
    return max(rows, 1), max(ceil((extent.east - extent.west) / cell - 1e-9), 1)


@dataclass
class DepositionMap:
    """Rows run north, columns east; litres in each cell."""

    extent: Extent
    cell: float
    ground: np.ndarray = field(init=False)
    canopy: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        shape = cells_in(self.extent, self.cell)
        self.ground, self.canopy = np.zeros(shape), np.zeros(shape)

    @property
    def corner(self) -> tuple[float, float]:
        return self.extent.west, self.extent.south

    def clear(self) -> None:
        self.ground[:], self.canopy[:] = 0.0, 0.0

    def per_hectare(self, litres: np.ndarray) -> np.ndarray:
        """Litres per hectare of the ground below."""
        return litres * (HECTARE / self.cell**2)

    def middles(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """[n, 2] of cells, world, m."""
        return np.stack([columns + 0.5, rows + 0.5], axis=-1) * self.cell + self.corner

    def save(
        self, stem: Path, origin: Origin, title: str, target: Sequence[tuple[float, float]] | None = None
    ) -> list[Path]:
        """A picture, in it the target; a GeoTIFF with the bands ground and canopy, without rasterio a .npy file."""
        picture, tif = stem.with_suffix(".png"), stem.with_suffix(".tif")
        try:
            stem.parent.mkdir(parents=True, exist_ok=True)
            self._draw(picture, title, target)
            if has_rasterio():
                write_geotiff(tif, self, origin)
                return [picture, tif]
            arrays = stem.with_suffix(".npy")
            np.save(arrays, np.stack([self.per_hectare(self.ground), self.per_hectare(self.canopy)]).astype("f4"))
            return [picture, arrays]
        except OSError as error:
            raise MapError(f"cannot write the map {stem}: {error.strerror or error}") from None

    @in_style
    def _draw(self, file: Path, title: str, target: Sequence[tuple[float, float]] | None) -> None:
        from matplotlib.colors import LinearSegmentedColormap, Normalize
        from matplotlib.figure import Figure

        bands = [("ground", self.ground), ("canopy", self.canopy)]
        if not self.canopy.any():
            bands = bands[:1]
        part = self.sprayed_part(margin=2.0)
        shown = [(name, self.per_hectare(values[part])) for name, values in bands]
        top = max((float(np.percentile(v[v > 0], 98)) for _, v in shown if (v > 0).any()), default=1.0)
        rows, columns = part
        west, south = self.corner
        edges = [west + columns.start * self.cell, west + columns.stop * self.cell,
                 south + rows.start * self.cell, south + rows.stop * self.cell]  # fmt: skip
        ratio = min(max((edges[3] - edges[2]) / (edges[1] - edges[0]), 0.25), 1.6)
        wide = min(7.2 / len(bands) ** 0.5, HIGHEST / ratio)
        figure = Figure(figsize=(wide * len(bands) + 1.8, wide * ratio + 1.4), dpi=120)
        figure.set_layout_engine("constrained")
        axes = np.atleast_1d(figure.subplots(1, len(bands), sharex=True, sharey=True))
        scale, colours = Normalize(0.0, top), LinearSegmentedColormap.from_list("spray", COLOURS)
        for axis, (name, values) in zip(axes, shown, strict=True):
            drawn: Any = axis.imshow(values, origin="lower", extent=edges, norm=scale, cmap=colours)
            axis.set(title=name, xlabel="east x [m]")
            axis.grid(visible=False)
            if target:
                _draw_outline(axis, target)
            axis.set(xlim=edges[:2], ylim=edges[2:])
        axes[0].set_ylabel("north y [m]")
        figure.suptitle(title, fontweight="bold")
        figure.colorbar(drawn, ax=list(axes), label="deposit [L/ha]", extend="max", extendfrac=0.03, aspect=30)
        figure.savefig(file, metadata={"Software": None})

    def sprayed_part(self, margin: float) -> tuple[slice, slice]:
        """Cells of nearly all that has landed, not of what drifted far, and of a margin around, m; or all cells."""
        wet = self.ground + self.canopy
        if not wet.any():
            return slice(0, wet.shape[0]), slice(0, wet.shape[1])
        rows, columns = _middle_part(wet.sum(axis=1)), _middle_part(wet.sum(axis=0))
        edge, spans = round(margin / self.cell), [rows[-1] + 1 - rows[0], columns[-1] + 1 - columns[0]]
        least = round(NARROWEST * (max(spans) + 2 * edge))
        edges = [max(edge, (least - span) // 2) for span in spans]
        down, across = (
            slice(max(cells[0] - aside, 0), min(cells[-1] + aside + 1, size))
            for cells, aside, size in zip((rows, columns), edges, wet.shape, strict=True)
        )
        return down, across


def _middle_part(litres: np.ndarray) -> np.ndarray:
    """Numbers of the cells of a row between which nearly all lies, as much left out on either side."""
    below = np.cumsum(litres) / litres.sum()
    return np.arange(np.searchsorted(below, LEFT_OUT), np.searchsorted(below, 1.0 - LEFT_OUT) + 1)


def _draw_outline(axis: Any, corners: Sequence[tuple[float, float]]) -> None:
    x, y = np.array([*corners, corners[0]]).T
    axis.plot(x, y, color="#c62828", linewidth=1.2, linestyle=(0, (5, 3)))
    axis.annotate("target", (x[0], y[0]), (3, 3), textcoords="offset points", color="#c62828", fontsize=9)


def has_rasterio() -> bool:
    from importlib.util import find_spec

    return find_spec("rasterio") is not None and find_spec("pyproj") is not None


def write_geotiff(file: Path, deposition: DepositionMap, origin: Origin) -> None:
    """In the zone of UTM that the origin is in; its north is not the world's, so the raster is turned a little."""
    import rasterio
    from affine import Affine

    from airloom.terrain.frame import Frame, Place, crs_of

    zone = min(int((origin.longitude + 180.0) // 6.0) + 1, 60)
    crs = crs_of(f"EPSG:{(32600 if origin.latitude >= 0 else 32700) + zone}", "spray")
    frame = Frame(Place(origin.latitude, origin.longitude, origin.altitude), crs)
    rows, columns = deposition.ground.shape
    (west, south), wide, high = deposition.corner, columns * deposition.cell, rows * deposition.cell
    top, right, bottom = frame.survey([west, west + wide, west], [south + high, south + high, south], [0.0] * 3)[:, :2]
    across, down = (right - top) / columns, (bottom - top) / rows
    transform = Affine(across[0], down[0], top[0], across[1], down[1], top[1])
    about = {"driver": "GTiff", "width": columns, "height": rows, "count": 2, "dtype": "float32", "compress": "deflate"}
    unfinished = file.with_name(f".unfinished-{file.name}")
    with rasterio.open(unfinished, "w", crs=crs.to_wkt(), transform=transform, **about) as raster:
        for band, (name, litres) in enumerate((("ground", deposition.ground), ("canopy", deposition.canopy)), 1):
            raster.write(deposition.per_hectare(litres)[::-1].astype("f4"), band)
            raster.set_band_description(band, f"{name}, litres per hectare")
            raster.set_band_unit(band, "L/ha")
    unfinished.replace(file)
