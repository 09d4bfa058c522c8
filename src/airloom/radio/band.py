"""A band: radios of one kind, and the medium between them. A run has one or several.

A band knows its nodes by numbers, in the order in which they came, as its medium does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from airloom.basics.collector import without_collecting
from airloom.basics.hints import did_you_mean
from airloom.basics.patterns import matches
from airloom.errors import RunError
from airloom.radio.faults import Fault, Jamming, Off, OneWay, PacketFault, Reception
from airloom.radio.jitter import spread
from airloom.radio.ledger import Ledger
from airloom.radio.medium import EVERYBODY, Arrivals, Frame, Medium
from airloom.radio.packet import EVERYBODY as ALL
from airloom.radio.packet import LONGEST, Packet, PacketError
from airloom.radio.packets import Sent
from airloom.sensors.noise import stream_key

if TYPE_CHECKING:
    from airloom.bus.bus import Bus
    from airloom.radio.node import Node
    from airloom.scenario.radio import RadioKind
    from airloom.world.land import Land

ON_THE_WAY_NS = 5_000_000_000
"""Beyond its lifetime in a queue, a packet that nobody has heard by then is forgotten."""
NOWHERE = np.full(3, np.nan)


class _Sent(NamedTuple):
    """A packet that somebody may still hear."""

    sender: Node
    to: str
    content: bytes
    time_ns: int
    late_ns: int
    """How much later than it could its radio lets it leave."""
    stamp_ns: int
    """When it was sent, by the sender's own clock."""


def seed_of(band: str, seed: int) -> int:
    """Of all that is random in a band, in a run with this seed."""
    return stream_key(seed, "radio", band) if band else seed


