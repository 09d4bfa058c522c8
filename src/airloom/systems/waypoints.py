"""Waypoints: positions to be at from given times on."""

from __future__ import annotations

from functools import partial

from pydantic import Field, model_validator

from airloom.basics.patterns import Pattern
from airloom.commands import PositionYaw
from airloom.plugin import Parameters
from airloom.scenario.models import Vector3
from airloom.system import System
from airloom.systems.places import below_ground
from airloom.systems.selection import chosen


class Waypoint(Parameters):
    at: float = Field(ge=0, description="s")
    position: Vector3
    yaw: float = 0.0


class WaypointsParameters(Parameters):
    vehicle: Pattern = Field("*", description="name or pattern")
    points: list[Waypoint] = Field(min_length=1)

    @model_validator(mode="after")
    def _are_in_order(self) -> WaypointsParameters:
        times = [p.at for p in self.points]
        if times != sorted(times):
            raise ValueError("points must be in order of time")
        return self


class Waypoints(System):
    """Send vehicles from point to point at given times."""

    Parameters = WaypointsParameters

    @classmethod
    def mistakes(cls, parameters, scenario):
        places = [(("points", k, "position"), point.position) for k, point in enumerate(parameters.points)]
        return below_ground(scenario, places)

    def configure(self, sim) -> None:
        self._vehicles = chosen(sim, self.name, self.parameters.vehicle)

    def reset(self, sim) -> None:
        for point in self.parameters.points:
            sim.call_at(point.at, partial(self._send, PositionYaw(point.position, point.yaw)))

    def _send(self, command: PositionYaw) -> None:
        self._vehicles.command(command)
