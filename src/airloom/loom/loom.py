"""The loom: in every step that concerns them, members of the first phase have their turn in parallel, then those of the
second, and only then does the physics go on.

What members say is carried out in the order of their names once a phase is over, so that it makes no difference who
answers first. A member that dies, hangs or talks nonsense is dealt with as its description says.
"""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airloom.clock import ticks_per_period
from airloom.commands import CommandError
from airloom.loom import protocol
from airloom.loom.doors import DoorError, Doors
from airloom.loom.line import Line, LineLost
from airloom.loom.members import MemberFailed, Seat
from airloom.loom.processes import Processes
from airloom.loom.protocol import End, Hello, Kind, Letter, Phase, ProtocolError, Welcome

if TYPE_CHECKING:
    from airloom.scenario.models import Member as Description
    from airloom.simulation import Simulation

LOOKING_OUT = 0.05  # s of wall time between two looks for newcomers
HANDSHAKE = 0.5  # s for a newcomer to finish saying who it is


class LoomError(Exception):
    """The run cannot go on because of a member; the message is meant for the user."""


class Loom:
    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._described = sim.scenario.members
        self._seats: dict[str, Seat] = {}
        self.listen: str | None = None
        """`tcp:host:port` where members on other machines join, besides the socket for those on this one."""
        self.token: str | None = None
        """What they must know; made up if left out and the place is not on this machine alone."""
        self.doors: Doors | None = None
        self._newcomers: list[tuple[Line, socket.socket]] = []
        self._looked_out = 0.0
        self._processes = Processes()
        self.periods: set[int] = set()
        """Ticks between turns, of all members."""

    @property
    def seats(self) -> Iterable[Seat]:
        return self._seats.values()

    # -- opening and closing -----------------------------------------------------------------------------------------

    def open(self, logs: Path | None = None) -> None:
        """Listen, start the members that the scenario describes, and wait until all are there."""
        if not self._described:
            return
        try:
            self.doors = Doors(self.listen, self.token)
        except DoorError as error:
            raise LoomError(str(error)) from None
        if self.doors.remote_address:
            need = f" with token {self.doors.token}" if self.doors.token else ""
            self._sim.event("loom", f"members may join at {self.doors.remote_address}{need}")
        for name, description in self._described.items():
            if description.command:
                self._start(name, description, logs)
        self._wait_for_all()

    def _start(self, name: str, description: Description, logs: Path | None) -> None:
        assert self.doors is not None
        try:
            self._processes.start(name, description, self.doors.address, logs)
        except MemberFailed as failure:
            raise LoomError(str(failure)) from None

    def close(self, reason: str = "the run is over") -> None:
        for seat in self._seats.values():
            with suppress(LineLost, TimeoutError):
                seat.line.send(protocol.told(Kind.BYE, reason))
            seat.line.close()
        for line, _ in self._newcomers:
            line.close()
        self._seats.clear()
        self._newcomers.clear()
        self.periods.clear()
        self._processes.end()
        if self.doors is not None:
            self.doors.close()
            self.doors = None

    # -- admission ---------------------------------------------------------------------------------------------------

    def _wait_for_all(self) -> None:
        began = time.monotonic()
        while missing := [name for name in self._described if name not in self._seats]:
            for name in missing:
                self._must_still_come(name, time.monotonic() - began)
            self._admit(0.05)

    def _must_still_come(self, name: str, waited: float) -> None:
        patience = self._described[name].start_timeout
        if (code := self._processes.exit_code(name)) is not None:
            tail = self._processes.tail(name)
            raise LoomError(f"member '{name}' ended with code {code} before it joined{tail}")
        if waited > patience:
            assert self.doors is not None
            place = self.doors.remote_address or self.doors.address
            raise LoomError(f"member '{name}' has not joined the loom at {place} within {patience:g} s")

    def _admit(self, patience: float = 0.0) -> None:
        """Take in who knocks; whoever has not said who it is yet is asked again later, and nobody waits for it."""
        assert self.doors is not None
        waiting = dict(self._newcomers)
        places: list[Any] = [*self.doors.listeners, *waiting]
        for one in select.select(places, [], [], patience)[0]:
            if one in waiting:
                self._newcomers.remove((one, waiting[one]))
                self._greet(one, waiting[one])
            else:
                self._newcomers.append((Line(one.accept()[0]), one))

    def _greet(self, line: Line, came_by: socket.socket) -> None:
        assert self.doors is not None
        try:
            kind, hello = line.receive(HANDSHAKE)
            if kind is not Kind.HELLO:
                raise ProtocolError(f"a newcomer says HELLO first, not {kind.name}")
            if not self.doors.knows(hello.token, came_by):
                raise ProtocolError("its token is not the right one")
            self._seat(line, hello)
        except (ProtocolError, TimeoutError, LineLost) as error:
            with suppress(LineLost, TimeoutError):
                line.send(protocol.told(Kind.REFUSED, str(error)))
            line.close()

    def _seat(self, line: Line, hello: Hello) -> None:
        description = self._described.get(hello.name)
        if description is None:
            raise ProtocolError(f"no member is called '{hello.name}'; the scenario has {', '.join(self._described)}")
        if hello.name in self._seats:
            raise ProtocolError(f"member '{hello.name}' is here already")
        sim = self._sim
        vehicles = list(sim.group(hello.vehicles or description.vehicles))
        if not vehicles:
            raise ProtocolError(f"no vehicle is called '{hello.vehicles or description.vehicles}'")
        try:
            rate = 1e9 / hello.period_ns if hello.period_ns else description.rate
            period = ticks_per_period(rate, sim.step_ns)
        except ValueError as error:
            raise ProtocolError(str(error)) from None
        phase = Phase[description.phase.upper()]
        self._seats[hello.name] = Seat(hello.name, line, phase, period, vehicles, description)
        self._seats = dict(sorted(self._seats.items()))
        self.periods.add(period)
        line.send(protocol.welcome(Welcome(sim.step_ns, sim.time_ns, [vehicle.name for vehicle in vehicles])))

    # -- the way of a step -------------------------------------------------------------------------------------------

    def take_turns(self) -> None:
        """Let all whose turn it is at this tick have it."""
        if self.doors is None:
            return
        if (now := time.monotonic()) - self._looked_out > LOOKING_OUT:
            self._looked_out = now
            self._admit()
        due = [seat for seat in self.seats if self._sim.tick % seat.period == 0]
        for phase in Phase:
            if ready := [seat for seat in due if seat.phase is phase]:
                self._run(ready)

    def _run(self, due: list[Seat]) -> None:
        now = self._sim.time_ns
        begun = [seat for seat in due if self._began(seat, now)]
        said = [(seat, self._heard(seat, now)) for seat in begun]
        for seat, end in said:
            if end is not None:
                self._carry_out(seat, end)

    def _began(self, seat: Seat, now: int) -> bool:
        try:
            seat.begin(now)
        except MemberFailed as failure:
            self._deal_with(seat, failure)
            return False
        return True

    def _heard(self, seat: Seat, now: int) -> End | None:
        try:
            end = seat.end(now)
        except MemberFailed as failure:
            self._deal_with(seat, failure)
            return None
        if end is None:
            self._sim.event(seat.name, "has left the loom")
            self._dismiss(seat)
        return end

    def _carry_out(self, seat: Seat, end: End) -> None:
        for order in end.orders:
            vehicle = seat.vehicles[order.vehicle]
            try:
                vehicle.kill() if order.command is None else vehicle.command(order.command)
            except CommandError as error:
                self._sim.event(seat.name, f"refused: {error}", level="warning")
        for letter in end.letters:
            if letter.other in self._seats:
                self._seats[letter.other].post(Letter(seat.name, letter.content))
            else:
                self._sim.event(seat.name, f"wrote to '{letter.other}', which is no member", level="warning")

    # -- failures ----------------------------------------------------------------------------------------------------

    def _deal_with(self, seat: Seat, failure: MemberFailed) -> None:
        text = f"{failure}{self._processes.tail(seat.name)}"
        if seat.description.on_failure == "stop":
            raise LoomError(text)
        self._sim.event("loom", text, level="error")
        self._dismiss(seat)
        if seat.description.on_failure == "hold":
            for vehicle in seat.vehicles:
                if vehicle.armed:
                    vehicle.recover()

    def _dismiss(self, seat: Seat) -> None:
        seat.line.close()
        del self._seats[seat.name]
        self.periods = {other.period for other in self.seats}
        self._processes.end_one(seat.name)
