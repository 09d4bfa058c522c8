"""Places that a scenario sends vehicles to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from airloom.commands import Vector
from airloom.scenario.errors import KeyPath
from airloom.scenario.models import Plane, Scenario
from airloom.scenario.terrain import TerrainError


def below_ground(
    scenario: Scenario, places: Iterable[tuple[KeyPath | str, Vector]]
) -> Iterator[tuple[KeyPath | str, str]]:
    """Those that nobody can reach, by the keys that give them."""
    for key, (x, y, z) in places:
        height = _ground_height(scenario, x, y)
        if z < height:
            yield key, f"({x:g}, {y:g}, {z:g}) lies {height - z:.3g} m below the ground"


def _ground_height(scenario: Scenario, x: float, y: float) -> float:
    terrain = scenario.world.terrain
    if isinstance(terrain, Plane):
        return terrain.height
    from airloom.world.land import Land  # compiled, which a plane need not wait for

    try:
        return Land(scenario.world).height(x, y)
    except TerrainError:
        return -float("inf")  # told where the simulation is made
