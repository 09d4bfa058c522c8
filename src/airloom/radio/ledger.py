"""The ledger of a radio: what was sent and what became of it, for logs, figures and those who look on.

Packets are counted for each directed pair of nodes, in intervals of the time at which they were sent; an interval is
told some time after its end, when whatever was sent in it has been heard or never will be. Nothing is kept unless
somebody listens to one of the topics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from airloom.basics.patterns import matching
from airloom.bus import messages
from airloom.bus.bus import Bus
from airloom.radio.links import Links, links_message
from airloom.radio.packet import EVERYBODY as ALL
from airloom.radio.packets import Packets, Sent, packets_message

INTERVAL_NS = 500_000_000
ON_THE_AIR_NS = 400_000_000
"""Beyond the time that a packet may wait at its sender: then its interval is told, and what comes later is lost."""
MOST_PATIENCE_NS = 5_000_000_000
PACKETS_NS = 100_000_000
MOST_NODES = 1 << 16
MOST_WAITING = 1 << 16
"""Packets that wait to be added up."""


class Tally:
    """Sums for each pair [meant, delivered, delay, strength] of the packets that were sent in one interval."""

    def __init__(self) -> None:
        self.positions: np.ndarray | None = None
        """Of the nodes, in the middle of the interval."""
        self.broadcasts: Counter[int] = Counter()
        self._pairs, self._sums = np.empty(0, dtype=np.int64), np.empty((0, 4))

    def intend(self, sender: int, receivers: list[int]) -> None:
        """A packet for some nodes."""
        others = np.array([receiver for receiver in receivers if receiver != sender], dtype=np.int64)
        rows = np.zeros((len(others), 4))
        rows[:, 0] = 1.0
        self._add(sender * MOST_NODES + others, rows)

    def hear(self, heard: np.ndarray) -> None:
        rows = np.zeros((len(heard), 4))
        rows[:, 1] = 1.0
        rows[:, 2] = (heard["heard_ns"] - heard["sent_ns"]) * 1e-9
        rows[:, 3] = heard["strength"]
        self._add(heard["sender"] * MOST_NODES + heard["receiver"], rows)

    def _add(self, pairs: np.ndarray, rows: np.ndarray) -> None:
        rows = np.concatenate([self._sums, rows])
        self._pairs, place = np.unique(np.concatenate([self._pairs, pairs]), return_inverse=True)
        self._sums = np.stack([np.bincount(place.ravel(), column) for column in rows.T], axis=1)

    def links(self, start_ns: int, names: tuple[str, ...]) -> Links:
        sender, receiver = np.divmod(self._pairs, MOST_NODES)
        meant, delivered, delay, strength = self._sums.T
        with np.errstate(invalid="ignore"):
            delay, strength = delay / delivered, strength / delivered
        broadcasts = np.array([self.broadcasts[node] for node in range(len(names))], dtype=np.int64)
        positions = np.full((len(names), 3), np.nan)
        if self.positions is not None:
            positions[: len(self.positions)] = self.positions
        return Links(
            end_ns=start_ns + INTERVAL_NS,
            interval=INTERVAL_NS * 1e-9,
            names=names,
            positions=positions,
            broadcasts=broadcasts,
            sender=sender,
            receiver=receiver,
            meant=meant.astype(np.int64) + broadcasts[sender],
            delivered=delivered.astype(np.int64),
            delay=delay,
            strength=strength,
        )


class Ledger:
    """Of one band. Its topics are `/radio/links` and `/radio/packets`, or below a name of its own."""

    def __init__(self, bus: Bus, name: str = "", patience_ns: int = 0) -> None:
        """`patience_ns`: how long a packet may wait at its sender."""
        self._grace_ns = min(patience_ns, MOST_PATIENCE_NS) + ON_THE_AIR_NS
        place = f"/radio/{name}" if name else "/radio"
        self._links = bus.advertise(f"{place}/links", messages.RADIO_LINKS)
        self._packets = bus.advertise(f"{place}/packets", messages.RADIO_PACKETS)
        self.forget([])

    @property
    def is_kept(self) -> bool:
        """Whether anybody wants to know."""
        return self._links.wanted or self._packets.wanted

    def forget(self, names: Sequence[str]) -> None:
        """The run begins anew, with these nodes."""
        self.names = tuple(names)
        self._tallies: dict[int, Tally] = {}
        self._chosen: dict[str, list[int]] = {}
        self._sent: list[Sent] = []
        self.heard: list[tuple[float, ...]] = []
        """Rows of `packets.HEARD`: whoever delivers a packet to a node that it was meant for adds one."""
        self._due = PACKETS_NS

    def add(self, name: str) -> None:
        """One node more."""
        self.names = (*self.names, name)
        self._chosen.clear()

    def send(self, sent: Sent, to: str) -> None:
        """A packet was given to a radio. Broadcasts are counted once, not for everybody who might hear them."""
        if self._packets.wanted:
            self._sent.append(sent)
        tally = self._tally(sent.sent_ns)
        if to == ALL:
            tally.broadcasts[sent.sender] += 1
        else:
            tally.intend(sent.sender, self._receivers(to))

    def _receivers(self, to: str) -> list[int]:
        if to not in self._chosen:
            numbers = {name: number for number, name in enumerate(self.names)}
            self._chosen[to] = [numbers[to]] if to in numbers else matching(numbers.items(), to)
        return self._chosen[to]

    def _tally(self, time_ns: int) -> Tally:
        number = time_ns // INTERVAL_NS
        if number not in self._tallies:
            self._tallies[number] = Tally()
        return self._tallies[number]

    def tell(self, time_ns: int, positions: np.ndarray) -> None:
        """In every network phase: whatever is due."""
        tally = self._tally(time_ns)
        if tally.positions is None and time_ns % INTERVAL_NS >= INTERVAL_NS // 2:
            tally.positions = positions.copy()
        if time_ns >= self._due or len(self.heard) >= MOST_WAITING:
            self._due = time_ns - time_ns % PACKETS_NS + PACKETS_NS
            self._take_down(time_ns)
            self._tell_links(time_ns, before_ns=time_ns - self._grace_ns + 1)

    def finish(self, time_ns: int, positions: np.ndarray) -> None:
        """The run is over: what has not been told yet is told now."""
        for tally in self._tallies.values():
            tally.positions = positions.copy() if tally.positions is None else tally.positions
        self._take_down(time_ns)
        self._tell_links(time_ns, before_ns=time_ns + INTERVAL_NS)

    def _take_down(self, time_ns: int) -> None:
        """Add up what was heard since."""
        packets = Packets.of(self.names, self._sent, self.heard)
        self._sent, self.heard = [], []
        intervals = packets.heard["sent_ns"] // INTERVAL_NS
        for number in np.unique(intervals).tolist():
            if number in self._tallies:
                self._tallies[number].hear(packets.heard[intervals == number])
        if self._packets.wanted and packets:
            self._packets.publish(packets_message(time_ns, packets), time_ns)

    def _tell_links(self, time_ns: int, before_ns: int) -> None:
        """Of the intervals that ended before."""
        for number in [number for number in self._tallies if (number + 1) * INTERVAL_NS < before_ns]:
            tally = self._tallies.pop(number)
            if self._links.wanted:
                self._links.publish(links_message(tally.links(number * INTERVAL_NS, self.names)), time_ns)
