"""How the ground looks from above, with the light and all shadows in it already.

So browsers without a graphics card have no light to work out, and no shadow can flicker or lie beside its thing.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from PIL import Image

from airloom.scenario.generated import Generated
from airloom.studio.scene.daylight import Daylight
from airloom.studio.scene.shade import Shade, shade_of
from airloom.studio.scene.sky import encoded
from airloom.studio.scene.tones import light_seen_as
from airloom.world.generated import colours_of
from airloom.world.land import Land
from airloom.world.noise import uniform
from airloom.world.rays import parallel_rays

FINEST, MOST_FINE = 0.15, 2048  # m, and pixels along a side, of photographs and of the shadows of things
COARSEST, MOST_COARSE = 0.6, 768  # of colours and light
LEAST = 32  # pixels along a side
HILL_SHADE, HILL_ROWS = 0.6, 49  # of the sunlight, which the shadow of a hill takes away; where that is looked for
ABOVE = 1.0  # cells over the ground, from where the sun is looked for: not to be behind the next furrow
THING_SHADE, SRGB = 0.9, 0.85  # of the sunlight; what a share of light is in a picture, about
GRAIN = 0.14  # blades and stones, which are finer than the colours
NEARBY = 512  # pixels along a side: larger pieces of a survey are far away, where no grain is seen
BRIGHTEST = 2.0  # of the light in a picture, which as such knows 0 … 1
VALLEY, SLOPE, SUMMIT = (88, 116, 72), (142, 140, 98), (188, 178, 154)


class Window(NamedTuple):
    """East and north, m."""

    low: np.ndarray
    high: np.ndarray

    def points(self, count: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        """Middles of so many columns and rows of pixels, from the south-west."""
        x, y = (a + (b - a) * (np.arange(n) + 0.5) / n for a, b, n in zip(self.low, self.high, count, strict=True))
        return tuple(np.meshgrid(x, y))


class GroundPicture:
    """Of a land whose ground is a grid."""

    def __init__(self, land: Land, light: Daylight) -> None:
        self._land, self._light = land, light
        assert land.grid is not None
        self._grid = land.grid

    @cached_property
    def _photo(self) -> Image.Image | None:
        survey = self._land.survey
        if survey is None or survey.about.colour is None:
            return None
        return survey.photo()

    @cached_property
    def _shade(self) -> Shade | None:
        """Of things."""
        return shade_of(self._land, self._light.sunlight) if self._light.casts_shadows else None

    def of(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """uint8 [row, column, rgb], from the north-west; light as sRGB, `BRIGHTEST` at 255."""
        window = Window(low, high)
        pixel = FINEST if self._photo else min(COARSEST, *self._grid.cell)
        seen = np.clip(self._seen(window, _pixels(high - low, pixel, MOST_COARSE)), 0.0, 250.0).astype(np.float32)
        smooth = np.clip(encoded(light_seen_as(seen) / BRIGHTEST), 0, 255).astype(np.uint8)
        return self._detailed(smooth, window, _pixels(high - low, FINEST, MOST_FINE))[::-1]

    def _detailed(self, smooth: np.ndarray, window: Window, count: tuple[int, int]) -> np.ndarray:
        """Finer, with the shadows of things, and with grain if nobody knows what is there."""
        has_grain = isinstance(self._land.world.terrain, Generated) or (self._photo is None and max(count) <= NEARBY)
        if self._shade is None and not has_grain:
            return smooth
        fine = np.asarray(Image.fromarray(smooth).resize(count, Image.Resampling.BICUBIC), dtype=np.float32)
        x, y = window.points(count)
        if has_grain:
            cells = np.floor(np.stack([x, y]) / FINEST).astype(np.int64)
            fine *= (1.0 + GRAIN * (uniform(0, cells[0], cells[1]) - 0.5)).astype(np.float32)[..., None]
        if self._shade is not None:
            fine *= 1.0 - self._shade_at(x, y)[..., None] * (1.0 - self._in_shade)
        return np.clip(fine, 0, 255).astype(np.uint8)

    @cached_property
    def _in_shade(self) -> np.ndarray:
        """What is left of red, green and blue, as they stand in a picture, in the shadow of things."""
        level = np.array([[0.0, 0.0, 1.0]])
        dark, lit = (self._light.falling_on(level, np.array([share])) for share in (THING_SHADE, 0.0))
        return ((dark / lit)[0] ** SRGB).astype(np.float32)

    def _shade_at(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """How far places lie in the shadow of things, 0 … 1."""
        assert self._shade is not None
        picture, low, high = self._shade.picture, self._shade.low, self._shade.high
        column = ((x[0] - low[0]) / (high[0] - low[0]) * picture.shape[1]).astype(int)
        row = ((high[1] - y[:, 0]) / (high[1] - low[1]) * picture.shape[0]).astype(int)
        shade = np.zeros(x.shape, dtype=np.float32)
        inside = np.ix_(_within(row, picture.shape[0]), _within(column, picture.shape[1]))
        shade[inside] = picture[np.ix_(row[inside[0].ravel()], column[inside[1].ravel()])] / 255.0
        return shade

    @property
    def rim(self) -> np.ndarray:
        """sRGB of the level ground around, as it is seen: that of the edges."""
        low = np.array(self._grid.corner)
        seen = self._seen(Window(low, low + self._grid.size), (64, 64))
        return np.concatenate([seen[0], seen[-1], seen[:, 0], seen[:, -1]]).mean(axis=0)

    def _seen(self, window: Window, count: tuple[int, int]) -> np.ndarray:
        """sRGB as it is seen, from the south-west."""
        x, y = window.points(count)
        heights, east, north = self._ground(x[0], y[:, 0])
        normals = np.stack([-east, -north, np.ones_like(east)], axis=-1)
        normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
        colours = self._colours(window, x, y, heights, np.hypot(east, north))
        return colours * self._light.falling_on(normals, _between(*self._hill_shade(window), x[0], y[:, 0]))

    def _ground(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Heights and slopes east and north on lines of places, from about as many corners of the grid."""
        grid = self._grid
        columns = _corners(x, grid.corner[0], grid.cell[0], grid.heights.shape[1])
        rows = _corners(y, grid.corner[1], grid.cell[1], grid.heights.shape[0])
        heights = grid.heights[np.ix_(rows, columns)].astype(float)
        heights[np.isnan(heights)] = grid.low
        east, north = grid.east[columns], grid.north[rows]
        slope_north, slope_east = np.gradient(heights, north, east)
        found = (_between(values, east, north, x, y) for values in (heights, slope_east, slope_north))
        return tuple(found)  # type: ignore[return-value]

    def _colours(self, window: Window, x, y, heights: np.ndarray, steepness: np.ndarray) -> np.ndarray:
        terrain = self._land.world.terrain
        if self._photo is not None:
            return self._photographed(window, heights.shape)
        if not isinstance(terrain, Generated):
            return height_colours(heights, self._grid.low, self._grid.high)
        return colours_of(terrain, x, y, heights, steepness)

    def _photographed(self, window: Window, shape: tuple[int, ...]) -> np.ndarray:
        assert self._photo is not None
        place = (np.stack([window.low, window.high]) - self._grid.corner) / self._grid.size
        (west, south), (east, north) = place * self._photo.size
        box = (west, self._photo.size[1] - north, east, self._photo.size[1] - south)
        part = self._photo.resize(
            (shape[1], shape[0]), Image.Resampling.BILINEAR, box=np.clip(box, 0, 2 * self._photo.size)
        )
        return np.asarray(part, dtype=float)[::-1]

    def _hill_shade(self, window: Window) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """With the places where it was looked for, east and north; on the edges too, which neighbours share."""
        x, y = (np.linspace(a, b, HILL_ROWS) for a, b in zip(window.low, window.high, strict=True))
        across, up = np.meshgrid(x, y)
        heights, *_ = self._ground(x, y)
        points = np.stack([across, up, heights + ABOVE * max(self._grid.cell)], axis=-1).reshape(-1, 3)
        far = 2.0 * max(self._grid.size)
        behind = parallel_rays(self._land.bare, points, self._light.sun, far) < far
        return HILL_SHADE * behind.reshape(across.shape).astype(float), x, y


