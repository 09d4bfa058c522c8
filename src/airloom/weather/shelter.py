"""Shelter behind vine rows and hedges, which let some wind through.

The share of the wind that is left at a distance of x row heights H behind a row of optical porosity θ is that of the
Wind Erosion Prediction System (Vigiak, Sterk, Warren and Hagen, "Spatial modeling of wind speed around windbreaks",
Catena 52, 2003, 273–288), x < 0 being in front of it:

    f = 1 − exp(−a x²) + b exp(−0.003 (x + c)^d), at most 1
    a = 0.008 − 0.17 θ + 0.17 θ^1.05,  b = 1.35 exp(−0.5 θ^0.2),  c = 10 (1 − 0.5 θ),  d = 3 − θ.

A row of width W is as open as θ + 0.3 (1 − exp(−0.5 W/H)) (1 − θ). WEPS has it for the wind at the ground. That it
holds up to H and fades evenly until 2 H is our own choice, as is the fading beside a row's ends over H. Of several rows
the one counts that shelters most. The distance is along the wind; a wind along the row is not hindered.
"""

from __future__ import annotations

from itertools import pairwise
from math import exp, hypot

import numpy as np

from airloom.scenario import weather as models
from airloom.scenario.models import World
from airloom.scenario.objects import VineRow
from airloom.scenario.weather import ShelterRow, WeatherError
from airloom.weather.air import wind_law
from airloom.weather.law import Law, Surroundings
from airloom.world.objects.scattering import places_of

FIRST, LAST, PER_HEIGHT = -10, 40, 8  # row heights that the table of f covers, and its entries for each
ENTRIES = (LAST - FIRST) * PER_HEIGHT + 1
FADED = 2.0  # row heights above the ground

# Numbers of the layer: parts of rows, the highest row. Then for each part: its ends, its height, where its table is.
PARTS, HIGHEST, FIRST_PART = range(3)
AX, AY, BX, BY, HEIGHT, TABLE, PART_WIDTH = range(7)


@wind_law
def take_shelter(t, x, y, z, h, p, v):
    """The numbers are named above."""
    speed = hypot(v[0], v[1])
    if speed == 0.0 or h >= FADED * p[HIGHEST]:
        return
    east, north, least = v[0] / speed, v[1] / speed, 1.0
    for part in range(int(p[PARTS])):
        at = FIRST_PART + part * PART_WIDTH
        height = p[at + HEIGHT]
        along_x, along_y = p[at + BX] - p[at + AX], p[at + BY] - p[at + AY]
        turn = along_x * north - along_y * east  # length times the sine of the angle between row and wind
        if turn == 0.0 or h >= FADED * height:
            continue
        to_x, to_y = x - p[at + AX], y - p[at + AY]
        distance = (along_x * to_y - along_y * to_x) / turn / height
        if not FIRST < distance < LAST:
            continue
        length = hypot(along_x, along_y)
        met = (to_x * north - to_y * east) / turn * length  # where on the row the wind came through, from its end A
        beside = max(-met, met - length, 0.0) / height
        if beside >= 1.0:
            continue
        place = (distance - FIRST) * PER_HEIGHT
        entry = int(place)
        table = int(p[at + TABLE]) + entry
        left = p[table] + (place - entry) * (p[table + 1] - p[table])
        least = min(least, 1.0 - (1.0 - left) * (1.0 - beside) * min(FADED - h / height, 1.0))
    v[0] *= least
    v[1] *= least


def share_left(distance: float, porosity: float) -> float:
    """f of a thin row at so many row heights behind it."""
    a = 0.008 - 0.17 * porosity + 0.17 * porosity**1.05
    b, c, d = 1.35 * exp(-0.5 * porosity**0.2), 10.0 * (1.0 - 0.5 * porosity), 3.0 - porosity
    return min(1.0 - exp(-a * distance**2) + b * exp(-0.003 * max(distance + c, 0.0) ** d), 1.0)


def effective_porosity(porosity: float, width: float, height: float) -> float:
    """Of a row that is not thin."""
    return porosity + 0.3 * (1.0 - exp(-0.5 * width / height)) * (1.0 - porosity)


def vine_rows(world: World) -> list[ShelterRow]:
    """Those among the objects of a world."""
    return [
        ShelterRow(
            path=[(float(x), float(y)) for x, y in place.path(vines.path)],
            height=vines.height * place.scale, width=vines.width * place.scale,
        )
        for name, vines in world.objects.items()
        if isinstance(vines, VineRow)
        for place in places_of(name, vines)
    ]  # fmt: skip


class ShelterLaw(Law):
    kernel = take_shelter

    def __init__(self, layer: models.Shelter, around: Surroundings) -> None:
        rows = vine_rows(around.world) if layer.rows is None else layer.rows
        if not rows:
            raise WeatherError(
                "there are no vine rows in the world to give shelter; add an object of kind vine_row, or give rows: "
                "[{path: [[0, 0], [100, 0]], height: 2}]"
            )
        parts = [(*a, *b, row) for row in rows for a, b in pairwise(row.path) if a != b]
        porosities = [effective_porosity(layer.porosity, row.width, row.height) for *_, row in parts]
        kinds = {porosity: k for k, porosity in enumerate(dict.fromkeys(porosities))}
        tables_at = FIRST_PART + len(parts) * PART_WIDTH
        numbers = [float(len(parts)), max(row.height for row in rows)]
        for (*ends, row), porosity in zip(parts, porosities, strict=True):
            numbers += [*ends, row.height, tables_at + kinds[porosity] * ENTRIES]
        distances = np.linspace(FIRST, LAST, ENTRIES)
        self.numbers = np.array([*numbers, *(share_left(x, porosity) for porosity in kinds for x in distances)])
