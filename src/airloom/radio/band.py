"""A band: radios of one kind, and the medium between them. A run has one or several.

A band knows its nodes by numbers, in the order in which they came, as its medium does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from airloom.basics.hints import did_you_mean
from airloom.basics.patterns import matches
from airloom.radio.jitter import spread
from airloom.radio.ledger import Ledger
from airloom.radio.medium import EVERYBODY, Arrival, Frame, Medium
from airloom.radio.packet import EVERYBODY as ALL
from airloom.radio.packet import Packet, PacketError
from airloom.radio.packets import Sent
from airloom.sensors.noise import stream_key

if TYPE_CHECKING:
    from airloom.bus.bus import Bus
    from airloom.radio.node import Node
    from airloom.scenario.radio import RadioKind
    from airloom.world.land import Land

ON_THE_WAY_NS = 5_000_000_000
"""Beyond its lifetime in a queue, a packet that nobody has heard by then is forgotten."""


class _Sent(NamedTuple):
    """A packet that somebody may still hear."""

    sender: Node
    to: str
    content: bytes
    sent_ns: int


class Band:
    def __init__(self, name: str, kind: RadioKind, nodes: Sequence[Node], seed: int, land: Land, bus: Bus) -> None:
        self.name, self.kind = name, kind
        """What the scenario calls it, empty for the first, and what it says of it."""
        self.nodes = list(nodes)
        self._numbers = {node.name: number for number, node in enumerate(self.nodes)}
        self._land = land
        self._jitter_ns = round(kind.jitter * 1e9)
        patience_ns = round((kind.ns3 or kind).lifetime * 1e9) + self._jitter_ns
        self._kept_ns = patience_ns + ON_THE_WAY_NS
        self.ledger = Ledger(bus, [node.name for node in self.nodes], name, patience_ns)
        self.medium: Medium = _medium_of(kind, len(self.nodes), land)
        self.forget(seed)

    @property
    def title(self) -> str:
        """For messages."""
        return f"in band '{self.name}'" if self.name else "on the first band"

    def forget(self, seed: int) -> None:
        """All that was sent: the run begins anew."""
        self._seed = stream_key(seed, "radio", self.name) if self.name else seed
        self._count = 0
        self._on_air: dict[int, _Sent] = {}
        self._waiting: list[Frame] = []
        self.ledger.forget()
        self.medium.reset(self._seed)

    def queue(self, sender: Node, content: bytes, to: str, now_ns: int) -> None:
        number = self._numbers.get(sender.name)
        if number is None:
            raise PacketError(f"{sender.name} has no radio {self.title}; {sender.bands_in_words()}")
        frame = Frame(self._count, number, self._receiver(sender, to), len(content), now_ns)
        self._count += 1
        self._on_air[frame.number] = _Sent(sender, to, content, now_ns)
        self._waiting.append(frame)
        if self.ledger.is_kept:
            self.ledger.send(Sent(frame.number, number, frame.size, now_ns), to)

    def _receiver(self, sender: Node, to: str) -> int:
        """The node that is meant, or everybody, of whom those listen whose names match."""
        if to == sender.name:
            raise PacketError(f"{to} cannot send to itself")
        if to == ALL:
            return EVERYBODY
        if to in self._numbers:
            return self._numbers[to]
        if not any(matches(name, to) for name in self._numbers):
            raise PacketError(f"'{to}' names nobody who has a radio {self.title}{did_you_mean(to, self._numbers)}")
        return EVERYBODY

    def carry(self, now_ns: int, until_ns: int, positions: np.ndarray) -> None:
        """Let the medium do its work until then, with the nodes at their places."""
        self.medium.send(spread(self._waiting, now_ns, self._jitter_ns, self._seed))
        self._waiting = []
        for arrival in self.medium.advance(until_ns, positions):
            self._deliver(arrival)
        if self.ledger.is_kept:
            self.ledger.tell(now_ns, positions)

    def _deliver(self, arrival: Arrival) -> None:
        it, receiver = self._on_air.get(arrival.number), self.nodes[arrival.receiver]
        if it is not None and (it.to == ALL or matches(receiver.name, it.to)):
            heard_ns, strength = arrival.heard_ns, arrival.strength
            receiver.hear(Packet(it.sender.name, it.to, it.content, it.sent_ns, heard_ns, strength, self.name))
            if self.ledger.is_kept:
                self.ledger.heard.append((self._numbers[it.sender.name], it.sent_ns, *arrival))

    def forget_the_unheard(self, now_ns: int) -> None:
        """Numbers count up with the time, so the oldest come first."""
        before = now_ns - self._kept_ns
        while self._on_air and self._on_air[oldest := next(iter(self._on_air))].sent_ns < before:
            del self._on_air[oldest]


def _medium_of(kind: RadioKind, nodes: int, land: Land) -> Medium:
    from airloom.radio.builtin import medium_of

    return medium_of(kind, nodes, land)
