"""The processes of members that the scenario starts: their output goes to the run's folder, none outlives the run."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from airloom.keeper import Kept, how_it_ended

LAST_WORDS = 0.5  # s to print why it ends
TAIL = 500  # bytes of a member's output that are told when it fails


class CannotStart(Exception):
    """A program that is not there, or cannot be run; the message is meant for the user."""


@dataclass
class Started:
    process: Kept
    output: IO[bytes]


class Processes:
    def __init__(self) -> None:
        self._started: dict[str, Started] = {}

    def start(self, name: str, command: list[str], folder: str | None, address: str, logs: Path | None) -> None:
        """It is told where the loom is by its environment."""
        output: Any = (logs / f"member-{name}.txt").open("w+b") if logs else tempfile.TemporaryFile()  # noqa: SIM115
        command = [sys.executable if part == "python" else part for part in command]
        variables = {**os.environ, "AIRLOOM_LOOM": address, "AIRLOOM_MEMBER": name, "PYTHONUNBUFFERED": "1"}
        try:
            process = Kept(command, stdout=output, stderr=subprocess.STDOUT, env=variables, cwd=folder)
        except OSError as error:
            output.close()
            if folder and not Path(folder).is_dir():
                raise CannotStart(f"member '{name}' cannot be started: there is no folder {folder}") from None
            raise CannotStart(f"member '{name}' cannot be started: {' '.join(command)}: {error.strerror}") from None
        self._started[name] = Started(process, output)

    def early_end(self, name: str) -> str | None:
        """How a member ended that should only have begun."""
        code = self._started[name].process.poll() if name in self._started else None
        return None if code is None else f"{how_it_ended(code)} before it joined{self.tail(name)}"

    def tail(self, name: str) -> str:
        """The last that a member has printed, to be told beside its failure."""
        if name not in self._started:
            return ""
        with suppress(subprocess.TimeoutExpired):
            self._started[name].process.wait(LAST_WORDS)
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
            started = self._started.pop(name)
            started.process.end()
            started.output.close()
