"""Trajectories: smooth paths with their velocities and accelerations fed forward."""

from __future__ import annotations

from itertools import islice
from math import cos, hypot, pi, sin
from typing import Literal

from pydantic import Field

from airloom.basics.patterns import Pattern
from airloom.commands import PositionYaw
from airloom.plugin import Parameters
from airloom.scenario import ScenarioError
from airloom.scenario.models import Bounded
from airloom.system import System
from airloom.systems.places import below_ground
from airloom.systems.selection import chosen

LOOKS = 60  # at a lap, for places below the ground


class TrajectoryParameters(Parameters):
    vehicle: Pattern = Field("*", description="name or pattern")
    shape: Literal["figure8", "circle"] = "figure8"
    start: float = Field(3.0, ge=0, description="when the lap begins, s; before, the vehicle rises to the first point")
    period: float = Field(10.0, gt=0, description="of a lap, s")
    size: tuple[Bounded, Bounded] = Field((6.0, 3.0), description="extent east and north, m")
    center: tuple[Bounded, Bounded] = (0.0, 0.0)
    height: Bounded = Field(3.0, description="m")


class Trajectory(System):
    """Fly a figure 8 (Gerono's lemniscate) or an ellipse, lap after lap."""

    Parameters = TrajectoryParameters
    rate = 100.0

    @classmethod
    def mistakes(cls, parameters, scenario):
        lap = cls("trajectory", parameters)
        places = [("height", lap.point(parameters.period * k / LOOKS).position) for k in range(LOOKS)]
        return islice(below_ground(scenario, places), 1)

    def configure(self, sim) -> None:
        self._vehicles = chosen(sim, self.name, self.parameters.vehicle)
        for vehicle in self._vehicles:
            if vehicle.controller is not None and vehicle.controller.flies == "wings":
                self._check_wings(sim, vehicle)

    def _check_wings(self, sim, vehicle) -> None:
        velocities = [self.point(self.parameters.period * k / LOOKS).velocity for k in range(LOOKS)]
        mean = sum(hypot(*velocity) for velocity in velocities) / LOOKS
        slowest, fastest = vehicle.controller.slowest, vehicle.controller.fastest
        if not slowest <= mean <= fastest:
            better = vehicle.controller.cruise_speed / mean
            raise ScenarioError(
                f"{sim.scenario.name}: systems.{self.name}: {vehicle.name} flies at {slowest:.3g} to {fastest:.3g} "
                f"m/s, and this lap at {mean:.3g} m/s on the average; give it {better:.2g} times the size"
            )

    def pre_update(self, sim) -> None:
        command = self.point(max(sim.time - self.parameters.start, 0.0), moving=sim.time >= self.parameters.start)
        self._vehicles.command(command)

    def point(self, t: float, moving: bool = True) -> PositionYaw:
        """Place, velocity and acceleration at time t of the lap."""
        p = self.parameters
        w = 2 * pi / p.period
        if p.shape == "figure8":
            x, dx, ddx = sin(w * t), w * cos(w * t), -w * w * sin(w * t)
            y, dy, ddy = sin(2 * w * t), 2 * w * cos(2 * w * t), -4 * w * w * sin(2 * w * t)
        else:
            x, dx, ddx = cos(w * t), -w * sin(w * t), -w * w * cos(w * t)
            y, dy, ddy = sin(w * t), w * cos(w * t), -w * w * sin(w * t)
        a, b = p.size[0] / 2, p.size[1] / 2
        position = (p.center[0] + a * x, p.center[1] + b * y, p.height)
        if not moving:
            return PositionYaw(position)
        return PositionYaw(position, 0.0, (a * dx, b * dy, 0.0), (a * ddx, b * ddy, 0.0))
