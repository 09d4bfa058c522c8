"""The radio of a run: who has one, what waits to be sent, and what has been heard.

Logic queues packets in its phase. The network phase follows, every period: the medium carries what was queued until
the next one, with the vehicles where they are now, and what a node has heard by then it finds at its next turn. So
nothing is heard in the phase it was sent in, whoever has its turn first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from airloom.basics.clock import ticks_per_period
from airloom.basics.hints import did_you_mean
from airloom.basics.patterns import matches, matching
from airloom.group import Group
from airloom.radio.jitter import spread
from airloom.radio.ledger import Ledger
from airloom.radio.medium import EVERYBODY, Arrival, Frame, Medium
from airloom.radio.packet import EVERYBODY as ALL
from airloom.radio.packet import Packet, PacketError, checked
from airloom.radio.packets import Sent

if TYPE_CHECKING:
    from airloom.engines.fleet import Fleet
    from airloom.scenario.radio import Radio as Description
    from airloom.simulation import Simulation

MOST_WAITING = 10_000
"""Packets that a node keeps for logic which does not ask for them; older ones are lost."""
KEPT_NS = 5_000_000_000
"""Packets that nobody has heard by then are forgotten."""


class Node:
    """Whoever has a radio: a vehicle, or a station."""

    def __init__(self, radio: Radio, number: int, name: str) -> None:
        self._radio, self.number, self.name = radio, number, name
        self._heard: deque[Packet] = deque(maxlen=MOST_WAITING)
        self.sent = self.heard = self.lost = 0

    def send(self, content: bytes, to: str = ALL) -> None:
        """Queue bytes for a node, for all that a pattern such as `scout_*` names, or for everybody in reach."""
        self._radio.queue(self, content, to)

    def receive(self) -> list[Packet]:
        """What was heard since this was last asked."""
        now, packets = self._radio.time_ns, []
        while self._heard and self._heard[0].heard_ns <= now:
            packets.append(self._heard.popleft())
        return packets

    def _hear(self, packet: Packet) -> None:
        self.heard += 1
        if len(self._heard) == MOST_WAITING:
            self.lost += 1
        self._heard.append(packet)

    def _forget(self) -> None:
        self._heard.clear()
        self.sent = self.heard = self.lost = 0


class _Sent(NamedTuple):
    """A packet that somebody may still hear."""

    sender: Node
    to: str
    content: bytes
    sent_ns: int


class Radio(Mapping[str, Node]):
    """All nodes of a run by name."""

    def __init__(self, sim: Simulation, description: Description, medium_for: Callable[[int], Medium]) -> None:
        self._sim = sim
        self.period = ticks_per_period(1.0 / description.period, sim.step_ns)
        """Ticks from one network phase to the next."""
        self._jitter_ns = round(description.jitter * 1e9)
        flying = matching(((name, name) for name in sim.vehicles), description.vehicles)
        names = [*flying, *description.stations]
        self._nodes = {name: Node(self, number, name) for number, name in enumerate(names)}
        self._by_number = list(self._nodes.values())
        self._positions = np.zeros((len(names), 3))
        for name, station in description.stations.items():
            self._positions[self._nodes[name].number] = station.position
        self._fleet: Fleet | None = None
        self._medium = medium_for(len(names))
        self.ledger = Ledger(sim.bus, names)
        self.forget()

    def __getitem__(self, name: str) -> Node:
        try:
            return self._nodes[name]
        except KeyError:
            raise KeyError(f"'{name}' has no radio{did_you_mean(name, self._nodes)}") from None

    def __iter__(self):
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    @property
    def time_ns(self) -> int:
        return self._sim.time_ns

    def forget(self) -> None:
        """All that was sent and heard: the run begins anew."""
        self._count = 0
        self._on_air: dict[int, _Sent] = {}
        self._waiting: list[Frame] = []
        for node in self._by_number:
            node._forget()
        self.ledger.forget()
        self._medium.reset(self._sim.seed)

    def queue(self, sender: Node, content: bytes, to: str) -> None:
        content, receiver = checked(content), self._receiver(sender, to)
        sent_ns = self._sim.time_ns
        frame = Frame(self._count, sender.number, receiver, len(content), sent_ns)
        self._count += 1
        self._on_air[frame.number] = _Sent(sender, to, content, sent_ns)
        self._waiting.append(frame)
        sender.sent += 1
        if self.ledger.is_kept:
            self.ledger.send(Sent(frame.number, sender.number, frame.size, sent_ns), to)

    def _receiver(self, sender: Node, to: str) -> int:
        """The node that is meant, or everybody, of whom those listen whose names match."""
        if to == sender.name:
            raise PacketError(f"{to} cannot send to itself")
        if to == ALL:
            return EVERYBODY
        if to in self._nodes:
            return self._nodes[to].number
        if not matching(self._nodes.items(), to):
            raise PacketError(f"'{to}' names nobody who has a radio{did_you_mean(to, self._nodes)}")
        return EVERYBODY

    def take_turn(self) -> None:
        """The network phase, if it is time for one."""
        if self._sim.tick % self.period:
            return
        self._look_where_they_are()
        self._medium.send(spread(self._waiting, self._sim.time_ns, self._jitter_ns, self._sim.seed))
        self._waiting = []
        for arrival in self._medium.advance(self._sim.time_ns + self.period * self._sim.step_ns, self._positions):
            self._deliver(arrival)
        self._forget_the_unheard()
        if self.ledger.is_kept:
            self.ledger.tell(self._sim.time_ns, self._positions)

    def _look_where_they_are(self) -> None:
        """One that has left the simulation stays where it was."""
        if self._fleet is not self._sim.fleet:
            self._fleet = self._sim.fleet
            self._flying = [node.number for node in self._by_number if node.name in self._sim.vehicles]
            self._group = Group(self._sim, [self._sim.vehicles[self._by_number[k].name] for k in self._flying])
        self._positions[self._flying] = self._group.positions

    def _deliver(self, arrival: Arrival) -> None:
        it, receiver = self._on_air[arrival.number], self._by_number[arrival.receiver]
        if it.to == ALL or matches(receiver.name, it.to):
            receiver._hear(Packet(it.sender.name, it.to, it.content, it.sent_ns, arrival.heard_ns, arrival.strength))
            if self.ledger.is_kept:
                self.ledger.heard.append((it.sender.number, it.sent_ns, *arrival))

    def _forget_the_unheard(self) -> None:
        """Numbers count up with the time, so the oldest come first."""
        before = self._sim.time_ns - KEPT_NS
        while self._on_air and self._on_air[oldest := next(iter(self._on_air))].sent_ns < before:
            del self._on_air[oldest]

    def summary(self) -> dict[str, Any]:
        """For the run's summary: packets of each node."""
        return {node.name: {"sent": node.sent, "heard": node.heard, "lost": node.lost} for node in self._by_number}

    def finish(self) -> None:
        """The run is over: tell the rest of the links."""
        self.ledger.finish(self._sim.time_ns, self._positions)

    def close(self) -> None:
        self._medium.close()
