"""Requests that change what there is: vehicles and obstacles come, move and go while the run is paused.

Every edit makes another scenario, with which the simulation goes on (`Simulation.change`), and which can be saved.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, ValidationError

from airloom.basics.hints import did_you_mean
from airloom.engines.fleet import expand_copies
from airloom.net.json_lines import RequestError
from airloom.runs.link.context import RequestContext
from airloom.runs.link.request import Bounded, Request, Vector
from airloom.scenario import Scenario, ScenarioError, known, load, load_vehicle, resolved_text
from airloom.scenario.models import Obstacle, Vehicle
from airloom.world.overlap import Upright, thing_within
from airloom.world.things import Thing

MOST_VEHICLES = 10_000
Size = Annotated[list[Annotated[float, Field(gt=0, le=1e4)]], Field(min_length=3, max_length=3)]
Entity = Vehicle | Obstacle


class Edit(Request):
    """`edition` is that of the scenario its sender saw: an edit of another one is refused."""

    edition: int | None = None

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        if not (context.run.paused or context.run.finished):
            raise RequestError("only a paused run can be edited; pause it first")
        if self.edition not in (None, context.edition):
            raise RequestError("somebody else has just edited this world; look at it and try again")
        scene = Scene(context.sim.scenario)
        name = self.edit(scene)
        scene.must_fit(name, context.sim.vehicles, context.sim.fleet.land.things)
        context.change(scene.scenario())
        return {"name": name, "edition": context.edition}

    def edit(self, scene: Scene) -> str:
        """Change the scene; the name of what was changed."""
        raise NotImplementedError


class Scene:
    """The vehicles and obstacles of a scenario, to be changed."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self.vehicles = expand_copies(scenario.vehicles)
        self.obstacles = dict(scenario.world.obstacles)

    def scenario(self) -> Scenario:
        world = self._scenario.world.model_copy(update={"obstacles": self.obstacles})
        return self._scenario.model_copy(update={"world": world, "vehicles": self.vehicles})

    def kind_of(self, name: str) -> dict[str, Any]:
        """The vehicles if it is one, else the obstacles."""
        for kind in (self.vehicles, self.obstacles):
            if name in kind:
                return kind
        here = {**self.vehicles, **self.obstacles}
        raise RequestError(f"nothing here is called '{name}'{did_you_mean(name, here, 'there are')}")

    def free_name(self, like: str) -> str:
        stem = re.sub(r"_[0-9]+$", "", like)
        number = 1
        while (name := f"{stem}_{number}") in self.vehicles or name in self.obstacles:
            number += 1
        return name

    def must_fit(self, name: str, flying: Mapping[str, Any], things: list[Thing]) -> None:
        """Nothing is put into a vehicle, and no vehicle into anything: neither where it is nor where it starts."""
        if name not in self.vehicles and name not in self.obstacles:
            return
        new = self._solid(name)
        for other, vehicle in self.vehicles.items():
            if other == name:
                continue
            now = flying[other]
            there = Upright.of_vehicle(vehicle, now.position, float(now.euler[2]))
            if new.overlaps(there):
                raise RequestError(f"{other} is there already; choose another place")
            if new.overlaps(self._solid(other)):
                raise RequestError(f"{other} starts there; choose another place")
        if name not in self.vehicles:
            return
        for other in self.obstacles:
            if new.overlaps(self._solid(other)):
                raise RequestError(f"{other} is in the way; choose another place")
        if (thing := thing_within(things, new)) is not None:
            raise RequestError(f"{thing} is in the way; choose another place")

    def _solid(self, name: str) -> Upright:
        if name in self.obstacles:
            return Upright.of_obstacle(self.obstacles[name])
        pose = self.vehicles[name].pose
        return Upright.of_vehicle(self.vehicles[name], np.array(pose.position), pose.yaw)

    def put(self, name: str, entity: Entity, position: list[float], yaw: float) -> None:
        if isinstance(entity, Vehicle):
            if name not in self.vehicles and len(self.vehicles) >= MOST_VEHICLES:
                raise RequestError(f"more than {MOST_VEHICLES} vehicles cannot be handled here")
            pose = entity.pose.model_copy(update={"position": tuple(position), "yaw": yaw})
            self.vehicles[name] = entity.model_copy(update={"pose": pose, "copies": None})
        else:
            self.obstacles[name] = entity.model_copy(update={"position": tuple(position), "yaw": yaw})


