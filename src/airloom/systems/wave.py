"""A wave through a fleet: every vehicle holds its place and bobs, later the farther east it stands."""

from __future__ import annotations

from math import cos, pi, sin

from pydantic import Field

from airloom.commands import PositionYaw
from airloom.plugin import Parameters
from airloom.system import System
from airloom.systems.choose import chosen


class WaveParameters(Parameters):
    vehicles: str = Field("*", description="name or pattern")
    start: float = Field(1.0, ge=0, description="lift-off, s")
    rise: float = Field(4.0, ge=0, description="time between lift-off and the wave, s")
    height: float = Field(1.5, description="mean height, m")
    amplitude: float = Field(0.5, ge=0, description="m")
    period: float = Field(4.0, gt=0, description="s")
    wavelength: float = Field(6.0, gt=0, description="m")


class Wave(System):
    """Lift a fleet off and let a wave run through it."""

    Parameters = WaveParameters
    rate = 50.0

    def configure(self, sim) -> None:
        self._vehicles = chosen(sim, self.name, self.parameters.vehicles)
        self.reset(sim)

    def reset(self, sim) -> None:
        self._places = [tuple(vehicle.airframe.vehicle.pose.position[:2]) for vehicle in self._vehicles]

    def pre_update(self, sim) -> None:
        p, t = self.parameters, sim.time
        if t < p.start:
            return
        waving = t >= p.start + p.rise
        w = 2 * pi / p.period
        for vehicle, (x, y) in zip(self._vehicles, self._places, strict=True):
            phase = w * (t - p.start - p.rise) - 2 * pi * x / p.wavelength
            a = p.amplitude if waving else 0.0
            vehicle.command(
                PositionYaw(
                    (x, y, p.height + a * sin(phase)),
                    velocity=(0.0, 0.0, a * w * cos(phase)),
                    acceleration=(0.0, 0.0, -a * w * w * sin(phase)),
                )
            )
