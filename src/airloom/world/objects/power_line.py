"""Power lines: poles with cross-arms and insulators, and wires that sag between them.

A wire that is little longer than its span hangs in a parabola, z = 4 s u (u − 1) with u from one pole to the next and
the sag s, which differs from the catenary by less than s²/span².
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from airloom.basics.rotations import quaternion_from_euler
from airloom.scenario.objects import PowerLine
from airloom.world.meshes import Colour, Mesh, beam, joined, lathe, ngon, painted
from airloom.world.objects.place import Ground, Place
from airloom.world.things import Solid

POLE: Colour = (108, 92, 76)
WIRE: Colour = (52, 54, 58)
INSULATOR: Colour = (112, 62, 44)
SPACING, DROP = 0.7, 0.5  # m between wires, and from the top of a pole to them
WIRE_RADIUS, PARTS = 0.02, 10


def build_power_line(line: PowerLine, place: Place, ground: Ground) -> tuple[Mesh, tuple[Solid, ...]]:
    path, height = place.path(line.path), line.height * place.scale
    feet = np.column_stack([path, [place.height(ground, float(x), float(y)) for x, y in path]])
    asides = _asides(path)
    reach = SPACING * (line.wires - 1) / 2
    parts: list[Mesh] = []
    solids: list[Solid] = []
    for foot, aside in zip(feet, asides, strict=True):
        top = foot + np.array([0.0, 0.0, height - DROP])
        parts.append(lathe([[0.15, -0.5], [0.14, 0.0], [0.09, height]], 9, POLE).moved(foot))
        parts.append(beam(top - (reach + 0.15) * aside, top + (reach + 0.15) * aside, 0.1, 0.12, POLE))
        parts += [_insulator().moved(top + offset * aside) for offset in _offsets(line.wires)]
        solids.append(Solid("cylinder", (0.12, 0.12, height / 2), (*foot[:2].tolist(), float(foot[2]) + height / 2)))
    for k in range(len(feet) - 1):
        for offset in _offsets(line.wires):
            start, end = (feet[n] + [0.0, 0.0, height - DROP + 0.2] + offset * asides[n] for n in (k, k + 1))
            points = _hanging(start, end, line.sag)
            parts.append(_wire(points))
            solids += [_rod(a, b) for a, b in pairwise(points)]
    return joined(parts), tuple(solids)


def _offsets(wires: int) -> np.ndarray:
    return SPACING * (np.arange(wires) - (wires - 1) / 2)


def _asides(path: np.ndarray) -> np.ndarray:
    """Unit vectors across the path at its points, halfway between the spans on both sides."""
    along = np.diff(path, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    mean = np.concatenate([along[:1], along[1:] + along[:-1], along[-1:]])
    mean[np.linalg.norm(mean, axis=1) < 1e-6] = [1.0, 0.0]
    mean /= np.linalg.norm(mean, axis=1, keepdims=True)
    return np.column_stack([-mean[:, 1], mean[:, 0], np.zeros(len(mean))])


def _insulator() -> Mesh:
    return lathe([[0.05, 0.04], [0.06, 0.12], [0.03, 0.2]], 7, INSULATOR)


def _hanging(start: np.ndarray, end: np.ndarray, sag: float) -> np.ndarray:
    u = np.linspace(0.0, 1.0, PARTS + 1)[:, None]
    return start + u * (end - start) + np.array([0.0, 0.0, 4.0 * sag]) * u * (u - 1.0)


def _wire(points: np.ndarray) -> Mesh:
    """Three-sided, closed at its ends."""
    along = np.gradient(points, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    aside = np.column_stack([-along[:, 1], along[:, 0], np.zeros(len(along))])
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    over = np.cross(along, aside)
    ring = ngon(WIRE_RADIUS, 3, np.pi / 2)
    vertices = (points[:, None] + ring[:, :1] * aside[:, None] + ring[:, 1:] * over[:, None]).reshape(-1, 3)
    faces, last = [[2, 1, 0]], len(vertices) - 3
    for s in range(0, last, 3):
        for k in range(3):
            a, b = s + k, s + (k + 1) % 3
            faces += [[a, b, b + 3], [a, b + 3, a + 3]]
    return painted(vertices, [*faces, [last, last + 1, last + 2]], WIRE)


def _rod(a: np.ndarray, b: np.ndarray) -> Solid:
    """A capsule, whose own axis is z."""
    along, middle = b - a, (a + b) / 2
    flat = float(np.hypot(*along[:2]))
    attitude = quaternion_from_euler(0.0, float(np.arctan2(flat, along[2])), float(np.arctan2(along[1], along[0])))
    half = float(np.linalg.norm(along)) / 2
    return Solid("capsule", (WIRE_RADIUS, WIRE_RADIUS, half), tuple(middle.tolist()), tuple(attitude.tolist()))
