"""A vehicle's surfaces and servos: what follows from its file for the loop, and what programs see of them."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, isfinite

import numpy as np

from airloom.basics.hints import did_you_mean
from airloom.commands import CommandError
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.aircraft import AIRCRAFT_ROWS
from airloom.physics.propellers import PROPELLER_ROWS, TERMS
from airloom.physics.servos import ANGLE, SERVO_ROWS
from airloom.physics.surfaces import SURFACE_ROWS
from airloom.physics.wings import FIRST_SERVO
from airloom.scenario.models import Vehicle
from airloom.scenario.surfaces import Aerodynamics, Servo, Surface

PLATE_AT_ZERO, PLATE_BY_ASPECT = -0.224, -0.115
"""Drag of a flat plate by its aspect ratio: Gazebo's fit to the post-stall data of Ostowari and Naik."""


def wing_numbers(vehicle: Vehicle, step: float) -> list[float]:
    """What the kernels of surfaces work on before the first tick: servos, the aircraft as a whole, surfaces."""
    numbers = [float(len(vehicle.surfaces))]
    servos = list(vehicle.servos)
    for k in range(row.SERVOS):
        numbers += servo_numbers(vehicle.servos[servos[k]], step) if k < len(servos) else [0.0] * SERVO_ROWS
    numbers += _aircraft_numbers(vehicle.aerodynamics, servos)
    for surface in vehicle.surfaces.values():
        numbers += _surface_numbers(surface, servos)
    return numbers


def propeller_numbers(vehicle: Vehicle) -> list[float]:
    """What the kernels of propellers work on; empty if there is none that knows its advance ratio."""
    numbers: list[float] = []
    for k, rotor in enumerate(vehicle.rotors.values()):
        if rotor.advance is not None:
            turn = -1.0 if rotor.turns == "ccw" else 1.0
            thrust, last = rotor.thrust_constant, rotor.advance.last
            numbers += [float(k), 0.0, thrust, turn * rotor.moment_constant * thrust]
            numbers += [*rotor.position, *_unit(rotor.axis), rotor.advance.diameter, last]
            for terms in (rotor.advance.thrust, rotor.advance.torque):
                numbers += [*terms, *[0.0] * (TERMS - len(terms))]
    return [float(len(numbers) // PROPELLER_ROWS), *numbers] if numbers else []


def servo_numbers(servo: Servo, step: float) -> list[float]:
    still = exp(-step / servo.lag) if servo.lag else 0.0
    return [0.0, servo.lowest, servo.highest, still, servo.rate * step]


def _aircraft_numbers(it: Aerodynamics | None, servos: list[str]) -> list[float]:
    if it is None:
        return [0.0] * AIRCRAFT_ROWS
    aspect = it.span**2 / it.area
    plate = 2.0 / (1.0 + exp(PLATE_AT_ZERO + PLATE_BY_ASPECT * max(aspect, 1.0 / aspect)))
    numbers = [*it.position, it.area, it.span, it.chord or it.area / it.span, aspect, it.efficiency]
    numbers += [it.stall, it.blend, plate]
    for each in it.coefficients.values():
        numbers += [each.zero, each.alpha, each.beta, each.p, each.q, each.r]
        by_servo = [each.servos.get(name, 0.0) for name in servos]
        numbers += by_servo + [0.0] * (row.SERVOS - len(servos))
    return [*numbers, it.pitch_stalled, it.lift_of_least_drag]


def _surface_numbers(surface: Surface, servos: list[str]) -> list[float]:
    span = _unit(np.cross(surface.forward, surface.up))
    forward = _unit(surface.forward)
    up = np.cross(span, forward)
    which = 0.0 if surface.servo is None else float(servos.index(surface.servo))
    by_servo = [0.0, 0.0] if surface.servo is None else [surface.lift_by_servo, surface.moment_by_servo]
    numbers = [
        *surface.position, *forward, *up, *span, surface.area, surface.alpha_0, surface.stall,
        surface.lift, surface.lift_stalled, surface.drag_0, surface.drag, surface.drag_stalled,
        surface.moment, surface.moment_stalled, which, *by_servo,
    ]  # fmt: skip
    assert len(numbers) == SURFACE_ROWS
    return [float(number) for number in numbers]


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
