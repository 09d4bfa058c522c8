"""What can be wrong with a sensor, whatever it measures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from airloom.sensors.sensor_errors import CHANNELS


def _nothing() -> np.ndarray:
    return np.zeros(CHANNELS)


@dataclass(frozen=True)
class Fault:
    """What one cause does to one sensor. Offset and noise are those of errors, channel by channel."""

    outage: bool = False
    """Nothing is measured, nothing is published."""
    frozen: bool = False
    """The last reading is published again and again."""
    offset: np.ndarray = field(default_factory=_nothing)
    noise: np.ndarray = field(default_factory=_nothing)
    """Standard deviation of a sample, beside the sensor's own."""


def together(faults: Iterable[Fault]) -> Fault:
    """What several causes do at once: offsets add, and so do the variances of noise; an outage hides all else."""
    faults = list(faults)
    return Fault(
        outage=any(fault.outage for fault in faults),
        frozen=any(fault.frozen for fault in faults),
        offset=sum((fault.offset for fault in faults), _nothing()),
        noise=np.sqrt(sum((fault.noise**2 for fault in faults), _nothing())),
    )
