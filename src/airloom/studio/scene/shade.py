"""Where the ground lies in the shadow of things: all their shadows in one picture, seen from above.

Triangles of things are moved along the sunlight to the ground and painted there. Many things cost one picture, and
where shadows overlap it is no darker.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from airloom.studio.scene.shadows import SHADE
from airloom.world.grid import Grid
from airloom.world.land import Land
from airloom.world.rays import parallel_rays

REACH = 400.0  # m that sunlight is followed
FINEST, MOST_PIXELS = 0.1, 2048  # m, and along a side
CLOTH, ABOVE, DARK = 200, 0.03, 0.4  # parts each way, m over the ground, opacity
OVER = 2  # painted so much finer, for smooth edges


@dataclass(frozen=True)
class Shade:
    """Shares of the sunlight that are taken away, from the north-west; row by row to the south."""

    picture: np.ndarray
    """uint8 [row, column], 255 in full shadow"""
    low: tuple[float, float]
    high: tuple[float, float]
    """East and north of its corners, m."""


def picture_size(extent, most: int = MOST_PIXELS) -> tuple[int, int]:
    """Pixels east and north of a picture of some ground, m; as fine as makes sense."""
    pixel = max(max(extent) / most, FINEST)
    wide, tall = (max(ceil(side / pixel - 1e-6), 1) for side in extent)
    return wide, tall


def shade_of(land: Land, sunlight: np.ndarray, low=None, high=None, most: int = MOST_PIXELS) -> Shade | None:
    """On the ground between two corners, or wherever shadows fall; None if there are none."""
    if not land.things or sunlight[2] > -0.02:
        return None
    spots = [_on_ground(land, thing.mesh.vertices, sunlight) for thing in land.things]
    if low is None or high is None:
        every = np.concatenate(spots)
        low, high = np.nanmin(every, axis=0) - 0.5, np.nanmax(every, axis=0) + 0.5
        if land.grid is not None:
            low, high = _to_lines(land.grid, low, high)
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    wide, tall = picture_size(high - low, most)
    canvas = Image.new("L", (OVER * wide, OVER * tall), 0)
    brush = ImageDraw.Draw(canvas)
    for thing, flat in zip(land.things, spots, strict=True):
        at = (flat - [low[0], high[1]]) / (high - low) * [1.0, -1.0] * canvas.size
        corners = at[thing.mesh.faces.astype(np.int64)]
        for triangle in corners[np.isfinite(corners).all(axis=(1, 2))].reshape(-1, 6).tolist():
            brush.polygon(triangle, fill=255)
    small = canvas.resize((wide, tall), Image.Resampling.BOX).filter(ImageFilter.GaussianBlur(0.6))
    return Shade(np.asarray(small), (float(low[0]), float(low[1])), (float(high[0]), float(high[1])))


def shade_cloth(shade: Shade, land: Land) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Vertices, faces, places in the picture, the picture with its opacity: laid over ground that has no picture."""
    across, along = (1, 1) if land.grid is None else _parts(land.grid, np.subtract(shade.high, shade.low))
    u, v = (each.ravel() for each in np.meshgrid(np.linspace(0.0, 1.0, across + 1), np.linspace(0.0, 1.0, along + 1)))
    x, y = shade.low[0] + u * (shade.high[0] - shade.low[0]), shade.low[1] + v * (shade.high[1] - shade.low[1])
    z = [land.height(a, b) + ABOVE for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    start = (np.arange(along)[:, None] * (across + 1) + np.arange(across)).ravel()
    over = start + across + 1
    faces = np.concatenate([np.stack([start, start + 1, over + 1], 1), np.stack([start, over + 1, over], 1)])
    cloth = np.empty((*shade.picture.shape, 4), dtype=np.uint8)
    cloth[..., :3], cloth[..., 3] = SHADE, DARK * shade.picture
    return np.column_stack([x, y, z]), faces, np.column_stack([u, v]), cloth


def _to_lines(grid: Grid, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The next lines of the grid around some ground: a cloth between them has the ground's own triangles."""
    corner, cell = np.array(grid.corner), np.array(grid.cell)
    return corner + np.floor((low - corner) / cell) * cell, corner + np.ceil((high - corner) / cell) * cell


def _parts(grid: Grid, extent: np.ndarray) -> tuple[int, int]:
    """Cells east and north, or several of them together if there are too many."""
    across, along = (round(side / cell) for side, cell in zip(extent.tolist(), grid.cell, strict=True))
    return min(across, CLOTH), min(along, CLOTH)


def _on_ground(land: Land, points: np.ndarray, sunlight: np.ndarray) -> np.ndarray:
    """Where the sunlight through some points meets the ground [point, xy]; NaN where it does not."""
    distances = parallel_rays(land.bare, points, sunlight, REACH)
    distances[distances >= REACH] = np.nan
    return points[:, :2] + distances[:, None] * sunlight[:2]
