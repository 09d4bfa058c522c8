"""What autopilots share, and how a run has them: all are told, then all are heard, so that they think in parallel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

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


class Autopilot(Plugin):
    """Flies one vehicle: told its state at its rate, heard for the speeds of its rotors."""

    category = "autopilot"
    Parameters: ClassVar[type[AutopilotParameters]] = AutopilotParameters
    needs: ClassVar[tuple[str, ...]] = ()
    """Kinds of sensor that the vehicle must carry."""
    is_live: ClassVar[bool] = False
    """Whether it lives on the wall clock: its frames hold the run to real time."""

    def __init__(self, parameters: AutopilotParameters, sim: Simulation, vehicle: Vehicle, number: int) -> None:
        """`number` counts the autopilots of a run."""
        self.parameters, self.sim, self.vehicle, self.number = parameters, sim, vehicle, number
        self.period = ticks_per_period(parameters.rate, sim.step_ns)

    def open(self, folder: Path) -> None:
        """Start it, or wait for it; what it leaves goes to the folder."""
        raise NotImplementedError

    def tell(self) -> None:
        """Where its vehicle is now."""
        raise NotImplementedError

    def hear(self) -> None:
        """Wait for its answer, and turn the rotors accordingly."""
        raise NotImplementedError

    def close(self) -> None:
        """End what was started."""
        raise NotImplementedError

    def report(self) -> dict[str, Any]:
        """For the run's summary: how it went, seen from the wall clock."""
        return {}

    def outputs_of_rotors(self, motors: list[int] | None) -> list[int]:
        """For each rotor the output that drives it, from 1; in order if `motors` does not say otherwise."""
        expected = list(range(1, len(self.vehicle.rotor_speeds) + 1))
        if motors is not None and sorted(motors) != expected:
            raise AutopilotFailed(f"needs `motors` with each of 1 to {len(expected)} once, got {motors}")
        return motors or expected


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

    @property
    def are_live(self) -> bool:
        """Whether any of them holds the run to real time."""
        return any(autopilot.is_live for autopilot in self._all)

    def reports(self) -> dict[str, dict[str, Any]]:
        """By the name of the vehicle, of those who have something to report."""
        reports = {autopilot.vehicle.name: autopilot.report() for autopilot in self._all}
        return {name: report for name, report in reports.items() if report}

    def open(self, folder: Path | None) -> None:
        for autopilot in self._all:
            place = (folder or Path.cwd()) / f"autopilot-{autopilot.vehicle.name}"
            self._flying.append(autopilot)
            self.periods.add(autopilot.period)
            try:
                autopilot.open(place)
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
