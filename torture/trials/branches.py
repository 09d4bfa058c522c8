"""A run and a branch of it, and what can happen to the line between them: both must end, and say why."""

from __future__ import annotations

import os
import random
import select
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from threading import Thread

from torture.mutations import Mutations
from torture.runs import Run, started
from torture.trial import CannotRun, Tally, trial
from torture.trials.ports import GOOD, loom_port
from torture.trials.words import branch_corpus

SIMULATOR, FIELD = "10.78.0.1", "10.78.0.2"
NOTICED_WITHIN = 25.0 + 3.0
"""Seconds that a cut line may take, as promised, and what a program needs to end."""
SCENARIO = """
name: loomed
duration: 100000
vehicles:
  drone: {extends: multirotor, pose: {position: [0, 0, 0.05]}}
members:
  good: {command: [python, good.py], vehicles: drone, at: field, start_timeout: 120}
"""
FATES = ("silent", "cut", "garbage to the branch", "garbage to the run")


class Middleman:
    """Passes on what both ends of a TCP line say, until it is told something else."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.goes_to = 0
        """The port of the run, once that is known."""
        self.is_silent = False
        self._ends: list[socket.socket] = []
        Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                near = self._listener.accept()[0]
                with near, suppress(OSError), socket.create_connection(("127.0.0.1", self.goes_to)) as far:
                    self._ends = [near, far]
                    self._pass_on(near, far)

    def _pass_on(self, near: socket.socket, far: socket.socket) -> None:
        while True:
            for source in select.select([near, far], [], [], 0.05)[0]:
                while self.is_silent:
                    time.sleep(0.05)
                if not (data := source.recv(65536)):
                    return
                (far if source is near else near).sendall(data)

    def do(self, fate: str, garbage: bytes) -> None:
        with suppress(OSError):
            if fate == "silent":
                self.is_silent = True
            elif fate == "cut":
                for end in self._ends:
                    end.shutdown(socket.SHUT_RDWR)
            else:
                self._ends[fate == "garbage to the run"].sendall(garbage)

    def close(self) -> None:
        self._listener.close()
        self.is_silent = False
        self.do("cut", b"")


@trial(
    "branch, living run", "the line is cut, falls silent or carries garbage: run and branch say so within 25 s and end",
    full=200, reduced=4,
)  # fmt: skip
def hurt_lines(count: int, seed: int) -> Tally:
    """Garbage may happen to be right, and then both fly on: those are counted, too."""
    tally, chance = Tally(), random.Random(seed)
    garbage = Mutations(seed).of_bytes(branch_corpus(), count)
    harmless = 0
    for k in range(count):
        fate, data = FATES[k % len(FATES)], next(garbage)
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            between = Middleman()
            stack.callback(between.close)
            run = stack.enter_context(started(_written(folder, "here"), "run", *RUN, "--loom", "tcp:127.0.0.1:0"))
            between.goes_to = run.wait_for(partial(loom_port, run))
            address = f"tcp:127.0.0.1:{between.port}"
            branch = stack.enter_context(started(_written(folder, "there"), "branch", "field", address, "loomed.yaml"))
            run.wait_for(run.is_in_flight)
            time.sleep(chance.uniform(0.0, 1.0))
            between.do(fate, data)
            both = {"run": run, "branch": branch}
            if fate.startswith("garbage") and not _end_in_time(both):
                harmless += 1
                tally.expect(all(it.process.poll() is None for it in both.values()), f"one goes on after {data!r:.300}")
            else:
                _must_end_in_time(both, tally, f"{fate} {data!r:.300}" if fate.startswith("garbage") else fate)
    tally.note = f"{harmless} pieces of garbage did no harm"
    return tally


RUN = ("loomed.yaml", "--headless", "--out", "run", "--no-figures", "--speed", "1")


def _written(folder: str, name: str) -> Path:
    place = Path(folder) / name
    place.mkdir()
    (place / "good.py").write_text(GOOD)
    (place / "loomed.yaml").write_text(SCENARIO)
    return place


def _end_in_time(both: Mapping[str, Run]) -> bool:
    deadline = time.monotonic() + NOTICED_WITHIN
    while any(it.process.poll() is None for it in both.values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return any(it.process.poll() is not None for it in both.values())


def _must_end_in_time(both: Mapping[str, Run], tally: Tally, what: str) -> None:
    began, waiting = time.monotonic(), dict(both)
    while waiting and time.monotonic() - began < NOTICED_WITHIN:
        for which in [name for name, one in waiting.items() if one.process.poll() is not None]:
            one = waiting.pop(which)
            code = one.process.returncode
            tally.expect(code > 0 and not one.crashed, f"{which}, {what}: exit code {code}: {one.said[-800:]}")
            tally.slowest = max(tally.slowest, time.monotonic() - began)
        time.sleep(0.05)
    for which, one in waiting.items():
        tally.expect(False, f"{what}: the {which} goes on after {NOTICED_WITHIN:g} s: {one.said[-800:]}")


@trial(
    "a cut cable", "two hosts, the cable between them pulled: the run says so within 25 s and ends", full=3, reduced=1
)
def cut_cable(count: int, seed: int) -> Tally:
    tally, chance = Tally(), random.Random(seed)
    for _ in range(count):
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            simulator, field = _two_hosts(stack)
            loom = ("--loom", f"tcp:{SIMULATOR}:7811", "--token", "torture")
            here = ["ip", "netns", "exec", simulator]
            run = stack.enter_context(started(_written(folder, "here"), "run", *RUN, *loom, prefix=here))
            command = ("branch", "field", f"tcp:{SIMULATOR}:7811", "loomed.yaml", "--token", "torture")
            there = ["ip", "netns", "exec", field]
            branch = stack.enter_context(started(_written(folder, "there"), *command, prefix=there))
            run.wait_for(run.is_in_flight)
            time.sleep(chance.uniform(0.0, 5.0))
            _ip("-n", field, "link", "set", "cable", "down")
            _must_end_in_time({"run": run, "branch": branch}, tally, "the cable is cut")
    return tally


def _two_hosts(stack: ExitStack) -> list[str]:
    names = [f"torture-{os.getpid()}-{side}" for side in ("simulator", "field")]
    for name in names:
        _ip("netns", "add", name)
        stack.callback(_ip, "netns", "del", name)
    _ip("link", "add", "cable", "netns", names[0], "type", "veth", "peer", "name", "cable", "netns", names[1])
    for name, address in zip(names, (SIMULATOR, FIELD), strict=True):
        _ip("-n", name, "address", "add", f"{address}/24", "dev", "cable")
        for device in ("lo", "cable"):
            _ip("-n", name, "link", "set", device, "up")
    return names


def _ip(*arguments: str) -> None:
    try:
        subprocess.run(["ip", *arguments], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise CannotRun(f"no network namespaces here: {error}") from None
