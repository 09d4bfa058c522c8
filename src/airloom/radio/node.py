"""Whoever has a radio: a vehicle, or a station."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from airloom.radio.faults import Clock
from airloom.radio.inbox import Ear, Inbox
from airloom.radio.packet import EVERYBODY, Packet


class Node:
    def __init__(self, name: str, send: Callable[[Node, bytes, str, str], None], now_ns: Callable[[], int]) -> None:
        self.name, self._send, self._now_ns = name, send, now_ns
        self.bands: list[str] = []
        """Those that it has a radio for; the first is called ''."""
        self.clocks: dict[str, Clock] = {}
        """What is wrong with its idea of time, by who causes it."""
        self._inbox = Inbox(now_ns)
        self._ears: list[Ear] = []
        self.forget()

    def send(self, content: bytes, to: str = EVERYBODY, band: str = "") -> None:
        """Queue bytes for a node, for all that a pattern such as `scout_*` names, or for everybody in reach."""
        self._send(self, content, to, band)

    def receive(self) -> list[Packet]:
        """What was heard since this was last asked."""
        return self._inbox.receive()

    def ear(self, mark: bytes, sender: str = "") -> Ear:
        """Hears what begins with this mark, from one node or from any, apart from all else: `receive` does not give it
        any more. For those who share a radio with logic that they know nothing of.
        """
        for ear in self._ears:
            if (ear.mark, ear.sender) == (mark, sender):
                return ear
        self._ears.append(Ear(self._now_ns, mark, sender))
        return self._ears[-1]

    def clock(self, time_ns: int) -> int:
        """What its own clock shows at a time."""
        return time_ns + sum(clock.error_ns(time_ns) for clock in self.clocks.values())

    def hear(self, packet: Packet) -> None:
        """Keep a packet until its time has come and logic asks for it."""
        self.heard += 1
        inbox = self._inbox
        if self._ears:
            inbox = next((ear for ear in self._ears if ear.hears(packet)), inbox)
        told = packet._replace(heard_ns=self.clock(packet.heard_ns)) if self.clocks else packet
        self.lost += not inbox.put(told, packet.heard_ns)

    def forget(self) -> None:
        for inbox in (self._inbox, *self._ears):
            inbox.forget()
        self.sent = self.heard = self.lost = 0
        self.bands.clear()
        self.clocks.clear()

    def hash_into(self, digest: Any) -> None:
        waiting = [inbox.waiting() for inbox in (self._inbox, *self._ears)]
        digest.update(repr((self.name, self.sent, self.heard, self.lost, self.clocks, waiting)).encode())

    def bands_in_words(self) -> str:
        return f"it has one for {', '.join(repr(band) if band else 'the first band' for band in self.bands)}"
