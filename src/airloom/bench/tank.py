"""What sloshing costs a flight."""

from __future__ import annotations

import numpy as np

from airloom.bench.bench import Effort, times_the_time
from airloom.commands import PositionYaw
from airloom.simulation import Simulation


def slower_with_sloshing(count: int, engine: str, effort: Effort) -> float:
    """How much more processor time sprayers take whose liquids slosh than those with frozen ones."""
    frozen, sloshing = (_flight(count, engine, sloshes) for sloshes in (False, True))
    return times_the_time(frozen.step, sloshing.step, effort) - 1.0


def _flight(count: int, engine: str, sloshing: bool) -> Simulation:
    drones = {
        "extends": "sprayer", "pose": {"position": [0, 0, 20.0]}, "copies": {"count": count, "spacing": 5.0},
        "tank": {"sloshing": sloshing},
    }  # fmt: skip
    sim = Simulation.load("hover", overrides={"engine": engine, "systems": {}, "vehicles": {"drone": drones}})
    sim.run(0.01)
    for vehicle in sim.vehicles.values():
        vehicle.command(PositionYaw(vehicle.position + np.array([20.0, 5.0, 0.0])))
    sim.run(0.5)
    return sim
