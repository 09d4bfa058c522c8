"""What follows from the file of a vehicle with thrusters: numbers for the loop, and what its stack must know."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from airloom.physics.thrusters import THRUSTER_ROWS
from airloom.scenario.models import Vehicle
from airloom.vehicles.airframe import Airframe


def thruster_numbers(vehicle: Vehicle) -> list[float]:
    """What the kernels of physics/thrusters.py work on before the first tick; empty if no rotor turns in water."""
    numbers: list[float] = []
    for k, rotor in enumerate(vehicle.rotors.values()):
        if rotor.in_water is not None:
            turn = -1.0 if rotor.turns == "ccw" else 1.0
            torque = turn * rotor.moment_constant * rotor.thrust_constant
            axis = np.array(rotor.axis) / np.linalg.norm(rotor.axis)
            numbers += [float(k), 0.0, 0.0, rotor.thrust_constant, torque, rotor.in_water.reverse, rotor.radius]
            numbers += [*rotor.position, *axis.tolist()]
    return [float(len(numbers) // THRUSTER_ROWS), *numbers] if numbers else []


@dataclass(frozen=True)
class Vessel:
    """Six axes: forces along x, y, z and torques about them, in the body, about the centre of mass."""

    airframe: Airframe

    @property
    def allocation(self) -> np.ndarray:
        """6 × n: what a newton of each thruster does."""
        return self.airframe.wrenches.T

    @property
    def ahead(self) -> np.ndarray:
        """Greatest thrust of each, N."""
        return self.airframe.max_thrusts

    @property
    def reverse(self) -> np.ndarray:
        """Of each, its thrust backwards as a part of that ahead."""
        return np.array([0.0 if r.in_water is None else r.in_water.reverse for r in self.airframe.rotors])

    def greatest(self, mixer: np.ndarray) -> np.ndarray:
        """Of each column of a mixer [thruster, axis]: as much as no thruster is too weak for, either way."""
        parts = np.abs(mixer) / (self.ahead * self.reverse)[:, None]
        return 1.0 / parts.max(axis=0)

    @cached_property
    def mass(self) -> np.ndarray:
        """Of the body and of the water that moves along, by axis: kg, kg m²."""
        frame = self.airframe
        own = np.concatenate([np.full(3, frame.mass), np.diag(frame.inertia)])
        hull = frame.vehicle.hull
        return own if hull is None else own + np.diag(hull.matrix())

    @property
    def damping(self) -> tuple[np.ndarray, np.ndarray]:
        """By speed and by its square, for each axis."""
        hull = self.airframe.vehicle.hull
        assert hull is not None
        return np.array(hull.damping), np.array(hull.quadratic_damping)

    def speed_at(self, force: float, axis: int) -> float:
        """At which damping along an axis is as large as a force; infinite without damping."""
        linear, square = (part[axis] for part in self.damping)
        if square > 0.0:
            return float((np.sqrt(linear**2 + 4 * square * force) - linear) / (2 * square))
        return float(force / linear) if linear > 0.0 else np.inf

    @property
    def lag(self) -> float:
        """Time constant of the slowest thruster, s."""
        return max(max(r.time_constant_up, r.time_constant_down) for r in self.airframe.rotors)
