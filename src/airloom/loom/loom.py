"""The loom: in every step that concerns them, members of the first phase have their turn in parallel, then those of the
second, and only then does the physics go on.

What members say is carried out in the order of their names once a phase is over, so that it makes no difference who
answers first, nor where a member runs. One that dies, hangs or talks nonsense is dealt with as its description says.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from airloom.basics.clock import ticks_per_period
from airloom.basics.patterns import PatternError, matches, matching
from airloom.commands import CommandError
from airloom.errors import AirloomError, RunError, UserError
from airloom.loom import protocol
from airloom.loom.beats import USUAL
from airloom.loom.bundles import Admission, Round, TurnOutcome, What
from airloom.loom.cluster import Cluster
from airloom.loom.hub import Answer, Hub
from airloom.loom.listening import Listeners
from airloom.loom.plan import Plan
from airloom.loom.processes import HAS_LEFT, Processes
from airloom.loom.protocol import (
    MOST_LETTER_BYTES,
    MOST_LETTERS,
    MOST_OF_LETTERS,
    End,
    Hello,
    Kind,
    Letter,
    Phase,
    ProtocolError,
    Welcome,
)
from airloom.loom.visibility import FleetVisibility
from airloom.net.tls import Certificate
from airloom.radio.packet import PREFIX, Nodes, letter_for, letter_of_nodes, request_from
from airloom.scenario.errors import shortened
from airloom.sensors.reading import letter_of

if TYPE_CHECKING:
    from airloom.scenario.models import Member as Description
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle

LOOKING_OUT = 0.05  # s of wall time between two looks for newcomers
SAYING_WHO = 2.0  # s of waiting for members until it is told, and told again ever less often


class LoomError(RunError):
    """The run cannot go on because of a member; the message is meant for the user."""


@dataclass
class Membership:
    """What was agreed with a member."""

    name: str
    phase: Phase
    period: int
    """Ticks from turn to turn."""
    vehicles: Sequence[Vehicle]
    nodes: Sequence[str]
    """Whose radios it uses."""
    description: Description
    inbox: list[Letter] = field(default_factory=list)
    inbox_size: int = 0
    is_introduced: bool = False
    """Whether it knows who has a radio."""
    told: dict[tuple[str, str], int] = field(default_factory=dict)
    """When the last reading it was told of each sensor was measured, ns."""

    def post(self, letter: Letter) -> bool:
        """Whether there is room for it."""
        if len(self.inbox) >= MOST_LETTERS or self.inbox_size + letter.size > MOST_LETTER_BYTES:
            return False
        self.inbox.append(letter)
        self.inbox_size += letter.size
        return True

    def letters(self) -> list[Letter]:
        letters, self.inbox, self.inbox_size = self.inbox, [], 0
        return letters


class Loom:
    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._described = sim.scenario.members
        self._members: dict[str, Membership] = {}
        self.listen: str | None = None
        """`tcp:host:port` or `tls:host:port` where members on other machines join, besides the socket for those on
        this one.
        """
        self.certificate: Certificate | None = None
        """What is shown to those who join by TLS; one of this machine's own if left out."""
        self.token: str | None = None
        """What they must know; made up if left out and the place is not on this machine alone."""
        self.cluster: Cluster | None = None
        """Where the members run that the scenario starts, instead of on this machine."""
        self.tell: Callable[[str], None] = lambda text: None
        """Told what the loom waits for, when that takes a while."""
        self.rhythm = USUAL
        """Of the beats on lines to branches."""
        self._hub: Hub | None = None
        self._looked_out = 0.0
        self._lost: dict[str, str] = {}
        """Members that will not come, and why."""
        self._processes = Processes()
        self.periods: set[int] = set()
        """Ticks between turns, of all members."""
        self._due: dict[tuple[bool, ...], list[list[Membership]]] = {}

    @property
    def listeners(self) -> Listeners | None:
        """Where members join, while the run goes on."""
        return self._hub.listeners if self._hub else None

    # -- opening and closing -----------------------------------------------------------------------------------------

    def open(self, logs: Path | None = None) -> None:
        """Listen, start the members that the scenario describes, and wait until all are there."""
        if not self._described:
            return
        listen = self.listen or (f"tcp:{self.cluster.near_end}:0" if self.cluster else None)
        try:
            listeners = Listeners(listen, self.token, self.certificate)
            self._hub = Hub(listeners, self._admit, self._lost.__setitem__, self.rhythm)
        except UserError as error:
            raise LoomError(str(error)) from None
        self._sights = FleetVisibility(self._sim)
        self._say_where(self._hub.listeners)
        self._start_all(self._hub.listeners, logs)
        self._wait_for_all()

    def _say_where(self, listeners: Listeners) -> None:
        if listeners.remote_address:
            need = " with its token" if listeners.token else ""
            self._sim.event("loom", f"members may join at {listeners.remote_address}{need}")

    def _start_all(self, listeners: Listeners, logs: Path | None) -> None:
        started = {name: it for name, it in self._described.items() if it.command}
        try:
            if self.cluster is not None:
                self.cluster.start(started, listeners, logs)
                return
            for name, it in started.items():
                if not it.at:
                    self._processes.start(name, it.command or [], it.folder, listeners.address, logs)
        except AirloomError as failure:
            raise LoomError(str(failure)) from None

    def finish(self) -> None:
        """All is over and went well: members may end by themselves, and whoever ends badly has failed."""
        self._take_leave("the run is over")
        patience = {name: it.timeout for name, it in self._described.items()}
        for name, fault in self._processes.failed_after_the_run(patience):
            self._sim.fail(name, fault)
        running = list(self._processes)
        self.close()
        for name in running:
            self._sim.event(name, self.ends()[name])

    def ends(self) -> dict[str, str]:
        """How the processes have ended that the scenario started, by name: those that are over."""
        return self._processes.ends()

    def close(self, reason: str = "the run is over") -> None:
        self._take_leave(reason)
        self._members.clear()
        self._lost.clear()
        self._membership_changed()
        self._processes.end()
        if self.cluster is not None:
            self.cluster.end()

    def _take_leave(self, reason: str) -> None:
        hub, self._hub = self._hub, None
        if hub is not None:
            hub.close(reason)

    def _wait_for_all(self) -> None:
        began, silence = time.monotonic(), SAYING_WHO
        while missing := [name for name in self._described if name not in self._members]:
            waited = time.monotonic() - began
            for name in missing:
                self._must_still_come(name, waited)
            if waited > silence:
                silence *= 2
                self.tell(self._waiting_for(missing, waited))
            self._look_out(0.05)

    def _waiting_for(self, missing: list[str], waited: float) -> str:
        assert self._hub is not None
        listeners, first = self._hub.listeners, missing[0]
        left = min(self._described[name].start_timeout for name in missing) - waited
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        return (
            f"Waiting for member '{first}'{more} to join at {listeners.remote_address or listeners.address}: "
            f"{left:.0f} s left (start_timeout)"
        )

    def stay_in_touch(self) -> None:
        """Hear who comes, and the beats of branches, in a run that stands still."""
        if self._hub is not None:
            self._look_out()

    def _look_out(self, patience: float = 0.0) -> None:
        assert self._hub is not None
        self._hub.look_out(patience)

    def _must_still_come(self, name: str, waited: float) -> None:
        assert self._hub is not None
        patience, branch = self._described[name].start_timeout, self._described[name].at
        end = self._processes.early_end(name) or self._lost.get(name) or (self.cluster and self.cluster.early_end(name))
        if end:
            raise LoomError(f"member '{name}' {end}")
        if waited > patience:
            place = self._hub.listeners.remote_address or self._hub.listeners.address
            hint = f"; `airloom branch {branch}` starts it on its machine" if branch else ""
            raise LoomError(f"member '{name}' has not joined the loom at {place} within {patience:g} s{hint}")

    # -- admission ---------------------------------------------------------------------------------------------------

    def _admit(self, hello: Hello, answer: Answer) -> None:
        try:
            member = self._agreed(hello)
        except ProtocolError as error:
            answer(str(error))
            return
        sim = self._sim
        self._members[member.name] = member
        self._members = dict(sorted(self._members.items()))
        self._membership_changed()
        told = Welcome(sim.step_ns, sim.time_ns, [vehicle.name for vehicle in member.vehicles])
        numbers = [self._sights.number(vehicle) for vehicle in member.vehicles]
        answer(Admission(member.name, told, numbers, member.description.timeout))

    def _agreed(self, hello: Hello) -> Membership:
        description = self._described.get(hello.name)
        if description is None:
            raise ProtocolError(f"no member is called '{hello.name}'; the scenario has {', '.join(self._described)}")
        if hello.name in self._members:
            raise ProtocolError(f"member '{hello.name}' is here already")
        try:
            vehicles = list(self._sim.group(hello.vehicles or description.vehicles))
            nodes = self._nodes_of(vehicles, description)
            if not (vehicles or nodes):
                raise ProtocolError(f"no vehicle is called '{hello.vehicles or description.vehicles}'")
            rate = 1e9 / hello.period_ns if hello.period_ns else description.rate
            period = ticks_per_period(rate, self._sim.step_ns)
        except ValueError as error:
            raise ProtocolError(str(error)) from None
        phase = Phase[description.phase.upper()] if hello.phase is None else hello.phase
        return Membership(hello.name, phase, period, vehicles, nodes, description)

    def _nodes_of(self, vehicles: Sequence[Vehicle], description: Description) -> list[str]:
        """Whose radios it uses: those of its vehicles, and of the stations it stands at."""
        if (radio := self._sim.radio) is None:
            return []
        at = matching(((name, name) for name in radio), description.stations) if description.stations else []
        return [*(vehicle.name for vehicle in vehicles if vehicle.name in radio), *at]

    def _membership_changed(self) -> None:
        self.periods = {member.period for member in self._members.values()}
        self._due.clear()

    # -- the way of a step -------------------------------------------------------------------------------------------

    def take_turns(self) -> bool:
        """Let all whose turn it is at this tick have it; whether there were any."""
        if self._hub is None:
            return False
        if (now := time.monotonic()) - self._looked_out > LOOKING_OUT:
            self._looked_out = now
            self._look_out()
        self._sights.keep_up()
        due = self._due_now()
        for members in due:
            self._play([member for member in members if self._members.get(member.name) is member])
        return bool(due)

    def _due_now(self) -> list[list[Membership]]:
        """Who has a turn at this tick, phase by phase."""
        tick = self._sim.tick
        turns = tuple(tick % period == 0 for period in self.periods)
        if turns not in self._due:
            phases = [
                [m for m in self._members.values() if m.phase is phase and tick % m.period == 0] for phase in Phase
            ]
            self._due[turns] = [members for members in phases if members]
        return self._due[turns]

    def _play(self, members: list[Membership]) -> None:
        assert self._hub is not None
        now = self._sim.time_ns
        letters = {it.name: [*it.letters(), *self._heard_by_radio(it), *self._measured(it)] for it in members}
        round_ = Round(now, self._sights, letters)
        outcomes = self._hub.play(round_, self._obeyed)
        if not outcomes:
            return
        said = [(member, self._heard(member, outcomes[member.name], now)) for member in members]
        for member, end in said:
            if end is not None:
                self._carry_out(member, end)

    def _heard_by_radio(self, member: Membership) -> Iterator[Letter]:
        """What the radios of its nodes have heard since its last turn."""
        if (radio := self._sim.radio) is None:
            return
        if not member.is_introduced:
            member.is_introduced = True
            bands = {name: [node.name for node in band.nodes] for name, band in radio.bands.items()}
            yield Letter(*letter_of_nodes(Nodes(list(radio), list(member.nodes), bands)))
        for name in member.nodes:
            for packet in radio[name].receive():
                yield Letter(*letter_for(name, packet))

    def _measured(self, member: Membership) -> Iterator[Letter]:
        """What the sensors it listens to have measured since its last turn."""
        if (pattern := member.description.sensors) is None:
            return
        for vehicle in member.vehicles:
            for sensor in vehicle.sensors:
                reading = vehicle.reading(sensor.name) if matches(sensor.name, pattern) else None
                if reading is not None and member.told.get((vehicle.name, sensor.name)) != reading.time_ns:
                    member.told[vehicle.name, sensor.name] = reading.time_ns
                    yield Letter(*letter_of(vehicle.name, sensor.name, reading))

    def _obeyed(self, plan: Plan) -> bool:
        """Whether all that was said could be carried out at once."""
        velocities = plan.obey(self._sim.time_ns, self._sim.fleet.flight.world)
        if velocities > 0:
            vehicles = [vehicle for partner in plan.partners for vehicle in self._members[partner.name].vehicles]
            for k in np.flatnonzero(plan.heard):
                self._sim.guard.heard(vehicles[k])
            plan.heard[:] = False
        return velocities >= 0

    def _heard(self, member: Membership, outcome: TurnOutcome, now: int) -> End | None:
        try:
            if outcome.what is What.FAILED:
                raise ProtocolError(outcome.body.decode(errors="replace"))
            if outcome.what is What.LEFT:
                self._bid_farewell(member)
                return None
            return self._understood(member, outcome.body, now)
        except ProtocolError as error:
            self._deal_with(member, f"member '{member.name}' {error}{self._processes.tail(member.name)}")
            return None

    def _bid_farewell(self, member: Membership) -> None:
        """One that leaves is waited for: by its code it may say that it has failed."""
        if self._processes.ended_badly(member.name):
            raise ProtocolError(HAS_LEFT)
        self._dismiss(member)
        end = self.ends().get(member.name)
        self._sim.event(member.name, f"{HAS_LEFT}; it {end}" if end else HAS_LEFT)

    def _understood(self, member: Membership, body: bytes, now: int) -> End:
        try:
            end = protocol.parse(Kind.END, body)
        except ProtocolError as error:
            raise ProtocolError(f"talks nonsense: {error}") from None
        if end.time_ns != now:
            raise ProtocolError(f"ended a turn of {end.time_ns * 1e-9:.6f} s at {now * 1e-9:.6f} s")
        for order in end.orders:
            if order.vehicle >= len(member.vehicles):
                raise ProtocolError(f"commands vehicle {order.vehicle} of {len(member.vehicles)}")
        return end

    def _carry_out(self, member: Membership, end: End) -> None:
        for order in end.orders:
            vehicle = member.vehicles[order.vehicle]
            try:
                vehicle.kill() if order.command is None else vehicle.command(order.command)
            except CommandError as error:
                self._sim.event(member.name, f"refused: {error}", level="warning")
        troubles = Counter(trouble for letter in end.letters for trouble in self._deliver(member, letter))
        for trouble, count in troubles.items():
            times = f" ({count} letters)" if count > 1 else ""
            self._sim.event(member.name, f"{trouble}{times}", level="warning")

    def _deliver(self, writer: Membership, letter: Letter) -> Iterator[str]:
        """To the member of that name, or to all whom a pattern names but the writer; what goes wrong with it."""
        if letter.other.startswith(PREFIX):
            yield from self._send_by_radio(writer, letter)
            return
        out = Letter(writer.name, letter.content)
        try:
            readers = self._readers(writer, letter.other)
        except PatternError as error:
            yield f"wrote to '{shortened(letter.other)}': {error}"
            return
        if not readers:
            yield f"wrote to '{shortened(letter.other)}', which is no member"
        for reader in readers:
            if not reader.post(out):
                yield f"wrote more to '{reader.name}' than can wait there, which is lost: {MOST_OF_LETTERS}"

    def _send_by_radio(self, writer: Membership, letter: Letter) -> Iterator[str]:
        """Through the radio of one of its nodes; what goes wrong with it."""
        radio = self._sim.radio
        try:
            if radio is None:
                raise ValueError("the scenario has no radio")
            sender, to, band = request_from(letter.other)
            if sender not in writer.nodes:
                own = ", ".join(writer.nodes) or "it has none"
                raise ValueError(f"'{shortened(sender)}' is none of its nodes: {own}")
            radio[sender].send(letter.content, to, band)
        except (ValueError, PatternError) as error:
            yield f"cannot send by radio: {error}"

    def _readers(self, writer: Membership, whom: str) -> list[Membership]:
        if whom in self._members:
            return [self._members[whom]]
        return [member for member in matching(self._members.items(), whom) if member is not writer]

    # -- failures ----------------------------------------------------------------------------------------------------

    def _deal_with(self, member: Membership, failure: str) -> None:
        if member.description.on_failure == "stop":
            raise LoomError(failure)
        self._sim.fail(member.name, failure)
        self._dismiss(member)
        if member.description.on_failure == "hold":
            for vehicle in member.vehicles:
                if vehicle.armed:
                    vehicle.recover()

    def _dismiss(self, member: Membership) -> None:
        assert self._hub is not None
        self._hub.dismiss(member.name)
        del self._members[member.name]
        self._membership_changed()
        self._processes.end_one(member.name)
