"""Delivery, delay and strength of radio links against the distance between their ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from airloom.radio.links import Links
from airloom.runs.figures.style import FLOWN, WANTED, new_figure, put_title, say_instead
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogReader

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_BINS = 40
BEYOND = 1.4  # times the farthest that was heard: farther, nothing else is to be seen
MOST_POINTS = 4000
Z = 1.96  # of a confidence of 95 %


class Samples:
    """Pairs of nodes in all intervals, flat."""

    def __init__(self, links: Sequence[Links]) -> None:
        found = [_pairs(one) for one in links]
        self.distance, self.meant, self.delivered, self.delay, self.strength = (
            np.concatenate(column) for column in zip(*found, strict=True)
        )

    def edges(self) -> np.ndarray:
        """Of bins with round widths."""
        heard = self.distance[self.delivered > 0]
        farthest = BEYOND * heard.max() if len(heard) else self.distance.max(initial=1.0)
        farthest = max(min(farthest, self.distance.max(initial=1.0)), 1.0)
        width = _round_up(farthest / MOST_BINS)
        return width * np.arange(int(np.ceil(farthest / width)) + 1)

    def sums(self, edges: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return np.histogram(self.distance, edges, weights=weights)[0]


def distance_figure(log: LogReader, run: RunFolder, links: Sequence[Links], band: str) -> Figure:
    samples = Samples(links)
    edges = samples.edges()
    figure = new_figure(height=11.0)
    what = f"{band or 'radio'}, {len(links[-1].names)} nodes, {samples.delivered.sum():,} packets heard"
    put_title(figure, log, run, what)
    delivery, counts, delay, strength = figure.subplots(4, 1, sharex=True, height_ratios=[3, 1.2, 2.4, 2.4])
    _draw_delivery(delivery, samples, edges)
    _draw_counts(counts, samples, edges)
    _draw_delay(delay, samples, edges)
    _draw_strength(strength, samples)
    strength.set_xlabel("distance [m]")
    strength.set_xlim(0.0, edges[-1])
    return figure


def wilson(good: np.ndarray, of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where a share lies with a confidence of 95 %: Wilson, *J. Am. Stat. Assoc.* 22, 1927."""
    share, spread = good / of, Z * Z / of
    middle = (share + spread / 2) / (1 + spread)
    half = Z * np.sqrt(share * (1 - share) / of + spread / (4 * of)) / (1 + spread)
    return middle - half, middle + half


def _draw_delivery(axis: Axes, samples: Samples, edges: np.ndarray) -> None:
    meant = samples.sums(edges, samples.meant)
    good = np.minimum(samples.sums(edges, samples.delivered), meant)
    seen, middles = meant > 0, 0.5 * (edges[1:] + edges[:-1])
    low, high = wilson(good[seen], meant[seen])
    axis.fill_between(middles[seen], low, high, color=FLOWN, alpha=0.25, linewidth=0, label="95 % confidence")
    axis.plot(middles[seen], good[seen] / meant[seen], "o-", color=FLOWN, markersize=5, label="delivered of all meant")
    axis.set(title="Delivery", ylabel="share", ylim=(-0.03, 1.03))
    axis.legend(loc="best")


def _draw_counts(axis: Axes, samples: Samples, edges: np.ndarray) -> None:
    for weights, colour, label in (
        (samples.meant, "#c9d6e6", "meant"), (samples.delivered, FLOWN, "delivered"),
    ):  # fmt: skip
        axis.stairs(samples.sums(edges, weights), edges, fill=True, color=colour, label=label)
    axis.set(title="Packets", ylim=(0.0, 1.45 * axis.get_ylim()[1]))
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axis.legend(loc="upper right", ncols=2)


def _draw_delay(axis: Axes, samples: Samples, edges: np.ndarray) -> None:
    heard = samples.delivered > 0
    axis.set(title="Delay, from asking to the end of the reception", ylabel="ms")
    if not heard.any():
        say_instead(axis, "nothing was heard")
        return
    places = np.digitize(samples.distance, edges) - 1
    middles, means, low, high = [], [], [], []
    for k in range(len(edges) - 1):
        here = heard & (places == k)
        if here.any():
            delays = 1e3 * samples.delay[here]
            middles.append(0.5 * (edges[k] + edges[k + 1]))
            means.append(np.average(delays, weights=samples.delivered[here]))
            low.append(np.percentile(delays, 10))
            high.append(np.percentile(delays, 90))
    axis.fill_between(
        middles, low, high, color=WANTED, alpha=0.2, linewidth=0, label="80 % of the links, each half second"
    )
    axis.plot(middles, means, "o-", color=WANTED, markersize=5, label="mean")
    axis.set_ylim(0.0, 1.25 * max(high))
    axis.legend(loc="best", ncols=2)


def _draw_strength(axis: Axes, samples: Samples) -> None:
    heard = np.flatnonzero(samples.delivered > 0)
    axis.set(title="Signal strength of what was heard", ylabel="dBm")
    if not len(heard):
        say_instead(axis, "nothing was heard")
        return
    some = heard[:: -(-len(heard) // MOST_POINTS)]
    axis.plot(samples.distance[some], samples.strength[some], ".", color=FLOWN, markersize=3, alpha=0.35)


def _pairs(links: Links) -> tuple[np.ndarray, ...]:
    """Distance, meant, delivered, delay and strength of all pairs for which anything was meant."""
    nodes = len(links.names)
    meant = np.repeat(links.broadcasts[:, None], nodes, axis=1)
    delivered = np.zeros((nodes, nodes), dtype=np.int64)
    delay, strength = np.full((2, nodes, nodes), np.nan)
    meant[links.sender, links.receiver] = links.meant
    delivered[links.sender, links.receiver] = links.delivered
    delay[links.sender, links.receiver], strength[links.sender, links.receiver] = links.delay, links.strength
    distance = np.linalg.norm(links.positions[:, None] - links.positions, axis=2)
    there = (meant > 0) & np.isfinite(distance) & ~np.eye(nodes, dtype=bool)
    return distance[there], meant[there], delivered[there], delay[there], strength[there]


def _round_up(width: float) -> float:
    """To 1, 2 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(width))
    return float(next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= 0.999 * width))
