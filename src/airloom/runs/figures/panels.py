"""Quantities over time, each in a panel: what was flown and what was wanted. One that stands still needs none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from airloom.basics.drawing import SERIES
from airloom.runs.figures.style import FLOWN, WANTED, fit, say_instead

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STILL = 0.25
"""Of the smallest span of a panel, within which nothing has happened."""
LEAST_PANELS = 3
LEGEND_WIDTH, LINE_WIDTH = 58, 5  # of a panel and of a line in its legend, in letters
GROUND = "#b9a58a"
WANTED_DASHES = (0, (5, 2))

Series = tuple[np.ndarray, np.ndarray]


@dataclass(eq=False)
class Panel:
    """One quantity: its smallest span is the least that its axis shows, so that noise is not blown up."""

    title: str
    unit: str
    smallest_span: float
    flown: Series | None = None
    wanted: Series | None = None
    beneath: Series | None = None
    """What it must stay above, such as the ground."""
    others: dict[str, Series] = field(default_factory=dict)
    """Lines of the same quantity that have names."""

    @property
    def stands_still(self) -> bool:
        drawn = [*filter(None, (self.flown, self.wanted)), *self.others.values()]
        return all(_span(values) <= STILL * self.smallest_span for _, values in drawn)

    def draw(self, axis: Axes) -> None:
        axis.set_title(self.title)
        axis.set_ylabel(f"[{self.unit}]")
        if self.beneath is not None:
            times, heights = self.beneath
            axis.fill_between(times, heights, heights.min() - 1e3, color=GROUND, alpha=0.55, linewidth=0)
            axis.plot(times, heights, color=GROUND, linewidth=1.0)
        if self.flown is not None:
            axis.plot(*self.flown, color=FLOWN)
        if self.wanted is not None:
            axis.plot(*self.wanted, color=WANTED, linestyle=WANTED_DASHES)
        for color, (name, series) in zip(_colours(len(self.others)), self.others.items(), strict=True):
            axis.plot(*series, label=name, linewidth=1.2, color=color)
        if not axis.lines:
            say_instead(axis, "not in the log")
        fit(axis, self.smallest_span)
        if self.others:
            _name_lines(axis, self.others)


def _span(values: np.ndarray) -> float:
    finite = values[np.isfinite(values)]
    return float(np.ptp(finite)) if finite.size else 0.0


def _colours(count: int) -> list[str]:
    return [SERIES[k % len(SERIES)] for k in range(count)]


def _name_lines(axis: Axes, names: Iterable[str]) -> None:
    """In rows that fit the panel, above the lines."""
    names = list(names)
    rows = ceil(len(names) / max(LEGEND_WIDTH // (max(map(len, names)) + LINE_WIDTH), 1))
    low, high = axis.get_ylim()
    axis.set_ylim(low, high + 0.11 * max(2, rows) * (high - low))
    axis.legend(loc="upper center", ncols=ceil(len(names) / rows), columnspacing=1.2, handlelength=1.4)


def those_that_move(panels: Iterable[Panel]) -> tuple[list[Panel], list[str]]:
    """The panels worth drawing, and the titles of the others; the first ones if nothing moves."""
    panels = list(panels)
    shown = [one for one in panels if not one.stands_still] or panels[:LEAST_PANELS]
    return shown, [one.title for one in panels if one not in shown]
