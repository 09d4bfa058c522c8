"""Houses: walls, windows, doors, a chimney, and a gable, hip or flat roof."""

from __future__ import annotations

import numpy as np

from airloom.basics.rotations import matrix_from_euler
from airloom.scenario.objects import House
from airloom.world.meshes import Colour, Mesh, box, joined, painted, prism, rectangle
from airloom.world.objects.place import Ground, Place
from airloom.world.things import Solid

WALLS: tuple[Colour, ...] = ((224, 214, 196), (214, 206, 196), (228, 222, 210), (206, 186, 158), (196, 172, 146))
ROOFS: tuple[Colour, ...] = ((136, 82, 64), (118, 70, 56), (148, 98, 74), (92, 86, 82), (104, 76, 66))
PLINTH, FRAME, GLASS, DOOR, CHIMNEY, SILL = (
    (128, 124, 118), (236, 234, 228), (62, 78, 92), (98, 66, 44), (126, 82, 68), (176, 172, 166),
)  # fmt: skip
SHUTTERS: tuple[Colour | None, ...] = (None, (84, 104, 84), None, (104, 78, 60), (90, 100, 116))
STOREY, OVERHANG, SLAB = 2.7, 0.45, 0.18  # m
FOUNDATION = 2.0  # m that the walls go into the ground, for slopes
GABLE_STEPS = 4  # boxes under a roof, for what touches it


def build_house(house: House, place: Place, ground: Ground) -> tuple[Mesh, tuple[Solid, ...]]:
    length, width, height = house.size
    wall = house.wall_colour or place.choice(0, WALLS)
    roof = house.roof_colour or place.choice(1, ROOFS)
    parts = [
        prism(rectangle(length, width), -FOUNDATION, height, wall),
        prism(rectangle(length + 0.08, width + 0.08), -FOUNDATION, 0.35, PLINTH),
        *_openings(house, place.choice(2, SHUTTERS), place),
    ]
    parts += {"gable": _gable, "hip": _hip, "flat": _flat}[house.roof](house, wall, roof)
    return place.put(joined(parts), _solids(house), ground)


def _solids(house: House) -> list[Solid]:
    length, width, height = house.size
    walls = _block(length, width, 0.0, height)
    if house.roof == "flat":
        return [walls]
    steps = np.linspace(0.0, 1.0, GABLE_STEPS + 1)
    shrink = 1.0 if house.roof == "hip" else 0.0
    ridge = max(length - width, 0.0)
    roof = [
        _block(length - shrink * (length - ridge) * upper, width * (1.0 - upper), height + a * house.roof_height,
               height + upper * house.roof_height)
        for a, upper in zip(steps[:-1], steps[1:] - 0.5 / GABLE_STEPS, strict=True)
    ]  # fmt: skip
    return [walls, *(part for part in roof if min(part.half) > 0.02)]


def _block(length: float, width: float, low: float, high: float) -> Solid:
    return Solid("box", (length / 2, width / 2, (high - low) / 2), (0.0, 0.0, (low + high) / 2))


# -- roofs ---------------------------------------------------------------------------------------------------------


def _gable(house: House, wall: Colour, colour: Colour) -> list[Mesh]:
    """Two slopes along x, the triangles of wall at both ends, and a chimney."""
    length, width, height = house.size
    rise, half = house.roof_height, width / 2
    triangle = painted(
        [
            [x, y, z]
            for x in (-length / 2, length / 2)
            for y, z in ((-half, height), (half, height), (0, height + rise))
        ],
        [[0, 2, 1], [3, 4, 5], [0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4], [2, 0, 3], [2, 3, 5]],
        wall,
    )
    down = np.array([half, -rise]) / np.hypot(half, rise)  # along a slope, from the ridge
    reach = np.hypot(half, rise) + OVERHANG
    slab = _slab(length + 2 * OVERHANG, reach, colour)
    right = slab.turned(matrix_from_euler(float(np.arctan2(down[1], down[0])), 0.0, 0.0)).moved([0, 0, height + rise])
    left = right.turned(matrix_from_euler(0.0, 0.0, np.pi))
    return [triangle, right, left, _ridge(length + 2 * OVERHANG, height + rise, colour), *_chimney(house)]


def _slab(length: float, reach: float, colour: Colour) -> Mesh:
    """A slope of the roof before it is tilted: from the ridge at y = 0 outwards, its lower side at z = 0."""
    slab = prism(rectangle(length, reach), 0.02, 0.02 + SLAB, colour).moved([0.0, reach / 2, 0.0])
    lower = slab.vertices[:, 2] < 0.1
    slab.colours[lower, :3] = 0.6 * np.array(colour)  # the side that is seen from below
    return slab


