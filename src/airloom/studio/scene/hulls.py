"""How a vehicle with a hull looks: what displaces water or air, beams between what lies apart, rings of thrusters."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from airloom.basics.rotations import matrix_from_euler
from airloom.scenario.models import Rotor, Vehicle
from airloom.scenario.water import BallShape, BoxShape, CylinderShape, EllipsoidShape, HullShape, MeshShape
from airloom.vehicles.hull import mesh_of
from airloom.world.meshes import Colour, Mesh, annulus, box, lathe, painted

BODY: Colour = (58, 66, 78)
ENVELOPE: Colour = (222, 224, 228)
RING: Colour = (40, 44, 50)
BEAM: Colour = (186, 190, 196)
BEAM_PLACES = (-0.25, 0.25)
"""Of two beams, along a hull."""
ROUND = 9  # corners of a quarter of a circle


def hull_meshes(vehicle: Vehicle, accent: Colour, sides: int) -> list[Mesh]:
    """In the vehicle's frame; what reaches farthest ahead has its colour."""
    assert vehicle.hull is not None
    colour = ENVELOPE if vehicle.hull.fluid == "air" else BODY
    drawn = [_in_place(shape, _drawn(shape, colour, sides)) for shape in vehicle.hull.shapes.values()]
    ahead = max(mesh.vertices[:, 0].max() for mesh in drawn)
    for mesh in drawn:
        front = mesh.vertices[mesh.faces].mean(axis=1)[:, 0] > ahead - 0.15 * np.ptp(mesh.vertices[:, 0])
        mesh.colours[np.unique(mesh.faces[front]), :3] = accent
    return [*drawn, *_beams(drawn), *(_ring(rotor, sides) for rotor in vehicle.rotors.values())]


def _beams(drawn: list[Mesh]) -> list[Mesh]:
    """Two across the tops of hulls that lie apart, as those of a catamaran, and a box on them."""
    sides = sorted((mesh.vertices[:, 1].min(), mesh.vertices[:, 1].max()) for mesh in drawn)
    if not any(b[0] - a[1] > a[1] - a[0] for a, b in pairwise(sides)):
        return []
    corners = np.vstack([mesh.vertices for mesh in drawn])
    low, high = corners.min(axis=0), corners.max(axis=0)
    (length, width, _), (x, y, _) = high - low, (low + high) / 2
    thick = 0.04 * length
    across = (thick, width, thick)
    beams = [box(across, BEAM).moved((x + place * length, y, high[2])) for place in BEAM_PLACES]
    return [*beams, box((0.6 * length, 0.35 * width, 2.5 * thick), BEAM).moved((x, y, high[2] + thick))]


def _in_place(shape: HullShape, mesh: Mesh) -> Mesh:
    return mesh.turned(matrix_from_euler(shape.roll, shape.pitch, shape.yaw)).moved(shape.position)


def _drawn(shape: HullShape, colour: Colour, sides: int) -> Mesh:
    if isinstance(shape, BoxShape):
        return box(shape.size, colour)
    if isinstance(shape, MeshShape):
        vertices, faces = mesh_of(shape)
        corners = vertices[faces].reshape(-1, 3)  # of each triangle its own, for edges to be seen
        return painted(corners, np.arange(len(corners)).reshape(-1, 3), colour)
    if isinstance(shape, EllipsoidShape):
        ball = _capsule(1.0, 0.0, sides, colour)
        return Mesh(ball.vertices * np.array(shape.size) / 2, ball.faces, ball.colours)
    half = 0.0 if isinstance(shape, BallShape) else 0.5 * shape.length
    if isinstance(shape, CylinderShape):
        return lathe([[0.0, -half], [shape.radius, -half], [shape.radius, half], [0.0, half]], sides, colour)
    return _capsule(shape.radius, half, sides, colour)


def _capsule(radius: float, half: float, sides: int, colour: Colour) -> Mesh:
    angles = np.linspace(0.0, np.pi / 2, ROUND)
    cap = radius * np.column_stack([np.cos(angles), np.sin(angles)]) + [0.0, half]
    return lathe(np.vstack([cap[::-1] * [1.0, -1.0], cap]).tolist(), sides, colour)


def _ring(rotor: Rotor, sides: int) -> Mesh:
    axis = np.array(rotor.axis) / np.linalg.norm(rotor.axis)
    ring = annulus(1.02 * rotor.radius, 1.3 * rotor.radius, sides, RING)
    return ring.turned(_facing(axis)).moved(rotor.position)


def _facing(axis: np.ndarray) -> np.ndarray:
    """A rotation that takes z to an axis."""
    aside = np.cross(axis, [0.0, 1.0, 0.0] if abs(axis[1]) < 0.9 else [1.0, 0.0, 0.0])
    aside /= np.linalg.norm(aside)
    return np.column_stack([aside, np.cross(axis, aside), axis])
