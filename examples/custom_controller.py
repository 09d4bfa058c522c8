"""Fly controllers of one's own: plain Python and compiled, side by side. They differ by rounding only."""

import time
from pathlib import Path

import numpy as np

import airloom as al

HERE = Path(__file__).parent


def fly(controller: str) -> tuple[np.ndarray, float]:
    """Final position and seconds of computation for 10 s of flight."""
    overrides = {"vehicles.follower.controller": {"kind": f"{HERE / controller}"}, "systems": {}}
    sim = al.Simulation.load(HERE / "my_scenario.yaml", overrides=overrides)
    drone = sim.vehicles["follower"]
    drone.command(al.PositionYaw((0.0, 0.5, 1.0), yaw=0.3))
    sim.step()  # compiles, or loads what was compiled before
    began = time.perf_counter()
    sim.run(until=10.0)
    return drone.position, time.perf_counter() - began


def main() -> float:
    plain, plain_seconds = fly("my_controller.py:HoverPD")
    compiled, compiled_seconds = fly("my_compiled_controller.py:CompiledHoverPD")
    difference = float(np.linalg.norm(plain - compiled))
    print(f"plain Python {plain.round(3)} m in {plain_seconds:.2f} s, compiled in {compiled_seconds:.3f} s")
    print(f"they end {difference:.1e} m apart")
    return difference


if __name__ == "__main__":
    main()
