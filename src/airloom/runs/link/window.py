"""A window on a running simulation: a file in memory that holds the newest state of all vehicles.

The simulation writes it at most 60 times a second and never waits for those who look. There are two panes. A number in
the header says how many have been written, and so which one is the newest; a reader during whose copying
another was finished copies again, since the next after that goes over the one just copied.
"""

from __future__ import annotations

import mmap
import os
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from airloom.compiled import rows as row
from airloom.compiled.rows import LANES

if TYPE_CHECKING:
    from airloom.engines.fleet import Fleet

PERIOD = 1 / 60  # s of wall time
STATUS = ("time", "end", "speed", "real_time_factor", "paused", "finished", "edition", "events")
STATE_ROWS = [
    first + k * LANES
    for first, count in ((row.PX, 3), (row.QW, 4), (row.VX, 3), (row.WX, 3), (row.SPX, 3), (row.SYAW, 1), (row.MODE, 1))
    for k in range(count)
]
"""The columns of a vehicle; the speeds of its rotors follow. `studio/sources/source.py` names them."""


class Window:
    """The simulation's side."""

    def __init__(self, path: Path, fleet: Fleet) -> None:
        self.path, self._fleet = path, fleet
        self.shape = len(fleet.crafts), len(STATE_ROWS) + fleet.rotor_count
        self._states, self._rotors = _places(fleet)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(file, _size(self.shape))
            self._map = mmap.mmap(file, _size(self.shape))
        finally:
            os.close(file)
        self._written, self._panes = _views(self._map, self.shape)

    def write(self, status: list[float]) -> None:
        number = int(self._written[0]) + 1
        pane, (rows, columns) = self._panes[number % 2], self.shape
        pane[: len(STATUS)] = status
        vehicles = pane[len(STATUS) :].reshape(rows, columns)
        vehicles[:, : len(STATE_ROWS)] = self._fleet.flight.blocks.reshape(-1)[self._states]
        vehicles[:, len(STATE_ROWS) :] = self._fleet.flight.rotors.reshape(-1)[self._rotors]
        self._written[0] = number

    def close(self) -> None:
        self.path.unlink(missing_ok=True)


class WindowView:
    """The side of those who look."""

    def __init__(self, path: str | Path, shape: tuple[int, int]) -> None:
        self.shape = shape
        with Path(path).open("rb") as file:
            self._map = mmap.mmap(file.fileno(), _size(shape), access=mmap.ACCESS_READ)
        self._written, self._panes = _views(self._map, shape)

    def look(self) -> tuple[dict[str, float], np.ndarray]:
        """How the run stands, and the state of every vehicle."""
        while True:
            number = int(self._written[0])
            pane = self._panes[number % 2].copy()
            if self._written[0] == number:
                return dict(zip(STATUS, pane[: len(STATUS)].tolist(), strict=True)), pane[len(STATUS) :].reshape(
                    self.shape
                )


class RealTimeFactor:
    """Seconds of simulation time a second, lately."""

    span = 1.0  # s

    def __init__(self) -> None:
        self._samples: deque[tuple[float, float]] = deque()

    def at(self, sim_time: float) -> float:
        now = time.perf_counter()
        if self._samples and sim_time < self._samples[-1][1]:
            self._samples.clear()
        self._samples.append((now, sim_time))
        while len(self._samples) > 2 and now - self._samples[1][0] > self.span:
            self._samples.popleft()
        began, first = self._samples[0]
        return (sim_time - first) / (now - began) if now > began else 0.0


def _places(fleet: Fleet) -> tuple[np.ndarray, np.ndarray]:
    """Where in the flat blocks and rotor tables the numbers of each vehicle lie."""
    blocks = np.array([m.block for m in fleet.crafts])[:, None]
    lanes = np.array([m.lane for m in fleet.crafts])[:, None]
    rotors = np.arange(fleet.rotor_count) * row.ROTOR_WIDTH + row.SPEED
    return blocks * row.WIDTH + STATE_ROWS + lanes, blocks * fleet.flight.rotors.shape[1] + rotors + lanes


def _size(shape: tuple[int, int]) -> int:
    return 8 * (1 + 2 * (len(STATUS) + shape[0] * shape[1]))


def _views(buffer: mmap.mmap, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """The count of panes written, and the two panes."""
    numbers = np.frombuffer(buffer, dtype=np.float64)
    return numbers[:1], numbers[1:].reshape(2, len(STATUS) + shape[0] * shape[1])
