"""A vehicle's surfaces and servos: what follows from its file for the loop, and what programs see of them."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, hypot, isfinite, pi

import numpy as np

from airloom.basics.hints import did_you_mean
from airloom.commands import CommandError
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.aircraft import AIRCRAFT_ROWS, before_stall
from airloom.physics.polars import POLAR_ROWS, plate_drag, side_numbers
from airloom.physics.propellers import TERMS
from airloom.physics.servos import ANGLE, SERVO_ROWS
from airloom.physics.surfaces import SURFACE_ROWS
from airloom.physics.wings import FIRST_SERVO
from airloom.scenario.coefficients import read_polar
from airloom.scenario.models import Rotor, Vehicle
from airloom.scenario.surfaces import Aerodynamics, Servo, Surface

PLATE_AT_ZERO, PLATE_BY_ASPECT = -0.224, -0.115
"""Drag of a flat plate by its aspect ratio: Gazebo's fit to the post-stall data of Ostowari and Naik."""


def wing_numbers(vehicle: Vehicle, step: float) -> list[float]:
    """What the kernels of surfaces work on before the first tick: servos, the aircraft as a whole, surfaces."""
    pieces = [piece for surface in vehicle.surfaces.values() for piece in _pieces(surface)]
    stirred = any(piece.slipstream for piece in pieces)
    numbers = [float(len(pieces)), float(vehicle.aerodynamics is not None), float(stirred)]
    servos = list(vehicle.servos)
    for k in range(row.SERVOS):
        numbers += servo_numbers(vehicle.servos[servos[k]], step) if k < len(servos) else [0.0] * SERVO_ROWS
    numbers += _aircraft_numbers(vehicle.aerodynamics, servos)
    for piece in pieces:
        numbers += _surface_numbers(piece, servos, vehicle)
    return numbers


def wing_shape(vehicle: Vehicle) -> tuple[int, ...]:
    """What vehicles of one block have in common: whether they have an aircraft as a whole, and their pieces' polars."""
    pieces = [piece for surface in vehicle.surfaces.values() for piece in _pieces(surface)]
    return (int(vehicle.aerodynamics is not None), *(len(read_polar(it.polar)) if it.polar else 0 for it in pieces))


def propeller_numbers(vehicle: Vehicle) -> list[float]:
    """What the kernels of propellers work on; empty if there is none that knows its advance ratio, or blows."""
    numbers: list[float] = []
    count = 0
    for k, (name, rotor) in enumerate(vehicle.rotors.items()):
        if rotor.advance is not None or name in vehicle.blowing:
            numbers += _propeller_numbers(rotor, k, vehicle.blowing.index(name) if name in vehicle.blowing else -1)
            count += 1
    return [float(count), *numbers] if count else []


def propeller_shape(vehicle: Vehicle) -> tuple[int, ...]:
    """What vehicles of one block have in common: tables of their propellers, and which of them blow."""
    shape: list[int] = []
    for name, rotor in vehicle.rotors.items():
        if rotor.advance is not None or name in vehicle.blowing:
            shape += [len(_advance_table(rotor)), name in vehicle.blowing]
    return tuple(shape)


def _advance_table(rotor: Rotor) -> np.ndarray:
    return rotor.advance_table() if rotor.advance is not None and rotor.advance.file else np.empty((0, 3))


def _propeller_numbers(rotor: Rotor, number: int, blows: int) -> list[float]:
    turn, thrust = -1.0 if rotor.turns == "ccw" else 1.0, rotor.thrust_constant
    table, advance = _advance_table(rotor), rotor.advance
    last = table[-1, 0] if len(table) else advance.last if advance else 0.0
    numbers = [len(table), number, 0.0, thrust, turn * rotor.moment_constant * thrust]
    numbers += [*rotor.position, *_unit(rotor.axis), _diameter(rotor), last, blows]
    for terms in (advance and advance.thrust, advance and advance.torque):
        numbers += [*(terms or ()), *[0.0] * (TERMS - len(terms or ()))]
    return [float(each) for each in (*numbers, *table.ravel())]


def _diameter(rotor: Rotor) -> float:
    return rotor.advance.diameter if rotor.advance else 2.0 * rotor.radius


def servo_numbers(servo: Servo, step: float) -> list[float]:
    still = exp(-step / servo.lag) if servo.lag else 0.0
    return [0.0, servo.lowest, servo.highest, still, servo.rate * step]


