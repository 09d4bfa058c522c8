"""What eyes cost."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from airloom.bench.bench import Effort, processor_seconds, times_the_time
from airloom.simulation import Simulation

CORNERS = 501  # each way: 500 000 triangles
FRAMES = 10
EYES = {
    "depth": {
        "kind": "depth_camera", "rate": 10, "pitch": 0.5, "max_distance": 100.0,
        "distance_errors": {"noise": 0.002, "growth": 0.001, "dropout": 0.01, "grazing": 0.1},
    },
    "lidar": {
        "kind": "lidar", "rate": 10, "distance_errors": {"noise": 0.03},
        "pattern": {"kind": "spinning", "beams": 16, "columns": 1875},
    },
}  # fmt: skip


def _flight(folder: str, eyes: dict) -> Simulation:
    """An X500 that hovers over rough hills, 200 m each way."""
    heights = Path(folder) / "heights.npy"
    across = np.linspace(0.0, 20.0, CORNERS)
    rough = 0.1 * np.random.default_rng(0).standard_normal((CORNERS, CORNERS))
    np.save(heights, 3.0 * np.sin(across)[:, None] * np.cos(1.2 * across) + rough)
    terrain = {"kind": "heightfield", "size": [200, 200], "file": str(heights)}
    drone = {"extends": "x500", "pose": {"position": [0, 0, 15]}, "sensors": eyes}
    overrides = {"world": {"terrain": terrain}, "systems": {}, "vehicles": {"drone": drone}, "engine": "batch"}
    return Simulation.load("hover", overrides=overrides)


def frames_a_second(name: str, effort: Effort) -> float:
    """How often one of the eyes above can look, in time of one processor core."""
    with tempfile.TemporaryDirectory() as folder:
        sim = _flight(folder, {name: EYES[name]})
        eye = sim.vehicles["drone"].eye(name)
        sim.first_look()

        pose = eye.frame.position, eye.frame.rotation

        def look(times: int) -> None:
            for tick in range(times):
                eye.look(sim.eyes.sight, *pose, tick)

        return FRAMES / min(processor_seconds(look, FRAMES) for _ in range(effort.repeats))


def slower_with_an_eye(effort: Effort) -> float:
    """Share of a run that an eye takes which nobody wants."""
    with tempfile.TemporaryDirectory() as folder:
        bare, with_eye = _flight(folder, {}), _flight(folder, EYES)
        for sim in (bare, with_eye):
            sim.run(0.1)
        return 1.0 - 1.0 / times_the_time(bare.step, with_eye.step, effort)
