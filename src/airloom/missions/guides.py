"""Guides move the setpoints of vehicles inside the compiled loop, so that a mission need not be asked on the way.

A guide is a kernel and a plan. The kernel is called 50 times a second for each vehicle that it guides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from airloom.commands import Mode
from airloom.compiled import Kernel

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle


class Guide(Protocol):
    kernel: ClassVar[Kernel]
    mode: ClassVar[Mode]
    """whose setpoint it moves"""

    def plan(self, tick: int, step: float) -> np.ndarray:
        """The numbers for the kernel of a vehicle that begins at this tick; the kernel may write to them."""


class Guides:
    """Who guides which vehicle."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._flying: dict[str, tuple[Guide, np.ndarray]] = {}

    def forget(self) -> None:
        """A reset of the fleet has emptied its table."""
        self._flying.clear()

    def begin(self, vehicle: Vehicle, guide: Guide) -> None:
        """From now on; an earlier guide of the vehicle is dropped."""
        plan = guide.plan(self._sim.tick, self._sim.scenario.step)
        self._flying[vehicle.name] = guide, plan  # the loop knows only where the plan lies
        self._sim.fleet.set_guide(*vehicle.place_in_blocks, (guide.kernel.address, plan.ctypes.data, plan.size))

    def end(self, vehicle: Vehicle) -> None:
        """Leave the setpoint where it is; from now on somebody else must speak."""
        if self._flying.pop(vehicle.name, None) is not None:
            self._sim.fleet.set_guide(*vehicle.place_in_blocks, (0, 0, 0))
            self._sim.guard.heard(vehicle)

    def speaks_to(self, vehicle: Vehicle) -> bool:
        """Whether the vehicle flies by what a guide tells it."""
        guide, _ = self._flying.get(vehicle.name, (None, None))
        return guide is not None and guide.mode is vehicle.mode
