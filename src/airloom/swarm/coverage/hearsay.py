"""Words of others that a member passes on, so that those far apart know of each other, too.

    bytes  0      1, 49, …               3, 51, …
           kind   place among the nodes  a word of that node, as in `duties.py`
           uint8  uint16                 46 bytes

A word keeps the time at which it was measured, so nobody is believed to be where it no longer is, and the dead are
forgotten as soon as if they had been heard directly.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from airloom.radio.packet import LONGEST, Packet
from airloom.swarm.coverage.duties import DUTY_SIZE
from airloom.swarm.words import SIZE

KIND = 0x48
_PLACE = struct.Struct("<H")
_LENGTH = _PLACE.size + SIZE + DUTY_SIZE
MOST = (LONGEST - 1) // _LENGTH


def passed_on(words: dict[int, bytes]) -> bytes:
    """A packet with words by the places of their speakers among the nodes, the first of them if there are too many."""
    return bytes([KIND]) + b"".join(_PLACE.pack(node) + word for node, word in list(words.items())[:MOST])


def directly(packet: Packet, nodes: Sequence[str]) -> list[Packet]:
    """The words in a packet as if they had been heard from their speakers; none if it is no such packet."""
    content = packet.content
    if content[:1] != bytes([KIND]) or len(content) % _LENGTH != 1:
        return []
    found = []
    for at in range(1, len(content), _LENGTH):
        (node,) = _PLACE.unpack_from(content, at)
        if node < len(nodes):
            found.append(packet._replace(sender=nodes[node], content=content[at + _PLACE.size : at + _LENGTH]))
    return found