class Spawn(Edit):
    """A vehicle by the name of a bundled one, or an obstacle of some shape and size."""

    method = "spawn"
    kind: str
    position: Vector
    yaw: Bounded = 0.0
    size: Size = [1.0, 1.0, 1.0]

    def edit(self, scene: Scene) -> str:
        name = scene.free_name(self.kind)
        scene.put(name, self._entity(), self.position, self.yaw)
        return name

    def _entity(self) -> Entity:
        shapes, vehicles = ("box", "cylinder", "sphere"), known("vehicle")
        if self.kind in shapes:
            try:
                return Obstacle(shape=self.kind, size=tuple(self.size), position=(0.0, 0.0, 0.0))
            except ValidationError as error:
                raise RequestError(str(error.errors()[0]["msg"])) from None
        if self.kind not in vehicles:
            kinds = dict.fromkeys([*vehicles, *shapes])
            hint = did_you_mean(self.kind, kinds, "known are")
            raise RequestError(f"nothing called '{self.kind}' can be spawned{hint}")
        return load_vehicle(self.kind)


class Copy(Edit):
    method = "copy"
    name: str
    position: Vector
    yaw: Bounded = 0.0

    def edit(self, scene: Scene) -> str:
        original = scene.kind_of(self.name)[self.name]
        name = scene.free_name(self.name)
        scene.put(name, original, self.position, self.yaw)
        return name


class Move(Edit):
    """Put something elsewhere; a vehicle starts there after a reset, too."""

    method = "move"
    name: str
    position: Vector
    yaw: Bounded = 0.0

    def edit(self, scene: Scene) -> str:
        scene.put(self.name, scene.kind_of(self.name)[self.name], self.position, self.yaw)
        return self.name


class Delete(Edit):
    method = "delete"
    name: str

    def edit(self, scene: Scene) -> str:
        kind = scene.kind_of(self.name)
        if list(scene.vehicles) == [self.name]:
            raise RequestError(f"{self.name} is the only vehicle; spawn another one before you delete it")
        del kind[self.name]
        return self.name


class Save(Request):
    """Write the scenario as it is now to a file in the folder where the run was started."""

    method = "save"
    file: Annotated[str, Field(max_length=100)]
    overwrite: Literal[True, False] = False

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_. -]*", self.file):
            raise RequestError("a file name has letters, digits, spaces and _ . - only, and names no folder")
        path = Path(self.file).with_suffix(".yaml")
        if path.exists() and not self.overwrite:
            raise RequestError(f"{path} exists already; choose another name, or overwrite it")
        text = _named(context.sim.scenario, path.stem)
        try:
            _write_checked(path, text)
        except OSError as error:
            raise RequestError(f"cannot write {path}: {error.strerror}") from None
        except ScenarioError as error:
            raise RequestError(f"the edited world would not run: {error}") from None
        return {"file": str(path.absolute())}


def _named(scenario: Scenario, file: str) -> str:
    name = re.sub(r"\W", "_", file, flags=re.ASCII)
    name = name if name[0].isalpha() else f"s{name}"
    return resolved_text(scenario.model_copy(update={"name": name}))


def _write_checked(path: Path, text: str) -> None:
    """A file that loads, or none: an earlier one is replaced all at once."""
    handle, unfinished = tempfile.mkstemp(suffix=".yaml", dir=path.absolute().parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"# Saved from a running simulation. Run it with: airloom run {path.name}\n{text}")
        load(Path(unfinished))
        os.chmod(unfinished, 0o644)
        os.replace(unfinished, path)
    finally:
        Path(unfinished).unlink(missing_ok=True)
