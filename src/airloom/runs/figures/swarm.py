"""How a swarm holds together over time, from the file that the run leaves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.runs.figures.style import AHEAD, FLOWN, WANTED, new_figure, put_title
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogReader
from airloom.swarm.watch import FILE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def swarm_figures(log: LogReader, run: RunFolder) -> dict[str, Figure]:
    """A figure for each swarm, by the name of its file; none if the run had no radio."""
    try:
        swarms = json.loads((run.path / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    flown = {name: seen for name, seen in swarms.items() if max(seen["series"]["members"], default=0) >= 2}
    return {
        "swarm" if name == "swarm" else f"swarm-{name}": _figure(log, run, name, seen) for name, seen in flown.items()
    }


def _figure(log: LogReader, run: RunFolder, name: str, seen: dict[str, Any]) -> Figure:
    series = {key: np.array(values, float) for key, values in seen["series"].items()}
    summary, times = seen["summary"], series["time"]
    figure = new_figure(height=11.0)
    put_title(figure, log, run, f"{name}, {summary['vehicles']} vehicles")
    order, clusters, near, speed = figure.subplots(4, 1, sharex=True)
    order.plot(times, series["order"], color=FLOWN)
    order.set(title="Order within clusters: 1 if all fly alike", ylim=(-1.05, 1.05))
    _draw_counts(clusters, times, series)
    near.plot(times, series["nearest"], color=FLOWN, label="nearest pair")
    near.axhline(summary["collision_radius"], color=WANTED, linestyle="--", label="collision radius")
    near.set(title=f"Distance of the nearest pair, collisions: {summary['collisions']}", ylabel="m")
    _make_room(near, ncols=2)
    speed.plot(times, np.where(series["members"] > 0, series["speed"], np.nan), color=FLOWN)
    speed.set(title="Mean speed", ylabel="m/s", xlabel="time [s]", ylim=(0, None))
    for axis in (order, clusters, near, speed):
        axis.margins(x=0.01)
    return figure


def _draw_counts(axis: Axes, times: np.ndarray, series: dict[str, np.ndarray]) -> None:
    axis.plot(times, series["members"], color="#888888", linestyle="--", label="in the air")
    axis.plot(times, series["largest"], color=FLOWN, label="in the largest cluster")
    axis.plot(times, series["alone"], color=WANTED, label="alone")
    axis.plot(times, series["outside"], color=AHEAD, label="outside the arena")
    axis.set(title="Members")
    _make_room(axis, ncols=4)


def _make_room(axis: Axes, ncols: int) -> None:
    """For the legend, above all lines."""
    axis.set_ylim(0, 1.3 * axis.get_ylim()[1])
    axis.legend(loc="upper right", ncols=ncols)
