"""Places that a scenario sends vehicles to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from airloom.commands import Vector
from airloom.scenario.errors import KeyPath
from airloom.scenario.models import Plane, Scenario
from airloom.scenario.terrain import TerrainError


def below_ground(
    scenario: Scenario, places: Iterable[tuple[KeyPath | str, Vector]]
) -> Iterator[tuple[KeyPath | str, str]]:
    """Those that nobody can reach, by the keys that give them."""
    ground = _ground(scenario)
    for key, (x, y, z) in places:
        if z < (height := ground(x, y)):
            yield key, f"({x:g}, {y:g}, {z:g}) lies {height - z:.3g} m below the ground"


def _ground(scenario: Scenario) -> Callable[[float, float], float]:
    """Its height at a place."""
    terrain = scenario.world.terrain
    if isinstance(terrain, Plane):
        return lambda x, y: terrain.height
    from airloom.world.land import Land  # compiled, which a plane need not wait for

    try:
        land = Land(scenario.world)
        land.height(0.0, 0.0)
    except TerrainError:
        return lambda x, y: -float("inf")  # told where the simulation is made
    return land.height
