"""Nodes on a map, with lines between those that hear each other, at a few times of the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from airloom.radio.links import Links, traffic
from airloom.runs.figures.links_time import quality_map
from airloom.runs.figures.style import logged_scenario, new_figure, put_title
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogReader

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOMENTS = 4
AROUND = 2.0  # s that a moment lasts
MOST_NAMES = 12
MOST_LINES = 1500
NODE, STATION = "#333333", "#c03d3e"


def map_figure(log: LogReader, run: RunFolder, links: Sequence[Links], band: str) -> Figure:
    from matplotlib.cm import ScalarMappable

    scenario = logged_scenario(log)
    stations = set(scenario.radio.stations) if scenario and scenario.radio else set()
    moments = _moments(links)
    figure = new_figure(height=13.0 if len(moments) > 2 else 8.0)
    put_title(figure, log, run, f"{band or 'radio'}, {len(links[-1].names)} nodes")
    axes = figure.subplots(-(-len(moments) // 2), min(len(moments), 2), squeeze=False).ravel()
    for axis, moment in zip(axes, moments, strict=True):
        _draw_moment(axis, moment, stations)
    label = "share delivered, mean of both directions; dashed: in one direction alone"
    figure.colorbar(ScalarMappable(cmap=quality_map()), ax=list(axes), label=label, shrink=0.6, aspect=40)
    return figure


def _moments(links: Sequence[Links]) -> list[Sequence[Links]]:
    """Intervals that stand for a moment, the last of them at the end."""
    together = min(max(round(AROUND / links[0].interval), 1), len(links))
    count = min(MOMENTS, len(links) // together)
    count -= count == MOMENTS - 1  # three would leave a hole in the page
    ends = np.linspace(together if count == 1 else len(links) / count, len(links), count).round().astype(int)
    return [links[end - together : end] for end in ends]


def _draw_moment(axis: Axes, links: Sequence[Links], stations: set[str]) -> None:
    from matplotlib.collections import LineCollection

    last, shares = links[-1], np.nan_to_num(traffic(links).share)
    places = last.positions[:, :2]
    first, second = np.nonzero(np.triu(np.maximum(shares, shares.T) > 0, 1))
    there, back = shares[first, second], shares[second, first]
    one_way = np.minimum(there, back) == 0.0
    quality = np.where(one_way, np.maximum(there, back), 0.5 * (there + back))
    order = np.argsort(quality, kind="stable")[-MOST_LINES:]  # the best last, above the others
    crowd, colours = min(1.0, 60.0 / max(len(order), 1)), quality_map()
    widths = (0.4 + 0.6 * quality) * (0.7 + 1.3 * crowd)
    for dashed in (True, False):
        some = order[one_way[order] == dashed]
        lines = places[np.stack([first[some], second[some]], axis=1)]
        axis.add_collection(
            LineCollection(
                list(lines), colors=colours(quality[some]), linewidths=widths[some], alpha=0.45 + 0.5 * crowd,
                linestyles="--" if dashed else "-",
            )
        )  # fmt: skip
    _draw_nodes(axis, last, stations)
    pairs = f"{len(first)} pair{'s' * (len(first) != 1)} in contact"
    title = f"{links[0].time - last.interval / 2:.4g} … {last.end_ns * 1e-9:.4g} s, {pairs}"
    axis.set(title=title, xlabel="east x [m]", ylabel="north y [m]")
    axis.set_aspect("equal", adjustable="datalim")
    axis.margins(0.08)
    axis.autoscale_view()


def _draw_nodes(axis: Axes, links: Links, stations: set[str]) -> None:
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=3, foreground="white")]
    is_station = np.array([name in stations for name in links.names])
    x, y = links.positions[:, :2].T
    axis.scatter(x[~is_station], y[~is_station], s=26, c=NODE, linewidths=0, zorder=3)
    axis.scatter(x[is_station], y[is_station], s=70, c=STATION, marker="^", linewidths=0, zorder=4)
    for k, name in enumerate(links.names):
        if is_station[k] or len(links.names) <= MOST_NAMES:
            colour = STATION if is_station[k] else NODE
            axis.annotate(
                name, (x[k], y[k]), (6, 6), textcoords="offset points", fontsize=10, color=colour, zorder=5,
                path_effects=halo,
            )  # fmt: skip
