"""Made-up ground: its heights, and what colour it has where.

It is 0 m high in its middle, so that vehicles can start there, and lowest along its rim, where the plane around begins.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import numpy as np

from airloom.scenario.generated import Generated, Meadow, Mountains, Road, Vineyard
from airloom.world.grid import Grid
from airloom.world.noise import key_of, layered_noise, ridged_noise, smooth_noise

GRASS, DRY_GRASS, SOIL, PALE_SOIL = (84, 99, 54), (128, 124, 80), (118, 98, 74), (150, 132, 104)
ROCK, DARK_ROCK, SNOW, FOREST = (132, 126, 118), (98, 92, 86), (238, 242, 248), (58, 76, 42)
ASPHALT, GRAVEL = (98, 98, 100), (172, 160, 138)
RIM = 0.22  # of the smaller side: how wide the land is in which it comes down to the plane around it
FURROW = 0.06  # m


def generated_grid(terrain: Generated) -> Grid:
    return _grid(type(terrain), terrain.model_dump_json())


@lru_cache(maxsize=4)
def _grid(kind: type[Generated], text: str) -> Grid:
    terrain = kind.model_validate_json(text)
    (east, north), (x, y) = terrain.size, terrain.center
    columns, rows = (2 * round(side / terrain.cell / 2) + 1 for side in terrain.size)
    cell = east / (columns - 1), north / (rows - 1)
    across, up = np.meshgrid(np.linspace(-east / 2, east / 2, columns), np.linspace(-north / 2, north / 2, rows))
    heights = heights_of(terrain, across, up)
    if isinstance(terrain, Mountains):
        heights *= terrain.height / heights.max()
    return Grid.of(heights - heights[rows // 2, columns // 2], (x - east / 2, y - north / 2), cell)


def heights_of(terrain: Generated, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """At places from its middle, 0 along its rim."""
    return np.maximum(_SHAPES[type(terrain)](terrain, x, y), 0.0) * _window(terrain, x, y)


def _window(terrain: Generated, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """1 within, smoothly 0 at the rim."""
    wide = RIM * min(terrain.size)
    inward = np.minimum(terrain.size[0] / 2 - np.abs(x), terrain.size[1] / 2 - np.abs(y))
    return _smooth(inward / wide)


def _smooth(share: np.ndarray) -> np.ndarray:
    """From 0 to 1 with level ends."""
    share = np.clip(share, 0.0, 1.0)
    return share * share * (3.0 - 2.0 * share)


def _meadow(terrain: Meadow, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    wide = 0.35 * min(terrain.size)
    hills = 0.5 + 0.5 * layered_noise(key_of(terrain.seed, "hills"), x / wide, y / wide, 3)
    return terrain.relief * hills + terrain.roughness * layered_noise(key_of(terrain.seed, "soil"), x / 3, y / 3, 3)


def _mountains(terrain: Mountains, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Ridges around a valley in the middle."""
    wide = 0.32 * min(terrain.size)
    bend = 0.12 * layered_noise(key_of(terrain.seed, "bend"), x / wide, y / wide, 2)
    ridges = ridged_noise(key_of(terrain.seed, "ridges"), x / wide + bend, y / wide - bend, 6)
    away = np.hypot(x, y) / (0.34 * min(terrain.size))
    return terrain.height * ridges * (0.06 + 0.94 * _smooth(away - 0.15))


