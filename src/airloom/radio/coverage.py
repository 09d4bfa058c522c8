"""Where a node would be heard: the mean strength of its signal over the land, by the built-in channel."""

from __future__ import annotations

import numpy as np

from airloom.radio.builtin import BuiltinMedium, milliwatts
from airloom.radio.channel import reach_of
from airloom.radio.quality import quality_colours
from airloom.radio.shown import Picture
from airloom.scenario.radio import RadioKind
from airloom.world.land import Land

CELLS = 96
FARTHEST = 5000.0  # m
AMPLE = 20.0  # dB to spare, with which a link is as good as any
OPACITY = 120


def coverage(kind: RadioKind, seed: int, land: Land, sender: np.ndarray, height: float) -> tuple[Picture, np.ndarray]:
    """Where receivers at a height above the ground follow frames of a sender, and by how many dB, [row, column].

    It is the mean that counts: with fading, some frames come farther, and some less far. NaN where it is too weak.
    """
    medium = BuiltinMedium(kind, 1 + CELLS, land)
    medium.reset(seed)
    least = kind.least_followed
    heard = medium.channel._replace(least_mw=float(milliwatts(least)), shadowing=kind.channel.shadowing.deviation / 3.0)
    radius = min(float(reach_of(heard, np.array(kind.power))), FARTHEST)
    cell = 2.0 * radius / CELLS
    along = (np.arange(CELLS) + 0.5) * cell - radius
    spare = np.full((CELLS, CELLS), np.nan)
    places = np.empty((1 + CELLS, 3))
    places[0] = sender
    for row, y in enumerate((sender[1] + along).tolist()):
        xs = sender[0] + along
        places[1:, 0], places[1:, 1] = xs, y
        places[1:, 2] = [land.height(x, y) + height - kind.antenna for x in xs.tolist()]
        spare[row] = medium.strengths(0, places)[1:] - least
    spare[spare < 0.0] = np.nan
    colours = np.zeros((CELLS, CELLS, 4), dtype=np.uint8)
    colours[..., :3] = quality_colours(np.nan_to_num(spare) / AMPLE)
    colours[..., 3] = np.where(np.isfinite(spare), OPACITY, 0)
    return Picture((float(sender[0] - radius), float(sender[1] - radius)), cell, colours), spare
