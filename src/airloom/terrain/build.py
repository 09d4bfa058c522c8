"""A survey becomes a terrain folder: read, put on a grid, meshed, drawn and reported on. Nothing is left half done."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from airloom.basics.folders import made_beside
from airloom.commands import EDGE
from airloom.scenario import terrain as names
from airloom.scenario.terrain import TerrainError, TerrainFile, TerrainLevel
from airloom.terrain import holes as gaps
from airloom.terrain.frame import name_of
from airloom.terrain.from_points import grid_points
from airloom.terrain.from_raster import grid_raster
from airloom.terrain.layout import Crop
from airloom.terrain.points import is_cloud
from airloom.terrain.preview import draw_preview
from airloom.terrain.report import write_report
from airloom.terrain.work import Gridded, Progress, Wishes, Work
from airloom.world.grid import Grid, ceilings_of
from airloom.world.triangulation import TILE, level_of, needed_corners, usual_errors

SUFFIX = ".terrain"
LOWEST, HIGHEST = -500.0, 9000.0  # m: all land lies between


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
    wishes = Wishes(
        survey, origin, crs, Crop.read(crop) if crop else None, cell, by, holes, units, band, surface,
        Path(colour) if colour else None, error, overhangs,
    )  # fmt: skip
    began = time.perf_counter()
    with made_beside(out, names.FILE, "terrain", TerrainError) as folder:
        work = Work(folder, progress)
        gridded = (grid_points if is_cloud(survey) else grid_raster)(work, wishes)
        about = _finish(work, wishes, gridded)
        write_report(folder / names.REPORT, about, work.notes, time.perf_counter() - began)
    return out


def _finish(work: Work, wishes: Wishes, gridded: Gridded) -> TerrainFile:
    """All that follows from the heights."""
    heights, layout = gridded.heights, gridded.layout
    holes = _fill(work, wishes, heights)
    ceilings = ceilings_of(heights)
    np.save(work.folder / names.CEILINGS, ceilings)
    low, high = float(np.nanmin(heights)), float(np.nanmax(heights))
    _check_heights(work, wishes, low + layout.frame.origin.altitude, high + layout.frame.origin.altitude)
    levels = _mesh(work, Grid(heights, ceilings, layout.corner, layout.cell, low, high), wishes.error)
    picture = work.folder / names.COLOUR
    if wishes.colour:
        from airloom.terrain.colour import draw_colours

        share = draw_colours(wishes.colour, layout, heights, picture, wishes.crs, work.said("Painting the ground"))
        work.notes.append(("colour", f"{wishes.colour.name}, which covers {share:.0%}"))
    origin = layout.frame.origin
    about = TerrainFile(
        source=wishes.survey.name, crs=name_of(gridded.crs), latitude=origin.latitude, longitude=origin.longitude,
        altitude=origin.altitude, rows=layout.rows, columns=layout.columns, cell=layout.cell, corner=layout.corner,
        low=low, high=high, holes=holes, tile=TILE, levels=levels, warnings=work.warnings,
        colour=names.COLOUR if picture.exists() else None,
        overhangs=names.OVERHANGS if (work.folder / names.OVERHANGS).exists() else None,
    )  # fmt: skip
    work.progress("Drawing", 0.0)
    draw_preview(about, heights, picture if about.colour else None, work.folder / names.PREVIEW)
    (work.folder / names.FILE).write_text(about.model_dump_json(indent=2) + "\n", encoding="utf-8")
    work.progress("Drawing", 1.0)
    return about


def _fill(work: Work, wishes: Wishes, heights: np.ndarray) -> int:
    """The number of holes that are left."""
    holes = int(np.count_nonzero(np.isnan(heights)))
    if holes == heights.size:
        raise TerrainError(
            f"{wishes.survey}: all of it is without a height (nodata): take another file, --band or --crop"
        )
    if holes == 0 or wishes.holes == "keep":
        return holes
    work.progress("Filling holes", 0.0)
    gaps.fill(heights)
    work.notes.append(("filled", f"{holes:,} corners without a height ({holes / heights.size:.1%})"))
    return 0


def _check_heights(work: Work, wishes: Wishes, low: float, high: float) -> None:
    """Altitudes that are possible but odd."""
    if max(abs(low), abs(high)) > EDGE:
        raise TerrainError(f"{wishes.survey}: no ground goes from {low:g} to {high:g} m")
    if high > HIGHEST:
        work.warnings.append(
            f"heights reach {high:,.0f} m, which is above every mountain: are they in metres? (--units feet)"
        )
    if low < LOWEST:
        work.warnings.append(
            f"heights go down to {low:,.0f} m, which is below all land: if that stands for no height, declare it with "
            f"rasterio's own command: rio edit-info --nodata {low:.0f} FILE"
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
        np.save(work.folder / names.TILES.format(number), level.starts)
        levels.append(
            TerrainLevel(error=level.error, largest=level.largest, mean=level.mean, triangles=len(level.faces))
        )
        work.progress("Finding triangles", (number + 1) / len(errors))
    (work.folder / scratch).unlink()
    return levels


def _triangles(work: Work, number: int, shape: tuple[int, ...], kind: Any) -> np.ndarray:
    if shape[0] == 0:
        raise TerrainError("there are too many holes for a surface: fill them (--holes fill)")
    return work.array(names.TRIANGLES.format(number), shape, kind)
