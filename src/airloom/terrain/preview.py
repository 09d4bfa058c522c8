"""A picture of a terrain from above: colours of the ground, or of its height, and shade that shows its shape."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from airloom.scenario.terrain import TerrainFile

LARGEST = 1400  # heights of the picture each way
SUN = np.array([-1.0, 1.0, 1.5]) / np.linalg.norm([1.0, 1.0, 1.5])  # from the north-west, as maps are lit
USUAL_SLOPE = 0.35  # what a slope that is steep here looks like, however flat the land
MOST_EXAGGERATION = 8.0
TINTS = np.array(
    [[74, 112, 76], [126, 150, 91], [186, 184, 120], [206, 180, 130], [176, 138, 104], [148, 122, 108], [226, 222, 218]],
    dtype=float,
)
"""From low to high."""
HOLE = np.array([238.0, 238.0, 240.0])


def tinted(heights: np.ndarray, low: float, high: float) -> np.ndarray:
    """[…, 3] colours 0 … 255 by height."""
    at = np.clip((heights - low) / max(high - low, 1e-9), 0.0, 1.0) * (len(TINTS) - 1)
    at = np.where(np.isfinite(at), at, 0.0)
    return np.stack([np.interp(at, np.arange(len(TINTS)), TINTS[:, k]) for k in range(3)], axis=-1)


def shade(heights: np.ndarray, cell: tuple[float, float]) -> np.ndarray:
    """How light each place is, about 1 on level ground (Lambert's law)."""
    north, east = np.gradient(np.where(np.isfinite(heights), heights, np.nanmin(heights)), cell[1], cell[0])
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
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize
    from matplotlib.figure import Figure

    few, n = thinned(heights)
    low, high = (float(np.nanpercentile(few, p)) for p in (0.5, 99.5))
    image = picture(few, (about.cell[0] * n, about.cell[1] * n), low, high, _photo(colour, few.shape))
    (x, y), (east, north) = about.corner, about.cell
    extent = (x, x + (about.columns - 1) * east, y, y + (about.rows - 1) * north)
    wide, long = extent[1] - extent[0], extent[3] - extent[2]
    height = float(np.clip(9.0 * long / wide, 3.2, 11.0))
    figure = Figure((10.6, height + 1.1), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.imshow(image, origin="lower", extent=extent, interpolation="antialiased")
    axes.set(xlabel="east of the origin, m", ylabel="north of the origin, m")
    axes.set_title(about.source, loc="left", fontsize=13, fontweight="bold")
    axes.set_title(f"{about.latitude:.5f}°, {about.longitude:.5f}°, {about.altitude:g} m", loc="right", fontsize=10)
    axes.plot(0, 0, "+", color="white", markersize=13, markeredgewidth=3.2, scalex=False, scaley=False)
    axes.plot(0, 0, "+", color="#c0392b", markersize=12, markeredgewidth=1.6, scalex=False, scaley=False)
    axes.tick_params(labelsize=9, color="#888888")
    for side in axes.spines.values():
        side.set_color("#888888")
    _draw_scale(axes, extent)
    shown = Normalize(low, high) if high > low else Normalize(low - 0.5, low + 0.5)
    palette = LinearSegmentedColormap.from_list("tints", TINTS / 255)
    if colour is None:
        bar = figure.colorbar(ScalarMappable(shown, palette), ax=axes, fraction=0.03, pad=0.02, aspect=32)
        bar.set_label("height above the origin, m")
        bar.outline.set_edgecolor("#888888")  # type: ignore[operator]
        bar.ax.tick_params(labelsize=9, color="#888888")
    figure.savefig(file, dpi=110)


def _draw_scale(axes, extent: tuple[float, float, float, float]) -> None:
    """A bar of a round length, and where north is."""
    west, east, south, north = extent
    length = _round_length(0.22 * (east - west))
    x, y, thick = west + 0.04 * (east - west), south + 0.045 * (north - south), 0.008 * (north - south)
    for k in range(4):
        colour = "black" if k % 2 == 0 else "white"
        axes.fill_between(
            [x + k * length / 4, x + (k + 1) * length / 4], y, y + thick, facecolor=colour, edgecolor="black", lw=0.8
        )
    outline = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
    text = f"{length:g} m" if length < 1000 else f"{length / 1000:g} km"
    axes.text(x + length / 2, y + 2.2 * thick, text, ha="center", va="bottom", fontsize=9, bbox=outline)
    axes.annotate(
        "N", xy=(0.965, 0.965), xytext=(0.965, 0.885), xycoords="axes fraction", ha="center", fontsize=11, bbox=outline,
        fontweight="bold", arrowprops={"arrowstyle": "-|>", "color": "black", "lw": 1.6},
    )  # fmt: skip


def _round_length(about: float) -> float:
    """1, 2 or 5 of a power of ten, not longer."""
    power = 10.0 ** np.floor(np.log10(about))
    return float(next(n * power for n in (5, 2, 1) if n * power <= about))


def _photo(file: Path | None, shape: tuple[int, ...]) -> np.ndarray | None:
    if file is None:
        return None
    from PIL import Image

    with Image.open(file) as photo:
        return np.asarray(photo.convert("RGB").resize((shape[1], shape[0]), Image.Resampling.BOX))[::-1].astype(float)
