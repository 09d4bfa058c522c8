"""What members know of others: what their radios have delivered, and no more.

A table has a row for each member whose logic runs here and a column for each node that may be heard; a row is filled by
that member's radio alone. With time a neighbour is believed to have flown on with the velocity it told; after
`forget` seconds without a word it is forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from airloom.radio.packet import Packet
from airloom.swarm.words import understood

SECONDS = 1e-9
NEVER = -(2**62)  # ns


class Neighbours:
    def __init__(self, members: int, nodes: Sequence[str], forget: float) -> None:
        self._columns = {name: k for k, name in enumerate(nodes)}
        self._forget_ns = round(forget * 1e9)
        self._times = np.full((members, len(nodes)), NEVER)
        self._states = np.zeros((members, len(nodes), 6))
        self._legs = np.zeros((members, len(nodes)), np.int64)

    def hear(self, members: Sequence[int], packets: Sequence[Packet]) -> list[tuple[int, int, int]]:
        """Packets, and who has heard each. Of a neighbour the word that was measured last is kept, not heard last.

        Returned are member, node and packet of each word that was kept, oldest first.
        """
        words = understood(packets)
        rows = np.array([members[k] for k in words.packets], np.int64)
        columns = np.array([self._columns.get(speaker, -1) for speaker in words.speakers], np.int64)
        order = np.argsort(words.times, kind="stable")  # where somebody is heard twice, the last one written stays
        rows, columns, times = rows[order], columns[order], words.times[order]
        new = (columns >= 0) & (times > self._times[rows, columns])
        rows, columns, order = rows[new], columns[new], order[new]
        self._times[rows, columns] = times[new]
        self._states[rows, columns] = words.states[order]
        self._legs[rows, columns] = words.legs[order]
        return list(zip(rows.tolist(), columns.tolist(), np.take(words.packets, order).tolist(), strict=True))

    def at(self, time_ns: int) -> tuple[np.ndarray, np.ndarray]:
        """Where each believes the others to be, [member, node, 6], and of whom it knows, [member, node].

        Position in m and velocity in m/s. A clock that is ahead of ours does not make anybody fly back.
        """
        ages = time_ns - self._times
        known = np.abs(ages) < self._forget_ns
        states = self._states.copy()
        states[..., :3] += states[..., 3:] * (np.where(known, np.maximum(ages, 0), 0) * SECONDS)[..., None]
        return states, known

    @property
    def legs(self) -> np.ndarray:
        """Of the way, which each has told last, [member, node]."""
        return self._legs
