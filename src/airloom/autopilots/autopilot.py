"""What autopilots share, and how a run has them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from airloom.autopilots import lockstep
from airloom.autopilots.lockstep import BLOCK, HEAR, LANE, NO_WIRES, RESULT, STEP_NS, TELL, TICKS, WIRE_WIDTH
from airloom.clock import ticks_per_period
from airloom.plugin import Parameters, Plugin, find

if TYPE_CHECKING:
    from airloom.compiled import Kernel
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
    motors: list[int] | None = Field(
        None, description="for each rotor of the vehicle, in its order, the autopilot's output that drives it, from 1"
    )


class Autopilot(Plugin):
    """Flies one vehicle: told its state at its rate, heard for the speeds of its rotors."""

    category = "autopilot"
    Parameters: ClassVar[type[AutopilotParameters]] = AutopilotParameters
    needs: ClassVar[tuple[str, ...]] = ()
    """Kinds of sensor that the vehicle must carry."""
    is_live: ClassVar[bool] = False
    """Whether it lives on the wall clock: its frames hold the run to real time."""
    tell: ClassVar[Kernel]
    """Says where its vehicle is now; see `lockstep`."""
    hear: ClassVar[Kernel]
    """Waits for the answer and turns the rotors accordingly, or leaves a negative result in the wire."""
    in_loop = True
    """Whether frames pass inside the compiled loop; if not, Python sees each."""

    def __init__(self, parameters: AutopilotParameters, sim: Simulation, vehicle: Vehicle, number: int) -> None:
        """`number` counts the autopilots of a run."""
        self.parameters, self.sim, self.vehicle, self.number = parameters, sim, vehicle, number
        self.period = ticks_per_period(parameters.rate, sim.step_ns)
        self.wire = np.zeros(WIRE_WIDTH, np.int64)

    def open(self, folder: Path) -> None:
        """Start it, or wait for it, and put into the wire what its kernels need; what it leaves goes to the folder."""
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

    def close(self) -> None:
        """End what was started."""
        raise NotImplementedError

    def report(self) -> dict[str, Any]:
        """For the run's summary: how it went, seen from the wall clock."""
        return {}

    def outputs_of_rotors(self) -> np.ndarray:
        """For each rotor the output that drives it, from 0."""
        rotors = len(self.vehicle.rotor_speeds)
        motors = self.parameters.motors or list(range(1, rotors + 1))
        if sorted(motors) != list(range(1, rotors + 1)):
            raise AutopilotFailed(f"needs `motors` with each of 1 to {rotors} once, got {motors}")
        return np.array(motors) - 1


class Autopilots:
    """Those of a run."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        chosen = [vehicle for vehicle in sim.vehicles.values() if vehicle.autopilot is not None]
        self._all = [_made(sim, vehicle, number) for number, vehicle in enumerate(chosen)]
        self._flying: list[Autopilot] = []
        self.wires = NO_WIRES
        """A row each, see `lockstep`."""
        self.periods: set[int] = set()
        """Ticks between frames that Python sees."""

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
            place = (folder or Path()).absolute() / f"autopilot-{autopilot.vehicle.name}"
            self._flying.append(autopilot)
            try:
                autopilot.open(place)
            except AutopilotFailed as failure:
                raise AutopilotError(f"the autopilot of {autopilot.vehicle.name} {failure}") from None
        self.settle()

    def settle(self) -> None:
        """In a fleet that is new or was replaced: who has lost the vehicle is dismissed."""
        for autopilot in list(self._flying):
            if self._sim.vehicles.get(autopilot.vehicle.name) is autopilot.vehicle:
                autopilot.settle()
            else:
                self._dismiss(autopilot)
        self._gather()

    def tell(self) -> None:
        """All whose frame it is."""
        if self._flying:
            lockstep.tell(self._sim.tick, self._sim.fleet.flight, self.wires)

    def hear(self) -> None:
        """All who were told something."""
        if self._flying and not lockstep.hear(self._sim.tick, self._sim.fleet.flight, self.wires):
            self.attend()

    def attend(self) -> None:
        """To all who were not heard well."""
        for autopilot in list(self._flying):
            if self._sim.tick % autopilot.period == 0 and autopilot.wire[RESULT] < 0:
                try:
                    autopilot.listen_on()
                except AutopilotFailed as failure:
                    self._deal_with(autopilot, failure)

    def _deal_with(self, autopilot: Autopilot, failure: AutopilotFailed) -> None:
        text = f"the autopilot of {autopilot.vehicle.name} {failure}"
        if autopilot.parameters.on_failure == "stop":
            raise AutopilotError(text)
        self._sim.event(autopilot.vehicle.name, f"{text}: its rotors stop", level="error")
        autopilot.vehicle.set_rotor_speeds([0.0] * autopilot.vehicle.rotor_speeds.size)
        self._dismiss(autopilot)
        self._gather()

    def _dismiss(self, autopilot: Autopilot) -> None:
        self._flying.remove(autopilot)
        autopilot.close()

    def _gather(self) -> None:
        """The wires of those who fly, in one table, of which each keeps its row."""
        self.wires = np.array([autopilot.wire for autopilot in self._flying]) if self._flying else NO_WIRES
        for autopilot, wire in zip(self._flying, self.wires, strict=True):
            autopilot.wire = wire
        self.periods = {autopilot.period for autopilot in self._flying if not autopilot.in_loop}

    def close(self) -> None:
        for autopilot in self._flying:
            autopilot.close()
        self._flying.clear()
        self._gather()


def _made(sim: Simulation, vehicle: Vehicle, number: int) -> Autopilot:
    choice = vehicle.autopilot
    kind: type[Autopilot] = find("autopilot", choice.kind)  # type: ignore[assignment]
    return kind(kind.Parameters.model_validate(choice.parameters), sim, vehicle, number)
