"""A survey becomes a terrain folder: read, put on a grid, meshed, drawn and reported on. Nothing is left half done."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.lib.format import open_memmap

from airloom.commands import EDGE
from airloom.scenario.terrain import (
    CEILINGS,
    COLOUR,
    FILE,
    HEIGHTS,
    OVERHANGS,
    PREVIEW,
    REPORT,
    TILES,
    TRIANGLES,
    TerrainError,
    TerrainFile,
    TerrainLevel,
)  # fmt: skip
from airloom.terrain import holes as gaps
from airloom.terrain.extras import library
from airloom.terrain.frame import name_of
from airloom.terrain.gridded import frame_of, layout_of, make_heights
from airloom.terrain.layout import Box, Crop, Layout, cropped, rounded
from airloom.terrain.points import GROUND, Cloud, is_cloud, read_cloud
from airloom.terrain.preview import draw_preview
from airloom.terrain.raster import opened
from airloom.terrain.report import write_report
from airloom.terrain.thinning import are_near, evenly, grown, have_neighbours, put_on_grid, spacing_of
from airloom.world.grid import Grid, ceilings_of
from airloom.world.triangulation import TILE, level_of, needed_corners, usual_errors

SUFFIX = ".terrain"
LOWEST, HIGHEST = -500.0, 9000.0  # m: all land lies between
CELL_POINTS = 2.0  # times the usual distance of points: the cells of their grid
NARROW = 2  # cells: gaps between points of less than twice this are no holes

Progress = Callable[[str, float], None]
"""Is told what is done, and the part of it that is."""


@dataclass
class Work:
    """A terrain on its way."""

    folder: Path
    """where it is made"""
    progress: Progress
    began: float = field(default_factory=time.perf_counter)
    layout: Layout = None  # type: ignore[assignment]
    heights: np.ndarray = None  # type: ignore[assignment]
    crs: Any = None
    notes: list[tuple[str, str]] = field(default_factory=list)
    """what was read and done, for the report"""
    warnings: list[str] = field(default_factory=list)

    def array(self, name: str, shape: tuple[int, ...], kind: Any = np.float32) -> np.ndarray:
        """Mapped from a new file of the folder."""
        return open_memmap(self.folder / name, mode="w+", dtype=kind, shape=shape)

    def said(self, what: str) -> Callable[[float], None]:
        return lambda part: self.progress(what, part)


def build_terrain(
    survey: str | Path,
    out: str | Path | None = None,
    *,
    origin: Sequence[float] | None = None,
    crs: str | None = None,
    crop: str | None = None,
    cell: float | None = None,
    by: Literal["mean", "max"] | None = None,
    holes: Literal["fill", "keep"] = "fill",
    units: str | None = None,
    band: int | None = None,
    surface: Literal["top", "ground"] = "top",
    colour: str | Path | None = None,
    error: float | None = None,
    overhangs: bool = False,
    progress: Progress = lambda what, part: None,
) -> Path:
    """Make a terrain folder of a GeoTIFF or a point cloud (LAS, LAZ, PLY, PCD, XYZ); `world: {terrain: …}` uses it.

    Args:
        survey: the file.
        out: the folder; beside the file, with its name and `.terrain`, if left out.
        origin: latitude, longitude and altitude of (0, 0, 0); the ground in the middle of the field if left out.
        crs: the file's coordinate system if it names none: `EPSG:32632`, or `local` for metres east and north.
        crop: `pixels:COLUMN,ROW,WIDTH,HEIGHT`, `metres:WEST,SOUTH,EAST,NORTH` or `lonlat:WEST,SOUTH,EAST,NORTH`.
        cell: distance of heights, m; that of the pixels, or twice that of points, if left out.
        by: how several heights become one: `mean`, or `max`, by which rows of vines survive large cells.
        holes: `fill` interpolates where there is no height, `keep` leaves holes.
        units: of the heights, `metres` or `feet`; the file says it itself if left out.
        band: of a raster with several.
        surface: of a point cloud: `top`, or `ground`, which takes only points classified as such.
        colour: an orthophoto.
        error: of the finest mesh, m.
        overhangs: also make a mesh of what stands out of the ground (needs the extra `overhangs`).
        progress: called with what is being done and the part of it that is done.
    """
    survey = Path(survey)
    out = Path(out) if out is not None else survey.with_suffix(SUFFIX)
    _check(out, cell, error, origin)
    part = Crop.read(crop) if crop else None
    if part and part.kind == "lonlat" and origin is None:
        west, south, east, north = part.numbers
        origin = (south + north) / 2, (west + east) / 2
    with _made_beside(out) as folder:
        work = Work(folder, progress)
        if is_cloud(survey):
            _grid_cloud(work, survey, origin, crs, part, cell, by, holes, units, surface, overhangs)
        else:
            if overhangs:
                raise TerrainError(
                    f"{survey} is a raster, and has one height at each place: overhangs are in point clouds"
                )
            _grid_raster(work, survey, origin, crs, part, cell, by or "mean", units, band)
        _finish(work, survey, holes, colour, error)
    return out


def part_of(out: Path) -> Path:
    """The folder in which a terrain is made, before it is where it belongs."""
    return out.absolute().with_name(f".{out.name}.{os.getpid()}.part")


@contextmanager
def _made_beside(out: Path):
    """A folder that takes its place when all went well, and else is gone."""
    part = part_of(out)
    try:
        part.mkdir()
        yield part
        if out.exists():
            shutil.rmtree(out)
        part.rename(out)
    except OSError as error:
        raise TerrainError(f"{out} cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _check(out: Path, cell: float | None, error: float | None, origin: Sequence[float] | None) -> None:
    if out.exists() and not (out / FILE).exists():
        raise TerrainError(f"{out} is there already and is no terrain folder: choose another with --out")
    if not out.absolute().parent.is_dir():
        raise TerrainError(f"there is no folder {out.absolute().parent} to make {out.name} in")
    for name, number in (("cell", cell), ("error", error)):
        if number is not None and not 0.0 < number <= EDGE:
            raise TerrainError(f"--{name} is a length in metres above 0, got {number:g}")
    if origin is not None:
        is_good = len(origin) in (2, 3) and np.isfinite(origin).all()
        if not (is_good and abs(origin[0]) <= 90 and abs(origin[1]) <= 180):
            raise TerrainError(
                f"an origin is latitude (−90 … 90°), longitude (−180 … 180°) and perhaps altitude, got {list(origin)}"
            )


def _grid_raster(work: Work, file: Path, origin, crs, crop: Crop | None, cell, by: str, units, band) -> None:
    with opened(file, crs, band, units, crop.window if crop else None) as raster:
        work.layout = layout_of(raster, origin, cell, crop)
        work.heights = work.array(HEIGHTS, (work.layout.rows, work.layout.columns))
        work.crs = raster.crs
        make_heights(raster, work.layout, by, work.heights, work.said("Reading heights"))
        work.warnings += raster.warnings
        work.notes += [
            ("pixels", f"{raster.data.width:,} × {raster.data.height:,}, band {raster.band}, {raster.data.dtypes[0]}"),
            ("unit of heights", f"{raster.unit:g} m"),
            ("several heights become one by", by),
        ]  # fmt: skip


def _grid_cloud(
    work: Work, file: Path, origin, crs, crop: Crop | None, cell, by: str | None, holes, units, surface, overhangs
) -> None:
    if overhangs:
        library("open3d", "a mesh with overhangs", "overhangs")  # before anybody waits for the rest
    cloud = read_cloud(file, crs, units, work.said("Reading points"))
    count = len(cloud.points)
    _localise(work, cloud, origin, crop, file)
    cloud = _without_outliers(work, cloud)
    spacing = spacing_of(cloud.points)
    cell = cell or rounded(CELL_POINTS * spacing, 2)
    box = Box.around(cloud.points)
    work.layout = Layout.of(work.layout.frame, box, (cell, cell))
    if overhangs and cloud.classes is not None and GROUND in cloud.classes:
        surface = "ground"  # all else is the mesh's
    chosen = cloud.points[_are_ground(cloud, file)] if surface == "ground" else cloud.points
    by = by or ("mean" if surface == "ground" else "min" if overhangs else "max")
    work.heights = work.array(HEIGHTS, (work.layout.rows, work.layout.columns))
    put_on_grid(evenly(chosen, cell / 2), work.layout, by, work.heights)
    _close_narrow_gaps(work.heights)
    work.notes += [
        ("points", f"{count:,}, of which {count - len(cloud.points):,} stand alone and are left out"),
        ("distance of points", f"{spacing:.3g} m"),
        ("surface", f"{surface}, {len(chosen):,} points; several heights become one by {by}"),
    ]
    work.progress("Reading points", 1.0)
    if cloud.colours is not None:
        _colour_by_points(work, cloud)
    if overhangs:
        from airloom.terrain.overhangs import write_overhangs

        filled = np.array(work.heights)
        gaps.fill(filled)
        faces = write_overhangs(cloud.points, work.layout, filled, work.folder / OVERHANGS)
        work.notes.append(("overhangs", f"{faces:,} triangles"))


def _localise(work: Work, cloud: Cloud, origin, crop: Crop | None, file: Path) -> None:
    """Give all points local coordinates, and keep those of the crop."""
    if crop and crop.kind == "pixels":
        raise TerrainError("a point cloud has no pixels: crop it by metres:… or lonlat:…")
    near = cloud.points[are_near(cloud.points)]
    low, high = near.min(axis=0), near.max(axis=0)
    middle = float((low[0] + high[0]) / 2), float((low[1] + high[1]) / 2)
    frame = frame_of(cloud.crs, middle, lambda *_: float(np.median(near[:, 2])), origin)
    cloud.points = frame.local(*cloud.points.T)
    box = Box.around(cloud.points)
    kept = cropped(box, crop, frame, frame.origin.altitude, file)
    if kept is not box:
        x, y, _ = cloud.points.T
        inside = (x >= kept.west) & (x <= kept.east) & (y >= kept.south) & (y <= kept.north)
        small = cloud.only(inside)
        cloud.points, cloud.classes, cloud.colours = small.points, small.classes, small.colours
    if len(cloud.points) < 4:
        raise TerrainError(f"{file}: a surface needs at least 4 points, and here are {len(cloud.points)}")
    work.layout, work.crs = Layout(frame, (0.0, 0.0), (1.0, 1.0), 2, 2), cloud.crs
    work.warnings += cloud.warnings


def _without_outliers(work: Work, cloud: Cloud) -> Cloud:
    cloud = cloud.only(are_near(cloud.points))
    kept = have_neighbours(cloud.points, spacing_of(cloud.points))
    return cloud.only(kept) if np.count_nonzero(kept) >= 4 else cloud


def _are_ground(cloud: Cloud, file: Path) -> np.ndarray:
    """Which points are classified as ground."""
    is_ground = cloud.classes == GROUND if cloud.classes is not None else np.zeros(len(cloud.points), dtype=bool)
    if not np.any(is_ground):
        raise TerrainError(f"{file} has no points classified as ground (class 2): use --surface top")
    return is_ground


def _close_narrow_gaps(heights: np.ndarray) -> None:
    """Between points that are farther apart than cells are long there is ground, whatever is to be done with holes."""
    is_far = ~grown(np.isfinite(heights), NARROW)
    gaps.fill(heights)
    heights[is_far] = np.nan


def _colour_by_points(work: Work, cloud: Cloud) -> None:
    from PIL import Image

    picture = np.empty((*work.heights.shape, 3), dtype=np.uint8)
    for k in range(3):
        shade = np.empty(work.heights.shape, dtype=np.float32)
        put_on_grid(np.column_stack([cloud.points[:, :2], cloud.colours[:, k]]), work.layout, "mean", shade)  # type: ignore[index]
        gaps.fill(shade)
        picture[..., k] = np.clip(shade, 0, 255)
    Image.fromarray(picture[::-1]).save(work.folder / COLOUR, quality=92)
    work.notes.append(("colour", "of the points"))


def _finish(work: Work, survey: Path, holes: str, colour: str | Path | None, error: float | None) -> None:
    heights = work.heights
    missing = int(np.count_nonzero(np.isnan(heights)))
    if missing == heights.size:
        raise TerrainError(f"{survey}: there is no height in all of it (nodata); take another file, --band or --crop")
    if missing and holes == "fill":
        work.progress("Filling holes", 0.0)
        gaps.fill(heights)
        work.notes.append(("filled", f"{missing:,} corners without a height ({missing / heights.size:.1%})"))
        missing = 0
    low, high = float(np.nanmin(heights)), float(np.nanmax(heights))
    _check_heights(work, survey, low, high)
    ceilings = ceilings_of(heights)
    np.save(work.folder / CEILINGS, ceilings)
    grid = Grid(heights, ceilings, work.layout.corner, work.layout.cell, low, high)
    levels = _mesh(work, grid, error)
    if colour is not None:
        from airloom.terrain.colour import draw_colours

        share = draw_colours(
            Path(colour), work.layout, heights, work.folder / COLOUR, None, work.said("Painting the ground")
        )
        work.notes.append(("colour", f"{colour}, which covers {share:.0%}"))
    about = _about(work, survey, grid, missing, levels)
    heights.flush()  # type: ignore[attr-defined]
    work.progress("Drawing", 0.0)
    picture = work.folder / COLOUR
    draw_preview(about, heights, picture if about.colour else None, work.folder / PREVIEW)
    (work.folder / FILE).write_text(about.model_dump_json(indent=2) + "\n", encoding="utf-8")
    write_report(work.folder / REPORT, about, work.notes, time.perf_counter() - work.began)
    work.progress("Drawing", 1.0)


def _check_heights(work: Work, survey: Path, low: float, high: float) -> None:
    altitude = work.layout.frame.origin.altitude
    if max(abs(low), abs(high)) > EDGE:
        raise TerrainError(
            f"{survey}: heights go from {low + altitude:g} to {high + altitude:g} m, which no ground does"
        )
    if high + altitude > HIGHEST:
        work.warnings.append(
            f"heights reach {high + altitude:,.0f} m, which is above every mountain: are they in metres? (--units feet)"
        )
    if low + altitude < LOWEST:
        work.warnings.append(
            f"heights go down to {low + altitude:,.0f} m, which is below all land: if that stands for no height, "
            f"declare it with rasterio's own command: rio edit-info --nodata {low + altitude:.0f} FILE"
        )


def _mesh(work: Work, grid: Grid, error: float | None) -> list[TerrainLevel]:
    """Triangles at several finenesses, written as they are made."""
    errors = usual_errors(grid)
    if error is not None:
        errors = [error * each / errors[0] if errors[0] else error for each in errors]
    scratch = "needed.npy"
    needed = needed_corners(
        grid.heights, work.said("Finding triangles"), lambda shape, kind: work.array(scratch, shape, kind)
    )
    levels = []
    for number, each in enumerate(errors):
        level = level_of(grid.heights, needed, each, lambda shape, kind, n=number: _triangles(work, n, shape, kind))
        np.save(work.folder / TILES.format(number), level.starts)
        levels.append(
            TerrainLevel(error=level.error, largest=level.largest, mean=level.mean, triangles=len(level.faces))
        )
        work.progress("Finding triangles", (number + 1) / len(errors))
    (work.folder / scratch).unlink()
    return levels


def _triangles(work: Work, number: int, shape: tuple[int, ...], kind: Any) -> np.ndarray:
    if shape[0] == 0:
        raise TerrainError("there are too many holes for a surface: fill them (--holes fill)")
    return work.array(TRIANGLES.format(number), shape, kind)


def _about(work: Work, survey: Path, grid: Grid, holes: int, levels: list[TerrainLevel]) -> TerrainFile:
    origin, layout = work.layout.frame.origin, work.layout
    return TerrainFile(
        source=survey.name, crs=name_of(work.crs), latitude=origin.latitude, longitude=origin.longitude,
        altitude=origin.altitude, rows=layout.rows, columns=layout.columns, cell=layout.cell, corner=layout.corner,
        low=grid.low, high=grid.high, holes=holes, tile=TILE, levels=levels,
        warnings=work.warnings,
        colour=COLOUR if (work.folder / COLOUR).exists() else None,
        overhangs=OVERHANGS if (work.folder / OVERHANGS).exists() else None,
    )  # fmt: skip
