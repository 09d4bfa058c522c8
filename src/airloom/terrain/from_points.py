"""A point cloud becomes heights on a grid in local metres."""

from __future__ import annotations

import numpy as np

from airloom.scenario.terrain import COLOUR, HEIGHTS, OVERHANGS, TerrainError
from airloom.terrain import holes as gaps
from airloom.terrain.extras import library
from airloom.terrain.frame import Frame
from airloom.terrain.from_raster import frame_of
from airloom.terrain.layout import Box, Layout, check_degrees, check_origin, cropped, rounded
from airloom.terrain.points import GROUND, Cloud, read_cloud
from airloom.terrain.thinning import are_near, evenly, grown, have_neighbours, put_on_grid, spacing_of
from airloom.terrain.work import Gridded, Wishes, Work

CELL_POINTS = 2.0  # times the usual distance of points: the cells of their grid
NARROW = 2  # cells: gaps between points of less than twice this are no holes
FEWEST = 4  # points of a surface


def grid_points(work: Work, wishes: Wishes) -> Gridded:
    if wishes.overhangs:
        library("open3d", "a mesh with overhangs", "overhangs")  # before anybody waits for the rest
    if wishes.band is not None:
        raise TerrainError("a point cloud has no bands: leave --band out")
    if wishes.crop and wishes.crop.kind == "pixels":
        raise TerrainError("a point cloud has no pixels: crop it by metres:… or lonlat:…")
    cloud = read_cloud(wishes.survey, wishes.crs, wishes.units, work.said("Reading points"))
    work.warnings += cloud.warnings
    work.progress("Sorting points", 0.0)
    frame = _frame(cloud, wishes)
    cloud.points = frame.local(*cloud.points.T)
    cloud = _part(cloud, frame, wishes)
    count = len(cloud.points)
    cloud = _without_outliers(cloud)
    spacing = spacing_of(cloud.points)
    cell = wishes.cell or rounded(CELL_POINTS * spacing, 2)
    layout = Layout.of(frame, Box.around(cloud.points), (cell, cell))
    chosen, by = _chosen(cloud, wishes)
    heights = work.array(HEIGHTS, (layout.rows, layout.columns))
    work.progress("Sorting points", 0.5)
    put_on_grid(evenly(chosen, cell / 2), layout, by, heights)
    _close_narrow_gaps(heights)
    work.progress("Sorting points", 1.0)
    work.notes += [
        ("points", f"{count:,}, of which {count - len(cloud.points):,} stand alone and are left out"),
        ("distance of points", f"{spacing:.3g} m"),
        ("surface", f"of {len(chosen):,} points; several heights become one by {by}"),
    ]
    if cloud.colours is not None:
        _colour(work, cloud, layout)
    if wishes.overhangs:
        _add_overhangs(work, cloud, layout, heights)
    return Gridded(layout, heights, cloud.crs)


def _frame(cloud: Cloud, wishes: Wishes) -> Frame:
    near = cloud.points[are_near(cloud.points)]
    (west, south, _), (east, north, _) = near.min(axis=0), near.max(axis=0)
    check_degrees(wishes.crop, cloud.crs, ([west, east, west, east], [south, south, north, north]), wishes.survey)
    middle = float((west + east) / 2), float((south + north) / 2)
    return frame_of(cloud.crs, middle, lambda *_: float(np.median(near[:, 2])), wishes.place)


def _part(cloud: Cloud, frame: Frame, wishes: Wishes) -> Cloud:
    """What the crop leaves."""
    whole = Box.around(cloud.points)
    check_origin(wishes.origin, whole, wishes.survey)
    box = cropped(whole, wishes.crop, frame, frame.origin.altitude, wishes.survey)
    x, y, _ = cloud.points.T
    part = cloud.only((x >= box.west) & (x <= box.east) & (y >= box.south) & (y <= box.north))
    if len(part.points) < FEWEST:
        raise TerrainError(
            f"{wishes.survey}: a surface needs at least {FEWEST} points, and here are {len(part.points)}"
        )
    return part


def _without_outliers(cloud: Cloud) -> Cloud:
    cloud = cloud.only(are_near(cloud.points))
    kept = have_neighbours(cloud.points, spacing_of(cloud.points))
    return cloud.only(kept) if np.count_nonzero(kept) >= FEWEST else cloud


def _chosen(cloud: Cloud, wishes: Wishes) -> tuple[np.ndarray, str]:
    """The points of the surface, and how several become one. Above the ground is what overhangs are for."""
    classes = cloud.classes if cloud.classes is not None else np.zeros(len(cloud.points), dtype=np.uint8)
    is_ground = classes == GROUND
    if wishes.surface == "ground" and not is_ground.any():
        raise TerrainError(f"{wishes.survey} has no points classified as ground (class 2): use --surface top")
    if wishes.surface == "ground" or (wishes.overhangs and is_ground.any()):
        return cloud.points[is_ground], wishes.by or "mean"
    return cloud.points, wishes.by or ("min" if wishes.overhangs else "max")


def _close_narrow_gaps(heights: np.ndarray) -> None:
    """Between points that are farther apart than cells are long there is ground, whatever is to be done with holes."""
    is_far = ~grown(np.isfinite(heights), NARROW)
    gaps.fill(heights)
    heights[is_far] = np.nan


def _colour(work: Work, cloud: Cloud, layout: Layout) -> None:
    """A picture of the points' colours."""
    from PIL import Image

    assert cloud.colours is not None
    picture = np.empty((layout.rows, layout.columns, 3), dtype=np.uint8)
    for k in range(3):
        shade = np.empty(picture.shape[:2], dtype=np.float32)
        put_on_grid(np.column_stack([cloud.points[:, :2], cloud.colours[:, k]]), layout, "mean", shade)
        gaps.fill(shade)
        picture[..., k] = np.clip(shade, 0, 255)
    Image.fromarray(picture[::-1]).save(work.folder / COLOUR, quality=92)
    work.notes.append(("colour", "of the points"))


def _add_overhangs(work: Work, cloud: Cloud, layout: Layout, heights: np.ndarray) -> None:
    from airloom.terrain.overhangs import write_overhangs

    filled = np.array(heights)
    gaps.fill(filled)
    faces = write_overhangs(cloud.points, layout, filled, work.folder / OVERHANGS)
    work.notes.append(("overhangs", f"{faces:,} triangles"))
