"""Rasters by GDAL: GeoTIFF and a few more formats that are all in one file, and the world file beside a picture.

GDAL knows 155 formats, of which many are texts that send it elsewhere, to other files or over the network, whatever the
file is called. Here it has those that are named below and no others, looks at no file beside the one that is asked for,
and takes no network.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from airloom.errors import AirloomError
from airloom.reading.box import read_boxed
from airloom.reading.unreadable import Unreadable, library, told

DRIVERS = {"GTiff": "GeoTIFF", "AAIGrid": "ASCII grid", "PNG": "PNG", "JPEG": "JPEG", "JP2OpenJPEG": "JPEG 2000"}
WORLD_FILES = {
    ".tif": (".tfw", ".tifw"), ".tiff": (".tfw", ".tiffw"), ".png": (".pgw", ".pngw"), ".jpg": (".jgw", ".jpgw"),
    ".jpeg": (".jgw", ".jpegw"), ".jp2": (".j2w", ".jp2w"),
}  # fmt: skip
CACHE = 192  # MB of pixels that GDAL keeps; left alone it takes a twentieth of the machine's memory
OPTIONS = {
    "GDAL_CACHEMAX": str(CACHE), "GDAL_PAM_ENABLED": "NO", "GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR",
    "CPL_VSIL_CURL_ALLOWED_FILENAME": "none",
}  # fmt: skip
Window = tuple[int, int, int, int]
"""First column, first row, width, height."""


@dataclass(frozen=True)
class RasterFile:
    """What a file says of itself; its pixels are read when they are asked for."""

    file: Path
    refusal: type[AirloomError]
    width: int
    height: int
    dtypes: list[str]
    """Of the bands, as all that follows."""
    interpretations: list[str]
    """gray, red, alpha…"""
    scales: list[float]
    offsets: list[float]
    units: list[str | None]
    nodata: float | None
    transform: Any
    """affine.Affine, from pixels counted from the file's corner to coordinates"""
    crs: str | None
    """WKT"""

    @staticmethod
    def look_at(file: Path, refusal: type[AirloomError]) -> RasterFile:
        about = read_boxed(look, file, refusal=refusal)
        from affine import Affine  # which comes with rasterio

        return RasterFile(file, refusal, **about | {"transform": Affine(*about["transform"])})

    @property
    def count(self) -> int:
        return len(self.dtypes)

    def heights(self, band: int, alpha: int | None, window: Window, shape: tuple[int, int] | None) -> np.ndarray:
        """float32, NaN where there are none; with a `shape` only so many, evenly chosen."""
        return read_boxed(heights, self.file, band, alpha, window, shape, refusal=self.refusal)

    def colours(self, bands: list[int], window: Window) -> tuple[np.ndarray, np.ndarray]:
        """[band, row, column], and which pixels there are."""
        found = read_boxed(colours, self.file, bands, window, refusal=self.refusal)
        return found["colours"], found["mask"]

    def values(self, bands: list[int], most: int) -> np.ndarray:
        """[band, row, column] of the whole, of at most so many pixels; NaN where there are none."""
        if self.width * self.height > most:
            raise self.refusal(f"{self.file}: {self.width} × {self.height} pixels are too many; {most:,} are the most")
        return read_boxed(values, self.file, bands, refusal=self.refusal)


# -- in the box --------------------------------------------------------------------------------------------------------


def look(file: Path) -> dict[str, Any]:
    data = _opened(file)
    try:
        if "OVERVIEW_FILE" in data.tags(ns="OVERVIEWS"):
            raise Unreadable(f"{file} says that parts of it are in another file; save it as one GeoTIFF")
        transform = data.transform
        if transform.is_identity:
            transform = _of_world_file(file) or transform
        if not np.isfinite(tuple(transform)).all():
            raise Unreadable(f"{file}: where its pixels lie is told by numbers that are not finite")
        if transform.is_degenerate:
            raise Unreadable(f"{file}: its pixels have no area (transform {tuple(transform)[:6]})")
        return {
            "width": data.width, "height": data.height, "dtypes": list(data.dtypes),
            "interpretations": [one.name for one in data.colorinterp], "scales": list(data.scales),
            "offsets": list(data.offsets), "units": list(data.units), "nodata": data.nodata,
            "transform": list(transform)[:6], "crs": data.crs.to_wkt() if data.crs is not None else None,
        }  # fmt: skip
    except (Unreadable, MemoryError):
        raise
    except Exception as error:  # a number, a text or a coordinate system in it that makes no sense
        raise Unreadable(f"{file} is no raster that can be read: {told(error)}") from None


