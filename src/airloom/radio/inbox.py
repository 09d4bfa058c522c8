"""Packets that a radio has heard and that wait for logic."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

from airloom.radio.packet import Packet

MOST_WAITING = 10_000
"""Packets that are kept for logic which does not ask for them; older ones are lost."""


class Inbox:
    def __init__(self, now_ns: Callable[[], int]) -> None:
        self._now_ns = now_ns
        self.forget()

    def put(self, packet: Packet, time_ns: int) -> bool:
        """Keep it until its time has come and logic asks for it; whether there was room."""
        self._count += 1
        heappush(self._packets, (time_ns, self._count, packet))
        if len(self._packets) <= MOST_WAITING:
            return True
        heappop(self._packets)
        return False

    def receive(self) -> list[Packet]:
        """What was heard since this was last asked."""
        now, packets = self._now_ns(), []
        while self._packets and self._packets[0][0] <= now:
            packets.append(heappop(self._packets)[2])
        return packets

    def waiting(self) -> list[tuple[int, int, Packet]]:
        """In the order in which it will be given: the time and the number of each, and what it is."""
        return sorted(self._packets)

    def forget(self) -> None:
        self._packets: list[tuple[int, int, Packet]] = []
        self._count = 0


class Ear(Inbox):
    """Hears apart what begins with a mark, from one node or from any."""

    def __init__(self, now_ns: Callable[[], int], mark: bytes, sender: str) -> None:
        super().__init__(now_ns)
        self.mark, self.sender = mark, sender

    def hears(self, packet: Packet) -> bool:
        return packet.content.startswith(self.mark) and self.sender in ("", packet.sender)
