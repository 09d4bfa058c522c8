"""What is looked for, and how the base hears of it: where, when and what, as a message of the mesh."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from airloom.radio.packet import Packet
from airloom.swarm.coverage.duties import AT_THE_BASE, duty_told
from airloom.swarm.mesh import Mesh
from airloom.swarm.words import spoken

_FOUND = struct.Struct("<ddq")
BEACON_NS = 1_000_000_000
"""From one beacon of the base to the next."""


class Report(NamedTuple):
    """A target that somebody has found, as the base knows it."""

    target: str
    finder: str
    place: tuple[float, float]
    """m"""
    found_ns: int
    known_ns: int
    hops: int

    def __str__(self) -> str:
        x, y = self.place
        later, hops = (self.known_ns - self.found_ns) * 1e-9, f"{self.hops} hop{'s' if self.hops > 1 else ''}"
        text = (
            f"the base knows of {self.target} at ({x:g}, {y:g}): found by {self.finder} at {self.found_ns * 1e-9:.2f} s"
        )
        return f"{text}, heard {later:.2f} s later over {hops}"

    def summary(self) -> dict[str, Any]:
        times = {"found_at": self.found_ns * 1e-9, "known_at": self.known_ns * 1e-9}
        return {"target": self.target, "by": self.finder, "place": list(self.place), **times, "hops": self.hops}


def found(target: str, place: Sequence[float], time_ns: int) -> bytes:
    return _FOUND.pack(*place, time_ns) + target.encode()


class Base:
    """What the computer of the base does: it counts aloud, so that others know of it, and takes reports."""

    def __init__(self, name: str, nodes: Sequence[str], position: Sequence[float]) -> None:
        self._mesh = Mesh(name, nodes)
        self._state = np.array([*position, 0.0, 0.0, 0.0])
        self._beacon = 0
        self.reports: dict[str, Report] = {}
        """The first of each target."""

    def hear(self, packets: Sequence[Packet], time_ns: int) -> list[Report]:
        """What is new."""
        news = []
        for message in self._mesh.hear(packets):
            if len(message.content) <= _FOUND.size:
                continue
            x, y, found_ns = _FOUND.unpack_from(message.content)
            target = message.content[_FOUND.size :].decode(errors="replace")
            if target not in self.reports:
                report = Report(target, message.sender, (x, y), found_ns, time_ns, message.hops)
                self.reports[target] = report
                news.append(report)
        return news

    def words(self, time_ns: int) -> list[bytes]:
        words = self._mesh.words(time_ns)
        if time_ns >= self._beacon * BEACON_NS:
            self._beacon = time_ns // BEACON_NS + 1
            tail = duty_told(AT_THE_BASE, self._beacon, self._state[:2], 0.0)
            words.append(spoken(time_ns, self._state) + tail)
        return words
