"""What may be wrong with radios for a while: a fault of a band, and what it does to nodes and packets.

Draws belong to a fault, a frame and a receiver, so that they are the same whoever is asked first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from airloom.basics.patterns import matches
from airloom.radio.fading import uniforms
from airloom.radio.medium import Jammer
from airloom.radio.packet import Packet
from airloom.sensors.noise import stream_key

MILLION = 1_000_000


class Reception(NamedTuple):
    """A packet on its way from a radio to the logic of its node."""

    number: int
    """Of the frame, as the medium counts them."""
    receiver: int
    packet: Packet


@dataclass(frozen=True)
class Fault:
    """Of the nodes whose names match."""

    name: str
    nodes: str

    def hits(self, node: str) -> bool:
        return matches(node, self.nodes)


@dataclass(frozen=True)
class Off(Fault):
    """Radios that neither send nor hear."""


@dataclass(frozen=True)
class Jamming(Fault):
    jammer: Jammer


@dataclass(frozen=True)
class OneWay(Fault):
    """Nothing gets from them to others."""

    to: str

    def blocks(self, sender: str, receiver: str) -> bool:
        return self.hits(sender) and matches(receiver, self.to)


@dataclass(frozen=True)
class PacketFault(Fault):
    """A share of what they hear is wrong."""

    share: float
    apply: Callable[[Packet, float], list[Packet]]
    """What becomes of a packet; the number is random, from 0 to 1."""

    def strikes(self, reception: Reception, seed: int) -> list[Packet]:
        key = np.uint64(stream_key(seed, "radio", "fault", self.name))
        luck, chance, _, _ = uniforms(key, reception.number, 0, reception.receiver, 0)
        return self.apply(reception.packet, chance) if luck < self.share else [reception.packet]


def later(delay_ns: int) -> Callable[[Packet, float], list[Packet]]:
    return lambda packet, _: [packet._replace(heard_ns=packet.heard_ns + delay_ns)]


def twice(delay_ns: int) -> Callable[[Packet, float], list[Packet]]:
    return lambda packet, _: [packet, packet._replace(heard_ns=packet.heard_ns + delay_ns)]


def corrupted(packet: Packet, chance: float) -> list[Packet]:
    """One bit is another, as when a checksum misses it."""
    content = bytearray(packet.content)
    if content:
        bit = int(chance * 8 * len(content))
        content[bit // 8] ^= 1 << bit % 8
    return [packet._replace(content=bytes(content))]


@dataclass(frozen=True)
class Clock(Fault):
    """Their idea of time is wrong: from a moment on it is off, and by ever more."""

    since_ns: int
    offset_ns: int
    drift: float
    """µs a second: positive is fast."""

    def error_ns(self, time_ns: int) -> int:
        """How much their clocks are ahead of the time."""
        return self.offset_ns + round((time_ns - self.since_ns) * self.drift / MILLION)
