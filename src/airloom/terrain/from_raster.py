"""A raster becomes heights on a grid in local metres, block by block, so that memory stays small."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil, floor
from typing import Any

import numpy as np

from airloom.scenario.models import Origin
from airloom.scenario.terrain import HEIGHTS, TerrainError
from airloom.terrain.frame import Frame, Place, degrees_of
from airloom.terrain.layout import Box, Crop, Layout, check_degrees, check_origin, cropped, rounded
from airloom.terrain.raster import Raster, opened
from airloom.terrain.resample import BILINEAR, MAX, MEAN, STEP, resample
from airloom.terrain.work import Gridded, Wishes, Work

BLOCK = 1024
"""Corners each way that are made at once, of as many pixels; fewer of more."""
MARGIN = 2  # pixels around what a block needs
MOST_RELIEF = 3000.0  # m above or below the origin, by which a corner's place in the raster moves a little
FEW_PIXELS = 1.5  # in a cell: below, heights are interpolated and not averaged

PartDone = Callable[[float], None]


def grid_raster(work: Work, wishes: Wishes) -> Gridded:
    if wishes.overhangs:
        raise TerrainError(
            f"{wishes.survey} is a raster, and has one height at each place: overhangs are in point clouds"
        )
    if wishes.surface != "top":
        raise TerrainError(f"{wishes.survey} is a raster, whose heights have no classes: leave --surface out")
    window = wishes.crop.window if wishes.crop else None
    raster = opened(wishes.survey, wishes.crs, wishes.band, wishes.units, window)
    layout = layout_of(raster, wishes.place, wishes.cell, wishes.crop)
    heights = work.array(HEIGHTS, (layout.rows, layout.columns))
    by = wishes.by or "mean"
    make_heights(raster, layout, by, heights, work.said("Reading heights"))
    work.warnings += raster.warnings
    work.notes += [
        ("pixels", f"{raster.data.width:,} × {raster.data.height:,}, band {raster.band}, {raster.data.dtypes[0]}"),
        ("unit of heights", f"{raster.unit:g} m"),
        ("several heights become one by", by),
    ]
    return Gridded(layout, heights, raster.crs)


def layout_of(raster: Raster, origin: Sequence[float] | None, cell: float | None, crop: Crop | None) -> Layout:
    """Around the origin; without one around the middle of what is taken."""
    east, north = raster.outline
    check_degrees(crop, raster.crs, (east, north), raster.file)
    frame = frame_of(raster.crs, raster.middle, raster.altitude, origin)
    points = frame.local(east, north, frame.origin.altitude)
    check_origin(origin, Box.around(points), raster.crs, raster.file, raster.warnings)
    pixel = metres_of_pixel(raster, frame)
    box = cropped(Box.around(points), crop, frame, frame.origin.altitude, raster.file)
    if frame.crs is not None or cell is not None or raster.transform.b or raster.transform.d:
        side = cell or rounded(float(np.sqrt(pixel[0] * pixel[1])))
        return Layout.of(frame, box, (side, side))
    return Layout.of(frame, box, pixel, (float(points[0, 0]), float(points[0, 1])))


def frame_of(
    crs: Any, middle: tuple[float, float], altitude: Callable[[float, float], float], origin: Sequence[float] | None
) -> Frame:
    """Local axes at the origin; without one, at the middle, where the ground is."""
    if crs is None:
        usual = Origin()
        latitude, longitude = origin[:2] if origin else (usual.latitude, usual.longitude)
        east, north = 0.0, 0.0
    elif origin:
        latitude, longitude = origin[:2]
        [(east, north, _)] = Frame(Place(latitude, longitude, 0.0), crs).survey(0.0, 0.0, 0.0)
    else:
        east, north = middle
        longitude, latitude = (round(float(angle), 8) for angle in degrees_of(crs, east, north))
        if not (abs(latitude) <= 90.0 and abs(longitude) <= 360.0):
            raise TerrainError(f"the survey's middle ({east:g}, {north:g}) is nowhere on Earth in {crs.name}")
        longitude -= 360.0 if longitude > 180.0 else 0.0
    height = origin[2] if origin and len(origin) > 2 else round(altitude(east, north), 2)
    return Frame(Place(latitude, longitude, height), crs)


def metres_of_pixel(raster: Raster, frame: Frame) -> tuple[float, float]:
    """Width and height of a pixel in the middle."""
    t, (east, north) = raster.transform, raster.middle
    points = frame.local([east, east + t.a, east + t.b], [north, north + t.d, north + t.e], frame.origin.altitude)
    across, down = points[1] - points[0], points[2] - points[0]
    return float(np.hypot(*across[:2])), float(np.hypot(*down[:2]))


def make_heights(raster: Raster, layout: Layout, by: str, heights: np.ndarray, progress: PartDone) -> None:
    """Fill `heights` [rows, columns]."""
    pixel = metres_of_pixel(raster, layout.frame)
    ratio = max(layout.cell[0] / pixel[0], layout.cell[1] / pixel[1])
    how = MAX if by == "max" else MEAN if ratio >= FEW_PIXELS else BILINEAR
    block = max(STEP, int(BLOCK / max(ratio, 1.0)) // STEP * STEP)
    done = 0
    for rows, columns in blocks_of(layout, block):
        part = np.full((rows.stop - rows.start, columns.stop - columns.start), np.nan, dtype=np.float32)
        places = places_of(raster, layout, rows, columns)
        window = window_of(raster, places, MARGIN + ceil(ratio))
        if window is not None:
            found = raster.read(*window)
            places[0, ..., :2] -= window[1], window[0]
            resample(found, places, how, max(ratio, 1.0) / 2, part)
        heights[rows, columns] = part
        done += part.size
        progress(done / heights.size)


def blocks_of(layout: Layout, size: int) -> Iterator[tuple[slice, slice]]:
    """From north to south, as rasters are stored."""
    for top in range(layout.rows, 0, -size):
        for left in range(0, layout.columns, size):
            yield slice(max(top - size, 0), top), slice(left, min(left + size, layout.columns))


def places_of(raster: Raster, layout: Layout, rows: slice, columns: slice) -> np.ndarray:
    """[2, n, m, 3] row, column and altitude of every STEP-th corner at z = 0, then what each metre of z adds."""
    r = rows.start + STEP * np.arange((rows.stop - rows.start - 1) // STEP + 2)
    c = columns.start + STEP * np.arange((columns.stop - columns.start - 1) // STEP + 2)
    x, y = np.meshgrid(layout.corner[0] + layout.cell[0] * c, layout.corner[1] + layout.cell[1] * r)
    at = []
    for z in (0.0, 1000.0):
        points = layout.frame.survey(x, y, z)
        column, row = raster.pixels(points[:, 0], points[:, 1])
        at.append(np.stack([row, column, points[:, 2]], axis=-1).reshape(*x.shape, 3))
    return np.stack([at[0], (at[1] - at[0]) / 1000.0])


def window_of(raster: Raster, places: np.ndarray, margin: int) -> tuple[int, int, int, int] | None:
    """The pixels that a block needs."""
    margin += ceil(MOST_RELIEF * np.abs(places[1, ..., :2]).max())
    column, row, width, height = raster.window
    (top, left), (bottom, right) = places[0, ..., :2].min(axis=(0, 1)), places[0, ..., :2].max(axis=(0, 1))
    first = max(floor(left) - margin, column), max(floor(top) - margin, row)
    last = min(ceil(right) + margin + 1, column + width), min(ceil(bottom) + margin + 1, row + height)
    if last[0] <= first[0] or last[1] <= first[1]:
        return None
    first = min(first[0], column + width - 2), min(first[1], row + height - 2)  # two at least, to interpolate between
    last = max(last[0], first[0] + 2), max(last[1], first[1] + 2)
    return first[0], first[1], last[0] - first[0], last[1] - first[1]
