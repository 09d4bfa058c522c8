"""Whoever has a radio: a vehicle, or a station."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

from airloom.radio.faults import Clock
from airloom.radio.packet import EVERYBODY, Packet

MOST_WAITING = 10_000
"""Packets that a node keeps for logic which does not ask for them; older ones are lost."""


class Node:
    def __init__(self, name: str, send: Callable[[Node, bytes, str, str], None], now_ns: Callable[[], int]) -> None:
        self.name, self._send, self._now_ns = name, send, now_ns
        self.bands: list[str] = []
        """Those that it has a radio for; the first is called ''."""
        self.clocks: dict[str, Clock] = {}
        """What is wrong with its idea of time, by who causes it."""
        self.forget()

    def send(self, content: bytes, to: str = EVERYBODY, band: str = "") -> None:
        """Queue bytes for a node, for all that a pattern such as `scout_*` names, or for everybody in reach."""
        self._send(self, content, to, band)

    def receive(self) -> list[Packet]:
        """What was heard since this was last asked."""
        now, packets = self._now_ns(), []
        while self._heard and self._heard[0][0] <= now:
            packets.append(heappop(self._heard)[2])
        return packets

    def clock(self, time_ns: int) -> int:
        """What its own clock shows at a time."""
        return time_ns + sum(clock.error_ns(time_ns) for clock in self.clocks.values())

    def hear(self, packet: Packet) -> None:
        """Keep a packet until its time has come and logic asks for it."""
        self.heard += 1
        told = packet._replace(heard_ns=self.clock(packet.heard_ns)) if self.clocks else packet
        heappush(self._heard, (packet.heard_ns, self.heard, told))
        if len(self._heard) > MOST_WAITING:
            self.lost += 1
            heappop(self._heard)

    def forget(self) -> None:
        self._heard: list[tuple[int, int, Packet]] = []
        self.sent = self.heard = self.lost = 0
        self.bands.clear()
        self.clocks.clear()

    def hash_into(self, digest: Any) -> None:
        digest.update(repr((self.name, self.sent, self.heard, self.lost, self.clocks, sorted(self._heard))).encode())

    def bands_in_words(self) -> str:
        return f"it has one for {', '.join(repr(band) if band else 'the first band' for band in self.bands)}"
