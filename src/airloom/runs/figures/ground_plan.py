"""What there is, seen from above, under the ways of vehicles: ground, obstacles, things, and what is kept off."""

from __future__ import annotations

from contextlib import suppress
from math import cos, sin
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from airloom.reading.box import read_boxed
from airloom.reading.clouds import points_of
from airloom.runs.figures.style import KEPT_OFF
from airloom.runs.mcap import LogError
from airloom.scenario.models import Obstacle, Scenario
from airloom.scenario.terrain import TerrainError
from airloom.system import boundaries_in
from airloom.world.boundaries import convex_outline
from airloom.world.land import Land
from airloom.world.meshes import ngon, rectangle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OBSTACLE, LEAVES, GROUND = "#c49670", "#7fa66a", "#d8cfc0"
LEAFY = ("tree", "vine_row")
MOST_THINGS = 3000
MOST_FACES = 4000  # of a thing
MOST_POINTS = 60_000
CELLS = 240  # along a side of the ground that is shown
MARGIN = 0.12  # of the way's extent, shown beside it


def draw_ground_plan(axis: Axes, scenario: Scenario, ways: np.ndarray) -> None:
    """Around all places [n, 2] of the ways; to be drawn before them."""
    low, high = square_around(ways)
    land = Land(scenario.world)
    try:
        _draw_ground(axis, land, low, high)
        _draw_things(axis, land, low, high)
    except TerrainError:
        pass  # the folder of the terrain is not on this machine; the flight can be shown without
    for obstacle in scenario.world.obstacles.values():
        _draw_shape(axis, _outline(obstacle), facecolor=OBSTACLE, edgecolor="#7d5c3f")
    for one in boundaries_in(scenario):
        _draw_shape(axis, one.corners, facecolor="none" if one.encloses else KEPT_OFF, edgecolor=KEPT_OFF)


def draw_points(axis: Axes, folder: Path) -> None:
    """Those that the run has left as clouds, such as a survey's; without a reader for them, the map has none."""
    found = []
    for file in sorted(folder.glob("*.la[sz]")):
        with suppress(LogError):
            found.append(read_boxed(points_of, file, refusal=LogError, progress=lambda part: None)["points"])
    if not found:
        return
    points = np.concatenate(found)
    x, y, z = points[:: max(len(points) // MOST_POINTS, 1)].T
    drawn = axis.scatter(x, y, c=z, s=1.5, cmap="viridis", linewidths=0, zorder=2, rasterized=True)
    label = f"{len(points):,} points that were seen: z [m]"
    axis.figure.colorbar(drawn, ax=axis, label=label, location="bottom", shrink=0.7, aspect=30)


def square_around(ways: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """South-west and north-east corner of a square."""
    low, high = ways.min(axis=0), ways.max(axis=0)
    half = 0.5 * (1.0 + 2.0 * MARGIN) * max(float((high - low).max()), 1.0)
    return 0.5 * (low + high) - half, 0.5 * (low + high) + half


def _draw_ground(axis: Axes, land: Land, low: np.ndarray, high: np.ndarray) -> None:
    """Its shade, as if the light came from the north-west, and lines of equal height."""
    if land.grid is None:
        return
    from matplotlib.colors import LightSource

    x, y = (np.linspace(low[k], high[k], CELLS) for k in range(2))
    heights = np.array([[land.height(float(east), float(north)) for east in x] for north in y])
    if np.ptp(heights) < 0.05:
        return
    cell = float(x[1] - x[0])
    shade = LightSource(azdeg=315, altdeg=45).hillshade(heights, vert_exag=1.0, dx=cell, dy=cell)
    extent = (low[0], high[0], low[1], high[1])
    axis.imshow(shade, origin="lower", extent=extent, cmap="gray", vmin=-0.6, vmax=1.1, alpha=0.55, zorder=0)
    lines = axis.contour(x, y, heights, levels=8, colors="#8a7a60", linewidths=0.7, alpha=0.8, zorder=0.5)
    axis.clabel(lines, fmt="%.4g m", fontsize=8)


def _draw_things(axis: Axes, land: Land, low: np.ndarray, high: np.ndarray) -> None:
    from matplotlib.collections import PolyCollection

    shown = 0
    for thing in land.things:
        flat = thing.mesh.vertices[:, :2]
        inside = (flat.max(axis=0) >= low).all() and (flat.min(axis=0) <= high).all()
        if not inside or shown == MOST_THINGS:
            continue
        shown += 1
        if thing.kind in LEAFY:
            _draw_shape(axis, convex_outline(flat), facecolor=LEAVES, edgecolor="none", alpha=0.5)
        else:
            faces = flat[thing.mesh.faces[:MOST_FACES]]
            axis.add_collection(
                PolyCollection(list(faces), facecolors=OBSTACLE, edgecolors="none", alpha=0.5, zorder=1)
            )


def _outline(obstacle: Obstacle) -> np.ndarray:
    long, wide = obstacle.size[0], obstacle.size[1]
    local = rectangle(long, wide) if obstacle.shape == "box" else ngon(0.5 * long, 48)
    c, s = cos(obstacle.yaw), sin(obstacle.yaw)
    return local @ np.array([[c, s], [-s, c]]) + np.array(obstacle.position[:2])


def _draw_shape(axis: Axes, corners: np.ndarray, **look: object) -> None:
    from matplotlib.patches import Polygon

    axis.add_patch(Polygon(corners, zorder=1, **look))  # type: ignore[arg-type]
