"""A field of 2000 × 2000 heights, with rows of vines on a slope, becomes a terrain and is loaded."""

from __future__ import annotations

import atexit
import time
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

SIDE, PIXEL = 2000, 0.5
ROW_EVERY, ROW_WIDTH, VINES = 2.5, 0.6, 1.8  # m


@cache
def _folder() -> Path:
    """Kept to the end of the process."""
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Path(folder.name)


@cache
def survey() -> Path:
    """A GeoTIFF in UTM: hills, noise of 2 cm, and vines on an eighth of it."""
    import rasterio

    north, east = np.mgrid[:SIDE, :SIDE] * PIXEL
    heights = 250 + 20 * np.sin(east / 90) + 10 * np.cos(north / 70)
    heights += np.random.default_rng(0).normal(0.0, 0.02, heights.shape)
    is_vineyard = (abs(east - 350) < 150) & (abs(north - 450) < 200)
    heights[is_vineyard & (east % ROW_EVERY < ROW_WIDTH)] += VINES
    file = _folder() / "field.tif"
    with rasterio.open(
        file, "w", driver="GTiff", width=SIDE, height=SIDE, count=1, dtype="float32", crs="EPSG:32632",
        transform=rasterio.Affine(PIXEL, 0, 395_000, 0, -PIXEL, 4_990_000),
    ) as data:  # fmt: skip
        data.write(heights.astype(np.float32), 1)
    build_small()
    return file


def build_small() -> None:
    """So that what is compiled, or loaded from the cache, is there."""
    from airloom.terrain.build import build_terrain

    build_terrain(_folder() / "field.tif", _folder() / "small", crop="pixels:0,0,100,100")


def seconds_to_build() -> float:
    from airloom.terrain.build import build_terrain

    file = survey()
    began = time.perf_counter()
    build_terrain(file)
    return time.perf_counter() - began


def seconds_to_load() -> float:
    """The land, with its meshes, to the first height."""
    from airloom.scenario.models import World
    from airloom.terrain.build import build_terrain
    from airloom.world.land import Land

    folder = survey().with_suffix(".terrain")
    if not folder.exists():
        build_terrain(survey())
    began = time.perf_counter()
    land = Land(World.model_validate({"terrain": {"kind": "survey", "folder": str(folder)}}))
    land.height(0.0, 0.0)
    len(land.levels)
    return time.perf_counter() - began
