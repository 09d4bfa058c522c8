"""Checks of a scenario that is not flown: can everything in it be read, understood and made ready?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from airloom.check.plugins import Check
from airloom.scenario import load
from airloom.scenario.models import Scenario
from airloom.simulation import Simulation


def examine(name: str, settings: Mapping[str, Any]) -> Iterator[Check]:
    """All that is right, until a `ScenarioError` or another `UserError` tells all that is wrong."""
    scenario = load(name, settings)
    yield Check("is understood", True, _described(scenario))
    Simulation(scenario).close()
    yield Check("can be made ready", True, _parts(scenario))
    if started := list(_programs(scenario)):
        yield Check("starts programs", None, f"not tried: {', '.join(started)}")


def _described(scenario: Scenario) -> str:
    return f"{scenario.duration:g} s in steps of {1e3 * scenario.step:g} ms on the {scenario.engine.kind} engine"


def _parts(scenario: Scenario) -> str:
    count = sum(len(vehicle.names(name)) for name, vehicle in scenario.vehicles.items())
    vehicles = "1 vehicle" if count == 1 else f"{count:,} vehicles"
    systems = Counter(system.kind for system in scenario.systems.values() if system.enabled)
    return ", ".join([vehicles, *(f"{kind} × {number}" if number > 1 else kind for kind, number in systems.items())])


def _programs(scenario: Scenario) -> Iterator[str]:
    for name, vehicle in scenario.vehicles.items():
        if vehicle.autopilot:
            yield f"the autopilot of {name} ({vehicle.autopilot.kind})"
    for name in scenario.members:
        yield f"the member {name}"
