"""Words on the air: what a member of a swarm says of itself, in 29 bytes.

    bytes  0       1      3        11                23                 29
           kind    leg    time     position          velocity
           uint8   uint16 int64 ns 3 × int32 mm      3 × int16 cm/s

All little-endian; position and velocity are in the world's axes. More may follow, which is for those who know what it
means. Whoever hears something else in the same channel passes over it: another kind, or too short.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from airloom.radio.packet import Packet

KIND = 0x53
_WORD = np.dtype([("kind", "u1"), ("leg", "<u2"), ("time", "<i8"), ("position", "<i4", 3), ("velocity", "<i2", 3)])
SIZE = _WORD.itemsize
MOST_LEGS = 2**16 - 1
_FARTHEST, _FASTEST = (2**31 - 1) * 1e-3, (2**15 - 1) * 1e-2


class Words(NamedTuple):
    """What was heard, a row a packet."""

    packets: list[int]
    """Which of the packets they were."""
    speakers: list[str]
    times: np.ndarray
    """When it was measured, ns."""
    states: np.ndarray
    """Position, m, and velocity, m/s: [packet, 6]."""
    legs: np.ndarray
    """Of the way, as each counts them."""


def spoken(time_ns: int, state: Sequence[float] | np.ndarray, leg: int = 0) -> bytes:
    """Position and velocity, six numbers, measured at a time, as a packet's content."""
    word, state = np.zeros((), _WORD), np.asarray(state, float)
    word["kind"], word["leg"], word["time"] = KIND, min(leg, MOST_LEGS), time_ns
    word["position"] = np.rint(np.clip(state[:3], -_FARTHEST, _FARTHEST) * 1e3)
    word["velocity"] = np.rint(np.clip(state[3:], -_FASTEST, _FASTEST) * 1e2)
    return word.tobytes()


def understood(packets: Sequence[Packet]) -> Words:
    """What these packets say; those that are no such words are passed over."""
    kept = [k for k, packet in enumerate(packets) if len(packet.content) >= SIZE and packet.content[0] == KIND]
    words = np.frombuffer(b"".join([packets[k].content[:SIZE] for k in kept]), _WORD)
    states = np.empty((len(kept), 6))
    states[:, :3], states[:, 3:] = words["position"] * 1e-3, words["velocity"] * 1e-2
    return Words(kept, [packets[k].sender for k in kept], words["time"], states, words["leg"].astype(np.int64))
