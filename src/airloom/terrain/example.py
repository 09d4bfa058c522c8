"""A survey to begin with: a vineyard as a drone with a good camera would have measured it, as a GeoTIFF."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

from airloom.scenario.generated import Vineyard
from airloom.scenario.terrain import TerrainError
from airloom.terrain.extras import library
from airloom.world.generated import heights_of
from airloom.world.noise import key_of, uniform

LATITUDE, LONGITUDE, ALTITUDE = 45.0512, 7.6735, 251.0  # degrees and m, of the middle
ZONE = "EPSG:32632"
POST, POST_SPACING, SPREAD = 2.1, 5.0, 0.015  # m: height, distance along a row, error of each height
FIELD = Vineyard(
    kind="vineyard", size=(200.0, 160.0), cell=0.2, slope=0.1, field=(120.0, 70.0), heading=0.12, uphill=1.69,
    canopy=1.7, roughness=0.06, seed=11,
)  # fmt: skip
EXAMPLES = {"vineyard": FIELD}


def write_example(name: str, file: str | Path, seed: int | None = None) -> None:
    """A surface model with rows, posts, headlands, slope and rough soil, in metres of UTM."""
    if name not in EXAMPLES:
        raise TerrainError(f"no example is called '{name}'; there is {', '.join(EXAMPLES)}")
    terrain = EXAMPLES[name] if seed is None else EXAMPLES[name].model_copy(update={"seed": seed})
    rasterio, pyproj = library("rasterio", "a GeoTIFF"), library("pyproj", "a GeoTIFF")
    heights = surface_of(terrain)
    easting, northing = pyproj.Transformer.from_crs("EPSG:4326", ZONE, always_xy=True).transform(LONGITUDE, LATITUDE)
    rows, columns = heights.shape
    corner = easting - columns * terrain.cell / 2, northing + rows * terrain.cell / 2
    about = {
        "driver": "GTiff", "width": columns, "height": rows, "count": 1, "dtype": "float32", "crs": ZONE,
        "transform": rasterio.transform.from_origin(*corner, terrain.cell, terrain.cell), "nodata": -9999.0,
        "compress": "deflate", "predictor": 3, "tiled": True,
    }  # fmt: skip
    _write(rasterio, Path(file), about, (heights[::-1] + ALTITUDE).astype(np.float32))


def surface_of(terrain: Vineyard) -> np.ndarray:
    """Heights at the middles of pixels, rows from south to north."""
    columns, rows = (round(side / terrain.cell) for side in terrain.size)
    east, north = ((np.arange(n) - (n - 1) / 2) * terrain.cell for n in (columns, rows))
    x, y = np.meshgrid(east, north)
    ground = heights_of(terrain.model_copy(update={"canopy": 0.0}), x, y)
    top = heights_of(terrain, x, y)
    c, s = np.cos(terrain.heading), np.sin(terrain.heading)
    along, across = c * x + s * y, c * y - s * x
    is_post = (_off(along, POST_SPACING) < 0.6 * terrain.cell) & (_off(across, terrain.spacing) < 0.6 * terrain.cell)
    is_post &= (np.abs(along) < terrain.field[0] / 2) & (np.abs(across) < terrain.field[1] / 2)
    surface = np.where(is_post, np.maximum(ground + POST, top), top)
    grain = uniform(key_of(terrain.seed, "survey"), np.arange(rows)[:, None], np.arange(columns)[None, :])
    return surface + SPREAD * np.sqrt(12.0) * (grain - 0.5)


def _off(way: np.ndarray, spacing: float) -> np.ndarray:
    return np.abs(way / spacing - np.round(way / spacing)) * spacing


def _write(rasterio, file: Path, about: dict, heights: np.ndarray) -> None:
    """All at once or not at all."""
    try:
        handle, unfinished = tempfile.mkstemp(suffix=".tif", dir=file.absolute().parent)
        os.close(handle)
        try:
            with rasterio.open(unfinished, "w", **about) as raster:
                raster.write(heights, 1)
            os.chmod(unfinished, 0o644)
            os.replace(unfinished, file)
        finally:
            Path(unfinished).unlink(missing_ok=True)
    except OSError as error:
        raise TerrainError(f"{file}: cannot be written: {error.strerror or error}") from None
