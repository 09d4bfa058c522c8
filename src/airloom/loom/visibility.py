"""What members see: the states of vehicles, each under a number that it keeps for the whole run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.loom.protocol import STATE_NUMBERS

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle

GONE = -1


class Visibility:
    """Where the states lie: vehicle k's thirteen numbers in `memory` from places[k] on, `stride` apart."""

    def __init__(self, stride: int) -> None:
        self.stride = stride
        self.memory = np.empty(0)
        self.places = np.empty(0, int)
        self.edition = 0
        """Counts how often the above were replaced."""

    def states(self, numbers: np.ndarray) -> np.ndarray:
        """[vehicle, 13]; zeros for one that has left the simulation."""
        places = self.places[numbers]
        found = self.memory[places[:, None] + self.stride * np.arange(STATE_NUMBERS)]
        found[places == GONE] = 0.0
        return found


class FleetVisibility(Visibility):
    """Those of a simulation, read where the engine leaves them."""

    def __init__(self, sim: Simulation) -> None:
        super().__init__(LANES)
        self._sim = sim
        self._numbers: dict[Vehicle, int] = {}
        self._fleet: object = None

    def number(self, vehicle: Vehicle) -> int:
        if vehicle not in self._numbers:
            self._numbers[vehicle] = len(self._numbers)
            self._fleet = None
        return self._numbers[vehicle]

    def keep_up(self) -> None:
        """With a fleet that may have been replaced."""
        if self._fleet is not self._sim.fleet:
            self._fleet = self._sim.fleet
            self.memory = self._sim.fleet.flight.blocks.reshape(-1)
            self.places = np.array([self._place(vehicle) for vehicle in self._numbers], int)
            self.edition += 1

    def _place(self, vehicle: Vehicle) -> int:
        if self._sim.vehicles.get(vehicle.name) is not vehicle:
            return GONE
        block, lane = vehicle.place_in_blocks
        return block * row.WIDTH + row.STATE + lane


class ToldVisibility(Visibility):
    """Those of a branch, which it is told."""

    def __init__(self) -> None:
        super().__init__(1)

    def learn(self, numbers: np.ndarray, states: np.ndarray) -> None:
        most = int(numbers.max(initial=-1)) + 1
        if most > len(self.places):
            before, self.memory = self.memory, np.zeros(most * STATE_NUMBERS)
            self.memory[: len(before)] = before
            self.places = STATE_NUMBERS * np.arange(most)
            self.edition += 1
        self.memory.reshape(-1, STATE_NUMBERS)[numbers] = states
