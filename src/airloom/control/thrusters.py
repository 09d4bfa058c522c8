"""From thrusts to speeds of thrusters, which turn both ways; and what the stacks of vessels share."""

from __future__ import annotations

from math import sqrt
from typing import ClassVar

import numpy as np

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.control.flight_stack import Controller, StackError
from airloom.vehicles.vessel import Vessel

MOST_THRUSTERS = 8


@compiled
def room_for(rotor, i, reverse, given, more):
    """The share of `more` newtons, at most 1, that a thruster can give beside those it gives."""
    full = rotor[row.THRUST_CONSTANT + i] * rotor[row.MAX_SPEED + i] * rotor[row.MAX_SPEED + i]
    if more > 0.0:
        return min(max(full - given, 0.0) / more, 1.0)
    if more < 0.0:
        return min(max(full * reverse + given, 0.0) / -more, 1.0)
    return 1.0


@compiled
def set_thrust(rotor, i, reverse, thrust):
    """Speed for a thrust in fresh water; backwards only as far as it can."""
    constant = rotor[row.THRUST_CONSTANT + i]
    if thrust >= 0.0:
        rotor[row.TARGET + i] = sqrt(thrust / constant)
    else:
        rotor[row.TARGET + i] = -sqrt(-thrust / (constant * reverse)) if reverse > 0.0 else 0.0


@compiled
def rest(rotors, i):
    for base in range(0, rotors.size, row.ROTOR_WIDTH):
        rotors[base + row.TARGET + i] = 0.0


class VesselController(Controller):
    """Base of the controllers of vehicles with thrusters."""

    flies = "in water"
    thrust_unit = "N"
    floats: ClassVar[bool] = False
    """Whether it stays on the surface, so that heights mean nothing to it."""

    @property
    def top_speed(self) -> float:
        """That it can keep up, m/s."""
        raise NotImplementedError

    def check(self) -> None:
        rotors, vehicle = self.airframe.rotors, self.airframe.vehicle
        if vehicle.hull is None:
            raise StackError("this controller steers what floats or dives; the vehicle has no hull")
        if not rotors or any(rotor.in_water is None for rotor in rotors):
            raise StackError("this controller needs thrusters: rotors with in_water")
        if len(rotors) > MOST_THRUSTERS:
            raise StackError(f"this controller steers up to {MOST_THRUSTERS} thrusters, and there are {len(rotors)}")
        self.vessel = Vessel(self.airframe)
        self.check_thrusters()

    def check_thrusters(self) -> None:
        """Raise StackError if they cannot do what is needed."""

    def mixer(self, axes: list[int], what: str) -> np.ndarray:
        """[thruster, axis]: the smallest thrusts that give a newton along an axis, or a newton metre about it."""
        allocation = self.vessel.allocation[axes]
        if np.linalg.matrix_rank(allocation, tol=1e-6) < len(axes):
            raise StackError(f"thrusters must be able to push {what}; these {allocation.shape[1]} cannot")
        if (self.vessel.reverse <= 0.0).any():
            raise StackError("this controller needs thrusters that turn both ways: in_water.reverse above 0")
        return np.linalg.pinv(allocation)
