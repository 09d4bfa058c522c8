"""Vehicles by name or pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
