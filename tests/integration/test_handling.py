"""Every bundled vehicle with every controller that may fly it: caught upside down, sent aside, blown at, pushed.

All of them fly as one fleet, each pair of vehicle and controller many times over, in as many directions.
"""

from __future__ import annotations

from math import pi
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.multirotors import HOVERING

import airloom as al
from airloom.scenario import ScenarioError
from airloom.scenario.library import known
from airloom.simulation import Simulation

PUBLISHED = {"crazys", "uav_gazebo"}
"""Controllers with the gains of others, whatever they can do: uav_gazebo has no integral, and gives way to wind."""
TRIED = HOVERING - {"crazyflie2_crazys"}
"""Without the paper's Crazyflie, whose rotor drag tips it over at walking pace; `airloom run crazys` is all it does."""


class Pair(NamedTuple):
    vehicle: str
    controller: str

    @property
    def name(self) -> str:
        return f"{self.vehicle}__{self.controller}"


def pairs() -> list[Pair]:
    found = [Pair(v, c) for v in sorted(TRIED) for c in sorted(known("controller"))]
    return [pair for pair in found if can_fly(pair)]


def can_fly(pair: Pair) -> bool:
    try:
        fleet([pair], 1)
    except ScenarioError:
        return False
    return True


def fleet(chosen: list[Pair], count: int, **changes: Any) -> Simulation:
    usual = {"copies": {"count": count, "columns": count, "spacing": 10}, **changes}
    vehicles = {
        pair.name: {
            "extends": pair.vehicle, "controller": pair.controller,
            "pose": {"position": [0, 10 * k, 10], "roll": pi, "pitch": 0, "yaw": 0}, **usual,
        }
        for k, pair in enumerate(chosen)
    }  # fmt: skip
    changes = {"vehicles": {"cf": None, **vehicles}, "world": "empty", "systems": {}, "engine": "batch"}
    return Simulation.load("hover", overrides=changes)


class Tried:
    """What a fleet does while its vehicles are sent somewhere: how far off they are at last, how low they came."""

    def __init__(self, sim: Simulation, count: int) -> None:
        self.sim, self.group = sim, sim.group()
        self.names = [name.rpartition("_")[0] for name in self.group.names]
        angles = 2 * pi * (np.arange(len(self.names)) % count) / count
        self.directions = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
        self.goals = self.group.positions.copy()
        self.lowest = self.goals[:, 2].copy()

    def send(self, offset: float = 0.0) -> None:
        self.goals = self.goals + offset * self.directions
        for vehicle, goal in zip(self.group, self.goals, strict=True):
            vehicle.command(al.PositionYaw(tuple(goal)))

    def blow(self, speed: float) -> None:
        for vehicle, name, direction in zip(self.group, self.names, self.directions, strict=True):
            if name.rpartition("__")[2] not in PUBLISHED:
                vehicle.set_wind(-speed * direction[[1, 0, 2]])

    def push(self, part_of_weight: float) -> None:
        for vehicle, direction in zip(self.group, self.directions, strict=True):
            vehicle.push(part_of_weight * vehicle.mass * 9.80665 * direction)

    def fly(self, seconds: float) -> None:
        until = self.sim.time + seconds
        while self.sim.time < until - 1e-9:
            self.sim.step(50)
            self.lowest = np.minimum(self.lowest, self.group.positions[:, 2])

    def farthest(self, seconds: float = 1.0) -> dict[str, float]:
        """Of each pair, the largest distance from the goals for a while."""
        off = np.zeros(len(self.names))
        for _ in range(10):
            self.fly(0.1 * seconds)
            off = np.maximum(off, np.linalg.norm(self.group.positions - self.goals, axis=1))
        return {name: max(o for o, n in zip(off, self.names, strict=True) if n == name) for name in set(self.names)}


def too_far(off: dict[str, float], limit: float, limit_if_slow: float) -> dict[str, float]:
    return {name: o for name, o in off.items() if not o < (limit_if_slow if name.endswith("uav_gazebo") else limit)}


@pytest.mark.parametrize("count", [3, 20])
def test_every_vehicle_with_every_controller_is_caught_goes_aside_and_holds_in_wind(count: int) -> None:
    chosen = pairs()
    assert {pair.vehicle for pair in chosen} == TRIED
    tried = Tried(fleet(chosen, count), count)
    tried.send()
    tried.fly(12.0)
    assert too_far(tried.farthest(), 0.3, 1.5) == {}
    tried.send(3.0)
    tried.fly(12.0)
    assert too_far(tried.farthest(), 0.1, 1.5) == {}
    tried.blow(5.0)
    tried.fly(8.0)
    tried.push(0.2)
    tried.fly(0.5)
    tried.push(0.0)
    tried.fly(12.0)
    assert too_far(tried.farthest(), 0.1, 1.0) == {}
    assert {name for name, low in zip(tried.names, tried.lowest, strict=True) if low < 0.5} == set()
