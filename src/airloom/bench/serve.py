"""How long a turn of a controller outside takes: command, one tick, observation, from process to process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from airloom.bench.echo import echo
from airloom.keeper import Kept
from airloom.runs.link.link import LONGEST_LINE

TURN = b'{"method":"step","observe":"cf","command":{"vehicle":"cf","kind":"position_yaw","position":[0,0,1]}}\n'
SLICE = 200  # turns before the other has its go: both meet the same noise of the machine


@dataclass(frozen=True)
class RoundTrips:
    """Microseconds."""

    median: float
    most: float
    """99 of 100 take less."""
    echo: float
    """The median of the same bytes over the same kind of socket, with nothing behind it."""


def measured_round_trips(seconds: float) -> RoundTrips:
    with _served() as line:
        size = len(_turn(line)[1])
        with echo(size) as bare:
            _turn(bare)
            taken, echoed = [], []
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline:
                taken += [_turn(line)[0] for _ in range(SLICE)]
                echoed += [_turn(bare)[0] for _ in range(SLICE)]
    return RoundTrips(_quantile(taken, 0.5), _quantile(taken, 0.99), _quantile(echoed, 0.5))


def _turn(line: socket.socket) -> tuple[int, bytes]:
    """Nanoseconds, and the reply."""
    began = time.perf_counter_ns()
    line.send(TURN)
    reply = line.recv(LONGEST_LINE)
    return time.perf_counter_ns() - began, reply


def _quantile(nanoseconds: list[int], share: float) -> float:
    return sorted(nanoseconds)[int(share * len(nanoseconds))] * 1e-3


@contextmanager
def _served() -> Iterator[socket.socket]:
    """A conversation with `airloom serve hover`."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "s"
        command = [sys.executable, "-m", "airloom", "serve", "hover", "--set", "systems={}", "--socket", str(place)]
        server = Kept(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert server.stdout is not None
        try:
            next(told for told in server.stdout if told.startswith("Serving"))
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(os.fspath(place))
                for _ in range(SLICE):
                    _turn(line)
                yield line
        finally:
            server.end()
            server.stdout.close()
