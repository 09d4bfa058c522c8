"""What a member of a coverage says after its place (see `swarm/words.py`): what it does, and what it knows of the base.

    bytes  29     30                  34              42
           duty   newest beacon       goal            way left
           uint8  uint32              2 × int32 mm    float32 m

The base counts its beacons; each member tells the highest number it has heard of from anybody, so that whoever is
linked with the base by any chain of radios sees the number grow.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from airloom.radio.packet import Packet
from airloom.swarm.words import SIZE

COVERING, RETURNING, AT_THE_BASE = range(3)
"""What somebody does: its part of the area, the way home since it has lost the base; the base itself."""
_DUTY = np.dtype([("duty", "u1"), ("beacon", "<u4"), ("goal", "<i4", 2), ("left", "<f4")])
DUTY_SIZE = _DUTY.itemsize
_FARTHEST = (2**31 - 1) * 1e-3


def duty_told(duty: int, beacon: int, goal: np.ndarray, left: float) -> bytes:
    tail = np.zeros((), _DUTY)
    tail["duty"], tail["beacon"], tail["left"] = duty, beacon, min(left, 1e9)
    tail["goal"] = np.rint(np.clip(goal, -_FARTHEST, _FARTHEST) * 1e3)
    return tail.tobytes()


class Duties:
    """What members have heard of each other's: a row a member, a column a node, as in `Neighbours`."""

    def __init__(self, members: int, nodes: int) -> None:
        self.duties = np.full((members, nodes), COVERING)
        self.goals = np.zeros((members, nodes, 2))
        """m"""
        self.left = np.full((members, nodes), np.inf)
        """Of the way to the goal, m."""
        self.beacons = np.zeros(members, np.int64)
        """The highest number each has heard of."""

    def hear(self, kept: Sequence[tuple[int, int, int]], packets: Sequence[Packet]) -> None:
        """Member, node and packet of each word, as `Neighbours.hear` returns them."""
        kept = [(row, column, k) for row, column, k in kept if len(packets[k].content) == SIZE + _DUTY.itemsize]
        tails = np.frombuffer(b"".join([packets[k].content[SIZE:] for _, _, k in kept]), _DUTY)
        for (row, column, _), tail in zip(kept, tails.tolist(), strict=True):
            duty, beacon, goal, left = tail
            self.duties[row, column], self.left[row, column] = duty, left
            self.goals[row, column] = np.multiply(goal, 1e-3)
            self.beacons[row] = max(self.beacons[row], beacon)
