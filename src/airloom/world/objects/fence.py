"""Fences that follow a path over the ground: posts, and rails, pickets or wires between them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from airloom.scenario.objects import Fence
from airloom.world.meshes import Colour, Mesh, beam, joined, prism, rectangle
from airloom.world.objects.place import Ground, Place
from airloom.world.objects.stations import Station, panel, stations
from airloom.world.things import Solid

WOOD: Colour = (134, 112, 86)
WIRE: Colour = (120, 124, 126)
THICK = 0.04  # m, of what is touched between posts


def build_fence(fence: Fence, place: Place, ground: Ground) -> tuple[Mesh, tuple[Solid, ...]]:
    height, colour = fence.height * place.scale, fence.colour or WOOD
    row = stations(place.path(fence.path), fence.spacing, place, ground)
    parts: list[Mesh] = [_post(station, height, colour) for station in row]
    solids = []
    for a, b in pairwise(row):
        parts += _between(fence.form, a, b, height, colour)
        solids.append(panel(a, b, 0.0, height, THICK))
    return joined(parts), tuple(solids)


def _post(station: Station, height: float, colour: Colour) -> Mesh:
    return prism(rectangle(0.1, 0.1), -0.3, height, colour).tinted(0.9).moved(station.foot)


def _between(form: str, a: Station, b: Station, height: float, colour: Colour) -> list[Mesh]:
    if form == "wire":
        return [
            beam(a.above(share * height), b.above(share * height), 0.012, 0.012, WIRE)
            for share in (0.25, 0.5, 0.75, 0.97)
        ]
    if form == "rails":
        return [
            beam(a.above(share * height), b.above(share * height), 0.04, 0.12, colour) for share in (0.4, 0.68, 0.94)
        ]
    rails = [beam(a.above(share * height), b.above(share * height), 0.04, 0.07, colour) for share in (0.28, 0.78)]
    count = max(2, round(float(np.linalg.norm(b.foot - a.foot)) / 0.2))
    yaw = np.arctan2(*(b.foot - a.foot)[1::-1])
    c, s = np.cos(yaw), np.sin(yaw)
    slat = (
        prism(rectangle(0.12, 0.02), 0.06, height, colour)
        .tinted(1.12)
        .turned(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]))
    )
    aside = 0.03 * np.array([s, -c, 0.0])
    return rails + [slat.moved(a.foot + (k + 0.5) / count * (b.foot - a.foot) + aside) for k in range(count)]