def height_colours(heights: np.ndarray, low: float, high: float) -> np.ndarray:
    """From green valleys to bare summits [..., red green blue]."""
    share = np.clip((heights - low) / max(high - low, 1e-9), 0.0, 1.0)
    stops = np.array([VALLEY, SLOPE, SUMMIT], dtype=float)
    return np.stack([np.interp(share, [0.0, 0.5, 1.0], stops[:, k]) for k in range(3)], axis=-1)


def _between(values: np.ndarray, east: np.ndarray, north: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Values [north, east] at other places, straight between."""
    for axis, (known, wanted) in enumerate(((north, y), (east, x))):
        first = np.clip(np.searchsorted(known, wanted, side="right") - 1, 0, len(known) - 2)
        share = np.clip((wanted - known[first]) / (known[first + 1] - known[first]), 0.0, 1.0)
        share = share.reshape((-1, 1) if axis == 0 else (1, -1))
        values = np.take(values, first, axis) * (1.0 - share) + np.take(values, first + 1, axis) * share
    return values


def _corners(places: np.ndarray, first: float, cell: float, count: int) -> np.ndarray:
    """Numbers of rows or columns around some places, not many more than these."""
    low, high = (places[0] - first) / cell, (places[-1] - first) / cell
    stride = max(int((high - low) // len(places)), 1)
    wanted = np.arange(np.floor(low / stride) - 1, np.ceil(high / stride) + 2) * stride
    return np.unique(np.clip(wanted, 0, count - 1)).astype(int)


def _pixels(size: np.ndarray, pixel: float, most: int) -> tuple[int, int]:
    """Columns and rows for an extent east and north."""
    wide, tall = np.clip(np.ceil(size / pixel), LEAST, most).astype(int).tolist()
    return wide, tall


def _within(numbers: np.ndarray, end: int) -> np.ndarray:
    """Which of them are from 0 to before the end."""
    return np.flatnonzero((numbers >= 0) & (numbers < end))
