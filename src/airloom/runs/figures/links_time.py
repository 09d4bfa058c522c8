"""Who hears whom over time: a line for each pair of a few nodes, or for each of many nodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.radio.links import Links, traffic
from airloom.radio.quality import quality_colours
from airloom.runs.figures.style import AHEAD, FLOWN, WANTED, new_figure, put_title
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogReader
from airloom.swarm.metrics import clusters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

MOST_PAIRS = 20
"""Directed, that have a line each: of five nodes."""
MOST_COLUMNS = 400
MOST_NAMES = 40
SILENCE = 3.0
"""Seconds without a word, after which nothing is known of a link; swarms forget a silent neighbour after as long."""
GOOD = 0.5
"""Share of packets from which on one hears another."""


class Shares:
    """Delivery [time, sender, receiver] in a bearable number of equal times; NaN where nothing was meant."""

    def __init__(self, links: Sequence[Links]) -> None:
        together = -(-len(links) // MOST_COLUMNS)
        parts = [links[k : k + together] for k in range(0, len(links), together)]
        self.names = links[-1].names
        self.edges = np.array([part[0].time - part[0].interval / 2 for part in parts] + [links[-1].end_ns * 1e-9])
        self.of = np.full((len(parts), len(self.names), len(self.names)), np.nan)
        for k, part in enumerate(parts):
            share = traffic(part).share
            self.of[k, : len(share), : len(share)] = share

    @property
    def middles(self) -> np.ndarray:
        return 0.5 * (self.edges[1:] + self.edges[:-1])

    @cached_property
    def known(self) -> np.ndarray:
        """Delivery as it was when something was sent last: a pause between two words breaks no link."""
        found, since = self.of.copy(), np.zeros(self.of.shape[1:])
        for k, step in enumerate(np.diff(self.edges)[1:], 1):
            silent = np.isnan(found[k])
            since = np.where(silent, since + step, 0.0)
            found[k] = np.where(silent & (since < SILENCE), found[k - 1], found[k])
        return found

    @property
    def hears(self) -> np.ndarray:
        return np.nan_to_num(self.known) >= GOOD

    @property
    def talks(self) -> np.ndarray:
        """[time, node]: who has sent something lately. Whoever is silent for good, as the fallen are, is no node."""
        return np.isfinite(self.known).any(axis=2)


def time_figure(log: LogReader, run: RunFolder, links: Sequence[Links], band: str) -> Figure:
    shares = Shares(links)
    pairs = np.argwhere(np.isfinite(shares.of).any(axis=0))
    few = len(pairs) <= MOST_PAIRS
    rows = len(pairs) if few else min(len(shares.names), MOST_NAMES)
    figure = new_figure(height=min(14.0, 6.0 + 0.3 * rows))
    put_title(figure, log, run, f"{band or 'radio'}, {len(shares.names)} nodes")
    counts, lines = figure.subplots(2, 1, sharex=True, height_ratios=[3.0, 2.0 + 0.3 * rows])
    _draw_counts(counts, shares)
    if few:
        _draw_pairs(lines, shares, pairs)
    else:
        _draw_nodes(lines, shares)
    lines.set_xlabel("time [s]")
    lines.set_xlim(shares.edges[0], shares.edges[-1])
    return figure


def quality_map() -> Colormap:
    from matplotlib.colors import ListedColormap

    return ListedColormap(quality_colours(np.linspace(0.0, 1.0, 101)) / 255.0)


def _draw_counts(axis: Axes, shares: Shares) -> None:
    hears, talks = shares.hears, shares.talks
    both = hears & hears.swapaxes(1, 2)
    sizes = [_group_sizes(one[np.ix_(there, there)]) for one, there in zip(both, talks, strict=True)]
    mean = (hears.sum(axis=1) * talks).sum(axis=1) / np.maximum(talks.sum(axis=1), 1)
    axis.plot(shares.middles, mean, color=FLOWN, label="nodes that one hears, mean")
    axis.plot(shares.middles, [one.max() for one in sizes], color=AHEAD, label="nodes in the largest connected group")
    axis.plot(shares.middles, [len(one) for one in sizes], color=WANTED, label="groups without a link to each other")
    axis.set(title=f"Links over which at least {100 * GOOD:.0f} % are delivered, among nodes that have sent lately")
    axis.set_ylim(0.0, 1.3 * axis.get_ylim()[1])
    axis.legend(loc="upper right", ncols=3)


def _group_sizes(links: np.ndarray) -> np.ndarray:
    """Of those that can reach one another; a single zero if there is nobody."""
    return np.unique(clusters(links), return_counts=True)[1] if len(links) else np.zeros(1, dtype=int)


def _draw_pairs(axis: Axes, shares: Shares, pairs: np.ndarray) -> None:
    names = shares.names
    values = np.array([shares.of[:, sender, receiver] for sender, receiver in pairs])
    axis.set(title="Delivery of each link  (grey: nothing was sent)")
    _draw_rows(axis, shares, values, [f"{names[a]} → {names[b]}" for a, b in pairs], quality_map(), (0.0, 1.0), "share")


def _draw_nodes(axis: Axes, shares: Shares) -> None:
    talks = np.isfinite(shares.of).any(axis=1)  # anybody, so that it is known what this node hears
    values = np.where(talks, shares.hears.sum(axis=1), np.nan).T
    axis.set(title="How many others each node hears  (grey: nothing was sent)")
    top = max(float(np.nanmax(values)), 1.0) if np.isfinite(values).any() else 1.0
    _draw_rows(axis, shares, values, list(shares.names), "viridis", (0.0, top), "nodes heard")


def _draw_rows(
    axis: Axes, shares: Shares, values: np.ndarray, names: list[str], colours: Any, limits: tuple[float, float], of: str
) -> None:
    """A line each, coloured over time."""
    axis.set_facecolor("#d8d8d8")
    axis.grid(visible=False)
    edges = np.arange(len(values) + 1) - 0.5
    shown = np.ma.masked_invalid(values)
    drawn = axis.pcolormesh(shares.edges, edges, shown, cmap=colours, vmin=limits[0], vmax=limits[1])
    every = -(-len(names) // MOST_NAMES)
    axis.set_yticks(np.arange(0, len(names), every), names[::every], fontsize=9 if len(names) > 25 else 10)
    axis.invert_yaxis()
    axis.hlines(edges[1:-1], *shares.edges[[0, -1]], color="white", linewidth=0.6 if len(names) <= MOST_NAMES else 0.2)
    axis.figure.colorbar(drawn, ax=axis, label=of, pad=0.01, aspect=30)
