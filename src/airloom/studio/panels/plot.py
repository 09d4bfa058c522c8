"""A plot of one or more lines, for each run that is shown."""

from __future__ import annotations

import html
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import viser

from airloom.studio.panels.axis import Axis, without_rounding
from airloom.studio.panels.legend import css
from airloom.studio.panels.lines import Curve, Line, grid, title_of
from airloom.studio.panels.panel import StudioState
from airloom.studio.panels.styles import note
from airloom.studio.scene.fleet_view import ACCENTS
from airloom.studio.sources.source import Status

HEIGHT = 170  # pixels
COLOURS = ("#1c6fc4", "#e8590c", "#2b8a3e", "#7048e8", "#c2255c", "#0b7285")
DASHES = ((), (6, 4), (2, 3), (9, 3, 2, 3))
NOW = "#868e96"


class Plot:
    def __init__(self, studio: StudioState, place: viser.GuiFolderHandle, on_remove: Callable[[Plot], None]) -> None:
        self._studio = studio
        self.lines: list[Line] = []
        self.traces: list[Curve] = []
        self._chart: Any = None
        self._axis = Axis()
        self._drawn: tuple = ()
        with place:
            self._box = studio.server.gui.add_folder(None)
        with self._box:
            self._waiting = studio.server.gui.add_html("", order=0)
            button = studio.server.gui.add_button_group("This plot", ("Remove",), order=1)
        button.on_click(lambda _: on_remove(self))

    @property
    def unit(self) -> str:
        return self.lines[0].unit

    def add(self, line: Line) -> None:
        if line in self.lines:
            return
        self.lines.append(line)
        self.traces += [Curve(source, line) for source in self._studio.sources]
        self._take_chart_away()

    def remove(self) -> None:
        self._box.remove()

    def draw(self, status: Status, window: float) -> None:
        """The last seconds of a run that flies; the whole of a recorded one, with a mark at the present time."""
        recorded = self._studio.source.recorded
        start, end = (0.0, status.end) if recorded else (max(status.time - window, 0.0), status.time)
        state = (start, end, status.time, *(len(trace.times) for trace in self.traces))
        if state == self._drawn:
            return
        self._drawn = state
        times = self._times(start, end, status.time)
        columns, low, high = without_rounding([trace.at(times) for trace in self.traces], self.unit)
        if np.isnan(low):  # a chart without a number would never find its scales
            self._take_chart_away()
            return
        if not self._axis.suits(low, high):
            self._axis = Axis.of(low, high)
            self._remove_chart()
        data = (times, *map(self._axis.draw, columns), *([_mark(times, status.time)] if recorded else []))
        if self._chart is None:
            self._make_chart(data)
        else:
            self._chart.data = data

    def _times(self, start: float, end: float, now: float) -> np.ndarray:
        times = grid(start, max(end, start + 0.1))
        return np.sort(np.append(times, [now, now])) if self._studio.source.recorded else times

    def _take_chart_away(self) -> None:
        """Until the next drawing: a chart's series and data must not differ in number for a moment."""
        self._remove_chart()
        self._waiting.content = note(f"{html.escape(title_of(self.lines))}: no number has come yet.")
        self._waiting.visible = True

    def _remove_chart(self) -> None:
        if self._chart is not None:
            self._chart.remove()
            self._chart, self._drawn = None, ()

    def _make_chart(self, data: tuple[np.ndarray, ...]) -> None:
        self._waiting.visible = False
        series = [{"label": "t"}, *self._series()]
        scales: dict[str, Any] = {"x": {"time": False}, "y": {}}
        if self._studio.source.recorded:
            series.append({"label": "now", "stroke": NOW, "scale": "mark", "width": 1.5, "points": {"show": False}})
            scales["mark"] = {"range": (0.0, 1.0)}
        with self._box:
            self._chart = self._studio.server.gui.add_uplot(
                data=data,
                series=tuple(series),  # type: ignore[arg-type]
                title=title_of(self.lines),
                scales=scales,
                axes=(_axis("time, s", 32), _axis(self._axis.label(self.unit), 48)),  # type: ignore[arg-type]
                legend={"live": False},
                height=HEIGHT,
                padding=(8, 12, 0, 0),
                order=0,
            )

    def _series(self) -> list[dict[str, Any]]:
        """One run: a colour for each line. Several: each in its own colour, and lines differ in their dashes."""
        sources = self._studio.sources
        if len(sources) == 1:
            return [_series(str(line), COLOURS[k % len(COLOURS)]) for k, line in enumerate(self.lines)]
        return [
            _series(f"{source.title} {line}", css(ACCENTS[s % len(ACCENTS)]), DASHES[k % len(DASHES)])
            for (k, line), (s, source) in product(enumerate(self.lines), enumerate(sources))
        ]


def _series(label: str, colour: str, dash: tuple[int, ...] = ()) -> dict[str, Any]:
    return {"label": label, "stroke": colour, "width": 1.5, "dash": dash, "points": {"show": False}}


def _axis(label: str, size: int) -> dict[str, Any]:
    return {"label": label, "size": size, "labelSize": 18, "labelFont": "12px sans-serif", "font": "11px sans-serif"}


def _mark(times: np.ndarray, now: float) -> np.ndarray:
    """A line from the bottom to the top, at the two points that are there at the present time."""
    mark = np.full(len(times), np.nan)
    first = int(np.searchsorted(times, now))
    mark[first : first + 2] = 0.0, 1.0
    return mark
