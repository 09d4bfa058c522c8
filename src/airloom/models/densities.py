"""Mass and inertia by `<inertial auto="true">` (SDF 1.11): from a link's collisions and their densities."""

from __future__ import annotations

from math import pi

import numpy as np

from airloom.models.description import Inertial, ModelError, Shape
from airloom.models.lumping import combined
from airloom.models.meshes import load, unit_of
from airloom.models.solids import diagnose, measure, welded

WATER = 1000.0
"""kg/m³, which SDF takes if none is given."""


def inertial_of(shapes: list[tuple[Shape, float]], place: str) -> Inertial:
    """Of shapes with their densities, in their link's axes."""
    parts = [_weighed(shape, density, place).seen_from(shape.pose) for shape, density in shapes]
    whole = combined(part for part in parts if part.mass > 0.0)
    if whole.mass <= 0.0:
        raise ModelError(f'{place}: <inertial auto="true"> needs a collision with a volume')
    return whole


def _weighed(shape: Shape, density: float, place: str) -> Inertial:
    if shape.kind == "mesh":
        return _mesh(shape, density, place)
    s = shape.size
    if shape.kind == "box":
        mass = density * s[0] * s[1] * s[2]
        return _diagonal(mass, (s[1] ** 2 + s[2] ** 2) / 12, (s[0] ** 2 + s[2] ** 2) / 12, (s[0] ** 2 + s[1] ** 2) / 12)
    if shape.kind in ("sphere", "ellipsoid"):
        a, b, c = s if shape.kind == "ellipsoid" else (s[0],) * 3
        mass = density * 4 / 3 * pi * a * b * c
        return _diagonal(mass, (b**2 + c**2) / 5, (a**2 + c**2) / 5, (a**2 + b**2) / 5)
    if shape.kind in ("cylinder", "capsule"):
        r, length = s
        rod, ends = density * pi * r**2 * length, density * 4 / 3 * pi * r**3 if shape.kind == "capsule" else 0.0
        across = rod * (length**2 / 12 + r**2 / 4) + ends * (0.4 * r**2 + length**2 / 4 + 3 / 8 * length * r)
        along = rod * r**2 / 2 + ends * 0.4 * r**2
        return Inertial(rod + ends, np.zeros(3), np.diag([across, across, along]))
    return Inertial()


def _diagonal(mass: float, x: float, y: float, z: float) -> Inertial:
    return Inertial(mass, np.zeros(3), mass * np.diag([x, y, z]))


def _mesh(shape: Shape, density: float, place: str) -> Inertial:
    assert shape.file is not None
    mesh = load(shape.file)
    scale = np.array(shape.scale) * unit_of(shape.file)
    vertices, faces = welded(np.asarray(mesh.vertices, dtype=float) * scale, np.asarray(mesh.faces))
    if not diagnose(vertices, faces).is_solid:
        raise ModelError(
            f"{place}: the mesh {shape.file.name} is not closed, so it has no volume; give the link a mass"
        )
    measured = measure(vertices, faces, "solid")
    return measured.weighing(density * measured.amount)
