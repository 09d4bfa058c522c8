"""An airframe: what follows from a vehicle file for physics and control."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp

import numpy as np

from airloom.physics.rotor import damping_per_speed, push_per_speed_squared
from airloom.scenario.models import Rotor, Vehicle


@dataclass(frozen=True)
class Airframe:
    vehicle: Vehicle
    gravity: float

    @property
    def rotors(self) -> list[Rotor]:
        return list(self.vehicle.rotors.values())

    @property
    def mass(self) -> float:
        return self.vehicle.mass

    @cached_property
    def inertia(self) -> np.ndarray:
        return self.vehicle.inertia.matrix()

    @cached_property
    def max_thrusts(self) -> np.ndarray:
        return np.array([r.thrust_constant * r.max_speed**2 for r in self.rotors])

    @cached_property
    def allocation(self) -> np.ndarray:
        """4 × n: body thrust along z and torque about the centre of mass for one newton of each rotor."""
        wrenches = np.array(
            [push_per_speed_squared(r, self.vehicle.center_of_mass) / r.thrust_constant for r in self.rotors]
        )
        return wrenches[:, 2:].T

    @cached_property
    def mixer(self) -> np.ndarray:
        """n × 4: smallest rotor thrusts that give a body thrust and torque."""
        return np.linalg.pinv(self.allocation)

    @property
    def hover_speed(self) -> float:
        """Of each rotor when thrust is shared evenly, rad/s."""
        return float(np.sqrt(self.mass * self.gravity / sum(r.thrust_constant for r in self.rotors)))

    def rotor_lags(self, rotor: Rotor, step: float) -> tuple[float, float]:
        return exp(-step / rotor.time_constant_up), exp(-step / rotor.time_constant_down)

    def push(self, rotor: Rotor) -> np.ndarray:
        return push_per_speed_squared(rotor, self.vehicle.center_of_mass)

    def damping(self, rotor: Rotor) -> np.ndarray:
        return damping_per_speed(rotor, self.vehicle.center_of_mass)
