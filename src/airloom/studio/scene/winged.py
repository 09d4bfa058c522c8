"""How a winged vehicle looks: fuselage, wings and tail from its coefficients or its surfaces, and its wheels."""

from __future__ import annotations

import numpy as np

from airloom.scenario.models import Vehicle
from airloom.scenario.surfaces import Aerodynamics, Surface
from airloom.scenario.wheels import Wheel
from airloom.world.meshes import Colour, Mesh, beam, lathe, ngon, prism, rectangle

SKIN: Colour = (226, 229, 233)
TYRE: Colour = (36, 38, 42)
STRUT: Colour = (120, 126, 134)
ALONG_X = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
"""Takes z to x."""
UPRIGHT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Takes y to z: what lies becomes a fin."""
ASPECT = 4.0  # of a surface, whose file gives its area only
SLENDER = 0.09  # width of a fuselage in its length
THICK = 0.1  # of a wing in its chord


def is_winged(vehicle: Vehicle) -> bool:
    return bool(vehicle.surfaces) or vehicle.aerodynamics is not None


def winged_parts(vehicle: Vehicle, accent: Colour, fine: bool) -> list[Mesh]:
    parts = [] if vehicle.hull is not None else [_fuselage(vehicle, accent, 12 if fine else 6)]
    if vehicle.aerodynamics is not None:
        parts += _wing_and_tail(vehicle, vehicle.aerodynamics, accent)
    parts += [_plate(surface) for surface in vehicle.surfaces.values()]
    if fine:
        for wheel in vehicle.wheels.values():
            parts += _wheel(vehicle, wheel)
    return parts


def _ends(vehicle: Vehicle) -> tuple[float, float, float]:
    """Rear, front and height of the fuselage: as long as the body, and on to a propeller in front."""
    (x, _, z), (length, _, _) = vehicle.body.position, vehicle.body.size
    pulling = [rotor.position[0] for rotor in vehicle.rotors.values() if rotor.axis[0] > 0.7]
    return x - 0.5 * length, max([x + 0.5 * length, *pulling]) - 0.02 * length, z


def _fuselage(vehicle: Vehicle, accent: Colour, sides: int) -> Mesh:
    rear, front, z = _ends(vehicle)
    length = front - rear
    wide = SLENDER * length
    shape = [(0.25, 0.0), (0.35, 0.1), (0.75, 0.5), (1.0, 0.7), (0.95, 0.88), (0.6, 1.0)]
    profile = [(0.5 * wide * r, rear + length * s) for r, s in shape]
    skin = lathe(profile, sides, SKIN)
    skin.colours[-2 - sides : -2, :3] = accent  # the nose
    return skin.turned(ALONG_X).moved([0.0, 0.0, z])


def _wing_and_tail(vehicle: Vehicle, it: Aerodynamics, accent: Colour) -> list[Mesh]:
    chord = it.chord or it.area / it.span
    rear, front, z = _ends(vehicle)
    top = z + 0.5 * SLENDER * (front - rear)
    wing = _blade(chord, it.span, SKIN).moved([it.position[0] - 0.1 * chord, it.position[1], top])
    tips = [
        prism(rectangle(0.98 * chord, 0.08 * it.span, 0.1 * chord), -0.06 * chord, 0.06 * chord, accent).moved(
            [it.position[0] - 0.1 * chord, it.position[1] + side * 0.47 * it.span, top]
        )
        for side in (-1.0, 1.0)
    ]
    behind = rear + 0.3 * chord
    tail = _blade(0.6 * chord, 0.36 * it.span, SKIN).moved([behind, 0.0, z])
    outline = np.array([[0.45, 0.0], [0.05, 0.9], [-0.4, 0.9], [-0.4, 0.0]]) * chord
    fin = prism(outline, -0.04 * chord, 0.04 * chord, accent).turned(UPRIGHT).moved([behind, 0.0, z])
    return [wing, *tips, tail, fin]


def _blade(chord: float, span: float, colour: Colour) -> Mesh:
    return prism(rectangle(chord, span, 0.12 * chord), -0.5 * THICK * chord, 0.5 * THICK * chord, colour)


def _plate(surface: Surface) -> Mesh:
    """Flat, with its chord along `forward` and its upper side to `up`."""
    chord = float(np.sqrt(surface.area / ASPECT))
    forward = np.asarray(surface.forward) / np.linalg.norm(surface.forward)
    side = np.cross(surface.up, forward)
    side = side / np.linalg.norm(side)
    turn = np.column_stack([forward, side, np.cross(forward, side)])
    return _blade(chord, ASPECT * chord, SKIN).turned(turn).moved(surface.position)


def _wheel(vehicle: Vehicle, wheel: Wheel) -> list[Mesh]:
    """On a strut from the fuselage's height."""
    _, _, height = _ends(vehicle)
    x, y, z = wheel.position
    radius = 0.22 * (height - z)
    tyre = prism(ngon(radius, 14), -0.3 * radius, 0.3 * radius, TYRE).turned(UPRIGHT).moved([x, y, z + radius])
    strut = beam([x, 0.3 * y, height], [x, y, z + radius], 0.3 * radius, 0.3 * radius, STRUT)
    return [strut, tyre]
