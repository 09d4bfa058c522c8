"""Frames that logic asks for at once leave at different times.

Logic of all vehicles runs at the same moments here, but not in the air. Without this, radios on an idle medium would
all begin together, and nobody would hear anything.
"""

from __future__ import annotations

import numpy as np

from airloom.radio.fading import uniforms
from airloom.radio.medium import Frame
from airloom.radio.state import JITTER
from airloom.sensors.noise import stream_key


def spread(frames: list[Frame], jitter_ns: int, seed: int) -> list[Frame]:
    """Each frame later by a random time up to `jitter_ns`, which follows from its number. For any medium."""
    if not frames:
        return []
    key = np.uint64(stream_key(seed, "radio"))
    later = [int(uniforms(key, frame.number, 0, frame.sender, JITTER)[0] * jitter_ns) for frame in frames]
    return [frame._replace(time_ns=frame.time_ns + ns) for frame, ns in zip(frames, later, strict=True)]