def _vineyard(terrain: Vineyard, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    rise = terrain.slope * (np.cos(terrain.uphill) * x + np.sin(terrain.uphill) * y + 0.5 * max(terrain.size))
    wide = 0.3 * min(terrain.size)
    soil = layered_noise(key_of(terrain.seed, "soil"), x / 2.5, y / 2.5, 4)
    swell = 1.2 * layered_noise(key_of(terrain.seed, "swell"), x / wide, y / wide, 2)
    inside, across = _in_field(terrain, x, y)
    beside = np.abs(across / terrain.spacing - np.round(across / terrain.spacing)) * terrain.spacing
    ridge = FURROW * np.cos(2.0 * np.pi * across / terrain.spacing) if terrain.cell < 0.4 * terrain.spacing else 0.0
    leaves = terrain.canopy * np.clip(1.0 - (beside / 0.35) ** 4, 0.0, 1.0)
    leaves = leaves * (0.85 + 0.3 * smooth_noise(key_of(terrain.seed, "leaves"), x / 0.8, y / 0.8))
    return rise + swell + terrain.roughness * soil + inside * (ridge + np.where(inside > 0.5, leaves, 0.0))


def _in_field(terrain: Vineyard, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How much a place belongs to the field, 0 … 1, and how far it is from its middle across the rows."""
    c, s = np.cos(terrain.heading), np.sin(terrain.heading)
    along, across = c * x + s * y, c * y - s * x
    inward = np.minimum(terrain.field[0] / 2 - np.abs(along), terrain.field[1] / 2 - np.abs(across))
    return _smooth(0.5 + inward), across


_SHAPES: dict[type[Generated], Callable[..., np.ndarray]] = {
    Meadow: _meadow,
    Vineyard: _vineyard,
    Mountains: _mountains,
}


# -- colours -----------------------------------------------------------------------------------------------------------


def colours_of(
    terrain: Generated, x: np.ndarray, y: np.ndarray, heights: np.ndarray, steepness: np.ndarray
) -> np.ndarray:
    """sRGB, 0 … 255, at places of the world, from the heights there and their rise per metre."""
    x, y = x - terrain.center[0], y - terrain.center[1]
    seed = key_of(terrain.seed, "colour")
    fine = 0.6 * smooth_noise(key_of(seed, 1), x / 0.7, y / 0.7) + 0.4 * smooth_noise(key_of(seed, 2), x / 2.3, y / 2.3)
    patches = layered_noise(key_of(seed, 3), x / 35, y / 35, 4)
    colours = _mixed(GRASS, DRY_GRASS, _smooth(0.45 + 0.7 * patches))
    if isinstance(terrain, Mountains):
        colours = _high_land(terrain, colours, x, y, heights, steepness, patches)
    elif isinstance(terrain, Vineyard):
        colours = _field_soil(terrain, colours, x, y, patches)
    colours = _mixed(colours, SOIL, _smooth((steepness - 0.45) / 0.3) if not isinstance(terrain, Mountains) else 0.0)
    colours = colours * (1.0 + 0.11 * fine)[..., None]
    for road in terrain.roads:
        colours = _with_road(road, colours, x + terrain.center[0], y + terrain.center[1], fine)
    return np.clip(colours, 0.0, 255.0)


def _mixed(below, above, share) -> np.ndarray:
    share = np.asarray(share)[..., None]
    return np.asarray(below, dtype=float) * (1.0 - share) + np.asarray(above, dtype=float) * share


def _high_land(terrain, colours, x, y, heights, steepness, patches) -> np.ndarray:
    share = (heights - heights.min()) / max(terrain.height, 1e-9)
    ragged = 0.10 * patches + 0.05 * layered_noise(key_of(terrain.seed, "line"), x / 90, y / 90, 3)
    rock = _mixed(ROCK, DARK_ROCK, _smooth(0.5 + 0.8 * layered_noise(key_of(terrain.seed, "rock"), x / 60, y / 25, 4)))
    woods = _smooth(0.5 + 3.0 * patches) * _smooth((0.42 - share + ragged) / 0.08) * _smooth((0.75 - steepness) / 0.2)
    colours = _mixed(colours, FOREST, 0.8 * woods)
    colours = _mixed(
        colours, rock, np.maximum(_smooth((steepness - 0.72 + ragged) / 0.25), _smooth((share - 0.48 + ragged) / 0.12))
    )
    lies = _smooth((share - terrain.snow + ragged) / 0.07) * _smooth((1.35 - steepness + ragged) / 0.4)
    return _mixed(colours, SNOW, lies)


def _field_soil(terrain, colours, x, y, patches) -> np.ndarray:
    """Soil under the vines, with grass in every other alley."""
    inside, across = _in_field(terrain, x, y)
    number = across / terrain.spacing
    beside = np.abs(number - np.round(number)) * 2.0  # 0 under the vines, 1 in the middle of an alley
    soil = _mixed(SOIL, PALE_SOIL, _smooth(0.5 + 0.9 * patches))
    green = _smooth((beside - 0.35) / 0.2) * (np.floor(number) % 2) * 0.75
    return _mixed(colours, _mixed(soil, colours, green), inside)


def _with_road(road: Road, colours: np.ndarray, x: np.ndarray, y: np.ndarray, fine: np.ndarray) -> np.ndarray:
    away = _distance_to_path(np.array(road.path), x, y)
    edge = _smooth((road.width / 2 - away + 0.12 * fine) / 0.3)
    if road.surface == "track":
        rut = np.abs(away - 0.3 * road.width)
        return _mixed(colours, PALE_SOIL, 0.85 * _smooth((0.16 * road.width - rut + 0.1 * fine) / 0.25))
    colour = np.asarray(ASPHALT if road.surface == "asphalt" else GRAVEL) * (1.0 + 0.06 * fine)[..., None]
    verge = _smooth((road.width / 2 + 0.9 - away + 0.5 * fine) / 0.8)
    return _mixed(_mixed(colours, PALE_SOIL, 0.55 * verge), colour, edge)


def _distance_to_path(path: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    nearest = np.full(x.shape, np.inf)
    for (ax, ay), (bx, by) in pairwise(path):
        dx, dy = bx - ax, by - ay
        share = np.clip(((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy), 0.0, 1.0)
        nearest = np.minimum(nearest, np.hypot(x - ax - share * dx, y - ay - share * dy))
    return nearest
