"""A push: a force and a torque on a vehicle for a while."""

from functools import partial

from pydantic import Field

from airloom.basics.patterns import Pattern
from airloom.plugin import Parameters
from airloom.scenario.models import Vector3
from airloom.system import System
from airloom.systems.selection import chosen


class PushParameters(Parameters):
    vehicle: Pattern = Field("*", description="name or pattern")
    at: float = Field(ge=0, description="s")
    duration: float = Field(gt=0, description="s")
    force: Vector3 = Field((0.0, 0.0, 0.0), description="at the centre of mass, world, N")
    torque: Vector3 = Field((0.0, 0.0, 0.0), description="body, N m")


class Push(System):
    """Push vehicles with a force and a torque for a while."""

    Parameters = PushParameters

    def configure(self, sim) -> None:
        self._vehicles = chosen(sim, self.name, self.parameters.vehicle)

    def reset(self, sim) -> None:
        sim.call_at(self.parameters.at, partial(self._begin, sim))
        sim.call_at(self.parameters.at + self.parameters.duration, partial(self._end, sim))

    def _begin(self, sim) -> None:
        p = self.parameters
        for vehicle in self._vehicles:
            vehicle.push(p.force, p.torque, by=self.name)
            sim.event(vehicle.name, f"{self.name} begins: force {p.force} N, torque {p.torque} N m")

    def _end(self, sim) -> None:
        for vehicle in self._vehicles:
            vehicle.push(by=self.name)
            sim.event(vehicle.name, f"{self.name} ends")
