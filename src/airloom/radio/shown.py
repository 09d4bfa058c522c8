"""The radio for people, whatever draws it: lines between nodes, packets on their way, where a node is heard."""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from airloom.bus import messages
from airloom.radio.links import Links, links_in, traffic
from airloom.radio.packets import Packets, packets_in
from airloom.radio.quality import quality_colours

MEMORY = 2.0  # s of which lines show the mean
MOST_LINES = 1500
FLIGHT, LATE = 0.4, 0.4  # s that a packet takes for the eye, and how late it leaves, for news take their time
DASH = 0.06  # of its way, so long it is drawn
MOST_PACKETS = 3000
PACKET = (40, 24, 120)

Places = Mapping[str, np.ndarray]
"""Where nodes are, by name."""


@dataclass(frozen=True)
class Lines:
    ends: np.ndarray
    """[line, end, xyz], m"""
    colours: np.ndarray
    """[line, red green blue], uint8"""


@dataclass(frozen=True)
class Picture:
    """To be laid over the ground."""

    corner: tuple[float, float]
    """South-west, m"""
    cell: float
    colours: np.ndarray
    """[row, column, red green blue opacity], uint8; rows run north."""


NO_LINES = Lines(np.zeros((0, 2, 3)), np.zeros((0, 3), dtype=np.uint8))


class Watched:
    """What has been told of a radio lately, of all its bands."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._links: dict[str, deque[Links]] = {}
        self._packets: deque[tuple[float, Packets]] = deque()
        self.time = -1.0
        """Of the latest message, s."""

    def take(self, told: Iterable[tuple[str, float, bytes]]) -> None:
        """Messages of the topics: name, time and CDR."""
        for topic, time, cdr in told:
            self.time = max(self.time, time)
            if topic.endswith("/links"):
                links = links_in(messages.deserialize(cdr, messages.RADIO_LINKS))
                kept = self._links.setdefault(topic, deque())
                kept.append(links)
                while kept[0].end_ns <= links.end_ns - MEMORY * 1e9:
                    kept.popleft()
            else:
                self._packets.append((time, packets_in(messages.deserialize(cdr, messages.RADIO_PACKETS))))

    def lines(self, places: Places, only: str | None = None) -> Lines:
        """Two halves a pair: each is coloured by how much the node at its end hears of the other.

        Pairs are those that have heard something of each other, or meant something for the other alone. With `only`,
        those of this node.
        """
        parts = [_halves(list(links), places, only) for links in self._links.values()]
        if not parts:
            return NO_LINES
        return Lines(np.concatenate([part.ends for part in parts]), np.concatenate([part.colours for part in parts]))

    def packets(self, places: Places, now: float) -> Lines:
        """Those that were heard, as short strokes that move from node to node."""
        while self._packets and self._packets[0][0] < now - LATE - 2.0 * FLIGHT:
            self._packets.popleft()
        found = [NO_LINES.ends]
        for _, packets in self._packets:
            share = (now - LATE - packets.heard["heard_ns"] * 1e-9) / FLIGHT
            flies = (share >= 0.0) & (share <= 1.0 - DASH)
            flying, share = packets.heard[flies], share[flies, None]
            at = _at(places, packets.names)
            start, end = at[flying["sender"]], at[flying["receiver"]]
            found.append(np.stack([start + share * (end - start), start + (share + DASH) * (end - start)], axis=1))
        ends = np.concatenate(found)
        ends = ends[np.isfinite(ends).all(axis=(1, 2))]
        ends = ends[:: -(-len(ends) // MOST_PACKETS) or 1]
        return Lines(ends, np.tile(np.array(PACKET, dtype=np.uint8), (len(ends), 1)))


def _at(places: Places, names: tuple[str, ...]) -> np.ndarray:
    """[node, xyz]; NaN of those that are nowhere."""
    nowhere = np.full(3, np.nan)
    return np.array([places.get(name, nowhere) for name in names]).reshape(-1, 3)


def _halves(links: list[Links], places: Places, only: str | None) -> Lines:
    names, sums = links[-1].names, traffic(links)
    at = _at(places, names)
    share = np.nan_to_num(sums.share)
    known = sums.delivered > 0
    for one in links:
        known[one.sender, one.receiver] = True
    first, second = np.nonzero(np.triu(known | known.T, 1))
    chosen = np.isfinite(at[first]).all(axis=1) & np.isfinite(at[second]).all(axis=1)
    if only in names:
        chosen &= (first == names.index(only)) | (second == names.index(only))
    first, second = first[chosen], second[chosen]
    if len(first) > MOST_LINES:
        nearest = np.argsort(np.linalg.norm(at[first] - at[second], axis=1), kind="stable")[:MOST_LINES]
        first, second = first[nearest], second[nearest]
    middle = 0.5 * (at[first] + at[second])
    ends = np.concatenate([np.stack([at[first], middle], axis=1), np.stack([at[second], middle], axis=1)])
    heard = np.concatenate([share[second, first], share[first, second]])
    return Lines(ends, quality_colours(heard))


# -- through a line of JSON --------------------------------------------------------------------------------------------


def as_texts(told: Iterable[tuple[str, float, bytes]]) -> dict[str, Any]:
    return {"told": [[topic, time, base64.b64encode(cdr).decode()] for topic, time, cdr in told]}


def told_in(reply: dict[str, Any]) -> list[tuple[str, float, bytes]]:
    return [(topic, time, base64.b64decode(text)) for topic, time, text in reply["told"]]
