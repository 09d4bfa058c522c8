"""Autopilots that are programs: found, started in a folder of their own, ended with the run."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field, field_validator, model_validator

from airloom.autopilots.autopilot import Autopilot, AutopilotFailed, AutopilotParameters
from airloom.autopilots.by_radio import ByRadio, MavlinkByRadio, mistakes_of
from airloom.autopilots.instances import MOST_INSTANCE, instance_of, mistakes_of_instances
from airloom.autopilots.parameter_files import ParameterFileError, read_parameters
from airloom.autopilots.relay import Way, Wire
from airloom.keeper import MOST_PRINTED, Kept, how_it_ended, on_loopback

if TYPE_CHECKING:
    from airloom.scenario.errors import KeyPath
    from airloom.scenario.models import Scenario, Vehicle

PATIENCE = 1.0  # s to end when asked; a frozen autopilot ignores it
TAIL = 500  # bytes of the console that are told when it fails
UNFENCED = (
    "it would listen to other machines, and this one cannot hold it on loopback, for which Airloom needs Linux 5.9 on "
    "x86_64 or aarch64, and seccomp. Start it yourself, with `attach: true`"
)
LOOPBACK = on_loopback()
MOST_TEXTS = 5  # of its status texts, likewise


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
    """A running autopilot, which ends with this process; what it prints is in `console.txt` in its folder."""

    def __init__(
        self, command: list[Any], folder: Path, variables: Mapping[str, str] | None = None, reach: str = LOOPBACK
    ) -> None:
        self._output = (folder / "console.txt").open("w+b")
        try:
            self._process = Kept(
                [str(part) for part in command], patience=PATIENCE, reach=reach, cwd=folder,
                env={**os.environ, **(variables or {})}, stdout=self._output, stderr=subprocess.STDOUT,
                most_printed=MOST_PRINTED,
            )  # fmt: skip
        except OSError as error:
            self._output.close()
            why = UNFENCED if error.errno == errno.EOPNOTSUPP else f"{command[0]}: {error.strerror}"
            raise AutopilotFailed(f"cannot be started: {why}") from None

    @property
    def ended(self) -> str | None:
        """How, if it has."""
        code = self._process.poll()
        return None if code is None else f"{how_it_ended(code)}{self._last_words()}"

    def _last_words(self) -> str:
        self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, self._output.tell() - TAIL))
        text = self._output.read().decode(errors="replace").strip()
        return f"; it said last:\n{text}" if text else ""

    def end(self) -> None:
        self._process.end()
        self._output.close()


class ProgramParameters(AutopilotParameters):
    binary: str | None = Field(None, description="the program; looked for if left out")
    attach: bool = Field(False, description="wait for one that somebody else starts, instead of starting it")
    instance: int | None = Field(
        None, ge=0, le=MOST_INSTANCE,
        description="which one it is, for its ports, or the first of its copies is; counted up from the variable "
        "AIRLOOM_INSTANCE, or 0, if left out",
    )  # fmt: skip
    params: dict[str, Annotated[float, Field(allow_inf_nan=False)]] = Field(
        default_factory=dict, description="the autopilot's parameters by name"
    )
    params_files: list[str] = Field(
        default_factory=list,
        description="files with more of them, .parm or as QGroundControl saves them; later ones and params win",
    )
    arguments: list[str] = Field(default_factory=list, description="more arguments for the program")
    mavlink: MavlinkByRadio | None = Field(
        None, description="what ground stations say goes by radio; by a perfect wire if left out"
    )

    @model_validator(mode="after")
    def _is_started_for_the_radio(self) -> ProgramParameters:
        if self.mavlink is not None and self.attach:
            raise ValueError("mavlink: only an autopilot that Airloom starts speaks by radio; leave out attach")
        return self

    @field_validator("params_files")
    @classmethod
    def _are_read(cls, files: list[str]) -> list[str]:
        for file in files:
            try:
                read_parameters(Path(file).expanduser())
            except ParameterFileError as error:
                raise ValueError(str(error)) from None
        return files

    @property
    def all_params(self) -> dict[str, float]:
        """Those of the files, and those of the scenario."""
        found: dict[str, float] = {}
        for file in self.params_files:
            found |= read_parameters(Path(file).expanduser())
        return found | self.params


class ProgramAutopilot(Autopilot):
    """One that is a program of its own, started or attached."""

    Parameters: ClassVar[type[ProgramParameters]] = ProgramParameters
    parameters: ProgramParameters
    speaks_as: ClassVar[str]
    """Its name in messages."""
    tried: ClassVar[tuple[tuple[int, int], ...]]
    """Its versions that Airloom was tried with."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        first = self.parameters.instance
        self.instance = self._counted() if first is None else instance_of(self.vehicle.name, first, self.sim.scenario)
        self.program: Program | None = None
        self.version: str | None = None
        """Once it is known."""
        self.texts: deque[str] = deque(maxlen=MOST_TEXTS)
        """The last of its status texts."""

    @classmethod
    def mistakes_in(
        cls, parameters: ProgramParameters, name: str, vehicle: Vehicle, scenario: Scenario
    ) -> Iterator[tuple[KeyPath, str]]:
        yield from mistakes_of_instances(name, scenario)
        if parameters.mavlink is not None:
            for key, what in mistakes_of(parameters.mavlink, name, vehicle, scenario):
                yield ("mavlink", key), what

    def way(self) -> Way:
        """By which its MAVLink goes."""
        mavlink = self.parameters.mavlink
        return Wire() if mavlink is None else ByRadio(self.sim, self.vehicle.name, mavlink)

    def _counted(self) -> int:
        first = os.environ.get("AIRLOOM_INSTANCE", "0")
        if not first.isdecimal():
            raise AutopilotFailed(f"cannot be counted: the variable AIRLOOM_INSTANCE is a number from 0, got '{first}'")
        return int(first) + self.number

    def wait_for_command(self, command: str) -> None:
        """Let somebody know by which command to start the one that is waited for."""
        text = f"waits for {self.speaks_as}, started by: {command}"
        self.sim.event(self.vehicle.name, text)
        self.sim.autopilots.say(f"{self.vehicle.name} {text}")

    def must_be_alive(self) -> None:
        if self.program is not None and (how := self.program.ended):
            raise AutopilotFailed(f"{how}{self._last_texts()}")

    def _last_texts(self) -> str:
        return f"\nits last status texts: {' | '.join(self.texts)}" if self.texts else ""

    def note_version(self, major: int, minor: int, patch: int) -> None:
        self.version = f"{major}.{minor}.{patch}"
        self.sim.event(self.vehicle.name, f"{self.speaks_as} is version {self.version}")
        if (major, minor) not in self.tried:
            tried = " or ".join(f"{major}.{minor}" for major, minor in self.tried)
            text = f"{self.speaks_as} {self.version} was not tried with Airloom, but {tried}: it may differ"
            self.sim.event(self.vehicle.name, text, level="warning")

    def report(self) -> dict[str, Any]:
        return {"program": self.speaks_as, "version": self.version} if self.version else {}

    def note_text(self, text: str, is_warning: bool = False) -> None:
        """A status text, which also goes to /events."""
        self.texts.append(text)
        self.sim.event(self.vehicle.name, f"{self.speaks_as} says: {text}", level="warning" if is_warning else "info")

    def close(self) -> None:
        if self.program is not None:
            self.program.end()
            self.program = None


def digits(value: float) -> str:
    """All that a parameter has: 1048574 and not 1.04857e+06."""
    return str(int(value)) if value == int(value) else repr(float(value))
