"""What autopilots share, and how a run has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from airloom.autopilots.transcript import NAME, TranscriptWriter
from airloom.basics.clock import ticks_per_period
from airloom.engines import lockstep
from airloom.engines.lockstep import (
    BLOCK,
    FILLED,
    FULL,
    HEAR,
    LANE,
    NO_WIRES,
    RESULT,
    STEP_NS,
    TELL,
    TICKS,
    WIRE_WIDTH,
)
from airloom.errors import RunError
from airloom.plugin import Parameters, Plugin, find

if TYPE_CHECKING:
    from airloom.compiled import Kernel
    from airloom.scenario.errors import KeyPath
    from airloom.scenario.models import PluginChoice, Scenario
    from airloom.scenario.models import Vehicle as VehicleDescription
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle


FLYING = 0.5  # m above where it began
AT_REST = 1.0  # rad/s
OVERTURNED = 1.0  # rad of roll or pitch


class AutopilotError(RunError):
    """The run cannot go on because of an autopilot; the message is meant for the user."""


class AutopilotFailed(RunError):
    """An autopilot died, froze or talks nonsense; the message says how."""


class AutopilotParameters(Parameters):
    rate: float = Field(1000.0, gt=0, description="frames a second, Hz")
    timeout: float = Field(10.0, gt=0, description="wall time that a frame may take, s")
    start_timeout: float = Field(60.0, gt=0, description="wall time until it must have spoken, s")
    on_failure: Literal["stop", "continue"] = Field(
        "stop", description="end the run, or go on with the rotors of this vehicle at rest"
    )
    motors: list[int] | None = Field(
        None,
        description="for each rotor of the vehicle, in its order, the autopilot's output that drives it, from 1; "
        "found by itself if left out",
    )
    transcript: bool = Field(False, description="keep all that is said in the run's folder")


class Autopilot(Plugin):
    """Flies one vehicle: told its state at its rate, heard for the speeds of its rotors."""

    category = "autopilot"
    Parameters: ClassVar[type[AutopilotParameters]] = AutopilotParameters
    needs: ClassVar[tuple[str, ...]] = ()
    """Kinds of sensor that the vehicle must carry."""
    is_live: ClassVar[bool] = False
    """Whether it lives on the wall clock: its frames hold the run to real time."""
    own_sensors: ClassVar[tuple[str, ...]] = ()
    """Kinds of sensor that it makes itself from where the vehicle is."""
    tell: ClassVar[Kernel]
    """Says where its vehicle is now; see `lockstep`."""
    hear: ClassVar[Kernel]
    """Waits for the answer and turns the rotors accordingly, or leaves a negative result in the wire."""

    def __init__(self, parameters: AutopilotParameters, sim: Simulation, vehicle: Vehicle, number: int) -> None:
        """`number` counts the autopilots of a run."""
        self.parameters, self.sim, self.vehicle, self.number = parameters, sim, vehicle, number
        self.period = ticks_per_period(parameters.rate, sim.step_ns)
        self.wire = np.zeros(WIRE_WIDTH, np.int64)
        self._started_at = float(vehicle.position[2])
        self._has_flown = False
        self.transcript: TranscriptWriter | None = None

    @classmethod
    def mistakes_in(
        cls, parameters: Any, name: str, vehicle: VehicleDescription, scenario: Scenario
    ) -> Iterator[tuple[KeyPath, str]]:
        """What does not fit the rest of the scenario, of the autopilot of the vehicle with this name: as `mistakes`."""
        yield from ()

    def open(self, folder: Path) -> None:
        """Start it, if it is to be started, and put into the wire what its kernels need; what it leaves goes to the
        folder.
        """
        raise NotImplementedError

    def meet(self) -> None:
        """Wait until it has spoken."""
        raise NotImplementedError

    def settle(self) -> None:
        """Find what is its own in a fleet that is new or was replaced."""
        wire = self.wire
        wire[TELL], wire[HEAR] = self.tell.address, self.hear.address
        wire[TICKS], wire[STEP_NS] = self.period, self.sim.step_ns
        wire[BLOCK], wire[LANE] = self.vehicle.place_in_blocks

    def listen_on(self) -> None:
        """Deal with the negative result of hearing: the rotors must know their speeds afterwards."""
        raise NotImplementedError

    def hear_again(self) -> int:
        """The result."""
        flight, wire = self.sim.fleet.flight, self.wire
        self.hear(flight.blocks[wire[BLOCK]], flight.rotors[wire[BLOCK]], wire[LANE], self.sim.tick, wire)
        return int(wire[RESULT])

    def carry(self) -> None:
        """Hand over what it and others have said to each other beside the frames; it waits for the next."""

    @property
    def address(self) -> str:
        """Where ground stations and scripts speak MAVLink with it, as pymavlink writes it; empty if nowhere."""
        return ""

    def look_up(self) -> None:
        """Notice that the vehicle flies."""
        self._has_flown |= float(self.vehicle.position[2]) > self._started_at + FLYING

    def conclude(self) -> None:
        """The run is over: say how the flight ended, if there was one."""
        if not self._has_flown:
            return
        name = self.vehicle.name
        if max(self.vehicle.rotor_speeds) > AT_REST:
            self.sim.event(name, "its autopilot had not landed when the run ended", level="warning")
        elif np.abs(self.vehicle.euler[:2]).max() > OVERTURNED:
            self.sim.event(name, "it lies overturned, with its rotors at rest", level="warning")
        else:
            self.sim.succeed(name, "its autopilot has landed and stopped the rotors")

    def close(self) -> None:
        """End what was started."""
        raise NotImplementedError

    def report(self) -> dict[str, Any]:
        """For the run's summary: how it went, seen from the wall clock."""
        return {}

    def given_motors(self) -> list[int] | None:
        """The outputs that the scenario names, if it does."""
        motors, rotors = self.parameters.motors, len(self.vehicle.airframe.rotors)
        if motors is not None and sorted(motors) != list(range(1, rotors + 1)):
            raise AutopilotFailed(f"needs `motors` with each of 1 to {rotors} once, got {motors}")
        return motors


