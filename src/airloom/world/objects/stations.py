"""A path over the ground, cut into equal parts: where posts of a fence, of a trellis or of a line stand."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from airloom.basics.rotations import quaternion_from_euler
from airloom.scenario.objects import ObjectError
from airloom.world.objects.place import Ground, Place
from airloom.world.things import Solid

MOST_STATIONS = 20_000


@dataclass(frozen=True)
class Station:
    """A point of the path on the ground."""

    foot: np.ndarray

    def above(self, height: float) -> np.ndarray:
        return self.foot + np.array([0.0, 0.0, height])


def stations(path: np.ndarray, spacing: float, place: Place, ground: Ground) -> list[Station]:
    """All corners of a path, and as many points between two of them as keep the spacing."""
    points = [path[0]]
    for start, end in pairwise(path):
        parts = max(1, round(float(np.hypot(*(end - start))) / spacing))
        points += [start + k / parts * (end - start) for k in range(1, parts + 1)]
    if len(points) > MOST_STATIONS:
        raise ObjectError(f"a path with {len(points)} posts is too long; the most are {MOST_STATIONS}")
    return [Station(np.array([x, y, place.height(ground, float(x), float(y))])) for x, y in points]


def panel(a: Station, b: Station, low: float, high: float, thick: float) -> Solid:
    """An upright board from one station to the next, tilted as the ground between them is."""
    along = b.foot - a.foot
    flat = float(np.hypot(*along[:2]))
    attitude = quaternion_from_euler(0.0, -float(np.arctan2(along[2], flat)), float(np.arctan2(along[1], along[0])))
    middle = (a.foot + b.foot) / 2 + [0.0, 0.0, (low + high) / 2]
    half = float(np.linalg.norm(along)) / 2, thick / 2, (high - low) / 2
    return Solid("box", half, tuple(middle.tolist()), tuple(attitude.tolist()))
