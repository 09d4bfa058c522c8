"""The processes of members that the scenario starts: their output goes to the run's folder, none outlives the run."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from airloom.errors import RunError
from airloom.keeper import MOST_PRINTED, Kept, how_it_ended

LAST_WORDS = 0.5  # s to print why it ends
FAREWELL = 4.0  # s to end after it has left; less than a branch is granted beyond the turns of its members
HAS_LEFT = "has left the loom"
TAIL = 500  # bytes of a member's output that are told when it fails


class CannotStart(RunError):
    """A program that is not there, or cannot be run; the message is meant for the user."""


@dataclass
class Started:
    process: Kept
    output: IO[bytes]


class Processes:
    def __init__(self) -> None:
        self._started: dict[str, Started] = {}
        self._ends: dict[str, str] = {}

    def start(self, name: str, command: list[str], folder: str | None, address: str, logs: Path | None) -> None:
        """It is told where the loom is by its environment."""
        output: Any = (logs / f"member-{name}.txt").open("w+b") if logs else tempfile.TemporaryFile()  # noqa: SIM115
        command = resolved(command)
        variables = {**os.environ, "AIRLOOM_LOOM": address, "AIRLOOM_MEMBER": name, "PYTHONUNBUFFERED": "1"}
        try:
            process = Kept(
                command, stdout=output, stderr=subprocess.STDOUT, env=variables, cwd=folder, most_printed=MOST_PRINTED
            )
        except OSError as error:
            output.close()
            if folder and not Path(folder).is_dir():
                raise CannotStart(f"member '{name}' cannot be started: there is no folder {folder}") from None
            raise CannotStart(f"member '{name}' cannot be started: {' '.join(command)}: {error.strerror}") from None
        self._started[name] = Started(process, output)

    def early_end(self, name: str) -> str | None:
        """How a member ended that should only have begun."""
        code = self._started[name].process.poll() if name in self._started else None
        return None if code is None else f"{how_it_ended(code)} before it joined{self._last_words(name)}"

    def ends(self) -> dict[str, str]:
        """How each has ended, by name; those that still run are not among them."""
        now = {name: how_it_ended(code) for name in self if (code := self._code(name, 0)) is not None}
        return dict(sorted((self._ends | now).items()))

    def tail(self, name: str) -> str:
        """How a member has ended and the last that it has printed, to be told beside its failure."""
        code = self._code(name, LAST_WORDS)
        ended = "" if code is None else f"; it {how_it_ended(code)}"
        return ended + self._last_words(name)

    def ended_badly(self, name: str, patience: float = FAREWELL) -> bool:
        """Whether one that was free to end by itself has told by its code that it failed; who takes longer has not."""
        return bool(self._code(name, patience))

    def failed_after_the_run(self, patience: Mapping[str, float]) -> Iterator[tuple[str, str]]:
        """Names of those that end badly when all may end by themselves, each for so many seconds; with what is told."""
        began = time.monotonic()
        for name in self:
            if self.ended_badly(name, max(began + patience.get(name, FAREWELL) - time.monotonic(), 0.0)):
                yield name, f"has failed after the run{self.tail(name)}"

    def _code(self, name: str, patience: float) -> int | None:
        if name in self._started:
            with suppress(subprocess.TimeoutExpired):
                return self._started[name].process.wait(patience)
        return None

    def _last_words(self, name: str) -> str:
        if name not in self._started:
            return ""
        output = self._started[name].output
        output.seek(0, os.SEEK_END)
        output.seek(max(0, output.tell() - TAIL))
        text = output.read().decode(errors="replace").strip()
        return f"; it said last:\n{text}" if text else ""

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._started))

    def end(self) -> None:
        """All of them: asked first, then forced."""
        for started in self._started.values():
            started.process.let_go()
        for name in self:
            self.end_one(name)

    def end_one(self, name: str) -> None:
        if name in self._started:
            ran = self._code(name, 0) is None
            started = self._started.pop(name)
            started.process.end()
            started.output.close()
            self._ends[name] = f"{'was asked to end, and ' if ran else ''}{how_it_ended(started.process.returncode)}"


def resolved(command: Sequence[str]) -> list[str]:
    """With this Python for `python` and this Airloom for `airloom`, so that no environment need be active."""
    ours = {"python": [sys.executable], "airloom": [sys.executable, "-m", "airloom"]}
    words = []
    for before, part in pairwise(["", *command]):
        words += [part] if before.startswith("-") else ours.get(part, [part])  # not in python -m airloom
    return words
