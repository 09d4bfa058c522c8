"""What drops cost."""

from __future__ import annotations

from statistics import median

from airloom.bench.bench import Effort, processor_seconds
from airloom.commands import PositionYaw
from airloom.simulation import Simulation

DROPS = 100_000  # in flight


def times_real_time(effort: Effort) -> float:
    """Of a hexarotor that sprays so much that 100 000 drops are in the air, in time of one core; all else included."""
    nozzles = {name: {"position": [0, y, -0.1]} for name, y in (("left", 0.5), ("right", -0.5))}
    overrides = {
        "engine": "batch", "world": {"wind": [1.0, 2.0, 0.0]},
        "vehicles": {"drone": {"extends": "hexarotor", "pose": {"position": [0, 0, 3]}, "nozzles": nozzles}},
        "systems": {"spray": {"kind": "spray", "flow": 2.0, "drops_per_litre": 1.2e6, "extent": [-99, -99, 99, 99]}},
    }  # fmt: skip
    sim = Simulation.load("hover", overrides=overrides)
    vehicle, spray = sim.vehicles["drone"], sim.systems["spray"]
    vehicle.command(PositionYaw((0.0, 0.0, 3.0)))
    while spray.count < DROPS and sim.time < 20.0:  # type: ignore[attr-defined]
        sim.run(sim.time + 0.1)
    ticks, rates = round(0.5 / sim.scenario.step), []
    for _ in range(effort.repeats):
        drops = spray.count  # type: ignore[attr-defined]
        rates.append(0.5 / processor_seconds(sim.step, ticks) * drops / DROPS)
    return median(rates)
