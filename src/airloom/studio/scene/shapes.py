"""How a vehicle looks: a hull, an arm to each rotor, a motor, legs to the ground, a coloured front; from its file."""

from __future__ import annotations

import logging

import numpy as np
from viser.transforms import SO3

from airloom.basics.rotations import matrix_from_euler
from airloom.scenario.models import Rotor, Vehicle, Visual
from airloom.scenario.objects import ObjectError
from airloom.studio.scene.hulls import hull_meshes
from airloom.studio.scene.winged import is_winged, winged_parts
from airloom.world.meshes import Colour, Mesh, annulus, beam, joined, ngon, painted, prism, rectangle
from airloom.world.objects.mesh_file import read_mesh

GRAPHITE: Colour = (38, 42, 48)
ARM: Colour = (62, 68, 77)
MOTOR: Colour = (150, 157, 166)
BLADE: Colour = (24, 26, 30)
DISC: Colour = (96, 104, 116)

HULL = 0.42
"""Length and width of the drawn hull in those of the vehicle's body, which reaches out to the arms."""


def vehicle_mesh(vehicle: Vehicle, accent: Colour, fine: bool = True) -> Mesh:
    """Everything that does not turn, in the vehicle's frame. It stands where the body of the vehicle ends below.

    One that is not fine has fewer triangles and no legs.
    """
    if fine and (own := _visuals(vehicle)):
        return joined(own)
    floating = [] if vehicle.hull is None else hull_meshes(vehicle, accent, 24 if fine else 10)
    if is_winged(vehicle):
        lifting = [rotor for rotor in vehicle.rotors.values() if rotor.axis[2] > 0.7]
        arms = [part for rotor in lifting for part in _arm(vehicle, rotor, accent, 12 if fine else 5)]
        return joined([*winged_parts(vehicle, accent, fine), *arms, *floating])
    if floating:
        return joined(floating)
    parts = [*_hull(vehicle, accent)]
    for rotor in vehicle.rotors.values():
        parts += _arm(vehicle, rotor, accent, 12 if fine else 5)
    if fine:
        parts += _legs(vehicle)
    return joined(parts)


def _visuals(vehicle: Vehicle) -> list[Mesh]:
    """Those of the vehicle file; none if one cannot be read, for a run is not ended by how something looks."""
    try:
        return [_visual(visual) for visual in vehicle.visuals.values()]
    except ObjectError as error:
        logging.getLogger(__name__).warning("a vehicle is drawn as a plain one: %s", error)
        return []


def _visual(visual: Visual) -> Mesh:
    """A mesh of the user's, in the vehicle's frame."""
    mesh = read_mesh(visual.file)
    colours = mesh.colours.copy()
    if visual.colour is not None:
        colours[:, :3] = visual.colour
    turn = matrix_from_euler(visual.roll, visual.pitch, visual.yaw)
    vertices = (mesh.vertices * np.array(visual.scale)) @ turn.T + np.array(visual.position)
    return Mesh(vertices, mesh.faces, colours)


def reach(vehicle: Vehicle) -> float:
    """How far the vehicle extends from its origin, m."""
    tips = [float(np.linalg.norm(rotor.position)) + rotor.radius for rotor in vehicle.rotors.values()]
    corner = np.abs(vehicle.body.position) + np.array(vehicle.body.size) / 2
    return max([*tips, float(np.linalg.norm(corner))])


def hubs(vehicle: Vehicle) -> np.ndarray:
    return np.array([rotor.position for rotor in vehicle.rotors.values()], dtype=float).reshape(-1, 3)


def axes(vehicle: Vehicle) -> np.ndarray:
    """Unit thrust directions."""
    raw = np.array([rotor.axis for rotor in vehicle.rotors.values()], dtype=float).reshape(-1, 3)
    return raw / np.linalg.norm(raw, axis=1, keepdims=True)


def turning(vehicle: Vehicle) -> np.ndarray:
    """+1 for rotors that turn counterclockwise seen from above, −1 for the others."""
    return np.array([1.0 if rotor.turns == "ccw" else -1.0 for rotor in vehicle.rotors.values()])


def blade_mesh() -> Mesh:
    """A propeller of two blades about z, of radius 1."""
    chord, thick = 0.2, 0.03
    shape = [[0.06, -0.35], [0.45, -0.5], [0.9, -0.32], [1.0, 0.0], [0.9, 0.28], [0.45, 0.42], [0.06, 0.35]]
    outline = np.array(shape) * [1.0, chord]
    blade = prism(outline, -thick / 2, thick / 2, BLADE)
    pitched = blade.vertices[:, 2] - 0.35 * blade.vertices[:, 1]
    blade = Mesh(np.column_stack([blade.vertices[:, :2], pitched]), blade.faces, blade.colours)
    hub = prism(ngon(0.1, 10), -0.08, 0.08, MOTOR)
    return joined([blade, blade.turned(np.diag([-1.0, -1.0, 1.0])), hub])


