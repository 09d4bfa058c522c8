"""Notice vehicles that water has done something to that nobody wanted, or nothing where it should have.

Once a second of simulation time, in worlds with water: a vehicle without a hull is *under water and does not feel it*
if all of its body is; one that has thrusters is *out of the water* if it is higher than twice its own height; a boat
*has sunk* if it is so much deeper, and *has capsized* if its upper side looks down.
"""

from __future__ import annotations

from math import cos
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle

PERIOD = 1.0  # s
UNFELT = "is under water, which does nothing to it: its file has no hull"


class WaterWatch:
    """Warns of each vehicle once for each kind of trouble."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self.start()

    def start(self) -> None:
        """Look on from now on, without a memory."""
        self._told: set[tuple[str, str]] = set()
        if self._sim.scenario.world.water is not None:
            self._sim.call_at(self._sim.time, self._look)

    def _look(self) -> None:
        for vehicle in self._sim.vehicles.values():
            if (what := self._trouble(vehicle)) is not None and (vehicle.name, what) not in self._told:
                self._told.add((vehicle.name, what))
                self._sim.event(vehicle.name, what, level="warning")
        self._sim.call_at(self._sim.time + PERIOD, self._look)

    def _trouble(self, vehicle: Vehicle) -> str | None:
        x, y, z = vehicle.position
        tall = vehicle.description.body.size[2]
        depth = self._sim.water.surface(x, y) - z
        if vehicle.description.hull is None:
            return UNFELT if depth > tall else None
        if vehicle.controller is None or vehicle.controller.flies != "in water":
            return None
        if depth < -2.0 * tall:
            return "is out of the water"
        return self._of_a_boat(vehicle, depth > 2.0 * tall) if getattr(vehicle.controller, "floats", False) else None

    @staticmethod
    def _of_a_boat(vehicle: Vehicle, is_deep: bool) -> str | None:
        roll, pitch, _ = vehicle.euler
        return "has sunk" if is_deep else "has capsized" if cos(roll) * cos(pitch) < 0.0 else None
