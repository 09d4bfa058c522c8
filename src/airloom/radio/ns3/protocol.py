"""What Airloom and the helper say to each other; `helper/wire.h` is the other end.

A message is its length (u32, of what follows), its kind (one letter) and its body; all numbers are little-endian.

| kind | to the helper | its answer |
|---|---|---|
| `S` | setup: lines of text, a key and a value | `F`: what ns-3 made of it, lines of text |
| `R` | run: until when, positions, jammers, blocked links, frames | `A`: when its next event is, arrivals |
| `N` | the name of a node that is new | `N` |
| `C` | nothing | `C`: counts of each node |
| `L` | nothing | `L`: flows, none unless the monitor was asked for |
| `Q` | nothing: the end | `Q`, then it ends |

Instead of any answer there may be `E`, what is wrong in words, and the helper ends.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from airloom.radio.medium import Frame, Jammer, Outcomes

HEAD = struct.Struct("<Ic")
LENGTH = struct.Struct("<I")
LONGEST = 1 << 30

COUNTS = np.dtype([(name, "<i8") for name in Outcomes._fields])
FLOW = np.dtype(
    [
        (name, "<i8")
        for name in ("sender", "receiver", "sent", "heard", "bytes_heard", "delay_sum_ns", "jitter_sum_ns")
    ]
)  # fmt: skip

NEXT_EVENT = struct.Struct("<q")
_UNTIL = struct.Struct("<q")
_JAMMER = struct.Struct("<4d")
_LINK = struct.Struct("<II")
_FRAME = struct.Struct("<qqiiII")


def run_body(
    until_ns: int,
    positions: np.ndarray,
    frames: Sequence[tuple[Frame, bytes]],
    jammers: Sequence[Jammer] = (),
    blocked: Sequence[tuple[int, int]] = (),
) -> bytes:
    """Positions [node, 3]; of frames whose bytes do not matter, these are empty."""
    parts = [_UNTIL.pack(until_ns), np.ascontiguousarray(positions, "<f8").tobytes()]
    parts += [LENGTH.pack(len(jammers)), *(_JAMMER.pack(*jammer.position, jammer.power) for jammer in jammers)]
    parts += [LENGTH.pack(len(blocked)), *(_LINK.pack(*link) for link in blocked), LENGTH.pack(len(frames))]
    for frame, payload in frames:
        parts.append(_FRAME.pack(frame.number, frame.time_ns, frame.sender, frame.to, frame.size, len(payload)))
        parts.append(payload)
    return b"".join(parts)
