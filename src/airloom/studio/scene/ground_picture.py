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

FINEST, MOST_PIXELS = 0.12, 512  # m, and along a side
LEAST_PIXELS = 32
HILL_SHADE, HILL_ROWS = 0.75, 48  # of the sunlight, which the shadow of a hill takes away; where that is looked for
THING_SHADE = 0.9  # of the sunlight
GRAIN = 0.14  # blades and stones, which are finer than the colours
BRIGHTEST = 2.0  # of the light in a picture, which as such knows 0 … 1
VALLEY, SLOPE, SUMMIT = (88, 116, 72), (142, 140, 98), (188, 178, 154)


class Window(NamedTuple):
    """East and north, m."""

    low: np.ndarray
    high: np.ndarray

    def points(self, count: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        """Middles of so many columns and rows of pixels, from the south-west."""
        x, y = (a + (b - a) * (np.arange(n) + 0.5) / n for a, b, n in zip(self.low, self.high, count, strict=True))
        return tuple(np.meshgrid(x, y))  # type: ignore[return-value]


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
        return Image.open(survey.folder / survey.about.colour).convert("RGB")

    @cached_property
    def _shade(self) -> Shade | None:
        """Of things."""
        return shade_of(self._land, self._light.sunlight) if self._light.casts_shadows else None

    def of(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """uint8 [row, column, rgb], from the north-west; light as sRGB, `BRIGHTEST` at 255."""
        window = Window(low, high)
        wide, tall = (int(n) for n in np.clip(np.ceil((high - low) / FINEST), LEAST_PIXELS, MOST_PIXELS))
        seen = self._seen(window, (wide, tall))
        return np.clip(encoded(light_seen_as(np.clip(seen, 0.0, 250.0)) / BRIGHTEST), 0, 255).astype(np.uint8)[::-1]

    @property
    def rim(self) -> np.ndarray:
        """sRGB of the level ground around, as it is seen: that of the edges."""
        low = np.array(self._grid.corner)
        seen = self._seen(Window(low, low + self._grid.size), (64, 64))
        return np.concatenate([seen[0], seen[-1], seen[:, 0], seen[:, -1]]).mean(axis=0)

    def _seen(self, window: Window, count: tuple[int, int]) -> np.ndarray:
        """sRGB as it is seen, from the south-west."""
        x, y = window.points(count)
        heights, east, north = self._ground(window, count)
        normals = np.stack([-east, -north, np.ones_like(east)], axis=-1)
        normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
        colours = self._colours(window, x, y, heights, np.hypot(east, north))
        return colours * self._light.falling_on(normals, self._without_sun(window, x, y))

    def _ground(self, window: Window, count: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Heights and slopes east and north, from no more corners of the grid than there are pixels."""
        grid, picks = self._grid, []
        for axis, pixels in enumerate(count):
            first = (window.low[axis] - grid.corner[axis]) / grid.cell[axis]
            last = (window.high[axis] - grid.corner[axis]) / grid.cell[axis]
            stride = max(int((last - first) // pixels), 1)
            end = grid.heights.shape[1 - axis] - 1
            picks.append(
                np.unique(np.clip(np.arange(np.floor(first) - stride, last + 2 * stride, stride), 0, end)).astype(int)
            )
        columns, rows = picks
        heights = grid.heights[np.ix_(rows, columns)].astype(float)
        heights[np.isnan(heights)] = grid.low
        east, north = grid.east[columns], grid.north[rows]
        slope_north, slope_east = np.gradient(heights, north, east)
        x, y = window.points(count)
        return tuple(_between(values, east, north, x[0], y[:, 0]) for values in (heights, slope_east, slope_north))  # type: ignore[return-value]

    def _colours(self, window: Window, x, y, heights: np.ndarray, steepness: np.ndarray) -> np.ndarray:
        terrain = self._land.world.terrain
        if self._photo is not None:
            return self._photographed(window, heights.shape)
        if not isinstance(terrain, Generated):
            return height_colours(heights, self._grid.low, self._grid.high)
        cells = np.floor(np.stack([x, y]) / FINEST).astype(np.int64)
        grain = 1.0 + GRAIN * (uniform(0, cells[0], cells[1]) - 0.5)
        return colours_of(terrain, x, y, heights, steepness) * grain[..., None]

    def _photographed(self, window: Window, shape: tuple[int, ...]) -> np.ndarray:
        assert self._photo is not None
        place = (np.stack([window.low, window.high]) - self._grid.corner) / self._grid.size
        (west, south), (east, north) = place * self._photo.size
        box = (west, self._photo.size[1] - north, east, self._photo.size[1] - south)
        part = self._photo.resize(
            (shape[1], shape[0]), Image.Resampling.BILINEAR, box=np.clip(box, 0, 2 * self._photo.size)
        )
        return np.asarray(part, dtype=float)[::-1]

    def _without_sun(self, window: Window, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The share of sunlight that hills and things take away."""
        shade = _between(*self._hill_shade(window), x[0], y[:, 0])
        if self._shade is None:
            return shade
        picture, low, high = self._shade.picture, np.array(self._shade.low), np.array(self._shade.high)
        column = ((x - low[0]) / (high[0] - low[0]) * picture.shape[1]).astype(int)
        row = ((high[1] - y) / (high[1] - low[1]) * picture.shape[0]).astype(int)
        inside = (column >= 0) & (row >= 0) & (column < picture.shape[1]) & (row < picture.shape[0])
        things = np.where(
            inside, picture[np.clip(row, 0, picture.shape[0] - 1), np.clip(column, 0, picture.shape[1] - 1)], 0
        )
        return np.maximum(shade, THING_SHADE * things / 255.0)

    def _hill_shade(self, window: Window) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        grid, land = self._grid, self._land
        x, y = (np.linspace(a, b, HILL_ROWS) for a, b in zip(window.low, window.high, strict=True))
        across, up = (each.ravel() for each in np.meshgrid(x, y))
        above = parallel_rays(
            land.bare, np.column_stack([across, up, np.full(len(across), grid.high + 1.0)]), DOWN, 1e5
        )
        points = np.column_stack([across, up, grid.high + 1.0 - above + 0.02 * max(grid.cell)])
        far = 2.0 * max(grid.size)
        behind = parallel_rays(land.bare, points, self._light.sun, far) < far
        return HILL_SHADE * behind.reshape(len(y), len(x)).astype(float), x, y


DOWN = np.array([0.0, 0.0, -1.0])


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