def disc_mesh(vehicle: Vehicle, accent: Colour, fine: bool = True) -> Mesh:
    """What fast rotors blur to, all of a vehicle: faint within, clearer at the rim, coloured in front."""
    discs, sides = [], 24 if fine else 12
    for rotor, axis in zip(vehicle.rotors.values(), axes(vehicle), strict=True):
        colour = accent if _is_front(vehicle, rotor) else DISC
        blur = annulus(0.12 * rotor.radius, 0.94 * rotor.radius, sides, colour, (0.10, 0.26))
        rim = annulus(0.94 * rotor.radius, rotor.radius, sides, colour, (0.55, 0.55))
        discs.append(joined([blur, rim]).turned(tilt(axis).as_matrix()).moved(rotor.position))
    return joined(discs or [painted(np.zeros((3, 3)), [[0, 1, 2]], DISC, 0.0)])


def tilt(axes: np.ndarray) -> SO3:
    """The shortest rotations that take z to unit vectors; about x where z is turned over."""
    x, y, z = np.moveaxis(axes, -1, 0)
    over = z < -0.999999
    q = np.stack([1.0 + z, np.where(over, 1.0, -y), np.where(over, 0.0, x), np.zeros_like(z)], axis=-1)
    return SO3(q).normalize()


def _is_front(vehicle: Vehicle, rotor: Rotor) -> bool:
    forward = hubs(vehicle)[:, 0]
    return rotor.position[0] > 0.5 * forward.max() > 1e-6


def _level(vehicle: Vehicle) -> float:
    """Height of the arms: at the rotors, but within the body's upper half."""
    top = vehicle.body.position[2] + vehicle.body.size[2] / 2
    hub = np.mean(hubs(vehicle)[:, 2]) if vehicle.rotors else vehicle.body.position[2]
    return float(min(hub - 0.15 * vehicle.body.size[2], top))


def _hull(vehicle: Vehicle, accent: Colour) -> list[Mesh]:
    length, width, height = np.array(vehicle.body.size) * [HULL, HULL, 0.5]
    x, y, _ = vehicle.body.position
    level = _level(vehicle)
    base, deck, roof = level - 0.65 * height, level + 0.1 * height, level + 0.5 * height
    lower = prism(rectangle(length, width, 0.18 * width), base, deck, GRAPHITE)
    upper = prism(rectangle(0.92 * length, 0.92 * width, 0.18 * width), deck, roof, ARM, top=0.72)
    nose = prism([[0.5 * length, -0.3 * width], [0.78 * length, 0.0], [0.5 * length, 0.3 * width]], base, deck, accent)
    tail, wing, above = -0.08 * length, 0.22 * width, roof + 0.01 * height
    arrow = painted(
        [[0.3 * length, 0.0, above], [-0.2 * length, wing, above], [tail, 0.0, above], [-0.2 * length, -wing, above]],
        [[0, 1, 2], [0, 2, 3]],
        accent,
    )
    return [part.moved([x, y, 0.0]) for part in (lower, upper, nose, arrow)]


def _arm(vehicle: Vehicle, rotor: Rotor, accent: Colour, sides: int) -> list[Mesh]:
    hub = np.array(rotor.position)
    x, y, _ = vehicle.body.position
    level, radius = _level(vehicle), rotor.radius
    root, tip = np.array([x, y, level]), np.array([hub[0], hub[1], level])
    colour = accent if _is_front(vehicle, rotor) else MOTOR
    parts = [
        prism(ngon(0.15 * radius, sides), level - 0.12 * radius, hub[2] - 0.03 * radius, colour).moved([*hub[:2], 0.0])
    ]
    if np.linalg.norm(tip - root) > 1e-6:
        parts.append(beam(root, tip, 0.16 * radius, 0.14 * radius, ARM))
    return parts


def _legs(vehicle: Vehicle) -> list[Mesh]:
    """Four thin legs from the arms' height to the lower corners of the body, on feet."""
    length, width, height = vehicle.body.size
    middle = np.array(vehicle.body.position)
    ground, level = middle[2] - height / 2, _level(vehicle)
    thick = 0.05 * min(length, width)
    legs = []
    for sx, sy in ((1, 1), (-1, 1), (-1, -1), (1, -1)):
        hip = [middle[0] + sx * 0.16 * length, middle[1] + sy * 0.16 * width, level]
        foot = [middle[0] + sx * 0.27 * length, middle[1] + sy * 0.27 * width, ground + thick / 2]
        legs.append(beam(hip, foot, 0.7 * thick, 0.7 * thick, ARM))
        legs.append(prism(ngon(0.7 * thick, 8), ground, ground + thick, GRAPHITE).moved([foot[0], foot[1], 0.0]))
    return legs
