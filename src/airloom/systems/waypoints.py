"""Waypoints: positions to be at from given times on."""

from __future__ import annotations

from pydantic import Field, model_validator

from airloom.commands import PositionYaw
from airloom.plugin import Parameters
from airloom.scenario.models import Vector3
from airloom.system import System
from airloom.systems.choose import chosen


class Waypoint(Parameters):
    at: float = Field(ge=0, description="s")
    position: Vector3
    yaw: float = 0.0


class WaypointsParameters(Parameters):
    vehicle: str = Field("*", description="name or pattern")
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
    rate = 100.0

    def configure(self, sim) -> None:
        self._vehicles = chosen(sim, self.name, self.parameters.vehicle)
        self._next = 0

    def reset(self, sim) -> None:
        self._next = 0

    def pre_update(self, sim) -> None:
        points = self.parameters.points
        while self._next < len(points) and points[self._next].at <= sim.time:
            point = points[self._next]
            for vehicle in self._vehicles:
                vehicle.command(PositionYaw(point.position, point.yaw))
            self._next += 1