def _aircraft_numbers(it: Aerodynamics | None, servos: list[str]) -> list[float]:
    if it is None:
        return [0.0] * AIRCRAFT_ROWS
    aspect = it.span**2 / it.area
    plate = 2.0 / (1.0 + exp(PLATE_AT_ZERO + PLATE_BY_ASPECT * max(aspect, 1.0 / aspect)))
    numbers = [*it.position, it.area, it.span, it.chord or it.area / it.span, 1.0 / (pi * aspect * it.efficiency)]
    numbers += [it.stall, it.blend, before_stall(it.blend, it.stall), plate, it.lift_of_least_drag, it.pitch_stalled]
    numbers += [0.0] * 12
    for each in it.coefficients.values():
        numbers += [each.zero, each.alpha, each.beta, each.p, each.q, each.r, 0.0]
        by_servo = [each.servos.get(name, 0.0) for name in servos]
        numbers += by_servo + [0.0] * (row.SERVOS - len(servos))
    return numbers


def _pieces(surface: Surface) -> list[Surface]:
    """A surface that is blown over in part is two."""
    if surface.slipstream is None or surface.slipstream.share == 1.0:
        return [surface]
    blown, free = surface.slipstream.share * surface.area, (1.0 - surface.slipstream.share) * surface.area
    return [
        surface.model_copy(update={"area": blown}),
        surface.model_copy(update={"area": free, "slipstream": None}),
    ]


def _surface_numbers(surface: Surface, servos: list[str], vehicle: Vehicle) -> list[float]:
    span = _unit(np.cross(surface.forward, surface.up))
    forward = _unit(surface.forward)
    up = np.cross(span, forward)
    which = 0.0 if surface.servo is None else float(servos.index(surface.servo))
    by_servo = [0.0, 0.0] if surface.servo is None else [surface.lift_by_servo, surface.moment_by_servo]
    polar = _polar_numbers(surface)
    numbers = [
        (len(polar) - POLAR_ROWS) // 4 if polar else 0,
        *surface.position, *forward, *up, *span, surface.area, surface.alpha_0, surface.stall,
        surface.lift, surface.lift_stalled, surface.drag_0, surface.drag, surface.drag_stalled,
        surface.moment, surface.moment_stalled, which, *by_servo, *[0.0] * 8, *_blow_numbers(surface, vehicle),
    ]  # fmt: skip
    assert len(numbers) == SURFACE_ROWS
    return [float(number) for number in (*numbers, *polar)]


def _blow_numbers(surface: Surface, vehicle: Vehicle) -> list[float]:
    """Which propeller blows over it, and the air's velocity there per speed-up in the disc."""
    if surface.slipstream is None:
        return [0.0] * 4
    rotor = vehicle.rotors[surface.slipstream.rotor]
    axis = _unit(rotor.axis)
    behind = -float(np.subtract(surface.position, rotor.position) @ axis)
    share = 1.0 + behind / hypot(behind, 0.5 * _diameter(rotor))
    return [vehicle.blowing.index(surface.slipstream.rotor), *(-share * axis)]


def _polar_numbers(surface: Surface) -> list[float]:
    if surface.polar is None:
        return []
    chord = surface.chord or 1.0
    rows = read_polar(surface.polar) * [1.0, 1.0, 1.0, chord]
    plate = plate_drag(surface.area / chord**2 if surface.chord else 6.0)
    above = side_numbers(rows[-1], plate)
    below = side_numbers(rows[0] * [-1.0, -1.0, 1.0, -1.0], plate)
    at_zero = float(np.interp(0.0, rows[:, 0], rows[:, 2]))
    return [*above, *below, plate, at_zero, -0.25 * plate * chord, *rows.ravel()]


def _unit(v) -> np.ndarray:
    return np.asarray(v, dtype=float) / np.linalg.norm(v)


class Servos(Mapping[str, float]):
    """The angles of a vehicle's servos by name, rad; `command` tells them where to go."""

    def __init__(self, vehicle: str, names: list[str], commands: np.ndarray, numbers: np.ndarray) -> None:
        self._vehicle, self._names, self._commands, self._numbers = vehicle, names, commands, numbers

    def __getitem__(self, name: str) -> float:
        first = FIRST_SERVO // LANES + self._number(name) * SERVO_ROWS
        return float(self._numbers[first + ANGLE // LANES])

    def __iter__(self):
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def command(self, **shares: float) -> None:
        """Servos by name and how far they shall go: −1 … 1 from the lowest to the highest angle."""
        for name, share in shares.items():
            if not isfinite(share) or abs(share) > 1.0:
                raise CommandError(f"{self._vehicle}: servo {name} goes from −1 to 1, not to {share:g}")
            self._commands[self._number(name)] = share

    def _number(self, name: str) -> int:
        try:
            return self._names.index(name)
        except ValueError:
            raise KeyError(f"{self._vehicle} has no servo '{name}'{did_you_mean(name, self._names)}") from None
