"""Hard times: few file numbers, kills at any moment, both cores busy, a cable that is cut, a day without a pause."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from airloom.runs.mcap import LogError
from torture.runs import left_over, started
from torture.trial import Tally, trial
from torture.trials.ports import GOOD

MARK = "AIRLOOM_TORTURE"
GOOD_ENDINGS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGKILL: -9}
DAY = """
name: day
duration: DURATION
engine: batch
log: {rate: 1, topics: ["/events", "/*/state"]}
vehicles:
  drone: {extends: multirotor, pose: {position: [0, 0, 0.05]}, copies: {count: MEMBERS, spacing: 3}}
members:
"""
SHY = """
import sys
from airloom import PositionYaw
from airloom.member import join
number = int(sys.argv[1])
with join() as me:
    for turn in me:
        for name, seen in turn.vehicles.items():
            turn.command(name, PositionYaw((3 * number, (turn.time // 60) % 5, 2 + 0.5 * (number % 3))))
        turn.send(f"m{(number + 1) % int(sys.argv[2])}", b"%d" % turn.time_ns)
        for letter in turn.letters:
            assert int(letter.content) <= turn.time_ns
"""


@contextmanager
def _marked() -> Iterator[str]:
    """Everything that is started inside, and its children, can be found by the mark."""
    mark = f"{os.getpid()}-{random.getrandbits(48):x}"
    os.environ[MARK] = mark
    try:
        yield f"{MARK}={mark}"
    finally:
        del os.environ[MARK]


def _is_all_over(mark: str) -> bool:
    deadline = time.monotonic() + 10
    while left_over(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not left_over(mark)


def _with_member(folder: Path, duration: float) -> None:
    (folder / "good.py").write_text(GOOD)
    (folder / "loomed.yaml").write_text(
        f"name: loomed\nduration: {duration:g}\nvehicles:\n"
        "  drone: {extends: multirotor, pose: {position: [0, 0, 0.05]}}\n"
        "members:\n  good: {command: [python, good.py], vehicles: drone}\n"
    )


@trial(
    "few file numbers",
    "a run with member, log and link at every limit from 12 on: it flies, or says why not",
    full=100,
    reduced=10,
)
def file_limits(count: int, seed: int) -> Tally:
    tally = Tally()
    flown = 0
    for limit in range(12, 12 + count):
        with tempfile.TemporaryDirectory() as folder, _marked() as mark:
            _with_member(Path(folder), 0.5)
            with started(
                Path(folder), "run", "loomed.yaml", "--headless", "--link", "--out", "run", "--no-figures", limit=limit
            ) as run:  # fmt: skip
                code = run.process.wait(120)
                flown += code == 0
                tally.expect(code == 0 or "file" in run.said, f"limit {limit}: exit code {code}: {run.said[-800:]}")
                tally.refused += code != 0
                if limit > 32 and run.crashed:
                    tally.surprise(f"limit {limit}: a traceback: {run.said[-800:]}")
            if not _is_all_over(mark):
                tally.surprise(f"limit {limit}: processes are left over")
    tally.note = f"{flown} of {count} limits are enough to fly"
    return tally


@trial(
    "kills at random moments",
    "SIGINT, SIGTERM, SIGHUP, SIGKILL: the log opens, nothing stays, the code is right",
    full=120,
    reduced=8,
)
def kills(count: int, seed: int) -> Tally:
    tally = Tally()
    chance = random.Random(seed)
    for k in range(count):
        number = list(GOOD_ENDINGS)[k % len(GOOD_ENDINGS)]
        after = chance.uniform(0.0, 6.0)
        with tempfile.TemporaryDirectory() as folder, _marked() as mark:
            _with_member(Path(folder), 1000)
            with started(
                Path(folder), "run", "loomed.yaml", "--headless", "--out", "run", "--speed", "2", "--no-figures"
            ) as run:  # fmt: skip
                time.sleep(after)
                code = run.end(number)
                # Before the first line of ours Python itself ends by the signal, which shells tell in the same way.
                is_early = code == -number and not run.said
                tally.expect(
                    is_early or code == GOOD_ENDINGS[number],
                    f"{number.name} after {after:.3f} s: exit code {code}: {run.said[-500:]}",
                )
                if run.crashed:
                    tally.surprise(f"{number.name} after {after:.3f} s: a traceback: {run.said[-800:]}")
                if not _is_all_over(mark):
                    tally.surprise(f"{number.name} after {after:.3f} s: processes are left over")
                _check_log(run, f"{number.name} after {after:.3f} s", tally)
    return tally


def _check_log(run, what: str, tally: Tally) -> None:
    if (run.out / "log.mcap").exists() and (run.out / "log.mcap").stat().st_size > 0:
        try:
            run.log_opens()
        except LogError as error:
            tally.surprise(f"{what}: the log does not open: {error}")


@trial(
    "two busy cores",
    "the same flight with a member while both cores are busy: equal hashes, equal logs",
    full=20,
    reduced=3,
    alone=True,
)
def busy_cores(count: int, seed: int) -> Tally:
    tally = Tally()
    results = set()
    with ExitStack() as stack:
        for _ in range(os.cpu_count() or 2):
            busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(busy.wait)
            stack.callback(busy.kill)
        # In one place, since the log holds the scenario, which tells where its members are started.
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        _with_member(place, 5)
        for _ in range(count):
            with started(place, "run", "loomed.yaml", "--headless", "--out", "run", "--no-figures") as run:
                code = run.process.wait(300)
                tally.expect(code == 0, f"exit code {code}: {run.said[-500:]}")
                if code == 0:
                    results.add((run.summary["state_hash"], (run.out / "log.mcap").read_bytes()))
                shutil.rmtree(run.out, ignore_errors=True)
    if len(results) != 1:
        tally.surprise(f"{len(results)} different flights")
    return tally


LONG_ENOUGH = 300
"""Seconds of a run after which its first tenth holds all that a run loads."""


@trial(
    "a day with 30 members",
    "86 400 s of simulation time with 30 processes in lockstep; memory must not grow",
    full=86_400,
    reduced=600,
)
def day(count: int, seed: int, members: int = 30) -> Tally:
    """Inputs are simulated seconds; each member has a turn in each."""
    tally = Tally()
    text = DAY.replace("DURATION", str(count)).replace("MEMBERS", str(members))
    text += "".join(
        f"  m{k}: {{command: [python, shy.py, '{k}', '{members}'], vehicles: drone_{k}, rate: 1, timeout: 60}}\n"
        for k in range(members)
    )
    with tempfile.TemporaryDirectory() as folder, _marked() as mark:
        place = Path(folder)
        (place / "shy.py").write_text(SHY)
        (place / "day.yaml").write_text(text)
        with started(place, "run", "day.yaml", "--headless", "--out", "run", "--no-figures") as run:
            began = time.monotonic()
            memory: list[int] = []
            while run.process.poll() is None:
                time.sleep(1)
                if size := _resident(run.process.pid):
                    memory.append(size)
            code = run.process.returncode
            tally.expect(code == 0 and not run.crashed, f"exit code {code}: {run.said[-1000:]}")
            if code == 0:
                tally.inputs = round(run.summary["simulated_time"])
                tally.note = f"{tally.inputs / (time.monotonic() - began):.0f} × real time"
                early, late = memory[len(memory) // 10], memory[-1]
                tally.note += f", memory {early / 1024:.0f} → {late / 1024:.0f} MB"
                if len(memory) > LONG_ENOUGH and late > 1.2 * early + 20_000:
                    tally.surprise(f"memory grew from {early} to {late} kB")
        if not _is_all_over(mark):
            tally.surprise("processes are left over")
    return tally


def _resident(pid: int) -> int:
    """kB"""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")), 0)
