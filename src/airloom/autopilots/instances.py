"""Which instance of its program flies each vehicle, from which its ports follow: two cannot have the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airloom.scenario.errors import KeyPath
    from airloom.scenario.models import Scenario, Vehicle

MOST_INSTANCE = 99


def instance_of(copy: str, first: int, scenario: Scenario) -> int:
    """Of a vehicle that is the first, or a copy of it: they count up."""
    names = next(names for name, vehicle in scenario.vehicles.items() if copy in (names := vehicle.names(name)))
    return first + names.index(copy)


def mistakes_of_instances(name: str, scenario: Scenario) -> Iterator[tuple[KeyPath, str]]:
    """Of a vehicle, as far as the scenario names them: others are counted when it runs."""
    own = _instances(scenario.vehicles[name])
    if len(own) and own[-1] > MOST_INSTANCE:
        yield ("instance",), f"its {len(own)} copies count up to {own[-1]}; the last there can be is {MOST_INSTANCE}"
    for other, vehicle in scenario.vehicles.items():
        if other == name:
            return
        if _kind(vehicle) == _kind(scenario.vehicles[name]) and (shared := set(own) & set(_instances(vehicle))):
            yield ("instance",), f"'{other}' has instance {min(shared)} too, and thereby the same ports: choose another"


def _kind(vehicle: Vehicle) -> str | None:
    return vehicle.autopilot.kind if vehicle.autopilot else None


def _instances(vehicle: Vehicle) -> range:
    first = vehicle.autopilot.parameters.get("instance") if vehicle.autopilot else None
    return range(0) if first is None else range(first, first + len(vehicle.names("")))
