"""A choreography: a fleet flies from formation to formation, everybody at once and nobody in another's way."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from airloom.basics.patterns import Pattern
from airloom.commands import PositionYaw
from airloom.missions.formations import formation, share_out, smallest_gap
from airloom.missions.tasks import Sleep
from airloom.missions.trajectory import leg_durations, minimum_snap
from airloom.plugin import Parameters
from airloom.scenario.models import NonNegative, Positive
from airloom.system import System
from airloom.systems.selection import chosen, unable_to_hover

Shape = Literal["grid", "circle", "helix", "sphere"]
SETTLE = 1.0  # s between the end of a trajectory and the rotors' stop


class ChoreographyParameters(Parameters):
    vehicles: Pattern = Field("*", description="name or pattern")
    start: NonNegative = Field(1.0, description="lift-off, s")
    formations: list[Shape] = Field(
        default=["circle", "helix", "sphere"], min_length=1, description="one after the other"
    )
    height: Positive = Field(2.0, description="of the lowest vehicle above where it stood, m")
    spacing: Positive = Field(1.5, description="of the closest two in a formation, m")
    speed: Positive = Field(2.0, description="of the fastest, m/s")
    acceleration: Positive = Field(2.0, description="of the fastest, m/s²")
    hold: NonNegative = Field(2.0, description="in each formation, s")


class Choreography(System):
    """Fly a fleet from formation to formation without collisions, and land where it stood."""

    Parameters = ChoreographyParameters

    @classmethod
    def mistakes(cls, parameters, scenario):
        return (
            ("vehicles", f"a choreography {what}")
            for what in unable_to_hover(scenario, parameters.vehicles, "in water")
        )

    def configure(self, sim) -> None:
        self._vehicles = chosen(sim, self.name, self.parameters.vehicles)

    def reset(self, sim) -> None:
        sim.call_at(self.parameters.start, lambda: sim.start(self._perform(sim), self.name))

    async def _perform(self, sim) -> None:
        p = self.parameters
        pads = self._vehicles.positions
        above_pads = pads + np.array([0.0, 0.0, p.height])
        await self._move(sim, pads, above_pads)
        places = above_pads
        for shape in p.formations:
            goals = formation(shape, len(pads), p.spacing, pads[:, :2].mean(axis=0), above_pads[:, 2].max())
            places = await self._change_to(sim, shape, places, goals)
        places = await self._change_to(sim, "pads", places, above_pads)
        await self._move(sim, places, places - np.array([0.0, 0.0, p.height]))
        await Sleep(SETTLE)
        for vehicle in self._vehicles:
            vehicle.kill()
        sim.succeed(self.name, "is done")

    async def _change_to(self, sim, name: str, places: np.ndarray, goals: np.ndarray) -> np.ndarray:
        """Everybody to a goal of its own, and a rest there; returns whose goal is where."""
        goals = goals[share_out(places, goals)]
        sim.event(self.name, f"{name}, {smallest_gap(goals):.2f} m apart")
        await self._move(sim, places, goals)
        await Sleep(self.parameters.hold)
        return goals

    async def _move(self, sim, places: np.ndarray, goals: np.ndarray) -> None:
        """Straight from place to goal, all with the same beginning and end."""
        p = self.parameters
        legs = zip(places, goals, strict=True)
        duration = max(leg_durations(np.array(leg), p.speed, p.acceleration)[0] for leg in legs)
        self._vehicles.command(PositionYaw(places))
        for vehicle, place, goal in zip(self._vehicles, places, goals, strict=True):
            ends = np.column_stack([[place, goal], [0.0, 0.0]])
            sim.guides.begin(vehicle, minimum_snap(ends, np.array([duration])))
        await Sleep(duration)
