"""A push: a force and a torque on a vehicle for a while."""

from pydantic import Field

from airloom.plugin import Parameters
from airloom.scenario.models import Vector3
from airloom.system import System
from airloom.systems.choose import chosen


class PushParameters(Parameters):
    vehicle: str = Field("*", description="name or pattern")
    at: float = Field(ge=0, description="s")
    duration: float = Field(gt=0, description="s")
    force: Vector3 = Field((0.0, 0.0, 0.0), description="at the centre of mass, world, N")
    torque: Vector3 = Field((0.0, 0.0, 0.0), description="body, N m")


class Push(System):
    """Push vehicles with a force and a torque for a while."""

    Parameters = PushParameters
    rate = 1000.0

    def configure(self, sim) -> None:
        self._vehicles = chosen(sim, self.name, self.parameters.vehicle)
        self._pushing = False

    def reset(self, sim) -> None:
        self._pushing = False

    def pre_update(self, sim) -> None:
        p = self.parameters
        pushing = p.at <= sim.time < p.at + p.duration
        if pushing == self._pushing:
            return
        self._pushing = pushing
        for vehicle in self._vehicles:
            if pushing:
                vehicle.push(p.force, p.torque)
                sim.event(vehicle.name, f"{self.name} begins: force {p.force} N, torque {p.torque} N m")
            else:
                vehicle.push()
                sim.event(vehicle.name, f"{self.name} ends")
