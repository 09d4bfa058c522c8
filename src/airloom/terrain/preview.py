"""A picture of a terrain from above: colours of the ground, or of its height, and shade that shows its shape."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from airloom.basics.pictures import read_picture
from airloom.scenario.terrain import TerrainError, TerrainFile

LARGEST = 1400  # heights of the picture each way
SUN = np.array([-1.0, 1.0, 1.5]) / np.linalg.norm([1.0, 1.0, 1.5])  # from the north-west, as maps are lit
USUAL_SLOPE = 0.35  # what a slope that is steep here looks like, however flat the land
MOST_EXAGGERATION = 8.0
TINTS = np.array(
    [
        [74, 112, 76],
        [126, 150, 91],
        [186, 184, 120],
        [206, 180, 130],
        [176, 138, 104],
        [148, 122, 108],
        [226, 222, 218],
    ],
    dtype=float,
)
"""From low to high."""
MAP_WIDTH = 960  # pixels
LEFT, TOP, RIGHT, BOTTOM = 72, 40, 96, 56  # margins around the map
RIGHT_OF_PHOTO = 28  # there is no key to its colours
INK, LINE = "#222222", "#888888"
HOLE = np.array([238.0, 238.0, 240.0])


def tinted(heights: np.ndarray, low: float, high: float) -> np.ndarray:
    """[…, 3] colours 0 … 255 by height."""
    at = np.clip((heights - low) / max(high - low, 1e-9), 0.0, 1.0) * (len(TINTS) - 1)
    at = np.where(np.isfinite(at), at, 0.0)
    return np.stack([np.interp(at, np.arange(len(TINTS)), TINTS[:, k]) for k in range(3)], axis=-1)


def shade(heights: np.ndarray, cell: tuple[float, float]) -> np.ndarray:
    """How light each place is, about 1 on level ground (Lambert's law)."""
    north, east = (np.nan_to_num(slope) for slope in np.gradient(heights, cell[1], cell[0]))
    steep = float(np.percentile(np.hypot(east, north), 95))
    factor = np.clip(USUAL_SLOPE / max(steep, 1e-6), 0.3, MOST_EXAGGERATION)
    normal = np.stack([-factor * east, -factor * north, np.ones_like(east)])
    light = np.tensordot(SUN, normal, axes=1) / np.linalg.norm(normal, axis=0) / SUN[2]
    return 0.35 + 0.65 * np.clip(light, 0.0, 1.6)


def thinned(heights: np.ndarray, largest: int = LARGEST) -> tuple[np.ndarray, int]:
    """Means of squares of corners, so that there are not more than so many each way; and how many a square has."""
    n = max(1, -(-max(heights.shape) // largest))
    if n == 1:
        return np.array(heights), 1
    rows, columns = (size // n for size in heights.shape)
    means = np.empty((rows, columns), dtype=np.float32)
    for r in range(rows):
        strip = heights[r * n : (r + 1) * n, : columns * n].reshape(n, columns, n)
        is_known = np.isfinite(strip)
        count = is_known.sum(axis=(0, 2))
        total = np.where(is_known, strip, 0.0).sum(axis=(0, 2))
        means[r] = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return means, n


def picture(heights: np.ndarray, cell: tuple[float, float], low: float, high: float, photo=None) -> np.ndarray:
    """[rows, columns, 3] 0 … 255, the first row in the south; with the colours of a photo, if there is one."""
    colours = tinted(heights, low, high) if photo is None else photo
    lit = np.clip(colours * shade(heights, cell)[..., None], 0, 255)
    return np.where(np.isfinite(heights)[..., None], lit, HOLE).astype(np.uint8)


def draw_preview(about: TerrainFile, heights: np.ndarray, colour: Path | None, file: Path) -> None:
    """A map with its scale. By Pillow, for Matplotlib would take longer than all else that is done."""
    few, n = thinned(heights)
    low, high = (float(np.nanpercentile(few, p)) for p in (0.5, 99.5))
    image = picture(few, (about.cell[0] * n, about.cell[1] * n), low, high, _photo(colour, few.shape))
    sheet = Sheet(about, image, RIGHT if colour is None else RIGHT_OF_PHOTO)
    sheet.draw_axes()
    sheet.draw_origin()
    sheet.draw_scale()
    if colour is None:
        sheet.draw_key(low, high)
    sheet.image.save(file, compress_level=4)


class Sheet:
    """A map on paper: the picture, and what is written around it."""

    def __init__(self, about: TerrainFile, picture: np.ndarray, right: int) -> None:
        from PIL import Image, ImageDraw

        (x, y), (east, north) = about.corner, about.cell
        self.about = about
        self.box = x, y, x + (about.columns - 1) * east, y + (about.rows - 1) * north
        share = (self.box[3] - self.box[1]) / (self.box[2] - self.box[0])
        self.width = int(np.clip(MAP_WIDTH if share < 1.1 else 1.1 * MAP_WIDTH / share, 300, MAP_WIDTH))
        self.height = int(np.clip(self.width * share, 200, 1.1 * MAP_WIDTH))
        self.image = Image.new("RGB", (LEFT + self.width + right, TOP + self.height + BOTTOM), "white")
        how = Image.Resampling.BICUBIC if picture.shape[1] < self.width else Image.Resampling.BOX
        self.image.paste(Image.fromarray(picture[::-1]).resize((self.width, self.height), how), (LEFT, TOP))
        self.pen = ImageDraw.Draw(self.image, "RGBA")

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a place of the world is on the sheet."""
        west, south, east, north = self.box
        return LEFT + self.width * (x - west) / (east - west), TOP + self.height * (north - y) / (north - south)

    def write(
        self, x: float, y: float, text: str, anchor: str, size: int = 13, is_bold: bool = False, halo=False
    ) -> None:
        stroke = 3 if halo else 0
        self.pen.text((x, y), text, INK, _font(size, is_bold), anchor, stroke_width=stroke, stroke_fill="white")

    def draw_axes(self) -> None:
        about, (west, south, east, north) = self.about, self.box
        self.pen.rectangle((LEFT - 1, TOP - 1, LEFT + self.width, TOP + self.height), outline=LINE)
        step = _round_length(0.28 * max(east - west, north - south))
        for x in np.arange(np.ceil(west / step), np.floor(east / step) + 1) * step:
            across, down = self.at(x, south)
            self.pen.line((across, down, across, down + 5), LINE)
            self.write(across, down + 8, _number(x), "mt")
        for y in np.arange(np.ceil(south / step), np.floor(north / step) + 1) * step:
            across, down = self.at(west, y)
            self.pen.line((across - 6, down, across - 1, down), LINE)
            self.write(across - 9, down, _number(y), "rm")
        self.write(LEFT + self.width / 2, TOP + self.height + 30, "m east of the origin", "mt")
        self.write(10, TOP - 8, "m north", "ls")
        place = f"{about.latitude:.5f}°, {about.longitude:.5f}°, {about.altitude:g} m"
        room = self.width - self.pen.textlength(place, _font(13, False)) - 20
        name = about.source
        while self.pen.textlength(name, _font(17, True)) > room and len(name) > 4:
            name = name[:-2] + "…"
        self.write(LEFT, TOP - 9, name, "ls", 17, True)
        self.write(LEFT + self.width, TOP - 9, place, "rs")

    def draw_origin(self) -> None:
        x, y = self.at(0.0, 0.0)
        if LEFT <= x <= LEFT + self.width and TOP <= y <= TOP + self.height:
            for colour, half, reach in (("white", 2.5, 9), ("#c0392b", 1, 8)):
                self.pen.rectangle((x - reach, y - half, x + reach, y + half), colour)
                self.pen.rectangle((x - half, y - reach, x + half, y + reach), colour)

    def draw_scale(self) -> None:
        """A bar of a round length, and where north is."""
        west, _, east, _ = self.box
        length = _round_length(0.22 * (east - west))
        x, y, part = LEFT + 24, TOP + self.height - 28, self.width * length / (east - west) / 4
        for k in range(4):
            fill = "black" if k % 2 == 0 else "white"
            self.pen.rectangle((x + k * part, y, x + (k + 1) * part, y + 7), fill, "black")
        text = f"{length:g} m" if length < 1000 else f"{length / 1000:g} km"
        self.write(x + 2 * part, y - 6, text, "ms", halo=True)
        x, y = LEFT + self.width - 24, TOP + 16
        self.pen.polygon((x, y, x - 8, y + 24, x, y + 18), "black", "white")
        self.pen.polygon((x, y, x + 8, y + 24, x, y + 18), "white", "black")
        self.write(x, y + 28, "N", "mt", 15, True, halo=True)

    def draw_key(self, low: float, high: float) -> None:
        """Which colour is which height."""
        from PIL import Image

        x, tall = LEFT + self.width + 22, int(0.8 * self.height)
        top = TOP + (self.height - tall) // 2
        ramp = tinted(np.linspace(1.0, 0.0, tall)[:, None].repeat(16, axis=1), 0.0, 1.0).astype(np.uint8)
        self.image.paste(Image.fromarray(ramp), (x, top))
        self.pen.rectangle((x - 1, top - 1, x + 16, top + tall), outline=LINE)
        span = max(high - low, 1e-3)
        step = _round_length(0.3 * span)
        for height in np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step:
            y = top + tall * (high - height) / span
            self.pen.line((x + 16, y, x + 21, y), LINE)
            self.write(x + 24, y, _number(height), "lm")
        self.write(x - 2, top - 10, "height, m", "ls")


@cache
def _font(size: int, is_bold: bool) -> Any:
    """DejaVu, which comes with Matplotlib."""
    from PIL import ImageFont

    home = find_spec("matplotlib")
    folder = Path(home.origin).parent if home and home.origin else Path()
    try:
        return ImageFont.truetype(folder / f"mpl-data/fonts/ttf/DejaVuSans{'-Bold' * is_bold}.ttf", size)
    except OSError:
        return ImageFont.load_default(size)


def _number(value: float) -> str:
    return f"{value + 0.0:g}".replace("-", "−")


def _round_length(about: float) -> float:
    """1, 2 or 5 of a power of ten, not longer."""
    power = 10.0 ** np.floor(np.log10(about))
    return float(next(n * power for n in (5, 2, 1) if n * power <= about))


def _photo(file: Path | None, shape: tuple[int, ...]) -> np.ndarray | None:
    if file is None:
        return None
    from PIL import Image

    photo = read_picture(file, TerrainError, "build the terrain anew")
    return np.asarray(photo.convert("RGB").resize((shape[1], shape[0]), Image.Resampling.BOX))[::-1].astype(float)
