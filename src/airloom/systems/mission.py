"""Missions in a scenario: from a file, written in place, or a coroutine of the user's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from pydantic import Field, model_validator

from airloom.basics.patterns import Pattern
from airloom.missions.files import read_mission
from airloom.missions.items import Item, complaint
from airloom.missions.mission import Mission
from airloom.missions.pilot import Pilot
from airloom.missions.pilots import pilot_of
from airloom.plugin import Parameters, PluginError, function_in
from airloom.scenario import ScenarioError
from airloom.system import System
from airloom.systems.selection import chosen
from airloom.watch.origin import told
from airloom.world.ground import ground


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
        self._mission = self._own_coroutine(sim) if self.parameters.script else self._items(sim)

    def reset(self, sim) -> None:
        for text in self._warnings:
            sim.event(self.name, text, level="warning")
        sim.call_at(self.parameters.start, partial(self._begin, sim))

    def _items(self, sim) -> Callable[[Pilot], Coroutine]:
        mission = Mission(self.parameters.items or [])
        if self.parameters.file:
            height = partial(_ground_height, sim.fleet.flight.world)
            mission = read_mission(self.parameters.file, sim.scenario.world.origin, height)
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
        try:
            await self._mission(pilot)
        except Exception as error:
            pilot.sim.fail(pilot.name, f"{self.name} failed: {told(error)}")
            pilot.brake()
        else:
            pilot.sim.succeed(pilot.name, f"{self.name} is done")


def _ground_height(world: Any, x: float, y: float) -> float:
    return float(ground(world, x, y)[0])