class Autopilots:
    """Those of a run."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._folder: Path | None = None
        self._numbers: dict[str, int] = {}
        self._choices: dict[str, Any] = {}
        """Of each vehicle, the autopilot that it was given."""
        self._flying: list[Autopilot] = []
        self._reports: dict[str, dict[str, Any]] = {}
        """Of those who have flown."""
        self.are_live = self._any_is_live()
        """Whether any of them holds the run to real time."""
        self.wires = NO_WIRES
        """A row each, see `lockstep`."""
        self.say: Callable[[str], None] = lambda text: None
        """Told what somebody has to do for the run to begin."""

    def __len__(self) -> int:
        return len(self._flying)

    def _any_is_live(self) -> bool:
        choices = [vehicle.autopilot for vehicle in self._sim.scenario.vehicles.values() if vehicle.autopilot]
        return any(_kind(choice).is_live for choice in choices)

    def reports(self) -> dict[str, dict[str, Any]]:
        """By the name of the vehicle, of those who have something to report."""
        reports = self._reports | {autopilot.vehicle.name: autopilot.report() for autopilot in self._flying}
        return {name: report for name, report in reports.items() if report}

    def addresses(self) -> dict[str, str]:
        """Where they can be spoken with, by the name of the vehicle."""
        return {autopilot.vehicle.name: autopilot.address for autopilot in self._flying if autopilot.address}

    def __getitem__(self, vehicle: str) -> Autopilot:
        """The one that flies this vehicle."""
        return {autopilot.vehicle.name: autopilot for autopilot in self._flying}[vehicle]

    def open(self, folder: Path | None) -> None:
        self._folder = (folder or Path()).absolute()
        self._reports.clear()
        self.settle()

    def _open_new(self, folder: Path) -> None:
        """All of them are started before the first is waited for."""
        vehicles = {name: vehicle for name, vehicle in self._sim.vehicles.items() if vehicle.autopilot is not None}
        given = {name: vehicle.autopilot for name, vehicle in vehicles.items()}
        new = [name for name, choice in given.items() if choice != self._choices.get(name)]
        self._choices = given
        for name in new:
            number = self._numbers.setdefault(name, len(self._numbers))
            autopilot: Autopilot = self._begin(name, _made, self._sim, vehicles[name], number)
            self._flying.append(autopilot)
            place = folder / f"autopilot-{name}"
            if autopilot.parameters.transcript:
                about = {"autopilot": given[name].kind, "vehicle": name}
                autopilot.transcript = TranscriptWriter(place / NAME, autopilot.wire, **about)
            self._begin(name, autopilot.open, place)
        for name in new:
            self._begin(name, self[name].meet)

    def _begin(self, vehicle: str, step: Callable[..., Any], *args: Any) -> Any:
        try:
            return step(*args)
        except AutopilotFailed as failure:
            raise AutopilotError(f"the autopilot of {vehicle} {failure}") from None

    def settle(self) -> None:
        """In a fleet that is new or was replaced: who has lost the vehicle is dismissed, who is new takes over."""
        self.are_live = self._any_is_live()
        for autopilot in list(self._flying):
            name, vehicle = autopilot.vehicle.name, autopilot.vehicle
            if self._sim.vehicles.get(name) is not vehicle or vehicle.autopilot != self._choices[name]:
                self._dismiss(autopilot)
        if self._folder is not None:
            self._open_new(self._folder)
        for autopilot in self._flying:
            autopilot.settle()
        self._gather()

    def tell(self) -> None:
        """All whose frame it is."""
        if self._flying:
            lockstep.tell(self._sim.tick, self._sim.fleet.flight, self.wires)

    def hear(self) -> None:
        """All who were told something."""
        if self._flying and not lockstep.hear(self._sim.tick, self._sim.fleet.flight, self.wires):
            self.attend()

    def carry(self) -> None:
        """For all, between frames and turns of members."""
        for autopilot in self._flying:
            autopilot.carry()
            autopilot.look_up()

    def conclude(self) -> None:
        for autopilot in self._flying:
            autopilot.conclude()

    def attend(self) -> None:
        """To all who were not heard well, or whose page is full."""
        for autopilot in list(self._flying):
            if autopilot.transcript is not None and autopilot.wire[FILLED] >= FULL:
                autopilot.transcript.turn_page(autopilot.wire)
            if self._sim.tick % autopilot.period == 0 and autopilot.wire[RESULT] < 0:
                try:
                    autopilot.listen_on()
                except AutopilotFailed as failure:
                    self._deal_with(autopilot, failure)

    def _deal_with(self, autopilot: Autopilot, failure: AutopilotFailed) -> None:
        text = f"the autopilot of {autopilot.vehicle.name} {failure}"
        if autopilot.parameters.on_failure == "stop":
            raise AutopilotError(text)
        self._sim.fail(autopilot.vehicle.name, f"{text}: its rotors stop")
        autopilot.vehicle.set_rotor_speeds([0.0] * autopilot.vehicle.rotor_speeds.size)
        self._dismiss(autopilot)
        self._gather()

    def _dismiss(self, autopilot: Autopilot) -> None:
        self._flying.remove(autopilot)
        self._end(autopilot)

    def _gather(self) -> None:
        """The wires of those who fly, in one table, of which each keeps its row."""
        self.wires = np.array([autopilot.wire for autopilot in self._flying]) if self._flying else NO_WIRES
        for autopilot, wire in zip(self._flying, self.wires, strict=True):
            autopilot.wire = wire

    def close(self) -> None:
        for autopilot in self._flying:
            self._end(autopilot)
        self._flying.clear()
        self._choices.clear()
        self._folder = None
        self._gather()

    def _end(self, autopilot: Autopilot) -> None:
        autopilot.close()
        self._reports[autopilot.vehicle.name] = autopilot.report()
        if autopilot.transcript is not None:
            autopilot.transcript.close(autopilot.wire)
            autopilot.transcript = None


def _made(sim: Simulation, vehicle: Vehicle, number: int) -> Autopilot:
    kind = _kind(vehicle.autopilot)
    return kind(kind.Parameters.model_validate(vehicle.autopilot.parameters), sim, vehicle, number)


def _kind(choice: PluginChoice) -> type[Autopilot]:
    return find("autopilot", choice.kind)  # type: ignore[return-value]
