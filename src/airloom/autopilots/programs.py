"""Autopilots that are programs: found, started in a folder of their own, ended with the run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from airloom.autopilots.autopilot import Autopilot, AutopilotFailed, AutopilotParameters

PATIENCE = 1.0  # s to end when asked; a frozen autopilot ignores it
TAIL = 500  # bytes of the console that are told when it fails


def find_program(given: str | None, variable: str, name: str, usual: tuple[str, ...], advice: str) -> Path:
    """By option, environment variable, PATH, or where its own build leaves it."""
    named = given or os.environ.get(variable)
    found = [place for place in (shutil.which(name), *usual) if place and Path(place).expanduser().is_file()]
    if not named and not found:
        raise AutopilotFailed(f"cannot be started: no program '{name}' is found. {advice}")
    path = Path(named or found[0]).expanduser()
    if not path.is_file():
        raise AutopilotFailed(f"cannot be started: there is no program {path}")
    if not os.access(path, os.X_OK):
        raise AutopilotFailed(f"cannot be started: {path} is not executable")
    return path.resolve()


class Program:
    """A running autopilot; what it prints is in `console.txt` in its folder."""

    def __init__(self, command: list[Any], folder: Path, variables: Mapping[str, str] | None = None) -> None:
        self._output = (folder / "console.txt").open("w+b")
        try:
            self._process = subprocess.Popen(
                [str(part) for part in command], cwd=folder, env={**os.environ, **(variables or {})},
                stdin=subprocess.DEVNULL, stdout=self._output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            self._output.close()
            raise AutopilotFailed(f"cannot be started: {command[0]}: {error.strerror}") from None

    @property
    def ended(self) -> str | None:
        """How, if it has."""
        code = self._process.poll()
        if code is None:
            return None
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        return f"{how}{self._last_words()}"

    def _last_words(self) -> str:
        self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, self._output.tell() - TAIL))
        text = self._output.read().decode(errors="replace").strip()
        return f"; it said last:\n{text}" if text else ""

    def end(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(PATIENCE)
        self._process.wait()
        self._output.close()


class ProgramParameters(AutopilotParameters):
    binary: str | None = Field(None, description="the program; looked for if left out")
    attach: bool = Field(False, description="wait for one that somebody else starts, instead of starting it")
    instance: int | None = Field(
        None, ge=0, le=99,
        description="which one it is, for its ports; counted up from the variable AIRLOOM_INSTANCE, or 0, if left out",
    )  # fmt: skip
    params: dict[str, float] = Field(default_factory=dict, description="the autopilot's parameters by name")


class ProgramAutopilot(Autopilot):
    """One that is a program of its own, started or attached."""

    Parameters: ClassVar[type[ProgramParameters]] = ProgramParameters
    parameters: ProgramParameters

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.instance = self._counted() if self.parameters.instance is None else self.parameters.instance
        self.program: Program | None = None

    def _counted(self) -> int:
        first = os.environ.get("AIRLOOM_INSTANCE", "0")
        if not first.isdecimal():
            raise AutopilotFailed(f"cannot be counted: the variable AIRLOOM_INSTANCE is a number from 0, got '{first}'")
        return int(first) + self.number

    def must_be_alive(self) -> None:
        if self.program is not None and (how := self.program.ended):
            raise AutopilotFailed(how)

    def close(self) -> None:
        if self.program is not None:
            self.program.end()
            self.program = None
