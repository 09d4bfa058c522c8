"""Coverage: vehicles that keep an area in sight, or explore it, by what they see and what their radios hear."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.scenario import load
from airloom.scenario.errors import hint
from airloom.swarm.coverage.area import Area, standing_in
from airloom.swarm.coverage.covering import Covering
from airloom.swarm.coverage.findings import Base
from airloom.swarm.coverage.parameters import CoverageParameters
from airloom.swarm.driven import Driven
from airloom.swarm.fixes import ToState, to_state
from airloom.swarm.surroundings import boundaries
from airloom.systems.selection import described
from airloom.world.boundaries import Boundary
from airloom.world.meshes import rectangle

if TYPE_CHECKING:
    from airloom.scenario.models import Scenario
    from airloom.simulation import Simulation


def area_of(parameters: CoverageParameters, scenario: Scenario) -> Area:
    """The map that all members know from the beginning."""
    standing = standing_in(scenario.world, parameters.height, parameters.clearance)
    return Area(parameters.area, [*standing, *parameters.obstacles], parameters.clearance)


def base_of(parameters: CoverageParameters, scenario: Scenario, nodes: list[str]) -> Base | None:
    if parameters.base is None or scenario.radio is None:
        return None
    return Base(parameters.base, nodes, scenario.radio.stations[parameters.base].position)


def coverage_in(scenario: str | Path, system: str = "coverage") -> tuple[CoverageParameters, Scenario, ToState]:
    """How a scenario's area is covered, enabled or not; the scenario; and how members know where they are.

    `scenario` is a file, or the name of a bundled scenario.
    """
    there = load(scenario)
    parameters = CoverageParameters.model_validate(there.systems[system].parameters)
    vehicle = described(there, parameters.vehicles)[0]
    return parameters, there, to_state(vehicle.sensors[parameters.sensor].kind, there.world.origin)


class Coverage(Driven):
    """Cover an area with vehicles, by radio alone: watch all of it at once (Lloyd), or see all of it (frontiers)."""

    Parameters = CoverageParameters
    parameters: CoverageParameters

    @classmethod
    def mistakes(cls, parameters: CoverageParameters, scenario: Scenario) -> Iterator[tuple[str, str]]:
        yield from super().mistakes(parameters, scenario)
        stations = [] if scenario.radio is None else list(scenario.radio.stations)
        if parameters.base is not None and parameters.base not in stations:
            yield "base", f"no station is called '{parameters.base}'{hint(parameters.base, stations, 'Stations')}"
        if parameters.targets and parameters.base is None:
            yield "targets", "nobody is told of what is found: name the base, a station of radio.stations"
        area = area_of(parameters, scenario)
        if area.closed.all():
            yield "area", "obstacles and their clearance leave nothing of it to fly in"
        for name, place in parameters.targets.items():
            at = area.within(place)
            if at is None or area.opaque[at]:
                where = "outside the area" if at is None else "inside an obstacle"
                yield f"targets.{name}", f"it lies {where}, where nobody can find it"

    @classmethod
    def boundaries(cls, parameters: CoverageParameters) -> list[Boundary]:
        """The obstacles of the world, which it goes around too, are drawn anyhow."""
        area, top = parameters.area, parameters.height
        outline = rectangle(*area.size) + np.array(area.center)
        return [Boundary(outline, top, encloses=True), *boundaries(None, parameters.obstacles, top)]

    def _logic_for(self, sim: Simulation, members: list[str], nodes: list[str]) -> Covering:
        self.area = area_of(self.parameters, sim.scenario)
        self._base = base_of(self.parameters, sim.scenario, nodes)
        return Covering(self.parameters, self.area, members, nodes)

    def _listen(self, sim: Simulation) -> None:
        super()._listen(sim)
        if self._base is not None and self.parameters.base is not None:
            for news in self._base.hear(self._radio[self.parameters.base].receive(), sim.time_ns):
                sim.event(self.parameters.base, str(news))

    def _words(self, sim: Simulation) -> dict[str, list[bytes]]:
        base = {} if self._base is None else {str(self.parameters.base): self._base.words(sim.time_ns)}
        return super()._words(sim) | base

    def conclude(self, sim: Simulation) -> None:
        for target in self.parameters.targets:
            if self._base is not None and target in self._base.reports:
                sim.succeed(self.name, str(self._base.reports[target]))
            else:
                sim.fail(self.name, f"{self.parameters.base} knows nothing of {target}")

    def report(self, sim: Simulation) -> dict[str, Any]:
        return {} if self._base is None else {"found": [report.summary() for report in self._base.reports.values()]}
