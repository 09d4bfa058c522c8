"""What the whole job costs: sloshing, turbulence, shelter, spray and terrain together, with and without an eye."""

from __future__ import annotations

from statistics import median

from airloom.bench.bench import Effort, processor_seconds
from airloom.simulation import Simulation

SPRAYING = 30.0  # s, from when on it works its lines
PIECE = 4.0  # s of simulation time that are timed at once


def times_real_time(camera: bool, effort: Effort) -> float:
    """Of the scenario `vineyard` while it sprays, in time of one core; with the camera, which works ten times a second
    for the system that opens nozzles over leaves only.
    """
    sim = Simulation.load("vineyard", overrides={"systems.selective.enabled": camera})
    sim.run(SPRAYING)
    ticks = round(PIECE / sim.scenario.step)
    return median(PIECE / processor_seconds(sim.step, ticks) for _ in range(effort.repeats))
