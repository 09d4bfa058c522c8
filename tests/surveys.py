"""Surveys for tests: small rasters and clouds of ground whose height is known everywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SHARED = Path(__file__).parents[2] / "shared" / "data"
UTM = "EPSG:32632"
EAST, NORTH = 395_000.0, 4_990_000.0  # near Turin

Height = Callable[[np.ndarray, np.ndarray], np.ndarray]


def real(name: str) -> Path:
    """A real survey, which is no part of the project."""
    if not (SHARED / name).exists():
        pytest.skip(f"needs the survey {name}, which is not part of the project")
    return SHARED / name


def slope(east: np.ndarray, north: np.ndarray) -> np.ndarray:
    return 300.0 + 0.05 * (east - EAST) - 0.02 * (north - NORTH)


def raster(
    file: Path,
    height: Height | np.ndarray = slope,
    shape: tuple[int, int] = (60, 80),
    pixel: float = 0.5,
    **changes: Any,
) -> Path:
    """A GeoTIFF; heights of a function of the coordinates, or given."""
    import rasterio
    from rasterio.transform import from_origin

    transform = changes.pop("transform", from_origin(EAST, NORTH, pixel, pixel))
    unit = changes.pop("unit", None)
    if callable(height):
        columns, rows = np.meshgrid(np.arange(shape[1]) + 0.5, np.arange(shape[0]) + 0.5)
        heights = height(
            transform.a * columns + transform.b * rows + transform.c,
            transform.d * columns + transform.e * rows + transform.f,
        )
    else:
        heights = height
    bands = heights if heights.ndim == 3 else heights[None]
    profile = {
        "driver": "GTiff", "width": bands.shape[2], "height": bands.shape[1], "count": len(bands), "dtype": "float32",
        "crs": UTM, "transform": transform, "nodata": -9999.0,
    } | changes  # fmt: skip
    with rasterio.open(file, "w", **profile) as data:
        data.write(bands.astype(profile["dtype"]))
        if unit:
            data.units = (unit,) * len(bands)
    return file


def cloud(file: Path, points: np.ndarray, classes: np.ndarray | None = None, crs: str | None = UTM) -> Path:
    """A LAS or LAZ file."""
    import laspy
    import pyproj

    header = laspy.LasHeader(point_format=6, version="1.4")
    header.scales, header.offsets = np.full(3, 0.001), np.floor(points.min(axis=0)) if len(points) else np.zeros(3)
    if crs:
        header.add_crs(pyproj.CRS(crs))
    las = laspy.LasData(header)
    las.x, las.y, las.z = points.T if len(points) else np.empty((3, 0))
    if classes is not None:
        las.classification = classes
    las.write(file)
    return file
