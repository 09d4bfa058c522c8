"""How a vehicle with a hull looks: the shapes that displace water or air, a ring around each thruster.

Floats side by side, as those of a catamaran, carry a deck from one to the other, with a cabin and a mast on it.
"""

from __future__ import annotations

import numpy as np

from airloom.basics.rotations import matrix_from_euler
from airloom.scenario.models import Rotor, Vehicle
from airloom.scenario.water import BallShape, BoxShape, CylinderShape, EllipsoidShape, HullShape, MeshShape
from airloom.vehicles.hull import mesh_of
from airloom.world.meshes import Colour, Mesh, annulus, box, lathe, painted, prism, rectangle

BODY: Colour = (58, 66, 78)
ENVELOPE: Colour = (222, 224, 228)
RING: Colour = (40, 44, 50)
DECK: Colour = (206, 210, 214)
CABIN: Colour = (120, 130, 142)
SUNK = 0.01  # m that a deck reaches into its floats, so that no light comes between
WITHIN = 0.97  # of the width of its floats: walls in one plane would flicker through each other
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
    rings = [_ring(rotor, sides) for rotor in vehicle.rotors.values()]
    return [*drawn, *_deck(drawn, vehicle.body.position[2] + 0.5 * vehicle.body.size[2], accent, sides), *rings]


def _deck(floats: list[Mesh], top: float, accent: Colour, sides: int) -> list[Mesh]:
    """Across floats with open water between them, below the top of the body; none if one reaches the middle."""
    sides_of = {(float(np.sign(y.min())), float(np.sign(y.max()))) for y in (mesh.vertices[:, 1] for mesh in floats)}
    all_of = np.concatenate([mesh.vertices for mesh in floats])
    if sides_of != {(1.0, 1.0), (-1.0, -1.0)} or top <= (low := float(all_of[:, 2].max())):
        return []
    low -= SUNK
    length, width, thick = 0.62 * np.ptp(all_of[:, 0]), WITHIN * np.ptp(all_of[:, 1]), 0.4 * (top - low)
    middle = float(all_of[:, 0].mean())
    cabin = 0.45 * length
    return [
        prism(rectangle(length, width, 0.06 * width), low, low + thick, DECK).moved((middle, 0.0, 0.0)),
        prism(rectangle(cabin, 0.4 * width, 0.06 * width), low + thick, top, CABIN, 0.8).moved((middle, 0.0, 0.0)),
        lathe([[0.02 * width, top], [0.02 * width, top + width / 2], [0.0, top + width / 2]], sides, RING).moved(
            (middle - 0.3 * cabin, 0.0, 0.0)
        ),
        _capsule(0.05 * width, 0.0, sides, accent).moved((middle - 0.3 * cabin, 0.0, top + width / 2)),
    ]


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
