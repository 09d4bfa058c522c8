"""The ground's colours from an orthophoto: a picture as wide and long as the grid."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from airloom.compiled import compiled
from airloom.scenario.terrain import TerrainError
from airloom.terrain.from_raster import MARGIN, PartDone, blocks_of, metres_of_pixel, places_of, window_of
from airloom.terrain.layout import Layout
from airloom.terrain.preview import tinted
from airloom.terrain.raster import LOOK, Raster, opened
from airloom.terrain.resample import COLUMN, ROW, STEP, between

LARGEST = 4096  # pixels each way
BLOCK = 1024
QUALITY = 88  # of the JPEG


def draw_colours(
    photo: Path, layout: Layout, heights: np.ndarray, file: Path, crs: str | None, progress: PartDone
) -> float:
    """Write a JPEG, its first row in the north. Where the photo has nothing, colours go by height.

    The share of the ground that the photo covers.
    """
    from PIL import Image

    raster = opened(photo, band=1, other_crs=crs)
    bands, top = _bands(raster), _brightest(raster)
    target = _picture_layout(raster, layout)
    picture = np.empty((target.rows, target.columns, 3), dtype=np.uint8)
    is_there = np.zeros((target.rows, target.columns), dtype=bool)
    pixel = metres_of_pixel(raster, layout.frame)
    ratio = max(target.cell[0] / pixel[0], 1.0)
    done = 0
    for rows, columns in blocks_of(target, max(STEP, int(BLOCK / ratio) // STEP * STEP)):
        z = _heights_under(target, layout, heights, rows, columns)
        picture[rows, columns] = tinted(z, float(np.nanmin(heights)), float(np.nanmax(heights)))
        places = places_of(raster, target, rows, columns)
        window = window_of(raster, places, MARGIN + int(ratio))
        if window is not None:
            colours, mask = _read(raster, bands, window, top)
            places[0, ..., :2] -= window[1], window[0]
            _paint(colours, mask, places, np.nan_to_num(z), ratio / 2, picture[rows, columns], is_there[rows, columns])
        done += z.size
        progress(done / picture[..., 0].size)
    if not is_there.any():
        raise TerrainError(
            f"{photo} shows nothing of the terrain: it lies elsewhere; leave --colour out, or use another"
        )
    Image.fromarray(picture[::-1]).save(file, quality=QUALITY)
    return float(is_there.mean())


def _picture_layout(raster: Raster, layout: Layout) -> Layout:
    """Middles of the picture's pixels."""
    box = layout.box
    wide, long = box.east - box.west, box.north - box.south
    finest = metres_of_pixel(raster, layout.frame)[0]
    if not np.isfinite(finest):
        raise TerrainError(f"{raster.file} shows nothing of the terrain: its pixels are nowhere on Earth")
    side = max(finest, max(wide, long) / LARGEST)
    columns, rows = max(2, round(wide / side)), max(2, round(long / side))
    size = wide / columns, long / rows
    return Layout(layout.frame, (box.west + size[0] / 2, box.south + size[1] / 2), size, rows, columns)


def _bands(raster: Raster) -> list[int]:
    """Red, green and blue, or one of grey."""
    names = raster.data.interpretations
    if all(name in names for name in ("red", "green", "blue")):
        return [names.index(name) + 1 for name in ("red", "green", "blue")]
    return [1, 2, 3] if raster.data.count >= 3 else [1, 1, 1]


def _brightest(raster: Raster) -> float:
    """What becomes 255: photos of more than 8 bits seldom use all of them."""
    if raster.data.dtypes[0] == "uint8":
        return 255.0
    look = raster.read(*raster.window, (min(raster.window[3], LOOK), min(raster.window[2], LOOK)))
    return float(np.nanpercentile(look, 99.5)) or 1.0


def _read(
    raster: Raster, bands: list[int], window: tuple[int, int, int, int], top: float
) -> tuple[np.ndarray, np.ndarray]:
    colours, mask = raster.data.colours(bands, window)
    if colours.dtype != np.uint8:
        colours = np.clip(colours * (255.0 / top), 0, 255).astype(np.uint8)
    return np.ascontiguousarray(colours), mask


def _heights_under(target: Layout, layout: Layout, heights: np.ndarray, rows: slice, columns: slice) -> np.ndarray:
    """The nearest corner's, for each pixel."""
    x = target.corner[0] + target.cell[0] * np.arange(columns.start, columns.stop)
    y = target.corner[1] + target.cell[1] * np.arange(rows.start, rows.stop)
    c = np.clip(np.rint((x - layout.corner[0]) / layout.cell[0]).astype(int), 0, layout.columns - 1)
    r = np.clip(np.rint((y - layout.corner[1]) / layout.cell[1]).astype(int), 0, layout.rows - 1)
    return np.array(heights[r[0] : r[-1] + 1])[r - r[0]][:, c]


@compiled
def _paint(colours, mask, places, z, half, picture, is_there):
    """The mean of the photo's pixels that lie in each of the picture's."""
    rows, columns = mask.shape
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            k, m = i // STEP, j // STEP
            v, u = i / STEP - k, j / STEP - m
            r = between(places[0], k, m, v, u, ROW) + z[i, j] * between(places[1], k, m, v, u, ROW)
            c = between(places[0], k, m, v, u, COLUMN) + z[i, j] * between(places[1], k, m, v, u, COLUMN)
            red, green, blue, count = 0, 0, 0, 0
            for a in range(max(int(np.ceil(r - half)), 0), min(int(np.ceil(r + half)), rows)):
                for b in range(max(int(np.ceil(c - half)), 0), min(int(np.ceil(c + half)), columns)):
                    if mask[a, b]:
                        red, green, blue = red + colours[0, a, b], green + colours[1, a, b], blue + colours[2, a, b]
                        count += 1
            if count:
                is_there[i, j] = True
                picture[i, j, 0], picture[i, j, 1], picture[i, j, 2] = red // count, green // count, blue // count
