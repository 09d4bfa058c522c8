"""Vehicles by name or pattern."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from airloom import plugin
from airloom.basics.hints import did_you_mean
from airloom.basics.patterns import matcher
from airloom.scenario import ScenarioError

if TYPE_CHECKING:
    from airloom.group import Group
    from airloom.scenario.models import Scenario, Vehicle
    from airloom.simulation import Simulation


def chosen(sim: Simulation, system: str, pattern: str) -> Group:
    """The vehicles whose names match a pattern such as cf or drone*; at least one must."""
    found = sim.group(pattern)
    if not found:
        hint = did_you_mean(pattern, sim.vehicles) or "."
        names = list(sim.vehicles)
        known = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        raise ScenarioError(
            f"{sim.scenario.name}: systems.{system}: no vehicle matches '{pattern}'{hint} Vehicles: {known}"
        )
    return found


def described(scenario: Scenario, pattern: str) -> list[Vehicle]:
    """What a scenario says of the vehicles that match; of those with copies once."""
    fits = matcher(pattern)
    return [vehicle for name, vehicle in scenario.vehicles.items() if any(map(fits, vehicle.names(name)))]


def unable_to_hover(scenario: Scenario, pattern: str, *others: str) -> Iterator[str]:
    """Complaints of vehicles that match and cannot stop in the air; `others` are further ways to fly that do not do."""
    fits, unable = matcher(pattern), ("wings", *others)
    for name, vehicle in scenario.vehicles.items():
        if vehicle.controller is not None and any(map(fits, vehicle.names(name))):
            kind: Any = plugin.find("controller", vehicle.controller.kind)
            if kind.flies in unable:
                what = f"needs vehicles that can stop in the air, and {name} with the controller"
                yield f"{what} '{vehicle.controller.kind}' cannot; send it by a mission of its own"
