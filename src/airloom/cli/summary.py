"""What a run says at its end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.cli.screen import new_table, out, say, warn

if TYPE_CHECKING:
    from airloom.runs.recorded import RecordedRun

MOST_VEHICLES = 5
MOST_WARNINGS = MOST_SUCCESSES = 10


def print_summary(run: RecordedRun, figures: list[Path]) -> None:
    sim = run.sim
    style = {"finished": "green", "stopped": "yellow", "failed": "red"}[run.outcome.status]
    out.print(
        f"[bold]{sim.scenario.name}[/bold] [{style}]{run.outcome.status}[/{style}]: {sim.time:.3f} s simulated in "
        f"{run.wall_time:.3g} s, [cyan]{run.real_time_factor:.3g} ×[/cyan] real time, seed {sim.seed}"
    )
    if run.pacer:
        _print_lateness(run)
    for name, report in sim.autopilots.reports().items():
        if "lateness" in report:
            _print_board(name, report)
        else:
            say(f"{name} was flown by {report['program']} {report['version']}")
    _print_vehicles(run)
    successes = [finding for finding in sim.verdict.findings if finding.good]
    for success in successes[:MOST_SUCCESSES]:
        say(str(success), "green")
    if len(successes) > MOST_SUCCESSES:
        say(f"… and {len(successes) - MOST_SUCCESSES} more that did their job", "green")
    for warning in sim.warnings[:MOST_WARNINGS]:
        warn(f"Warning: {warning}")
    if len(sim.warnings) > MOST_WARNINGS:
        warn(f"… and {len(sim.warnings) - MOST_WARNINGS} more warnings in summary.json")
    say(f"state hash  {sim.state_hash()}", "dim")
    files = [path.name for path in (run.folder.log, run.folder.scenario, run.folder.summary, *figures) if path.exists()]
    say(f"{run.folder.path}/  {'  '.join(files)}")


def _print_lateness(run: RecordedRun) -> None:
    assert run.pacer is not None
    lateness = run.pacer.lateness
    say(
        f"paced to {run.pacer.speed:g} × real time: {lateness.late} of {lateness.chunks} chunks late; "
        f"lateness mean {1e3 * lateness.mean:.2f} ms, max {1e3 * lateness.maximum:.2f} ms"
    )


def _print_board(vehicle: str, report: dict[str, Any]) -> None:
    lateness = report["lateness"]
    mean, jitter, most_99, most = (1e3 * lateness[key] for key in ("mean", "jitter", "percentile_99", "maximum"))
    say(
        f"{vehicle}'s board: {lateness['late']} of {lateness['frames']} frames late; lateness mean {mean:.2f} ms, "
        f"jitter {jitter:.2f} ms, 99 % {most_99:.2f} ms, max {most:.2f} ms; {report['outputs']} outputs heard, "
        f"{report['dropped']} frames dropped"
    )


def _print_vehicles(run: RecordedRun) -> None:
    table = new_table("vehicle", "x m", "y m", "z m", "speed m/s", numbers=range(1, 5))
    vehicles = list(run.sim.vehicles.values())
    for vehicle in vehicles[:MOST_VEHICLES]:
        speed = float(np.linalg.norm(vehicle.velocity))
        table.add_row(
            vehicle.name, *(f"{number + 0.0:.3f}" for number in (*vehicle.position.round(3), round(speed, 3)))
        )
    out.print(table)
    if len(vehicles) > MOST_VEHICLES:
        say(f"… and {len(vehicles) - MOST_VEHICLES} more", "dim")
