"""Numbers that members agree on by radio alone, although words get lost and members die.

Both classes are what one member's computer does: it hears packets, and now and then says a word to everybody.

`Agreement` is linear: each moves towards those it hears of, by Metropolis' weights (Xiao, Boyd and Lall 2005):

    x_i ← x_i + Σ_j (x_j − x_i) / (1 + max(d_i, d_j))        d: number of neighbours

All x approach one value if, again and again within some bounded time, the links that worked in it join all members
(Jadbabaie, Lin and Morse 2003; Moreau 2005); links may be one-way as long as some member's word can reach all. The
value lies between the least and the greatest at the beginning. It is their mean only if no word is lost: then, for a
fixed graph, the distance from the mean shrinks at each step by the factor |λ₂| of the matrix of weights, or less.

`Average` finds the mean itself, by flow updating (Jesus, Baquero and Almeida 2009). Each keeps the flow f_ij that it
has given to each neighbour, and tells all of them; who hears takes the opposite as its own:

    f_ij ← −f_ji,   e_i = v_i − Σ_j f_ij,   a = (e_i + Σ_j e_j) / (1 + d_i),   f_ij ← f_ij + a − e_j,   e_j ← a

Flows are told whole and not as changes, so a lost word costs time and nothing else, and the flows with one who has died
are taken back: what is left is the mean of the living. It needs words that get through again and again in
both directions of links that join all members.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass

from airloom.radio.packet import LONGEST, Packet, PacketError

FORGET = 3.0  # s
UNKNOWN = -1
"""Neighbours that a member tells in its first word; the mean would not be kept if others reckoned with it."""
_AGREEMENT, _AVERAGE = 0x41, 0x46
_VALUE = struct.Struct("<Bqdi")  # kind, ns, value, neighbours
_ESTIMATE = struct.Struct("<Bqd")  # kind, ns, estimate
_FLOW = struct.Struct("<Bd")  # length of a name, flow; the name follows


@dataclass
class _Heard:
    time_ns: int
    value: float
    neighbours: int


class Agreement:
    def __init__(self, value: float, forget: float = FORGET) -> None:
        """`forget` is the time without a word after which a neighbour counts no more, s."""
        self.value = value
        self._forget_ns = round(forget * 1e9)
        self._heard: dict[str, _Heard] = {}
        self._is_new = True

    def hear(self, packets: Iterable[Packet]) -> None:
        for packet in packets:
            if len(packet.content) == _VALUE.size and packet.content[0] == _AGREEMENT:
                _, time_ns, value, neighbours = _VALUE.unpack(packet.content)
                last = self._heard.get(packet.sender)
                if last is None or time_ns > last.time_ns:
                    self._heard[packet.sender] = _Heard(time_ns, value, neighbours)

    def step(self, time_ns: int) -> None:
        """Move towards the others; once between two words."""
        self._heard = {name: it for name, it in self._heard.items() if time_ns - it.time_ns < self._forget_ns}
        weighed = [it for it in self._heard.values() if it.neighbours != UNKNOWN]
        mine, degree = self.value, len(self._heard)
        self.value += sum((it.value - mine) / (1 + max(degree, it.neighbours)) for it in weighed)

    def word(self, time_ns: int) -> bytes:
        neighbours = UNKNOWN if self._is_new else len(self._heard)
        self._is_new = False
        return _VALUE.pack(_AGREEMENT, time_ns, self.value, neighbours)


@dataclass
class _Flow:
    time_ns: int
    given: float = 0.0
    estimate: float = 0.0


class Average:
    def __init__(self, name: str, value: float, forget: float = FORGET) -> None:
        """`value` is what this member contributes; it may change at any time."""
        self.name, self.own = name, value
        self._forget_ns = round(forget * 1e9)
        self._flows: dict[str, _Flow] = {}

    @property
    def value(self) -> float:
        """What it believes the mean to be."""
        return self.own - sum(flow.given for flow in self._flows.values())

    def hear(self, packets: Iterable[Packet]) -> None:
        for packet in packets:
            if len(packet.content) >= _ESTIMATE.size and packet.content[0] == _AVERAGE:
                self._take(packet.sender, packet.content)

    def _take(self, sender: str, content: bytes) -> None:
        _, time_ns, estimate = _ESTIMATE.unpack_from(content)
        flow = self._flows.setdefault(sender, _Flow(time_ns - 1))
        if time_ns > flow.time_ns:
            flow.time_ns, flow.estimate = time_ns, estimate
            flow.given = -_flows_in(content).get(self.name, -flow.given)

    def step(self, time_ns: int) -> None:
        """Even out with all neighbours; once between two words."""
        self._flows = {name: it for name, it in self._flows.items() if time_ns - it.time_ns < self._forget_ns}
        if not self._flows:
            return
        mean = (self.value + sum(flow.estimate for flow in self._flows.values())) / (1 + len(self._flows))
        for flow in self._flows.values():
            flow.given += mean - flow.estimate
            flow.estimate = mean

    def word(self, time_ns: int) -> bytes:
        flows = [_FLOW.pack(len(name), flow.given) + name.encode() for name, flow in self._flows.items()]
        word = _ESTIMATE.pack(_AVERAGE, time_ns, self.value) + b"".join(flows)
        if len(word) > LONGEST:
            raise PacketError(f"{len(flows)} neighbours are more than fit into a packet of {LONGEST} bytes")
        return word


def _flows_in(content: bytes) -> dict[str, float]:
    at, flows = _ESTIMATE.size, {}
    while at + _FLOW.size <= len(content):
        length, flow = _FLOW.unpack_from(content, at)
        at += _FLOW.size + length
        flows[content[at - length : at].decode(errors="replace")] = flow
    return flows
