"""Traces of flights, to tell whether two of them were the same, and where they part if not."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from airloom.bus.bus import Topic
    from airloom.simulation import Simulation


class Trace(NamedTuple):
    """What a flight left: the final state, and when each topic carried what."""

    state: str
    duration: float
    topics: dict[str, list[list[int]]]
    """Topic → [time in ns, checksum] of each message."""


class Recorder:
    """Takes note of every message on every topic."""

    def __init__(self, sim: Simulation) -> None:
        self.topics: dict[str, list[list[int]]] = {}
        sim.bus.subscribe("*", self._take, raw=True)

    def _take(self, topic: Topic, cdr: list[bytes], times_ns: list[int]) -> None:
        entries = self.topics.setdefault(topic.name, [])
        entries += [[at, zlib.crc32(data)] for at, data in zip(times_ns, cdr, strict=True)]


def difference(reference: Trace, other: Trace) -> str:
    """Where two flights part; empty if they are alike."""
    first: tuple[int, str] | None = None
    for topic in sorted({*reference.topics, *other.topics}):
        one, two = reference.topics.get(topic, []), other.topics.get(topic, [])
        parting = next((k for k in range(min(len(one), len(two))) if one[k] != two[k]), min(len(one), len(two)))
        if parting < max(len(one), len(two)):
            time_ns = min(entries[parting][0] for entries in (one, two) if parting < len(entries))
            first = min(first or (time_ns, topic), (time_ns, topic))
    if first:
        return f"the flights part at t = {first[0] / 1e9:.3f} s on {first[1]}"
    return "" if reference.state == other.state else "the flights end in different states"
