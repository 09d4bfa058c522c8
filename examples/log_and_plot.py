"""Record a run, read its log, and draw it: what `airloom run` and `airloom plot` do, in Python."""

from pathlib import Path

import numpy as np

import airloom as al
from airloom.runs import LogReader, RecordedRun, RunFolder, plot


def main() -> list[Path]:
    sim = al.Simulation.load("hover", overrides={"duration": 15.0, "log.rate": 100.0})
    run = RecordedRun(sim, RunFolder.create("hover"))
    run.fly()
    with LogReader(run.folder.log) as log:
        times, height = log.series("/cf/state", "pose.pose.position.z")
        _, wanted = log.series("/cf/setpoint", "position.z")
    climbing = times >= 5.0
    reached = times[climbing][np.argmax(height[climbing] > 0.9 * wanted[-1])] - 5.0
    print(f"{len(times)} states logged; 90 % of the height after {reached:.2f} s, overshoot {height.max() - 1:.3f} m")
    figures = plot(run.folder)
    print("drawn:", ", ".join(str(figure) for figure in figures))
    return figures


if __name__ == "__main__":
    main()
