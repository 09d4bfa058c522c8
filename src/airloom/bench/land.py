"""What ground that is not flat costs a flight."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from airloom.bench.bench import Effort, times_the_time
from airloom.commands import PositionYaw
from airloom.simulation import Simulation

CORNERS, SIZE = 1001, 500.0


def slower_over_terrain(count: int, height: float, effort: Effort) -> float:
    """How much more processor time X500s take that fly aside at a height above rough hills than above a plane."""
    with tempfile.TemporaryDirectory() as folder:
        file, across = Path(folder) / "heights.npy", np.linspace(0.0, 30.0, CORNERS)
        rough = 0.05 * np.random.default_rng(0).standard_normal((CORNERS, CORNERS))
        np.save(file, 2.0 * np.sin(across)[:, None] * np.cos(1.2 * across) + rough)
        hills = {"kind": "heightfield", "size": [SIZE, SIZE], "file": str(file)}
        plane, terrain = _flight("plane", count, height), _flight(hills, count, height)
        return times_the_time(plane.step, terrain.step, effort) - 1.0


def _flight(terrain: Any, count: int, height: float) -> Simulation:
    drones = {"extends": "x500", "pose": {"position": [0, 0, height]}, "copies": {"count": count, "spacing": 5.0}}
    overrides = {"world": {"terrain": terrain}, "systems": {}, "vehicles": {"drone": drones}}
    sim = Simulation.load("hover", overrides=overrides)
    sim.run(0.01)
    for vehicle in sim.vehicles.values():
        vehicle.command(PositionYaw(vehicle.position + np.array([60.0, 20.0, 0.0])))
    sim.run(0.5)
    return sim
