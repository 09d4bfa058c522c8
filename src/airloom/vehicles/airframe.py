"""An airframe: what follows from a vehicle file for physics and control."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import exp

import numpy as np

from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.rotor import cross_matrix, damping_per_speed, push_per_speed_squared
from airloom.scenario.models import Rotor, Vehicle
from airloom.vehicles.tank import Liquid, liquid_at_start

LIFTS = 0.5
"""Cosine of the angle from body z to a rotor's axis, above which it lifts more than it pushes."""


@dataclass(frozen=True)
class Airframe:
    vehicle: Vehicle
    gravity: float
    step: float

    @property
    def rotors(self) -> list[Rotor]:
        return list(self.vehicle.rotors.values())

    @cached_property
    def reach(self) -> float:
        """How far the tips of its rotors are from its middle, or without rotors the corners of its body, m."""
        box = 0.5 * float(np.hypot(*self.vehicle.body.size[:2]))
        return max((float(np.hypot(*r.position[:2])) + r.radius for r in self.rotors), default=box)

    @cached_property
    def mass(self) -> float:
        """At the start, with what is in the tank, kg: what controllers are tuned for."""
        return self.vehicle.mass + self._liquid.mass

    @cached_property
    def inertia(self) -> np.ndarray:
        """About the centre of mass, at the start."""
        dry = self.vehicle.inertia.matrix()
        if self._liquid.mass == 0.0:
            return dry
        arm = cross_matrix(np.subtract(self._liquid.center, self.vehicle.center_of_mass))
        return dry + self._liquid.inertia - self.vehicle.mass * self._liquid.mass / self.mass * arm @ arm

    @cached_property
    def _liquid(self) -> Liquid:
        return liquid_at_start(self.vehicle.tank)

    @cached_property
    def lift(self) -> float:
        """Thrust of all rotors at full speed along body z, N."""
        return float(self.allocation[0] @ self.max_thrusts)

    @property
    def drag(self) -> float:
        """The coefficient of the whole body, 0 if its drag is more than a number."""
        return self.vehicle.drag if isinstance(self.vehicle.drag, float) else 0.0

    @cached_property
    def drag_rows(self) -> list[float]:
        """What `physics/drag.py` needs of parts with a drag of their own; empty if drag is a number."""
        if isinstance(self.vehicle.drag, float):
            return []
        if isinstance(self.vehicle.drag, tuple):
            return [1.0, 1.0, 0.0, 0.0, 0.0, *self.vehicle.drag]
        rows = [float(len(self.vehicle.drag))]
        for part in self.vehicle.drag.values():
            each = part.coefficient if isinstance(part.coefficient, tuple) else (part.coefficient,) * 3
            rows += [0.0, *part.position, *each]
        return rows

    @cached_property
    def max_thrusts(self) -> np.ndarray:
        return np.array([r.thrust_constant * r.max_speed**2 for r in self.rotors])

    @cached_property
    def lifters(self) -> np.ndarray:
        """Which rotors lift. With wings these are the ones along body z, and the others push; without, all of them."""
        if not self.vehicle.has_wings:
            return np.ones(len(self.rotors), dtype=bool)
        return np.array([r.axis[2] > LIFTS * np.linalg.norm(r.axis) for r in self.rotors])

    def with_rotors(self, chosen: np.ndarray) -> Airframe:
        """The same as if it had no other rotors than these."""
        rotors = {name: it for (name, it), on in zip(self.vehicle.rotors.items(), chosen, strict=True) if on}
        return replace(self, vehicle=self.vehicle.model_copy(update={"rotors": rotors}))

    @cached_property
    def allocation(self) -> np.ndarray:
        """4 × n: body thrust along z and torque about the centre of mass for one newton of each rotor that lifts."""
        return self.wrenches[:, 2:].T * self.lifters

    @cached_property
    def wrenches(self) -> np.ndarray:
        """n × 6: force and torque about the centre of mass for one newton of each rotor."""
        center = self.vehicle.center_of_mass
        wrenches = [push_per_speed_squared(r, center) / r.thrust_constant for r in self.rotors]
        return np.array(wrenches, dtype=float).reshape(-1, 6)

    @cached_property
    def mixer(self) -> np.ndarray:
        """n × 4: smallest rotor thrusts for a body thrust and torque, and no other force if they are thrusters."""
        if self.rotors and all(rotor.in_water for rotor in self.rotors):
            return np.linalg.pinv(self.wrenches.T)[:, 2:]
        return np.linalg.pinv(self.allocation)

    @property
    def hover_speed(self) -> float:
        """Of each rotor when thrust is shared evenly, rad/s."""
        return float(np.sqrt(self.mass * self.gravity / sum(r.thrust_constant for r in self.rotors)))

    @cached_property
    def rotor_table(self) -> np.ndarray:
        """[rotor, row]: what the workspace rows of each rotor hold before the first tick."""
        table = np.zeros((len(self.rotors), row.ROTOR_WIDTH // LANES))
        for line, rotor, mix in zip(table, self.rotors, self.mixer, strict=True):
            line[row.THRUST_CONSTANT // LANES], line[row.MAX_SPEED // LANES] = (
                rotor.thrust_constant,
                rotor.max_speed,
            )
            line[row.LAG_UP // LANES] = exp(-self.step / rotor.time_constant_up)
            line[row.LAG_DOWN // LANES] = exp(-self.step / rotor.time_constant_down)
            line[row.MIX_THRUST // LANES :][:4] = mix
            line[row.SHARE // LANES] = 1.0
            line[row.MIN_SPEED // LANES] = -rotor.max_speed if rotor.in_water and rotor.in_water.reverse else 0.0
        return table

    @cached_property
    def propeller_table(self) -> np.ndarray:
        """[rotor, row]: what the rows of each rotor's propeller hold."""
        table = np.zeros((len(self.rotors), row.PROPELLER_WIDTH // LANES))
        center = self.vehicle.center_of_mass
        for line, rotor in zip(table, self.rotors, strict=True):
            if rotor.in_water is not None:
                continue  # what it pushes depends on the water: physics/thrusters.py
            line[row.PUSH // LANES :][:6] = push_per_speed_squared(rotor, center)
            line[row.DAMPING // LANES :][:36] = damping_per_speed(rotor, center).ravel()
        return table
