"""A vehicle's battery: what follows from its file for the loop, and what programs see of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.battery import AMPERE_HOUR, cell_voltage

if TYPE_CHECKING:
    from airloom.scenario import models


def battery_numbers(vehicle: models.Vehicle, step: float) -> list[float]:
    """What the battery's kernel works on before the first tick, in the order of the rows of physics/battery.py."""
    battery, rotors = vehicle.battery, list(vehicle.rotors.values())
    assert battery is not None
    capacity = AMPERE_HOUR * battery.capacity
    file = [step, battery.cells, battery.resistance, 1.0 / battery.efficiency, battery.load, capacity, len(rotors)]
    shafts = [rotor.thrust_constant * rotor.moment_constant for rotor in rotors]
    powers = [(0.0, shaft) if rotor.in_water else (shaft, 0.0) for rotor, shaft in zip(rotors, shafts, strict=True)]
    return [*map(float, file), battery.charge * capacity, *(number for pair in powers for number in pair)]


def battery_at_start(battery: models.Battery) -> tuple[float, float, float, float]:
    """Voltage, current, charge and capacity before anything has been drawn, as rows of the block."""
    charge = battery.charge * battery.capacity
    return battery.cells * cell_voltage(battery.charge), 0.0, charge, battery.capacity


class Battery:
    """The battery of one vehicle of a running simulation."""

    def __init__(self, column: np.ndarray) -> None:
        self._column = column

    def _get(self, first: int) -> float:
        return float(self._column[first // LANES])

    @property
    def voltage(self) -> float:
        """At its terminals, V."""
        return self._get(row.BATTERY_VOLTAGE)

    @property
    def current(self) -> float:
        """That is drawn from it, A."""
        return self._get(row.BATTERY_CURRENT)

    @property
    def charge(self) -> float:
        """What is left in it, Ah."""
        return self._get(row.BATTERY_CHARGE)

    @property
    def capacity(self) -> float:
        """Ah"""
        return self._get(row.BATTERY_CAPACITY)

    @property
    def share(self) -> float:
        """What is left of its capacity, 0 to 1."""
        return self.charge / self.capacity
