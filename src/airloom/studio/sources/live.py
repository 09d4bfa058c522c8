"""A simulation that runs, seen through its control link and the window beside it."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from airloom.runs.folder import RunFolder
from airloom.runs.link.client import LinkClient
from airloom.runs.link.window import WindowView
from airloom.runs.mcap import LogError, LogReader
from airloom.scenario.models import Scenario
from airloom.studio.sources.source import Snapshot, Status


class LiveSource:
    """May be asked by several threads; requests go one by one."""

    recorded = False

    def __init__(self, folder: RunFolder) -> None:
        self._folder, self._link = folder, LinkClient(folder)
        self._lock = threading.Lock()
        self._watch()
        self.title = self.scenario.name

    def _watch(self) -> None:
        reply = self.ask("watch")
        self.scenario = Scenario.model_validate(reply["scenario"])
        self.names = list(self.scenario.vehicles)
        self.edition = reply["edition"]
        self._view = WindowView(reply["window"], tuple(reply["shape"]))

    def refresh(self) -> bool:
        """Look through the new window if the scenario was changed; tells whether it was."""
        if self.status().edition == self.edition:
            return False
        self._watch()
        return True

    def status(self) -> Status:
        numbers, _ = self._view.look()
        return Status(
            time=numbers["time"],
            end=numbers["end"],
            speed=numbers["speed"] or None,
            real_time_factor=numbers["real_time_factor"],
            paused=bool(numbers["paused"]),
            finished=bool(numbers["finished"]),
            edition=int(numbers["edition"]),
            events=int(numbers["events"]),
        )

    def snapshot(self) -> Snapshot:
        numbers, vehicles = self._view.look()
        return Snapshot(numbers["time"], vehicles)

    def ask(self, method: str, **fields: Any) -> dict[str, Any]:
        with self._lock:
            return self._link.ask(method, **fields)

    def history(self, topic: str, field: str, since: float) -> tuple[np.ndarray, np.ndarray]:
        """From the log, as far as it is written."""
        try:
            with LogReader(self._folder.log, since) as log:
                times, values = log.series(topic, field)
        except LogError:
            return np.empty(0), np.empty(0)
        return times[times > since], values[times > since]

    def close(self) -> None:
        self._link.close()
