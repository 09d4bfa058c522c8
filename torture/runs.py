"""Runs of Airloom in processes of their own, as users start them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from airloom.runs.mcap import LogReader

AIRLOOM = [sys.executable, "-m", "airloom"]
DEADLINE = 600.0  # s, for what takes a second on an idle machine, and a minute when it is compiled first
CRASH = re.compile(r"Traceback \(most recent call last\)|Segmentation fault|Fatal Python error")


class Run:
    """A command of Airloom, what it said, and what it left."""

    def __init__(self, folder: Path, *arguments: str, prefix: Sequence[str] = (), limit: int | None = None) -> None:
        self.folder = folder
        self.out = folder / "run"
        self._said = folder / "said.txt"
        command = [*prefix, *AIRLOOM, *arguments]
        if limit is not None:
            command = ["prlimit", f"--nofile={limit}:{limit}", *command]
        with self._said.open("wb") as said:
            self.process = subprocess.Popen(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
            )

    @property
    def said(self) -> str:
        return self._said.read_text(errors="replace")

    @property
    def crashed(self) -> bool:
        return CRASH.search(self.said) is not None

    @property
    def summary(self) -> dict[str, Any]:
        return json.loads((self.out / "summary.json").read_text())

    def wait_for(self, there: Callable[[], Any]) -> Any:
        """What the function gives, once that is something."""
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline:
            if found := there():
                return found
            if self.process.poll() is not None:
                raise RuntimeError(f"it ended with {self.process.returncode} too early: {self.said[-1000:]}")
            time.sleep(0.02)
        raise RuntimeError(f"nothing after {DEADLINE:g} s: {self.said[-1000:]}")

    def said_match(self, pattern: str) -> Callable[[], str | None]:
        return lambda: match[1] if (match := re.search(pattern, self.said)) else None

    def end(self, number: int = signal.SIGINT, patience: float = DEADLINE) -> int:
        """Its exit code after a signal."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(patience)

    def has_flown(self) -> bool:
        log = self.out / "log.mcap"
        return log.exists() and log.stat().st_size > 20_000

    def is_in_flight(self) -> bool:
        """Not before everything is compiled and everybody has joined."""
        return self.has_flown() and self.logged_until() > 0.5

    def logged_until(self) -> float:
        with LogReader(self.out / "log.mcap") as log:
            return log.duration

    def log_opens(self) -> bool:
        return self.logged_until() >= 0.0


@contextmanager
def started(folder: Path, *arguments: str, **options: Any) -> Iterator[Run]:
    run = Run(folder, *arguments, **options)
    try:
        yield run
    finally:
        if run.process.poll() is None:
            run.process.kill()
            run.process.wait()


def left_over(mark: str) -> list[int]:
    """Processes whose environment holds the mark, zombies apart."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        try:
            if (
                mark.encode() in (entry / "environ").read_bytes()
                and b"State:\tZ" not in (entry / "status").read_bytes()
            ):
                found.append(int(entry.name))
        except OSError:
            continue
    return found
