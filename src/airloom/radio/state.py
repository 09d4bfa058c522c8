"""What the compiled loop of the built-in medium works on: nodes, their queues, and who hears whom."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

NOBODY = -1
SILENT, DATA, ACKNOWLEDGEMENT = range(3)
"""What a node has on the air."""
FADING_OF_DATA, FADING_OF_ACKNOWLEDGEMENT, LUCK_OF_DATA, LUCK_OF_ACKNOWLEDGEMENT, BACKOFF, JITTER = range(6)
"""What random numbers are for."""
GIVEN, SENT, REFUSED, QUEUE_DROPS, EXPIRED, RETRIES, ACKNOWLEDGED, GIVEN_UP, HEARD, COLLISIONS, NOISE_LOSSES = range(11)
"""Columns of the counts, in the order of `Outcomes`."""
NOW, ARRIVED, NEXT_GIVEN, CAPTURED = range(4)
"""Places in the clock."""

_INT, _FLOAT = np.int64, np.float64
NODE = np.dtype(
    [
        # what it hears; these come first because every signal touches them
        ("sends", _INT), ("signals", _INT), ("incident", _FLOAT), ("sensed", _FLOAT), ("follows", _INT),
        ("candidate", _INT), ("candidate_power", _FLOAT), ("is_busy", _INT), ("is_on", _INT), ("jamming", _FLOAT),
        ("noise", _FLOAT), ("followed_power", _FLOAT), ("settled_ns", _INT), ("errors", _FLOAT), ("is_spoiled", _INT),
        # access to the medium
        ("idle_from", _INT), ("error_until", _INT), ("reserved_until", _INT),
        ("window", _INT), ("slots", _INT), ("backoff_from", _INT), ("draws", _INT),
        # the queue, and the frame at its head
        ("head", _INT), ("length", _INT), ("attempts", _INT), ("is_delivered", _INT), ("awaits", _INT),
        # what it has on the air, for those in its row
        ("to", _INT), ("number", _INT), ("attempt", _INT), ("rate", _INT), ("is_long", _INT),
        ("from_ns", _INT), ("until_ns", _INT), ("is_sensed", _INT), ("is_cut", _INT), ("row", _INT), ("epoch", _INT),
        # an acknowledgement that it owes
        ("answers", _INT), ("answers_number", _INT), ("answers_attempt", _INT),
    ]
)  # fmt: skip
"""A node. Times in ns, powers in mW. In compiled code `e.nodes[node]` is the node itself, no copy of it."""
QUEUED = np.dtype([("number", _INT), ("to", _INT), ("size", _INT), ("time_ns", _INT)])
CAPTURE = np.dtype(
    [
        ("time_ns", _INT), ("node", _INT), ("sender", _INT), ("to", _INT), ("number", _INT), ("attempt", _INT),
        ("kind", _INT), ("rate", _INT), ("strength", _FLOAT),
    ]
)  # fmt: skip
"""What a node has begun to send, or has understood, at a strength in dBm."""


class Access(NamedTuple):
    """Parameters of the access to the medium. Times in ns."""

    slot: int
    difs: int
    least_window: int
    largest_window: int
    attempts: int
    lifetime: int
    rate: int
    """Index, as the next two."""
    broadcast_rate: int
    acknowledgement_rate: int
    detectable_mw: float
    detectable_snr: float
    energy_mw: float


class Ether(NamedTuple):
    """All arrays of the loop."""

    nodes: np.ndarray
    queues: np.ndarray
    """[node, place] of QUEUED; a ring for each node."""
    times: np.ndarray
    winners: np.ndarray
    who: np.ndarray
    """[sender, k]: nodes that may hear it; then the mean power there (mW), the distance (m), and the power of the frame
    that is on the air now (mW)."""
    mean: np.ndarray
    distance: np.ndarray
    power: np.ndarray
    words: np.ndarray
    """Random numbers for a row, [draw, k], as words and between 0 and 1."""
    uniform: np.ndarray
    transmitted: np.ndarray
    """dBm of each node, and how far it counts at best, m."""
    reach: np.ndarray
    world: np.ndarray
    antennas: np.ndarray
    heights: np.ndarray
    phases: np.ndarray
    links: np.ndarray
    ratios: np.ndarray
    clear_from: np.ndarray
    megabits: np.ndarray
    arrivals: np.ndarray
    captures: np.ndarray | None
    """Of CAPTURE. None if nobody wants to know: then the loop is compiled without it, which is a tenth faster."""
    counts: np.ndarray
    clock: np.ndarray