class Band:
    """`medium` is there from the first look on."""

    def __init__(self, name: str, kind: RadioKind, bus: Bus) -> None:
        self.name, self.kind = name, kind
        """What the scenario calls it, empty for the first, and what it says of it."""
        self.nodes: list[Node] = []
        self.medium: Medium | None = None
        self._jitter_ns = round(kind.jitter * 1e9)
        patience_ns = round((kind.ns3 or kind).lifetime * 1e9) + self._jitter_ns
        self._kept_ns = patience_ns + ON_THE_WAY_NS
        self.ledger = Ledger(bus, name, patience_ns)
        self._longest = min(LONGEST, kind.ns3.longest) if kind.ns3 else LONGEST

    @property
    def title(self) -> str:
        """For messages."""
        return f"in band '{self.name}'" if self.name else "on the first band"

    def forget(self, nodes: Sequence[Node], seed: int) -> None:
        """All that was sent: the run begins anew, with these nodes."""
        self.close()
        self.nodes = list(nodes)
        self._numbers = {node.name: number for number, node in enumerate(self.nodes)}
        self._seed = seed_of(self.name, seed)
        self._count = 0
        self._on_air: dict[int, _Sent] = {}
        self._waiting: list[Frame] = []
        self.faults: dict[str, Fault] = {}
        """By the name of who causes them."""
        self.ledger.forget([node.name for node in self.nodes])

    def open(self, land: Land, folder: Path | None) -> None:
        """Make the medium, and begin. The folder is for what it writes down."""
        self.medium = _medium_of(self.kind, [node.name for node in self.nodes], land, folder)
        self.medium.reset(self._seed)

    def add(self, node: Node) -> None:
        """One node more, in the middle of a run."""
        self._numbers[node.name] = len(self.nodes)
        self.nodes.append(node)
        self.ledger.add(node.name)
        if self.medium is not None:
            self.medium.add_node(node.name)

    def queue(self, sender: Node, content: bytes, to: str, now_ns: int, late_ns: int) -> None:
        number = self._numbers.get(sender.name)
        if number is None:
            raise PacketError(f"{sender.name} has no radio {self.title}; {sender.bands_in_words()}")
        if len(content) > self._longest:
            raise PacketError(
                f"{len(content)} bytes are more than a packet can have {self.title}, which is {self._longest}"
            )
        frame = Frame(self._count, number, self._receiver(sender, to), len(content), now_ns)
        self._count += 1
        self._on_air[frame.number] = _Sent(sender, to, content, now_ns, late_ns, sender.clock(now_ns))
        self._waiting.append(frame)
        if self.ledger.is_kept:
            self.ledger.send(Sent(frame.number, number, frame.size, now_ns), to)

    def _receiver(self, sender: Node, to: str) -> int:
        """The node that is meant, or everybody, of whom those listen whose names match."""
        if not isinstance(to, str):
            raise PacketError(f"a packet is to a name or a pattern, not to {to!r}")
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
        """Let the medium do its work until then, with the nodes at their places; one that is nowhere is off.

        What was queued since the last phase leaves from now on, each at a moment of its own.
        """
        assert self.medium is not None, "the first look comes before"
        if self.ledger.is_kept:
            self.ledger.tell(now_ns, positions)
        self._disturb(self.medium, positions)
        leaving = [
            frame._replace(time_ns=max(frame.time_ns, now_ns) + self._on_air[frame.number].late_ns)
            for frame in self._waiting
        ]
        frames = spread(leaving, self._jitter_ns, self._seed)
        self.medium.send(frames, [self._on_air[frame.number].content for frame in frames])
        self._waiting = []
        arrivals = self.medium.advance(until_ns, positions)
        with without_collecting():
            self._deliver(arrivals)

    def _disturb(self, medium: Medium, positions: np.ndarray) -> None:
        """What faults do to the air."""
        faults = self.faults.values()
        medium.jammers = [fault.jammer for fault in faults if isinstance(fault, Jamming)]
        one_way = [fault for fault in faults if isinstance(fault, OneWay)]
        names = [node.name for node in self.nodes] if one_way else []
        blocked = [[any(fault.blocks(one, other) for fault in one_way) for other in names] for one in names]
        medium.links = ~np.array(blocked) if blocked else None
        for fault in faults:
            if isinstance(fault, Off):
                positions[[fault.hits(node.name) for node in self.nodes]] = NOWHERE

    def _deliver(self, arrivals: Arrivals) -> None:
        faults = [fault for fault in self.faults.values() if isinstance(fault, PacketFault)]
        kept = self.ledger.heard if self.ledger.is_kept else None
        for number, node, heard_ns, strength in arrivals.table.tolist():
            it, receiver = self._on_air.get(number), self.nodes[node]
            if it is None or not (it.to == ALL or matches(receiver.name, it.to)):
                continue
            packet = Packet(it.sender.name, it.to, it.content, it.stamp_ns, heard_ns, strength, self.name)
            packets = self._struck(faults, Reception(number, node, packet)) if faults else (packet,)
            for one in packets:
                receiver.hear(one)
                if kept is not None:
                    kept.append((self._numbers[one.sender], it.time_ns, number, node, one.heard_ns, one.strength))

    def _struck(self, faults: list[PacketFault], reception: Reception) -> list[Packet]:
        """What becomes of a packet: none, or itself or something else, or several."""
        packets = [reception.packet]
        for fault in faults:
            if fault.hits(self.nodes[reception.receiver].name):
                struck = [fault.strikes(reception._replace(packet=one), self._seed) for one in packets]
                packets = [one for some in struck for one in some]
        return packets

    def forget_the_unheard(self, now_ns: int) -> None:
        """Numbers count up with the time, so the oldest come first."""
        before = now_ns - self._kept_ns
        while self._on_air and self._on_air[oldest := next(iter(self._on_air))].time_ns < before:
            del self._on_air[oldest]

    def summary(self) -> dict[str, Any]:
        """How it went so far; little of a medium that has failed."""
        about: dict[str, Any] = {"medium": "ns-3" if self.kind.ns3 else "built-in"}
        if self.medium is None:
            return about
        try:
            outcomes = self.medium.outcomes()
            counts = {name: column.tolist() for name, column in outcomes._asdict().items()}
            each = {
                node.name: {name: column[k] for name, column in counts.items()} for k, node in enumerate(self.nodes)
            }
            total = {name: sum(column) for name, column in counts.items()}
            return {**about, "total": total, "nodes": each, **self.medium.report()}
        except RunError:
            return about

    def hash_into(self, digest: Any) -> None:
        """All that may still matter."""
        if self.medium is not None:
            self.medium.hash_into(digest)
        for number, it in self._on_air.items():
            digest.update(repr((number, it.to, it.stamp_ns)).encode() + it.content)
        digest.update(repr((self._waiting, list(self.faults))).encode())

    def close(self) -> None:
        if self.medium is not None:
            medium, self.medium = self.medium, None
            medium.close()


def _medium_of(kind: RadioKind, names: list[str], land: Land, folder: Path | None) -> Medium:
    if kind.ns3 is not None:
        from airloom.radio.ns3 import Ns3Medium

        return Ns3Medium(names, kind.ns3, folder=folder)
    from airloom.radio.builtin import medium_of
    from airloom.radio.captures import Captures

    return medium_of(kind, len(names), land, Captures(folder, names, kind) if kind.pcap else None)
