"""Play a run's log again: onto a bus, or as a table in the terminal."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from airloom.basics.rotations import euler_from_quaternion
from airloom.bus import messages
from airloom.bus.bus import Bus
from airloom.runs.figures import pose_topics
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogError, LogReader

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

REFRESH = 0.1
"""Seconds of wall time between two looks of the table."""
_LINES_AROUND_ROWS = 4
_COLUMNS = {"t s": 7, "x m": 8, "y m": 8, "z m": 8, "roll °": 6, "pitch °": 7, "yaw °": 6, "m/s": 6}


def play(run: RunFolder | Path | str, bus: Bus, speed: float = 1.0, topics: str | Iterable[str] = "*") -> None:
    """Publish the log's messages on a bus, in order and at `speed` times real time (`inf`: as fast as possible).

    Topics of types that Airloom does not know are left out.
    """
    log = _opened(run)
    pace = _Pace(speed)
    names = topics if isinstance(topics, str) else tuple(topics)
    playing = {
        name: bus.advertise(name, info.msgtype) for name, info in log.topics.items() if messages.is_known(info.msgtype)
    }
    for topic, time_ns, message in log.messages(names):
        if topic in playing:
            pace.wait_until(time_ns * 1e-9)
            playing[topic].publish(message, time_ns)


def print_replay(run: RunFolder | Path | str, speed: float = 1.0, console: Console | None = None) -> None:
    """Show each vehicle's time, position, attitude and speed as they were; Ctrl-C ends it."""
    from rich.console import Console
    from rich.live import Live

    console = console or Console()
    now = 0.0
    try:
        log = _opened(run)
        tracks = [_Track(log, vehicle, topic) for vehicle, topic in pose_topics(log).items()]
        rows = max(1, console.height - _LINES_AROUND_ROWS) if console.is_terminal else len(tracks)
        pace = _Pace(speed)
        with Live(console=console, auto_refresh=False) as live:
            live.update(_table(log, tracks, now, rows), refresh=True)
            while now < log.duration:
                now = min(now + REFRESH * speed, log.duration)
                pace.wait_until(now)
                live.update(_table(log, tracks, now, rows), refresh=True)
    except KeyboardInterrupt:
        console.print(f"Stopped at {now:.2f} s.")
    if not console.is_terminal:
        console.print()


def _opened(run: RunFolder | Path | str) -> LogReader:
    return LogReader((run if isinstance(run, RunFolder) else RunFolder.open(run)).log)


class _Pace:
    """Simulation time that passes `speed` times as fast as wall time."""

    def __init__(self, speed: float) -> None:
        if not speed > 0:
            raise LogError(f"a replay needs a speed above 0, not {speed:g}")
        self._speed = speed
        self._started = time.monotonic()

    def wait_until(self, moment: float) -> None:
        if math.isfinite(self._speed):
            remaining = self._started + moment / self._speed - time.monotonic()
            if remaining > 0:
                time.sleep(remaining)


class _Track:
    """What the table tells about one vehicle, over time."""

    def __init__(self, log: LogReader, vehicle: str, topic: str) -> None:
        self.vehicle = vehicle
        self.times, self.positions = log.series(topic, "pose.pose.position")
        _, attitudes = log.series(topic, "pose.pose.orientation")
        self.angles = np.degrees(euler_from_quaternion(attitudes[:, [3, 0, 1, 2]]))
        self.speeds = np.linalg.norm(log.series(topic, "twist.twist.linear")[1], axis=1)

    def cells(self, now: float) -> list[str]:
        at = int(np.searchsorted(self.times, now + 1e-9, side="right")) - 1
        if at < 0:
            return [self.vehicle, *["–"] * 8]
        position = [_number(value, 3) for value in self.positions[at]]
        angles = [_number(value, 1) for value in self.angles[at]]
        return [self.vehicle, _number(self.times[at], 2), *position, *angles, _number(self.speeds[at], 2)]


def _number(value: float, digits: int) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}"


def _table(log: LogReader, tracks: list[_Track], now: float, rows: int) -> Table:
    from rich import box
    from rich.table import Table

    hidden = len(tracks) - rows
    notes = [f"and {hidden} more vehicles"] if hidden > 0 else []
    notes += [] if log.complete else ["the log is cut off"]
    name = log.metadata.get("scenario") or log.path.name
    title = f"{name}, {now:.2f} of {log.duration:.2f} s"
    table = Table(title=title, caption="; ".join(notes) or None, box=box.HORIZONTALS, padding=0, show_edge=False)
    table.add_column("vehicle", no_wrap=True, overflow="ellipsis", max_width=16)
    for heading, width in _COLUMNS.items():
        table.add_column(heading, justify="right", no_wrap=True, min_width=width)
    for track in tracks[:rows]:
        table.add_row(*track.cells(now))
    return table
