"""Which pilot flies a vehicle: that which knows how it moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airloom.missions.pilot import Pilot
from airloom.missions.tasks import Task
from airloom.missions.vessels import VesselPilot
from airloom.missions.wings import WingsPilot

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle

PILOTS: dict[str, type[Pilot]] = {"hovering": Pilot, "wings": WingsPilot, "in water": VesselPilot}
"""By `flies` of the vehicle's controller."""


def pilot_of(sim: Simulation, vehicle: Vehicle) -> Pilot:
    controller = vehicle.controller
    return PILOTS["hovering" if controller is None else controller.flies](sim, vehicle)


def start_all(sim: Simulation, mission: Any, vehicles: Any) -> list[Task]:
    """Start `mission(pilot)` for each of several vehicles."""
    return [sim.start(mission(pilot_of(sim, vehicle)), vehicle.name) for vehicle in vehicles]
