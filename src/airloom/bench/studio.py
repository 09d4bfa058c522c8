"""What the studio costs: its own processor time, what it takes from the simulation, how soon a click is seen."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from math import acos, degrees
from pathlib import Path
from statistics import median

import msgspec
import numpy as np
import viser
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from airloom.keeper import Kept
from airloom.runs.folder import RunFolder
from airloom.studio.sources.live import LiveSource
from airloom.studio.sources.source import ATTITUDE, POSITION

WARM_UP = 3.0  # s
CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": [1, 0, 0, 0], "position": [-5, -5, 3], "fov": 0.8, "near": 0.01,
    "far": 1000.0, "image_height": 700, "image_width": 900, "look_at": [0, 0, 0], "up_direction": [0, 0, 1],
}  # fmt: skip
"""With its first camera a browser counts as connected."""


class Watched:
    """A run of the scenario `fleet` with its studio."""

    def __init__(self, folder: str, *options: str) -> None:
        self.folder = RunFolder(Path(folder) / "run")
        command = [sys.executable, "-m", "airloom", "run", "fleet", "--out", str(self.folder.path), "--no-log"]
        self.process = Kept(
            [*command, "--port", "0", *options],
            patience=20.0, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.url = next(match[0] for line in self.process.stdout if (match := re.search(r"http://\S+", line)))

    @property
    def studio(self) -> int:
        """The number of the studio's process."""
        return _first_child(_first_child(self.process.program))  # its keeper is between

    def end(self) -> None:
        self.process.end()
        assert self.process.stdout is not None
        self.process.stdout.close()


def _first_child(process: int) -> int:
    return int(Path(f"/proc/{process}/task/{process}/children").read_text().split()[0])


@contextmanager
def watched(*options: str, browsers: int = 0) -> Iterator[Watched]:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as visits:
        run = Watched(folder, *options)
        try:
            for _ in range(browsers):
                visits.enter_context(browser(run.url))
            time.sleep(WARM_UP)
            yield run
        finally:
            run.end()


@contextmanager
def browser(url: str) -> Iterator[None]:
    """Takes all that a browser is sent, and draws none of it."""
    protocol = Subprotocol(f"viser-v{viser.__version__}")
    address, origin = url.replace("http", "ws", 1), Origin(url.rstrip("/"))
    with connect(address, subprotocols=[protocol], origin=origin, max_size=None) as line:
        line.send(msgspec.msgpack.encode(CAMERA))
        threading.Thread(target=_read, args=[line], daemon=True).start()
        yield


def _read(line) -> None:
    with suppress(ConnectionClosed):
        for _ in line:
            pass


def processor_share(vehicles: int, seconds: float) -> float:
    """Percent of a core that the studio's process takes with one browser, at real time."""
    count = f"vehicles.drone.copies.count={vehicles}"
    with watched("--set", count, "--set", "engine=batch", "--until", "600", browsers=1) as run:
        return 100.0 * _busy(run.studio, seconds)


def _busy(process: int, seconds: float) -> float:
    before, began = processor_seconds(process), time.perf_counter()
    time.sleep(seconds)
    return (processor_seconds(process) - before) / (time.perf_counter() - began)


def processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Price:
    """Of a simulated second, in seconds."""

    wall: float
    processor: float
    """Of all threads of the simulation's process: unlike wall time, nobody else on the machine is in it."""


def slowdown(browsers: int, seconds: float, rounds: int) -> Price:
    """How many times more a second of a simulation without a speed limit costs while browsers look on: the median of
    several rounds, in which they come and go.
    """
    with watched("--speed", "max", "--until", "1000000", "--set", "engine=batch") as run:
        source = LiveSource(run.folder)
        ratios = []
        for _ in range(rounds):
            alone = _price(run, source, seconds)
            with ExitStack() as visits:
                for _ in range(browsers):
                    visits.enter_context(browser(run.url))
                time.sleep(1.0)
                seen = _price(run, source, seconds)
            ratios.append((seen.wall / alone.wall, seen.processor / alone.processor))
            time.sleep(1.0)
        return Price(*(median(ratio) for ratio in zip(*ratios, strict=True)))


def _price(run: Watched, source: LiveSource, seconds: float) -> Price:
    def look() -> np.ndarray:
        return np.array([time.perf_counter(), processor_seconds(run.process.program), source.ask("info")["time"]])

    before = look()
    time.sleep(seconds)
    wall, processor, simulated = look() - before
    return Price(wall / simulated, processor / simulated)


def click_to_motion() -> float:
    """Milliseconds from the request that a click makes until the vehicle leans by two degrees or moves by a centimetre,
    at real time, seen in the window from which the studio draws.
    """
    options = ["vehicles.drone=multirotor", "vehicles.drone.copies.count=10", "systems.wave.enabled=false"]
    with watched("--until", "600", *(part for option in options for part in ("--set", option)), browsers=1) as run:
        source = LiveSource(run.folder)
        source.ask("takeoff", vehicle="drone_0", height=2)
        while np.linalg.norm(source.snapshot().vehicles[0, POSITION][2] - 2.0) > 0.1:
            time.sleep(0.05)
        time.sleep(2.0)
        return 1e3 * _seconds_until_it_moves(source)


def _seconds_until_it_moves(source: LiveSource) -> float:
    start = source.snapshot().vehicles[0].copy()
    target = (start[POSITION] + np.array([4.0, 0.0, 0.0])).tolist()
    began = time.perf_counter()
    source.ask("fly_to", vehicle="drone_0", position=target)
    while True:
        state = source.snapshot().vehicles[0]
        lean = degrees(2 * acos(min(abs(float(state[ATTITUDE] @ start[ATTITUDE])), 1.0)))
        if lean > 2.0 or np.linalg.norm(state[POSITION] - start[POSITION]) > 0.01:
            return time.perf_counter() - began
        time.sleep(0.001)