def heights(file: Path, band: int, alpha: int | None, window: Window, shape: tuple[int, int] | None) -> np.ndarray:
    found = _read(file, band, window, shape, masked=True).astype(np.float32).filled(np.nan)
    if alpha is not None:
        found[_read(file, alpha, window, shape) == 0] = np.nan
    return found


def colours(file: Path, bands: list[int], window: Window) -> dict[str, np.ndarray]:
    found = _read(file, bands, window)
    with _refused_if_damaged(file):
        return {"colours": found, "mask": _opened(file).dataset_mask(window=_window(window)) > 0}


def values(file: Path, bands: list[int]) -> np.ndarray:
    return _read(file, bands, None, masked=True).astype(float).filled(np.nan)


def _read(file: Path, bands: Any, window: Any, shape: Any = None, masked: bool = False) -> Any:
    data = _opened(file)
    with _refused_if_damaged(file):
        return data.read(bands, window=_window(window), out_shape=shape and tuple(shape), masked=masked)


@contextmanager
def _refused_if_damaged(file: Path) -> Iterator[None]:
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        why = told(error.__cause__ or error)  # rasterio's own reason stands in what it was raised from
        raise Unreadable(f"{file} cannot be read to its end: it is cut off or damaged; get it anew ({why})") from None


def _window(window: Any) -> Any:
    return _rasterio().windows.Window(*window) if window else None


def _opened(file: Path) -> Any:
    """rasterio's dataset, which is kept for the next part."""
    about = file.stat()
    return _kept(os.path.abspath(file), about.st_mtime_ns, about.st_size, str(file))


@lru_cache(maxsize=2)
def _kept(path: str, changed: int, size: int, name: str) -> Any:
    rasterio = _rasterio()
    if path.startswith("/vsi"):
        raise Unreadable(f"{name}: for GDAL such a path is no file; put it into another folder")
    try:
        return rasterio.open(path)
    except MemoryError:
        raise
    except Exception as error:
        known = ", ".join(DRIVERS.values())
        raise Unreadable(f"{name} is no raster that can be read ({known}): {told(error.__cause__ or error)}") from None


@cache
def _rasterio() -> Any:
    """With the drivers that are named and no others: rasterio 1.4 cannot name several, and they open files in turn."""
    os.environ.update(OPTIONS)
    rasterio = library("rasterio", "a GeoTIFF", "terrain")
    with rasterio.Env(), open("/proc/self/maps") as maps:
        gdal = ctypes.CDLL(next(line.split(maxsplit=5)[5].strip() for line in maps if "/libgdal" in line))
        gdal.GDALGetDriver.restype = ctypes.c_void_p
        gdal.GDALGetDriverShortName.restype = ctypes.c_char_p
        gdal.GDALGetDriverShortName.argtypes = gdal.GDALDeregisterDriver.argtypes = [ctypes.c_void_p]
        for number in reversed(range(gdal.GDALGetDriverCount())):
            driver = gdal.GDALGetDriver(number)
            if gdal.GDALGetDriverShortName(driver).decode() not in DRIVERS:
                gdal.GDALDeregisterDriver(driver)
    return rasterio


def _of_world_file(file: Path) -> Any:
    """The transform in the small text beside a picture that has none itself."""
    for suffix in (*WORLD_FILES.get(file.suffix.lower(), ()), ".wld"):
        beside = next((there for name in (suffix, suffix.upper()) if (there := file.with_suffix(name)).is_file()), None)
        if beside is None:
            continue
        try:
            with beside.open("rb") as lines:
                a, d, b, e, x, y = (float(word) for word in lines.read(1000).split())
        except ValueError:
            raise Unreadable(f"{beside}: a world file is six numbers, one a line") from None
        return _rasterio().Affine(a, b, x - (a + b) / 2, d, e, y - (d + e) / 2)  # it tells a pixel's middle
    return None
