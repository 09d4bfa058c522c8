"""Parked cars: body, cabin with windows, wheels, lights."""

from __future__ import annotations

import numpy as np

from airloom.basics.rotations import matrix_from_euler
from airloom.scenario.objects import Car
from airloom.world.meshes import Colour, Mesh, box, joined, lathe, painted
from airloom.world.objects.place import Ground, Place
from airloom.world.things import Solid

PAINTS: tuple[Colour, ...] = (
    (176, 180, 184), (52, 56, 62), (206, 208, 208), (122, 28, 30), (38, 62, 104), (96, 102, 104), (64, 84, 70),
)  # fmt: skip
HALF = 0.84  # m, of the body's width
BODY = ((2.15, 0.42, 0.68), (1.95, 0.25, 0.77), (1.0, 0.25, 0.92), (-1.95, 0.25, 0.97), (-2.15, 0.4, 0.88))
"""Stations of the body from front to rear: x, lower and upper edge, m."""
GLASS, TYRE, RIM, LAMP, TAIL, TRIM = (
    (44, 52, 60), (30, 30, 32), (158, 162, 166), (232, 232, 220), (150, 24, 22), (36, 38, 40),
)  # fmt: skip


def build_car(car: Car, place: Place, ground: Ground) -> tuple[Mesh, tuple[Solid, ...]]:
    """Made 4.3 m long, 1.8 m wide and 1.5 m high, then stretched."""
    paint = car.colour or place.choice(0, PAINTS)
    stretch = np.array(car.size) / [4.3, 1.8, 1.5]
    mesh = joined(_parts(paint))
    length, width, height = car.size
    solids = [
        Solid("box", (0.46 * length, 0.44 * width, 0.26 * height), (0.0, 0.0, 0.38 * height)),
        Solid("box", (0.24 * length, 0.38 * width, 0.17 * height), (-0.05 * length, 0.0, 0.8 * height)),
    ]
    return place.put(Mesh(mesh.vertices * stretch, mesh.faces, mesh.colours), solids, ground)


def _parts(paint: Colour) -> list[Mesh]:
    wheels = [_wheel().moved([x, y, 0.31]) for x in (1.33, -1.33) for y in (0.78, -0.78)]
    lamps = [box((0.12, 0.3, 0.1), LAMP, (2.08, y, 0.62)) for y in (0.56, -0.56)]
    tails = [box((0.1, 0.24, 0.14), TAIL, (-2.1, y, 0.74)) for y in (0.58, -0.58)]
    return [
        _loft(BODY, paint),
        _cabin(),
        _roof(paint),
        box((4.1, 1.56, 0.12), TRIM, (0.0, 0.0, 0.27)),
        *wheels, *lamps, *tails,
        box((0.06, 0.5, 0.12), RIM, (-2.14, 0.0, 0.55)),
    ]  # fmt: skip


def _loft(stations, colour: Colour) -> Mesh:
    """A body from its front to its rear: x, lower and upper edge of each station; narrower above."""
    rings = []
    for k, (x, low, high) in enumerate(stations):
        wide = HALF * (0.88 if k in (0, len(stations) - 1) else 1.0)
        rings.append([[x, -wide, low], [x, -wide, 0.7 * high + 0.3 * low], [x, -0.9 * wide, high],
                      [x, 0.9 * wide, high], [x, wide, 0.7 * high + 0.3 * low], [x, wide, low]])  # fmt: skip
    return _skin(np.array(rings), colour)


def _skin(rings: np.ndarray, colour: Colour) -> Mesh:
    """Rings of corners, one behind the other from front to rear, closed at both ends."""
    count, n, _ = rings.shape
    around = np.arange(n)
    after = (around + 1) % n
    faces = []
    for start in range(0, (count - 1) * n, n):
        a, b = around + start, after + start
        faces += [np.stack([a, a + n, b + n], 1), np.stack([a, b + n, b], 1)]
    fan = np.stack([np.zeros(n - 2, dtype=int), np.arange(1, n - 1), np.arange(2, n)], axis=1)
    faces += [fan, fan[:, ::-1] + (count - 1) * n]
    mesh = painted(rings.reshape(-1, 3), np.concatenate(faces), colour)
    one, two, three = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    volume = np.einsum("ij,ij->", np.cross(one, two), three)
    return mesh if volume > 0 else Mesh(mesh.vertices, mesh.faces[:, ::-1], mesh.colours)


def _frustum(
    low: tuple[float, float, float], high: tuple[float, float, float], z: tuple[float, float], colour: Colour
) -> Mesh:
    """Between two rectangles: front, rear and half the width of each."""
    rings = [[[f, -w, h], [f, w, h], [r, w, h], [r, -w, h]] for (f, r, w), h in zip((low, high), z, strict=True)]
    return _skin(np.array(rings), colour)


def _cabin() -> Mesh:
    return _frustum((1.02, -1.86, 0.77), (0.26, -1.42, 0.62), (0.88, 1.43), GLASS)


def _roof(paint: Colour) -> Mesh:
    return _frustum((0.34, -1.47, 0.66), (0.2, -1.36, 0.6), (1.4, 1.5), paint)


def _wheel() -> Mesh:
    tyre = lathe([[0.31, -0.11], [0.31, 0.11]], 14, TYRE)
    rim = lathe([[0.19, -0.115], [0.19, 0.115]], 10, RIM)
    return joined([tyre, rim]).turned(matrix_from_euler(np.pi / 2, 0.0, 0.0))
