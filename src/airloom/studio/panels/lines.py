"""Numbers over time, as plots show them: what they are called, their units, and their values in each run."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from threading import Thread

import numpy as np

from airloom.runs.link.client import Refused
from airloom.studio.sources.source import Source

KEPT = 60.0  # s of a run that flies
MOST_POINTS = 600
SMALLEST = 12  # digits after the point
LOGGED_AFTER = 1.0  # s after which the log has all that came before: it is saved twice a second

_REPEATED = re.compile(r"^(pose\.pose|twist\.twist|pose|twist)\.")
_UNITS = {
    r"(^|\.)position\.[xyz]": "m",
    r"altitude|range|min_range|max_range": "m",
    r"linear\.[xyz]|velocity\.[xyz]": "m/s",
    r"angular\.[xyz]|angular_velocity\.[xyz]|yaw_rate|velocity\[\d+\]": "rad/s",
    r"acceleration\.[xyz]|linear_acceleration\.[xyz]": "m/s²",
    r"roll|pitch|yaw|field_of_view": "rad",
    r"latitude|longitude": "°",
    r"fluid_pressure": "Pa",
    r"temperature": "K",
    r"magnetic_field\.[xyz]": "T",
}
"""By what a field's short name is."""


@dataclass(frozen=True)
class Line:
    """A number in the messages of a topic."""

    topic: str
    field: str

    @property
    def short_field(self) -> str:
        """`position.z` for `pose.pose.position.z`."""
        return _REPEATED.sub("", self.field)

    def __str__(self) -> str:
        return f"{self.topic} {self.short_field}"

    @property
    def unit(self) -> str:
        """What its axis is labelled with; lines with the same may share one."""
        for pattern, unit in _UNITS.items():
            if re.fullmatch(pattern, self.short_field):
                return unit
        return self.short_field.rpartition(".")[2]


def title_of(lines: list[Line]) -> str:
    """What several lines have in common is said once."""
    topics, fields = dict.fromkeys(line.topic for line in lines), dict.fromkeys(line.short_field for line in lines)
    if len(topics) == 1 or len(fields) == 1:
        return f"{', '.join(topics)} {', '.join(fields)}"
    return ", ".join(map(str, lines))


class Past(Thread):
    """What a run that flies knew of a line before it was asked for it, once `series` is there."""

    def __init__(self, source: Source, line: Line, now: float) -> None:
        super().__init__(name="history", daemon=True)
        self.series: tuple[np.ndarray, np.ndarray] | None = None
        self._source, self._line, self._now = source, line, now
        self.start()

    def run(self) -> None:
        time.sleep(LOGGED_AFTER)
        self.series = self._source.history(self._line.topic, self._line.field, self._now - KEPT)


class Curve:
    """A line in one run: all of it if it was recorded, else the last minute."""

    def __init__(self, source: Source, line: Line) -> None:
        self._source, self._line = source, line
        self._complete = False
        self._past: Past | None = None
        self._began: float | None = None
        """When the run was first asked."""
        self._clear()

    def _clear(self) -> None:
        self.times, self.values = np.empty(0), np.empty(0)

    def poll(self, now: float) -> None:
        """Get what is new, as far as the run knows the line at all."""
        if self._complete:
            return
        self._complete = self._source.recorded
        if self._began is None:
            self._began = now
            self._past = Past(self._source, self._line, now)
        if now < (self.times[-1] if len(self.times) else self._began):
            self._past = None
            self._clear()  # the run began anew
        self._ask()
        if self._past and self._past.series:
            self._prepend(*self._past.series)
            self._past = None

    def _ask(self) -> None:
        since = self.times[-1] if len(self.times) else -1.0
        try:
            reply = self._source.ask("series", topic=self._line.topic, field=self._line.field, since=float(since))
        except Refused:
            return
        if len(reply["times"]):
            self._append(np.asarray(reply["times"]), np.asarray(reply["values"], dtype=float))

    def _prepend(self, times: np.ndarray, values: np.ndarray) -> None:
        before = times < (self.times[0] if len(self.times) else np.inf)
        self.times, self.values = np.append(times[before], self.times), np.append(values[before], self.values)

    def _append(self, times: np.ndarray, values: np.ndarray) -> None:
        times, values = np.append(self.times, times), np.append(self.values, values)
        oldest = -np.inf if self._source.recorded else times[-1] - KEPT
        first = int(np.searchsorted(times, oldest))
        self.times, self.values = times[first:], values[first:]

    def at(self, times: np.ndarray) -> np.ndarray:
        """NaN where nothing is known. What is too small to mean anything is 0, or an axis would be made for it."""
        if not len(self.times):
            return np.full(len(times), np.nan)
        return np.interp(times, self.times, self.values, left=np.nan, right=np.nan).round(SMALLEST)


def grid(start: float, end: float) -> np.ndarray:
    """Times for a plot. They stay where they are while its window moves on, so that curves do not shimmer."""
    step = max((end - start) / (MOST_POINTS - 2), 1e-6)
    return np.arange(np.ceil(start / step), np.floor(end / step) + 1) * step
