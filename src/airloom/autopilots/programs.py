"""The program of an autopilot: found, started in a folder of its own, ended with the run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from airloom.autopilots.autopilot import AutopilotFailed

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

    def __init__(self, command: list[str], folder: Path) -> None:
        self._output = (folder / "console.txt").open("w+b")
        try:
            self._process = subprocess.Popen(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=self._output, stderr=subprocess.STDOUT,
                start_new_session=True,
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