def _ridge(length: float, height: float, colour: Colour) -> Mesh:
    return box((length + 0.04, 0.34, 0.2), colour, (0.0, 0.0, height + SLAB - 0.02)).tinted(0.85)


def _chimney(house: House) -> list[Mesh]:
    length, width, height = house.size
    top = height + house.roof_height + 0.7
    foot = height + 0.35 * house.roof_height
    at = [0.22 * length, 0.14 * width, 0.0]
    return [
        prism(rectangle(0.7, 0.55), foot, top, CHIMNEY).moved(at),
        prism(rectangle(0.84, 0.69), top, top + 0.12, SILL).moved(at),
    ]


def _hip(house: House, wall: Colour, colour: Colour) -> list[Mesh]:
    """Four slopes that lean against a ridge; its eaves hang over."""
    length, width, height = house.size
    x, y, rise = length / 2 + OVERHANG, width / 2 + OVERHANG, house.roof_height
    ridge = max(length - width, 0.2) / 2
    low, eaves = height - OVERHANG * rise / (width / 2) + SLAB, height - OVERHANG * rise / (width / 2)
    corners = [[x, -y], [x, y], [-x, y], [-x, -y]]
    vertices = (
        [[*c, eaves] for c in corners]
        + [[*c, low] for c in corners]
        + [[ridge, 0, height + rise], [-ridge, 0, height + rise]]
    )
    faces = [
        *([k, (k + 1) % 4, (k + 1) % 4 + 4] for k in range(4)), *([k, (k + 1) % 4 + 4, k + 4] for k in range(4)),
        [0, 3, 2], [0, 2, 1], [4, 5, 8], [5, 6, 9], [5, 9, 8], [6, 7, 9], [7, 4, 8], [7, 8, 9],
    ]  # fmt: skip
    return [painted(vertices, faces, colour), *_chimney(house)]


def _flat(house: House, wall: Colour, colour: Colour) -> list[Mesh]:
    """A slab with an edge."""
    length, width, height = house.size
    return [
        box((length + 0.5, width + 0.5, 0.25), SILL, (0.0, 0.0, height + 0.1)),
        box((length - 0.3, width - 0.3, 0.06), (120, 120, 118), (0.0, 0.0, height + 0.24)),
    ]


# -- windows and doors -----------------------------------------------------------------------------------------------


def _openings(house: House, shutters: Colour | None, place: Place) -> list[Mesh]:
    length, width, height = house.size
    storeys = max(1, round((height - 0.2) / STOREY))
    parts: list[Mesh] = []
    for side, (along, out) in enumerate(2 * ((length, width / 2), (width, length / 2))):
        turn = matrix_from_euler(0.0, 0.0, side * np.pi / 2 + np.pi / 2)
        count = max(1, int((along - 0.6) / 3.0))
        middle = count // 2 if side == 2 else -1
        for storey in range(storeys):
            for k in range(count):
                at = (k + 0.5) * along / count - along / 2
                is_door = storey == 0 and k == middle
                if not is_door and place.chance(10 + 64 * side + 16 * storey + k) < 0.12:
                    continue
                made = _door() if is_door else _window(storey * height / storeys + 0.85, shutters)
                parts += [part.moved([out, at, 0.0]).turned(turn) for part in made]
    return parts


def _window(sill: float, shutters: Colour | None) -> list[Mesh]:
    """In a wall whose outer face is at x = 0."""
    wide, high = 1.0, 1.2
    middle = sill + high / 2
    parts = [
        box((0.06, wide + 0.16, high + 0.16), FRAME, (0.03, 0.0, middle)),
        *(box((0.06, wide / 2 - 0.05, high), GLASS, (0.055, side * (wide / 4 + 0.01), middle)) for side in (-1, 1)),
    ]
    if shutters:
        parts += [box((0.05, 0.46, high + 0.1), shutters, (0.05, side * (wide / 2 + 0.32), middle)) for side in (-1, 1)]
    return parts


def _door() -> list[Mesh]:
    return [
        box((0.06, 1.24, 2.3), FRAME, (0.03, 0.0, 1.15)),
        box((0.08, 1.0, 2.14), DOOR, (0.055, 0.0, 1.08)),
        box((0.9, 1.5, 0.16), SILL, (0.45, 0.0, 0.08)),
        box((0.7, 1.7, 0.08), DOOR, (0.35, 0.0, 2.55)),
    ]
