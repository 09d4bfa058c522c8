"""A vehicle's hull and the world's water: what follows from their files for the loop."""

from __future__ import annotations

from itertools import product
from math import cos, pi, sin

import numpy as np

from airloom.basics.rotations import matrix_from_euler
from airloom.physics import water as rows
from airloom.scenario.water import BallShape, BoxShape, CapsuleShape, Hull, HullShape, Water, Wave, volume


def hull_numbers(hull: Hull, water: Water | None) -> list[float]:
    """What the kernels of physics/water.py work on before the first tick; a hull without water floats in air."""
    it = water or Water(level=-1e6, density=1.0)
    depth, period = it.current.depth or 0.0, it.current.period or 0.0
    numbers = [float(len(hull.shapes)), sum(volume(shape) for shape in hull.shapes.values())]
    numbers += [*it.current.velocity, depth, period]
    for k in range(rows.WAVES):
        numbers += _wave_numbers(it.waves[k]) if k < len(it.waves) else [0.0] * rows.WAVE_ROWS
    layers = [(it.level, it.density if water else 0.0), *((layer.below, layer.density) for layer in it.layers)]
    layers += [(0.0, 0.0)] * (rows.LAYERS - len(layers))
    numbers += [number for layer in layers for number in layer]
    numbers += [it.level, 0.0, 0.0, 0.0, 0.0, 0.0]
    numbers += [*hull.matrix().ravel(), *hull.damping, *hull.quadratic_damping]
    for shape in hull.shapes.values():
        numbers += _shape_numbers(shape)
    return [float(number) for number in numbers]


def _wave_numbers(wave: Wave) -> list[float]:
    return [wave.amplitude, 2 * pi / wave.length, cos(wave.direction), sin(wave.direction), wave.phase]


def _shape_numbers(shape: HullShape) -> list[float]:
    turn = matrix_from_euler(shape.roll, shape.pitch, shape.yaw)
    if isinstance(shape, BoxShape):
        kind, first, second, more = rows.MESH, 12.0, 0.0, list(box_triangles(shape.size).ravel())
    elif isinstance(shape, BallShape):
        kind, first, second, more = rows.CAPSULE, shape.radius, 0.0, []
    else:
        kind = rows.CAPSULE if isinstance(shape, CapsuleShape) else rows.CYLINDER
        first, second, more = shape.radius, 0.5 * shape.length, []
    length = float(rows.SHAPE_ROWS + len(more))
    return [length, kind, *shape.position, *turn.ravel(), first, second, *more]


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
