"""Made-up ground, drawn: its triangles, and a picture laid over them that has the light and all shadows in it.

So browsers without a graphics card have no light to work out, and no shadow can flicker or lie beside its thing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image

from airloom.scenario.generated import Generated
from airloom.studio.scene.daylight import Daylight
from airloom.studio.scene.shade import picture_size, shade_of
from airloom.studio.scene.sky import encoded
from airloom.studio.scene.tones import light_seen_as
from airloom.world.generated import colours_of
from airloom.world.grid import Grid
from airloom.world.land import Land
from airloom.world.noise import uniform
from airloom.world.rays import parallel_rays

COARSE, FINE = 768, 2048  # pixels along a side, of the colours and of the shadows
BRIGHTEST = 2.0  # of the light in the picture, which as such knows 0 … 1
HILL_SHADE = 0.75  # of the sunlight, which the shadow of a far hill takes away
THING_SHADE, SRGB = 0.9, 0.85  # of the sunlight; what a share of light is in the picture, about
GRAIN = 0.14  # blades and stones, which are finer than the colours


@dataclass(frozen=True)
class Piece:
    """A piece of ground as it is seen."""

    vertices: np.ndarray
    faces: np.ndarray
    places: np.ndarray
    """Of the vertices in the picture, from its lower left, 0 … 1."""
    picture: np.ndarray
    """uint8 [row, column, rgb], from the north-west; light as sRGB, `BRIGHTEST` at 255"""
    rim: np.ndarray
    """sRGB of the level ground around, as it is seen."""


def ground_piece(land: Land, light: Daylight) -> Piece:
    """All of a made-up ground."""
    terrain, grid = land.world.terrain, land.grid
    assert isinstance(terrain, Generated)
    assert grid is not None
    vertices, faces, places = _mesh(grid)
    seen = _colours(terrain, grid, COARSE) * _light(land, grid, light, COARSE)
    rim = np.concatenate([seen[0], seen[-1], seen[:, 0], seen[:, -1]]).mean(axis=0)
    picture = encoded(light_seen_as(np.clip(seen, 0.0, 250.0)) / BRIGHTEST)[::-1]
    picture = np.clip(picture, 0, 255).astype(np.float32)
    return Piece(vertices, faces, places, _shaded(picture, land, grid, light), rim)


def _mesh(grid: Grid) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, columns = grid.heights.shape
    x, y = np.meshgrid(grid.east, grid.north)
    u, v = np.meshgrid(np.linspace(0.0, 1.0, columns), np.linspace(0.0, 1.0, rows))
    southwest = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    southeast, northwest, northeast = southwest + 1, southwest + columns, southwest + columns + 1
    faces = np.concatenate(
        [np.stack([southwest, southeast, northeast], 1), np.stack([southwest, northeast, northwest], 1)]
    )
    vertices = np.column_stack([x.ravel(), y.ravel(), grid.heights.astype(float).ravel()])
    return vertices, faces, np.column_stack([u.ravel(), v.ravel()])


def _colours(terrain: Generated, grid: Grid, pixels: int) -> np.ndarray:
    (x, y), (east, north) = grid.corner, grid.size
    middle = (np.arange(pixels) + 0.5) / pixels
    heights = _between(grid.heights.astype(float), pixels)
    steepness = np.hypot(*(_between(slope, pixels) for slope in _slopes(grid)))
    across, up = np.meshgrid(x + east * middle, y + north * middle)
    return colours_of(terrain, across, up, heights, steepness)


def _slopes(grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    """East and north, rise per metre."""
    north, east = np.gradient(grid.heights.astype(float), grid.north, grid.east)
    return east, north


def _light(land: Land, grid: Grid, light: Daylight, pixels: int) -> np.ndarray:
    """On each pixel, red, green and blue, from the way the ground faces and from hills between it and the sun."""
    east, north = (_between(slope, pixels) for slope in _slopes(grid))
    normals = np.stack([-east, -north, np.ones_like(east)], axis=-1)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    x, y = np.meshgrid(grid.east, grid.north)
    points = np.column_stack([x.ravel(), y.ravel(), grid.heights.ravel() + 0.02 * max(grid.cell)])
    far = 2.0 * max(grid.size)
    behind = parallel_rays(land.bare, points, light.sun, far) < far
    shade = HILL_SHADE * _between(behind.reshape(grid.heights.shape).astype(float), pixels)
    return light.falling_on(normals, shade)


def _shaded(picture: np.ndarray, land: Land, grid: Grid, light: Daylight) -> np.ndarray:
    """With the shadows of things, which are finer than the colours."""
    high = (grid.corner[0] + grid.size[0], grid.corner[1] + grid.size[1])
    shade = shade_of(land, light.sunlight, grid.corner, high, FINE) if light.casts_shadows else None
    wide, tall = picture_size(grid.size, FINE)
    grain = 1.0 + GRAIN * (uniform(0, np.arange(tall)[:, None, None], np.arange(wide)[None, :, None]) - 0.5)
    fine = _enlarged(picture, tall, wide) * grain.astype(np.float32)
    if shade is None:
        return np.clip(fine, 0, 255).astype(np.uint8)
    flat = light.falling_on(np.array([[0.0, 0.0, 1.0]]), np.array([THING_SHADE]))
    lit = light.falling_on(np.array([[0.0, 0.0, 1.0]]), np.array([0.0]))
    dark = (flat / lit)[0] ** SRGB
    dark = 1.0 - shade.picture[..., None] / np.float32(255.0) * (1.0 - dark.astype(np.float32))
    return np.clip(fine * dark, 0, 255).astype(np.uint8)


def _enlarged(picture: np.ndarray, tall: int, wide: int) -> np.ndarray:
    whole = Image.fromarray(picture.astype(np.uint8)).resize((wide, tall), Image.Resampling.BICUBIC)
    return np.asarray(whole, dtype=np.float32)


def _between(values: np.ndarray, pixels: int) -> np.ndarray:
    """Values at the corners of a grid, at the middles of pixels that cover it, straight between the corners."""
    for axis in (0, 1):
        along = (np.arange(pixels) + 0.5) / pixels * (values.shape[axis] - 1)
        first = np.minimum(along.astype(int), values.shape[axis] - 2)
        share = (along - first).reshape((-1, 1) if axis == 0 else (1, -1))
        values = np.take(values, first, axis) * (1.0 - share) + np.take(values, first + 1, axis) * share
    return values
