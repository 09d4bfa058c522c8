"""Take part in a run from a process of your own, in lockstep with it.

    from airloom import PositionYaw
    from airloom.member import join

    with join(vehicles="drone_0", rate=50) as me:
        for turn in me:
            turn.command("drone_0", PositionYaw((0, 0, 1 + turn.time)))

The simulation stands still until the body of the loop is done, however long it takes: what happens does not depend on
how fast the machine is. The loop ends with the run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from airloom.commands import Command
from airloom.errors import UserError
from airloom.loom import protocol
from airloom.loom.line import Line, LineLost, connect
from airloom.loom.protocol import (
    MOST_LETTER_BYTES,
    MOST_LETTERS,
    MOST_OF_LETTERS,
    MOST_ORDERS,
    TIME_AND_COUNT,
    Hello,
    Kind,
    Letter,
    Phase,
    ProtocolError,
    Welcome,
)
from airloom.net.tls import TlsError
from airloom.radio.packet import (
    EVERYBODY,
    PREFIX,
    Nodes,
    Packet,
    address_of_request,
    checked,
    nodes_from,
    packet_from,
)
from airloom.sensors.reading import PREFIX as MEASURED
from airloom.sensors.reading import Reading, reading_from

__all__ = [
    "Current", "Member", "NodeRadio", "NotAdmitted", "Packet", "Reading", "Seen", "Sight", "Turn", "current", "join",
]  # fmt: skip

ADDRESS, NAME, TOKEN = "AIRLOOM_LOOM", "AIRLOOM_MEMBER", "AIRLOOM_TOKEN"
"""Variables that the loom sets for the members it starts."""
NS_PER_SECOND = 1_000_000_000


class NotAdmitted(UserError):
    """The loom cannot be reached, or did not let us in; the message says why."""


@dataclass(frozen=True)
class Seen:
    """A vehicle at the beginning of a turn. World ENU, body FLU, SI units."""

    position: np.ndarray
    attitude: np.ndarray
    """Quaternion w, x, y, z, body→world."""
    velocity: np.ndarray
    rates: np.ndarray


class Sight(Mapping[str, Seen]):
    """Vehicles by name."""

    def __init__(self, places: dict[str, int], states: np.ndarray) -> None:
        self._places, self._states = places, states

    def __getitem__(self, name: str) -> Seen:
        s = self._states[self._places[name]]
        return Seen(s[0:3], s[3:7], s[7:10], s[10:13])

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class NodeRadio:
    """The radio of a node, with the names that `sim.radio[node]` has."""

    def __init__(self, node: str, write: Callable[[str, bytes], None], take_heard: Callable[[], list[Packet]]) -> None:
        self.name, self._write, self._take_heard = node, write, take_heard

    def send(self, content: bytes, to: str = EVERYBODY, band: str = "") -> None:
        """Queue bytes for a node, for all that a pattern such as `scout_*` names, or for everybody in reach."""
        self._write(address_of_request(self.name, to, band), checked(content))

    def receive(self) -> list[Packet]:
        """What was heard since this was last asked."""
        return self._take_heard()


class Turn:
    """What a member is told at the beginning of its turn, and what it says at the end."""

    def __init__(self, body: bytes, places: dict[str, int]) -> None:
        self.time_ns, self._count = TIME_AND_COUNT.unpack_from(body)
        self._body, self._places = body, places
        self._orders: list[bytes] = []
        self._outbox: list[Letter] = []
        self._outbox_size = 0

    @cached_property
    def vehicles(self) -> Sight:
        """The state of each, by name; who does not look does not pay for it."""
        return Sight(self._places, protocol.states_in(self._body, self._count))

    @cached_property
    def _all_letters(self) -> list[Letter]:
        return protocol.letters_in(self._body, self._count)

    @cached_property
    def letters(self) -> list[Letter]:
        """Those that came since the last turn; `other` is who wrote it."""
        return [letter for letter in self._all_letters if not letter.other.startswith((PREFIX, MEASURED))]

    @cached_property
    def readings(self) -> dict[tuple[str, str], Reading]:
        """What was measured since the last turn, by vehicle and sensor, of sensors that the scenario lets it read."""
        found = [letter for letter in self._all_letters if letter.other.startswith(MEASURED)]
        return dict(reading_from(letter.other, letter.content) for letter in found)

    @cached_property
    def _heard(self) -> dict[str, list[Packet]]:
        """What the radio of each node has heard since the last turn."""
        heard: dict[str, list[Packet]] = {}
        for letter in self._all_letters:
            if letter.other.startswith(PREFIX) and letter.other != PREFIX:
                node, packet = packet_from(letter.other, letter.content)
                heard.setdefault(node, []).append(packet)
        return heard

    def radio(self, node: str) -> NodeRadio:
        """The radio of one of its vehicles or stations."""
        return NodeRadio(node, self.send, lambda: self._heard.pop(node, []))

    @property
    def nodes(self) -> Nodes | None:
        """Who has a radio; told once, in the first turn of a run that has one."""
        return next((nodes_from(letter.content) for letter in self._all_letters if letter.other == PREFIX), None)

    @property
    def time(self) -> float:
        """Seconds of simulation time."""
        return self.time_ns / NS_PER_SECOND

    def command(self, vehicle: str, command: Command) -> None:
        """Takes effect as soon as this phase of the step is over."""
        self._order(protocol.order(self._place(vehicle), command))

    def kill(self, vehicle: str) -> None:
        """Stop its rotors."""
        self._order(protocol.order(self._place(vehicle), None))

    def send(self, member: str, content: bytes) -> None:
        """A letter to another member, or to all that a pattern such as `scout_*` names, for their next turn.

        ValueError if that is more than a member may send in a turn: 10 000 letters, 8 MiB.
        """
        letter = Letter(member, bytes(content))
        if len(self._outbox) >= MOST_LETTERS or self._outbox_size + letter.size > MOST_LETTER_BYTES:
            many = f"letter {len(self._outbox) + 1} of this turn, {len(letter.content)} bytes to '{member}'"
            raise ValueError(f"{many}, is not sent: in a turn {MOST_OF_LETTERS}")
        self._outbox.append(letter)
        self._outbox_size += letter.size

    def _order(self, order: bytes) -> None:
        if len(self._orders) >= MOST_ORDERS:
            raise ValueError(f"more than {MOST_ORDERS} commands in one turn")
        self._orders.append(order)

    def _place(self, vehicle: str) -> int:
        try:
            return self._places[vehicle]
        except KeyError:
            raise KeyError(f"'{vehicle}' is none of this member's vehicles: {', '.join(self._places)}") from None


class Member:
    """A place at the loom: iterate over its turns."""

    def __init__(self, line: Line, welcome: Welcome) -> None:
        self._line = line
        self.vehicles = welcome.vehicles
        self._places = {name: place for place, name in enumerate(welcome.vehicles)}
        self.step = welcome.step_ns / NS_PER_SECOND
        self.start = welcome.time_ns / NS_PER_SECOND
        """Time of the first turn, s."""
        self.over = ""
        """Why the run is over, once it is."""
        self._open: Turn | None = None

    def __enter__(self) -> Member:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, Exception) or (isinstance(error, SystemExit) and error.code not in (None, 0)):
            self._line.close()  # it failed: the loom is not told that all is well
        else:
            self.leave()

    def __iter__(self) -> Iterator[Turn]:
        while turn := self.begin():
            yield turn

    def begin(self) -> Turn | None:
        """End the turn that is open and wait for the next; None when the run is over."""
        self.end()
        try:
            kind, body = self._line.receive_bytes()
        except LineLost as lost:
            self.over = str(lost)
            return None
        if kind is not Kind.BEGIN:
            self.over = protocol.parse(kind, body) if kind is Kind.BYE else f"the loom sent {kind.name}"
            return None
        self._open = Turn(body, self._places)
        return self._open

    def end(self) -> None:
        """End the turn that is open."""
        turn, self._open = self._open, None
        if turn is not None:
            try:
                self._line.send(protocol.end(turn.time_ns, turn._orders, turn._outbox))
            except LineLost as lost:
                self.over = str(lost)

    def leave(self) -> None:
        """End the turn that is open, and say good-bye at the next: the run goes on without this member."""
        if self._line.fileno() < 0:
            return
        if not self.over and self.begin():
            with suppress(LineLost):
                self._line.send(protocol.told(Kind.BYE, "done"))
        self._line.close()


class Current:
    """The member that a script under `airloom exec` is, as any of its threads sees it."""

    def __init__(self, member: Member) -> None:
        self._member = member
        self._letters: list[Letter] = []
        self._heard: dict[str, list[Packet]] = {}
        self.readings: dict[tuple[str, str], Reading] = {}
        """The latest by vehicle and sensor, of sensors that the scenario lets it read."""
        self._turn: Turn | None = None
        self.nodes: Nodes | None = None
        """Who has a radio, if there is one."""
        self.takes: Callable[[str, Packet], bool] = lambda node, packet: False
        """Whether somebody else takes a packet, as sockets take datagrams."""

    def next_turn(self) -> int | None:
        """For `airloom exec`: the time of the next turn, None when the run is over."""
        turn = self._member.begin()
        if turn is None:
            return None
        self._turn = turn
        self._letters += turn.letters
        self.nodes = self.nodes or turn.nodes
        self.readings |= turn.readings
        for node, packets in turn._heard.items():
            self._heard.setdefault(node, []).extend(packet for packet in packets if not self.takes(node, packet))
        return turn.time_ns

    @property
    def _now(self) -> Turn:
        assert self._turn is not None
        return self._turn

    @property
    def time(self) -> float:
        """Seconds of simulation time."""
        return self._now.time

    @property
    def vehicles(self) -> Mapping[str, Seen]:
        """As they are at the beginning of this turn."""
        return self._now.vehicles

    def command(self, vehicle: str, command: Command) -> None:
        """Takes effect when the turn ends: when all threads of the script wait."""
        self._now.command(vehicle, command)

    def kill(self, vehicle: str) -> None:
        """Stop its rotors."""
        self._now.kill(vehicle)

    def send(self, member: str, content: bytes) -> None:
        """A letter to another member, which gets it at its next turn."""
        self._now.send(member, content)

    def radio(self, node: str) -> NodeRadio:
        """The radio of one of its vehicles or stations."""
        return NodeRadio(node, self.send, lambda: self._heard.pop(node, []))

    def letters(self) -> list[Letter]:
        """Those that came since they were last asked for."""
        letters, self._letters = self._letters, []
        return letters


_current: Current | None = None


def current() -> Current:
    """The member that this script is, if `airloom exec` runs it."""
    if _current is None:
        raise NotAdmitted("this program is not run by airloom exec: start it with `airloom exec SCRIPT`, or use join()")
    return _current


def join(
    name: str | None = None,
    *,
    rate: float | None = None,
    phase: Phase | int | None = None,
    vehicles: str = "",
    address: str | None = None,
    token: str | None = None,
) -> Member:
    """A place at the loom. What is left out comes from the loom that started this process, and from its scenario.

    `rate` is in turns a second, `vehicles` a pattern of those to see and command.
    """
    address = address or os.environ.get(ADDRESS)
    if not address:
        raise NotAdmitted(f"no loom is named: give its address, or set {ADDRESS} to unix:/path or tcp:host:port")
    period = round(NS_PER_SECOND / rate) if rate else 0
    wanted = Hello(
        name or os.environ.get(NAME, f"member_{os.getpid()}"),
        None if phase is None else Phase(phase), period, vehicles,
        token if token is not None else os.environ.get(TOKEN, ""),
    )  # fmt: skip
    try:
        line = connect(address)
        with suppress(LineLost):  # who is turned away before it has spoken finds the reason in the line
            line.send(protocol.hello(wanted))
        kind, told = line.receive()
    except (OSError, LineLost, TlsError, ValueError) as error:
        raise NotAdmitted(f"cannot reach the loom at {address}: {error}") from None
    except ProtocolError as error:
        raise NotAdmitted(f"whoever listens at {address} is no loom: {error}") from None
    if kind is not Kind.WELCOME:
        raise NotAdmitted(f"the loom at {address} did not let {wanted.name} in: {told}")
    return Member(line, told)
