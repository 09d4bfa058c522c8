"""A vehicle's hull and the world's water: what follows from their files for the loop."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from airloom.basics.rotations import matrix_from_euler
from airloom.errors import UserError
from airloom.physics import water as rows
from airloom.scenario.water import (
    BallShape,
    BoxShape,
    CapsuleShape,
    EllipsoidShape,
    Hull,
    HullShape,
    MeshShape,
    Water,
    mesh_complaint,
    mesh_volume,
    volume,
)
from airloom.world.objects.mesh_file import read_mesh

if TYPE_CHECKING:
    from airloom.vehicles.airframe import Airframe

MOST_TRIANGLES = 2000
STAGES_FOLLOW = 2.7  # × time constant: longer steps of Runge and Kutta's diverge


class HullError(UserError):
    """A hull that can displace no water; the message is meant for the user."""


def hull_numbers(
    hull: Hull,
    water: Water | None,
    mass: float,
    center_of_mass: tuple[float, float, float],
    velocities_first: float = 0.0,
) -> list[float]:
    """What the kernels of physics/water.py work on before the first tick; a hull without water floats in air.

    `velocities_first` is the step of an engine that takes these before places, as MuJoCo does, or 0.

    Added mass and damping hold for a hull that displaces its own weight, or all of it if that is less.
    """
    all_of_it = hull_volume(hull)
    displaced = all_of_it if water is None or hull.fluid == "air" else min(all_of_it, mass / water.density)
    numbers = [float(len(hull.shapes)), displaced]
    layers = []
    if water is not None:
        layers = [(water.level, water.density), *((layer.below, layer.density) for layer in water.layers)]
    for below, density in [*layers, *[(0.0, 0.0)] * (rows.LAYERS - len(layers))]:
        numbers += [below, density]
    numbers += [0.0] * 6
    numbers += [*hull.matrix(center_of_mass).ravel(), *hull.damping, *hull.quadratic_damping]
    numbers += [1.0 if hull.fluid == "air" else 0.0, velocities_first]
    level = 0.0 if water is None else water.level
    for shape in hull.shapes.values():
        numbers += _shape_numbers(shape, level)
    return [float(number) for number in numbers]


def check_damping(hull: Hull, airframe: Airframe, step: float) -> None:
    """Raise HullError if steps in stages are too long for the damping, as it is at rest."""
    mass = np.zeros((6, 6))
    mass[:3, :3], mass[3:, 3:] = airframe.mass * np.eye(3), airframe.inertia
    mass += hull.matrix(airframe.vehicle.center_of_mass)
    fastest = np.abs(np.linalg.eigvals(np.linalg.solve(mass, np.diag(hull.damping)))).max()
    if fastest * step > STAGES_FOLLOW:
        raise HullError(
            f"the damping of its hull needs steps of at most {STAGES_FOLLOW / fastest:.2g} s, and these are of "
            f"{step:g} s: shorten the step, or let the engine take any, by integrator: euler or kind: mujoco"
        )


def too_heavy_to_float(hull: Hull, water: Water, mass: float) -> str | None:
    """Why a vehicle that is to stay on the surface would sink, if it would."""
    most = water.density * hull_volume(hull)
    if mass < most:
        return None
    return f"it has {mass:g} kg, and its hull carries {most:.3g} kg at most in this water: it would sink"


def hull_volume(hull: Hull) -> float:
    """m³"""
    return sum(_volume(shape) for shape in hull.shapes.values())


def _volume(shape: HullShape) -> float:
    return mesh_volume(*mesh_of(shape)) if isinstance(shape, MeshShape) else volume(shape)


def mesh_of(shape: MeshShape) -> tuple[np.ndarray, np.ndarray]:
    """Corners and triangles."""
    if shape.file is None:
        return np.array(shape.vertices), np.array(shape.faces)
    vertices, faces = _read(shape.file)
    return shape.scale * vertices, faces


def _read(file: str) -> tuple[np.ndarray, np.ndarray]:
    """Files repeat a corner for each triangle that has it; equal ones are one here."""
    read = read_mesh(file)
    vertices, which = np.unique(np.round(read.vertices, 9), axis=0, return_inverse=True)
    faces = which.reshape(-1)[read.faces]
    if len(faces) > MOST_TRIANGLES:
        raise HullError(f"{file}: has {len(faces)} triangles, and a hull may have {MOST_TRIANGLES}; simplify it")
    if (text := mesh_complaint(vertices, faces)) is not None:
        raise HullError(f"{file}: {text}")
    return vertices, faces


def _shape_numbers(shape: HullShape, level: float) -> list[float]:
    turn = matrix_from_euler(shape.roll, shape.pitch, shape.yaw)
    if isinstance(shape, BoxShape):
        kind, first, second, more = rows.MESH, 12.0, 0.0, list(box_triangles(shape.size).ravel())
    elif isinstance(shape, MeshShape):
        vertices, faces = mesh_of(shape)
        kind, first, second, more = rows.MESH, float(len(faces)), 0.0, vertices[faces].ravel().tolist()
    elif isinstance(shape, BallShape):
        kind, first, second, more = rows.CAPSULE, shape.radius, 0.0, []
    elif isinstance(shape, EllipsoidShape):
        kind, first, second, more = rows.ELLIPSOID, 1.0, 0.0, [0.5 * size for size in shape.size]
    else:
        kind = rows.CAPSULE if isinstance(shape, CapsuleShape) else rows.CYLINDER
        first, second, more = shape.radius, 0.5 * shape.length, []
    length = float(rows.SHAPE_ROWS + len(more))
    return [length, kind, *shape.position, *turn.ravel(), first, second, level, 0.0, 0.0, *more]


def box_triangles(size: tuple[float, float, float]) -> np.ndarray:
    """[12, corner, xyz], facing outwards."""
    half, triangles = 0.5 * np.array(size), []
    for axis, side in product(range(3), (-1.0, 1.0)):
        corners = np.empty((4, 3))
        corners[:, axis] = side
        corners[:, (axis + 1) % 3], corners[:, (axis + 2) % 3] = [-1, 1, 1, -1], [-1, -1, 1, 1]
        a, b, c, d = (corners if side > 0 else corners[::-1]) * half
        triangles += [[a, b, c], [a, c, d]]
    return np.array(triangles)
