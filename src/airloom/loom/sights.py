"""What members see: the states of vehicles, each under a number that it keeps for the whole run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from airloom.loom.protocol import STATE_NUMBERS
from airloom.physics.rows import LANES, STATE, WIDTH

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle


class Sights:
    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._numbers: dict[Vehicle, int] = {}
        self._fleet: object = None
        self.states = np.empty((0, STATE_NUMBERS))

    def number(self, vehicle: Vehicle) -> int:
        self._fleet = None
        return self._numbers.setdefault(vehicle, len(self._numbers))

    def look(self) -> np.ndarray:
        """All of them as they are now; a vehicle that was deleted stays as it was."""
        if self._fleet is not self._sim.fleet:
            self._find_places()
        self.states[self._present] = self._sim.fleet.flight.blocks.reshape(-1)[self._places]
        return self.states

    def _find_places(self) -> None:
        self._fleet = self._sim.fleet
        before, self.states = self.states, np.zeros((len(self._numbers), STATE_NUMBERS))
        self.states[: len(before)] = before
        here = {number: v for v, number in self._numbers.items() if self._sim.vehicles.get(v.name) is v}
        self._present = np.array(list(here), int)
        first = [block * WIDTH + STATE + lane for block, lane in (v.place_in_blocks for v in here.values())]
        self._places = np.array(first, int).reshape(-1, 1) + LANES * np.arange(STATE_NUMBERS)
