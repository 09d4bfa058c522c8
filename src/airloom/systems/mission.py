"""Missions in a scenario: from a file, written in place, or a coroutine of the user's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import Field, model_validator

from airloom.basics.patterns import Pattern
from airloom.missions.files import read_mission
from airloom.missions.items import Item, complaint
from airloom.missions.legs import ACCEPTANCE
from airloom.missions.mission import Mission
from airloom.missions.pilot import Pilot
from airloom.missions.pilots import pilot_of
from airloom.plugin import Parameters, PluginError, function_in
from airloom.scenario import ScenarioError
from airloom.scenario.models import NonNegative
from airloom.system import System
from airloom.systems.selection import chosen
from airloom.watch.origin import told
from airloom.world.ground import ground

MOST_PASSED = 40


class MissionParameters(Parameters):
    vehicle: Pattern = Field("*", description="name or pattern; each one flies the mission")
    start: float = Field(0.0, ge=0, description="s")
    items: list[Item] | None = Field(
        None, min_length=1, description="takeoff, goto, follow, circle, loiter, turn, sleep, spray, land"
    )
    file: str | None = Field(None, description="a YAML mission or a QGroundControl .plan, relative to the scenario")
    script: str | None = Field(
        None, description="path/to/mission.py:function, an async function that takes a pilot, relative to the scenario"
    )

    acceptance: NonNegative = Field(
        ACCEPTANCE,
        description="how far from a place an aeroplane may pass it to turn before it, or else it flies over it, m; "
        "items may have their own",
    )

    @model_validator(mode="after")
    def _has_one_source(self) -> MissionParameters:
        if sum(source is not None for source in (self.items, self.file, self.script)) != 1:
            raise ValueError("give one of items, file and script")
        return self


class FlyMission(System):
    """Fly a mission: items, a mission file, or a coroutine of your own."""

    Parameters = MissionParameters

    def configure(self, sim) -> None:
        self._vehicles = chosen(sim, self.name, self.parameters.vehicle)
        self._warnings: list[str] = []
        self._has_end = False
        self._mission = self._own_coroutine(sim) if self.parameters.script else self._items(sim)

    def reset(self, sim) -> None:
        self._under_way: set[str] = set()
        for text in self._warnings:
            sim.event(self.name, text, level="warning")
        sim.call_at(self.parameters.start, partial(self._begin, sim))

    def _items(self, sim) -> Callable[[Pilot], Coroutine]:
        mission = Mission(self.parameters.items or [])
        if self.parameters.file:
            height = partial(_ground_height, sim.fleet.flight.world)
            mission = read_mission(self.parameters.file, sim.scenario.world.origin, height)
        mission = replace(mission, acceptance=self.parameters.acceptance)
        self._has_end = mission.ends
        missions = {vehicle.name: self._suited(mission, pilot_of(sim, vehicle)) for vehicle in self._vehicles}
        self._warnings = list(dict.fromkeys(text for mission in missions.values() for text in mission.warnings))
        return lambda pilot: missions[pilot.name].fly(pilot)

    def _suited(self, mission: Mission, pilot: Pilot) -> Mission:
        """A plan is flown as fast as its vehicle can; in our own files, what it cannot do is a mistake."""
        file = self.parameters.file
        if file is not None and file.endswith(".plan"):
            mission = mission.fitted_to(pilot)
        for k, item in enumerate(mission.items):
            if (why := complaint(item, pilot)) is not None:
                where = file or f"{pilot.sim.scenario.name}: systems.{self.name}.items"
                raise ScenarioError(f"{where}: item {k + 1}: {why}")
        return mission

    def _own_coroutine(self, sim) -> Callable[[Pilot], Coroutine]:
        try:
            function = function_in(self.parameters.script)
        except PluginError as error:
            raise ScenarioError(f"{sim.scenario.name}: systems.{self.name}.script: {error}") from error
        if not inspect.iscoroutinefunction(function):
            what = f"'{self.parameters.script}' must be an async function that takes a pilot"
            raise ScenarioError(f"{sim.scenario.name}: systems.{self.name}.script: {what}")
        return function

    def _begin(self, sim) -> None:
        for vehicle in self._vehicles:
            sim.start(self._fly(pilot_of(sim, vehicle)), vehicle.name)

    async def _fly(self, pilot: Pilot) -> None:
        """A mission that fails leaves its vehicle hovering, and the simulation running, which is a failed run."""
        self._under_way.add(pilot.name)
        try:
            await self._mission(pilot)
        except Exception as error:
            pilot.sim.fail(pilot.name, f"{self.name} failed: {told(error)}")
            pilot.brake()
        else:
            pilot.sim.succeed(pilot.name, f"{self.name} is done{_told_passed(pilot)}")
        self._under_way.discard(pilot.name)

    def conclude(self, sim) -> None:
        """A mission that has an end must have come to it in the time that the scenario gives."""
        if not self._has_end or sim.is_excerpt:
            return
        for name in sorted(self._under_way & set(sim.vehicles)):
            x, y, z = sim.vehicles[name].position
            what = f"{self.name} was not over when the run ended, at ({x:.0f}, {y:.0f}, {z:.0f})"
            sim.fail(name, f"{what}; give the scenario a longer duration than {sim.scenario.duration:g} s")


def _told_passed(pilot: Pilot) -> str:
    """How near an aeroplane came to the places of its mission, in their order."""
    if not pilot.passed:
        return ""
    shown = ", ".join(f"{off:.1f}" for _, off in pilot.passed[:MOST_PASSED])
    more = f", …, {max(off for _, off in pilot.passed):.1f} at most" if len(pilot.passed) > MOST_PASSED else ""
    return f"; passed {len(pilot.passed)} places by {shown}{more} m"


def _ground_height(world: Any, x: float, y: float) -> float:
    return float(ground(world, x, y)[0])
