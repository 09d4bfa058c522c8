"""How a swarm holds together over time and does what it is for, from the file that the run leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.basics.given import MEGABYTE, json_of
from airloom.runs.figures.style import AHEAD, FLOWN, WANTED, new_figure, put_title
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogError, LogReader
from airloom.swarm.watch import FILE

LARGEST_FILE = 64 * MEGABYTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def swarm_figures(log: LogReader, run: RunFolder) -> dict[str, Figure]:
    """A figure for each swarm, by the name of its file; none if the run had no radio."""
    if not (run.path / FILE).exists():
        return {}
    swarms = json_of(run.path / FILE, LogError, LARGEST_FILE)
    flown = {name: seen for name, seen in swarms.items() if max(seen["series"]["members"], default=0) >= 2}
    return {
        "swarm" if name == "swarm" else f"swarm-{name}": _figure(log, run, name, seen) for name, seen in flown.items()
    }


def _figure(log: LogReader, run: RunFolder, name: str, seen: dict[str, Any]) -> Figure:
    series = {key: np.array(values, float) for key, values in seen["series"].items()}
    summary, times = seen["summary"], series["time"]
    figure = new_figure(height=11.0)
    put_title(figure, log, run, f"{name}, {summary['vehicles']} vehicles")
    panels: Any = figure
    if "map" in seen:
        grid = figure.add_gridspec(1, 2)
        panels, chart = figure.add_subfigure(grid[0]), figure.add_subfigure(grid[1])
        _draw_map(chart.subplots(), seen, summary["law"])
    first, clusters, near, speed = panels.subplots(4, 1, sharex=True)
    _draw_purpose(first, times, series, seen)
    _draw_counts(clusters, times, series)
    near.plot(times, series["nearest"], color=FLOWN, label="nearest pair")
    near.axhline(summary["collision_radius"], color=WANTED, linestyle="--", label="collision radius")
    near.set(title=f"Distance of the nearest pair, collisions: {summary['collisions']}", ylabel="m")
    _make_room(near, ncols=2)
    speed.plot(times, np.where(series["members"] > 0, series["speed"], np.nan), color=FLOWN)
    speed.set(title="Mean speed", ylabel="m/s", xlabel="time [s]", ylim=(0, None))
    for axis in (first, clusters, near, speed):
        axis.margins(x=0.01)
    return figure


def _draw_purpose(axis: Axes, times: np.ndarray, series: dict[str, np.ndarray], seen: dict[str, Any]) -> None:
    """What the swarm is for: an area that is covered, places in a formation; else, order."""
    if "seen" in series:
        axis.plot(times, 100 * series["watched"], color=FLOWN, label="in sight now")
        axis.plot(times, 100 * series["seen"], color=AHEAD, label="seen so far")
        for one in seen.get("found", []):
            axis.vlines(one["found_at"], 0, 100, color=WANTED, linestyle=":", label=f"{one['target']} found")
            known = f"base knows, {one['hops']} hop{'s' if one['hops'] > 1 else ''}"
            axis.vlines(one["known_at"], 0, 100, color=WANTED, label=known)
        axis.set(title="Share of the area", ylabel="%", ylim=(0, 105), yticks=range(0, 101, 20))
        _make_room(axis, ncols=2)
    elif "formation_error" in series:
        axis.plot(times, series["formation_error"], color=FLOWN, label="mean")
        axis.plot(times, series["formation_worst"], color=WANTED, label="worst")
        axis.set(title="Followers' distance from their places", ylabel="m")
        _make_room(axis, ncols=2)
    else:
        axis.plot(times, series["order"], color=FLOWN)
        axis.set(title="Order within clusters: 1 if all fly alike", ylim=(-1.05, 1.05))


def _draw_map(axis: Axes, seen: dict[str, Any], law: str) -> None:
    """From above: when each place was seen first, or for those who keep watch, what is in sight at the end."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Circle

    there = seen["map"]
    opaque = np.array(there["opaque"], bool)
    (left, low), cell = there["corner"], there["cell"]
    extent = (left, left + cell * opaque.shape[1], low, low + cell * opaque.shape[0])
    axis.grid(False)
    if law == "lloyd":
        axis.imshow(there["watched"], origin="lower", extent=extent, cmap=ListedColormap([WANTED, "#dce8f5"]), vmax=1)
        for place in there["members"]:
            axis.add_patch(Circle(place, there["radius"], fill=False, edgecolor=FLOWN, alpha=0.35, clip_on=True))
        axis.set_title("At the end: in sight, and not (orange)")
    else:
        first = np.array(there["first_seen"], float)
        drawn = axis.imshow(first, origin="lower", extent=extent, cmap="viridis")
        axis.figure.colorbar(drawn, ax=axis, label="seen first [s]", shrink=0.6)
        axis.set_title("When each place was seen first")
    axis.imshow(np.where(opaque, 1.0, np.nan), origin="lower", extent=extent, cmap=ListedColormap(["#666666"]))
    axis.plot(*np.array(there["members"]).reshape(-1, 2).T, "o", color=FLOWN, markeredgecolor="white", label="members")
    for name, place in there["targets"].items():
        axis.plot(*place, "*", color=WANTED, markersize=16, markeredgecolor="white", label=name)
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=4)
    axis.set(xlabel="east [m]", ylabel="north [m]", xlim=extent[:2], ylim=extent[2:], aspect="equal")


def _draw_counts(axis: Axes, times: np.ndarray, series: dict[str, np.ndarray]) -> None:
    axis.plot(times, series["members"], color="#888888", linestyle="--", label="in the air")
    axis.plot(times, series["largest"], color=FLOWN, label="in the largest cluster")
    axis.plot(times, series["alone"], color=WANTED, label="alone")
    if series["outside"].any():
        axis.plot(times, series["outside"], color=AHEAD, label="outside the arena")
    axis.set(title="Members")
    _make_room(axis, ncols=4)


def _make_room(axis: Axes, ncols: int) -> None:
    """For the legend, above all lines."""
    axis.set_ylim(0, 1.3 * axis.get_ylim()[1])
    axis.legend(loc="upper right", ncols=ncols)
