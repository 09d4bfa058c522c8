"""Packets that a radio has heard and that wait for logic."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable
from operator import itemgetter

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
        packets, waiting = self._packets, (time_ns, self._count, packet)
        if not packets or packets[-1] < waiting:
            packets.append(waiting)
        else:
            insort(packets, waiting)
        if len(packets) <= MOST_WAITING:
            return True
        del packets[0]
        return False

    def receive(self) -> list[Packet]:
        """What was heard since this was last asked."""
        count = bisect_right(self._packets, self._now_ns(), key=itemgetter(0))
        heard = [packet for _, _, packet in self._packets[:count]]
        del self._packets[:count]
        return heard

    def waiting(self) -> list[tuple[int, int, Packet]]:
        """In the order in which it will be given: the time and the number of each, and what it is."""
        return self._packets.copy()

    def forget(self) -> None:
        self._packets: list[tuple[int, int, Packet]] = []  # in order: nearly all come so
        self._count = 0


class Ear(Inbox):
    """Hears apart what begins with a mark, from one node or from any."""

    def __init__(self, now_ns: Callable[[], int], mark: bytes, sender: str) -> None:
        super().__init__(now_ns)
        self.mark, self.sender = mark, sender

    def hears(self, packet: Packet) -> bool:
        return packet.content.startswith(self.mark) and self.sender in ("", packet.sender)
