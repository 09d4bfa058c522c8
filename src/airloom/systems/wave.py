"""A wave through a fleet: every vehicle holds its place and bobs, later the farther east it stands."""

from __future__ import annotations

from math import pi

import numpy as np
from pydantic import Field

from airloom.basics.patterns import Pattern
from airloom.commands import PositionYaw
from airloom.plugin import Parameters
from airloom.system import System
from airloom.systems.selection import chosen, unable_to_hover


class WaveParameters(Parameters):
    vehicles: Pattern = Field("*", description="name or pattern")
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

    @classmethod
    def mistakes(cls, parameters, scenario):
        return (("vehicles", f"a wave {what}") for what in unable_to_hover(scenario, parameters.vehicles, "in water"))

    def configure(self, sim) -> None:
        self._vehicles = chosen(sim, self.name, self.parameters.vehicles)

    def reset(self, sim) -> None:
        self._positions = self._vehicles.positions
        self._lags = 2 * pi * self._positions[:, 0] / self.parameters.wavelength
        self._velocities, self._accelerations = np.zeros_like(self._positions), np.zeros_like(self._positions)

    def pre_update(self, sim) -> None:
        p, t = self.parameters, sim.time
        if t < p.start:
            return
        waving = t >= p.start + p.rise
        w, a = 2 * pi / p.period, p.amplitude if waving else 0.0
        phases = w * (t - p.start - p.rise) - self._lags
        bob = a * np.sin(phases)
        self._positions[:, 2] = p.height + bob
        self._velocities[:, 2] = a * w * np.cos(phases)
        self._accelerations[:, 2] = -w * w * bob
        self._vehicles.command(PositionYaw(self._positions, 0.0, self._velocities, self._accelerations))
