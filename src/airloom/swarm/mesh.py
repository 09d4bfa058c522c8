"""Messages over several hops, by flooding.

Whoever hears a message for the first time passes it on; so it reaches all who are linked by any chain of radios. The
one it is for answers in the same way, and its sender says it anew, as another round, until it hears the answer: a
message gets through as soon as some chain holds long enough, and one that is cut off keeps its messages until then.
Everything is said in three turns, so that half of all words may be lost and five hops still take no more than a few
rounds.

    bytes  0      1      2      4      6       8       10      11
           kind   hops   from   to     number  round   answer  content
           uint8  uint8  uint16 uint16 uint16  uint16  uint8

little-endian. `from` and `to` are places in the list of all nodes, which everybody knows; `number` counts a sender's
messages; of an answer, `number` and `round` are those of the message that it answers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from airloom.radio.packet import Packet

KIND = 0x4E
HEAD = struct.Struct("<BBHHHHB")
MOST_HOPS = 32
AGAIN = 2.0
"""Seconds from one round to the next."""
COPIES = 3
_REMEMBERED = 4096


class Message(NamedTuple):
    """What has come for this node."""

    sender: str
    content: bytes
    hops: int


@dataclass
class _Open:
    """A message of this node that has not been answered."""

    to: int
    number: int
    content: bytes
    round: int = 0
    next_ns: int = 0


@dataclass
class _Copies:
    """Something to be said, and how often still."""

    word: bytes
    left: int = COPIES


class Mesh:
    """What one node does for its own messages and for those of others."""

    def __init__(self, name: str, nodes: Sequence[str]) -> None:
        self._nodes, self._me = list(nodes), list(nodes).index(name)
        self._count = 0
        self._open: list[_Open] = []
        self._passed: dict[bytes, None] = {}
        self._taken: dict[tuple[int, int], None] = {}
        self._outbox: list[_Copies] = []
        self.relayed = 0
        """How often this node has passed on what is not its own."""

    def say(self, content: bytes, to: str) -> None:
        """Send a message to a node, until it is answered."""
        self._open.append(_Open(self._nodes.index(to), self._count % 2**16, content))
        self._count += 1

    @property
    def unanswered(self) -> int:
        return len(self._open)

    def hear(self, packets: Iterable[Packet]) -> list[Message]:
        """Messages that have come for this node, each once; what else there is to be said follows in `words`."""
        found = []
        for packet in packets:
            if len(packet.content) >= HEAD.size and packet.content[0] == KIND:
                found += self._take(packet.content)
        return found

    def _take(self, heard: bytes) -> list[Message]:
        _, hops, sender, to, number, round_, answer = HEAD.unpack_from(heard)
        label = heard[2 : HEAD.size]
        if sender == self._me or sender >= len(self._nodes) or label in self._passed:
            return []
        _remember(self._passed, label)
        if to != self._me:
            if hops < MOST_HOPS:
                self._outbox.append(_Copies(bytes([KIND, hops + 1]) + heard[2:]))
                self.relayed += 1
            return []
        if answer:
            self._open = [one for one in self._open if (one.to, one.number) != (sender, number)]
            return []
        self._outbox.append(_Copies(HEAD.pack(KIND, 0, self._me, sender, number, round_, 1)))
        if (sender, number) in self._taken:
            return []
        _remember(self._taken, (sender, number))
        return [Message(self._nodes[sender], heard[HEAD.size :], hops + 1)]

    def words(self, time_ns: int) -> list[bytes]:
        """What this node has to say now; asked once a turn."""
        for one in self._open:
            if time_ns >= one.next_ns:
                head = HEAD.pack(KIND, 0, self._me, one.to, one.number, one.round, 0)
                self._outbox.append(_Copies(head + one.content))
                one.round, one.next_ns = (one.round + 1) % 2**16, time_ns + round(AGAIN * 1e9)
        said = [one.word for one in self._outbox]
        for copies in self._outbox:
            copies.left -= 1
        self._outbox = [copies for copies in self._outbox if copies.left]
        return said


def _remember(those: dict, one: object) -> None:
    """The oldest are forgotten when there are too many."""
    those[one] = None
    if len(those) > _REMEMBERED:
        del those[next(iter(those))]
