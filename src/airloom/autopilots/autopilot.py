"""What autopilots share, and how a run has them: all are told, then all are heard, so that they think in parallel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from airloom.autopilots.transcript import NAME, TranscriptWriter
from airloom.clock import ticks_per_period
from airloom.plugin import Parameters, Plugin, find

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle


class AutopilotError(Exception):
    """The run cannot go on because of an autopilot; the message is meant for the user."""


class AutopilotFailed(Exception):
    """An autopilot died, froze or talks nonsense; the message says how."""


class AutopilotParameters(Parameters):
    rate: float = Field(1000.0, gt=0, description="frames a second, Hz")
    timeout: float = Field(10.0, gt=0, description="wall time that a frame may take, s")
    start_timeout: float = Field(60.0, gt=0, description="wall time until it must have spoken, s")
    on_failure: Literal["stop", "continue"] = Field(
        "stop", description="end the run, or go on with the rotors of this vehicle at rest"
    )
    transcript: bool = Field(False, description="keep all that is said in the run's folder")


class Autopilot(Plugin):
    """Flies one vehicle: told its state at its rate, heard for the speeds of its rotors."""

    category = "autopilot"
    Parameters: ClassVar[type[AutopilotParameters]] = AutopilotParameters
    needs: ClassVar[tuple[str, ...]] = ()
    """Kinds of sensor that the vehicle must carry."""

    def __init__(self, parameters: AutopilotParameters, sim: Simulation, vehicle: Vehicle, number: int) -> None:
        """`number` counts the autopilots of a run."""
        self.parameters, self.sim, self.vehicle, self.number = parameters, sim, vehicle, number
        self.period = ticks_per_period(parameters.rate, sim.step_ns)

    def open(self, folder: Path) -> None:
        """Start it, if it is to be started; what it leaves goes to the folder."""
        raise NotImplementedError

    def meet(self) -> None:
        """Wait until it has spoken."""
        raise NotImplementedError

    def new_transcript(self, folder: Path) -> TranscriptWriter | None:
        """If one is wanted."""
        if not self.parameters.transcript:
            return None
        return TranscriptWriter(folder / NAME, autopilot=type(self).__name__, vehicle=self.vehicle.name)

    def tell(self) -> None:
        """Where its vehicle is now."""
        raise NotImplementedError

    def hear(self) -> None:
        """Wait for its answer, and turn the rotors accordingly."""
        raise NotImplementedError

    def close(self) -> None:
        """End what was started."""
        raise NotImplementedError


class Autopilots:
    """Those of a run."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        chosen = [vehicle for vehicle in sim.vehicles.values() if vehicle.autopilot is not None]
        self._all = [_made(sim, vehicle, number) for number, vehicle in enumerate(chosen)]
        self._flying: list[Autopilot] = []
        self._told: list[Autopilot] = []
        self.periods: set[int] = set()
        """Ticks between frames, of all of them."""

    def __len__(self) -> int:
        return len(self._flying)

    def __getitem__(self, vehicle: str) -> Autopilot:
        """The one that flies this vehicle."""
        return next(autopilot for autopilot in self._flying if autopilot.vehicle.name == vehicle)

    def open(self, folder: Path | None) -> None:
        """All of them are started before the first is waited for."""
        for autopilot in self._all:
            self._flying.append(autopilot)
            self.periods.add(autopilot.period)
            self._begin(autopilot, autopilot.open, (folder or Path.cwd()) / f"autopilot-{autopilot.vehicle.name}")
        for autopilot in self._all:
            self._begin(autopilot, autopilot.meet)

    def _begin(self, autopilot: Autopilot, step: Callable[..., None], *args: Path) -> None:
        try:
            step(*args)
        except AutopilotFailed as failure:
            raise AutopilotError(f"the autopilot of {autopilot.vehicle.name} {failure}") from None

    def tell(self) -> None:
        """All whose frame it is."""
        self._told = [autopilot for autopilot in self._flying if self._sim.tick % autopilot.period == 0]
        for autopilot in self._told:
            if self._sim.vehicles.get(autopilot.vehicle.name) is autopilot.vehicle:
                autopilot.tell()
            else:
                self._dismiss(autopilot)

    def hear(self) -> None:
        """All who were told something."""
        for autopilot in self._told:
            try:
                autopilot.hear()
            except AutopilotFailed as failure:
                self._deal_with(autopilot, failure)

    def _deal_with(self, autopilot: Autopilot, failure: AutopilotFailed) -> None:
        text = f"the autopilot of {autopilot.vehicle.name} {failure}"
        if autopilot.parameters.on_failure == "stop":
            raise AutopilotError(text)
        self._sim.event(autopilot.vehicle.name, f"{text}: its rotors stop", level="error")
        autopilot.vehicle.set_rotor_speeds([0.0] * autopilot.vehicle.rotor_speeds.size)
        self._dismiss(autopilot)

    def _dismiss(self, autopilot: Autopilot) -> None:
        self._flying = [other for other in self._flying if other is not autopilot]
        self._told = [other for other in self._told if other is not autopilot]
        self.periods = {other.period for other in self._flying}
        autopilot.close()

    def close(self) -> None:
        for autopilot in self._flying:
            autopilot.close()
        self._flying.clear()
        self._told.clear()
        self.periods.clear()


def _made(sim: Simulation, vehicle: Vehicle, number: int) -> Autopilot:
    choice = vehicle.autopilot
    kind: type[Autopilot] = find("autopilot", choice.kind)  # type: ignore[assignment]
    return kind(kind.Parameters.model_validate(choice.parameters), sim, vehicle, number)
