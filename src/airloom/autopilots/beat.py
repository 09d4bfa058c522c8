"""Frames at their time of the wall clock: a compiled wait for it, and how late each frame was.

The schedule is fixed when it begins, so that a late frame does not delay those after it. After a gap, such as a pause,
it begins anew: nobody who lives on the wall clock could follow a burst of frames that makes up for it.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from airloom.clock import NS_PER_SECOND
from airloom.compiled import compiled
from airloom.pacing import TOLERANCE
from airloom.system_calls import ABSOLUTE, MONOTONIC, clock_gettime, clock_nanosleep

GAP = 0.1  # s of lateness after which the schedule begins anew
BIN_NS = 10_000
BINS = round(GAP * NS_PER_SECOND / BIN_NS)
TOLERANCE_NS, GAP_NS = round(TOLERANCE * NS_PER_SECOND), round(GAP * NS_PER_SECOND)

# When the schedule began by clock and tick, the length of a tick, a moment as the C library wants it, and what was counted.
CLOCK_NS, TICK, STEP_NS, SECONDS, NANOSECONDS, FRAMES, LATE, GAPS, SCHEDULE = range(9)
SUM, SQUARES, MOST, SUMS = range(4)


class Beat:
    """The schedule of frames, and their lateness."""

    def __init__(self, step_ns: int) -> None:
        self.schedule = np.zeros(SCHEDULE, np.int64)
        self.schedule[STEP_NS] = step_ns
        self.sums, self.histogram = np.zeros(SUMS), np.zeros(BINS + 1, np.int64)

    def report(self) -> dict[str, float]:
        """Lateness in seconds; `jitter` is its standard deviation."""
        frames, late, gaps = (int(self.schedule[k]) for k in (FRAMES, LATE, GAPS))
        mean = self.sums[SUM] / max(frames, 1)
        variance = self.sums[SQUARES] / max(frames, 1) - mean * mean
        most = float(self.sums[MOST])
        above = (np.searchsorted(np.cumsum(self.histogram), 0.99 * frames) + 1) * BIN_NS / NS_PER_SECOND
        return {
            "frames": frames, "late": late, "gaps": gaps, "mean": float(mean), "jitter": sqrt(max(variance, 0.0)),
            "percentile_99": min(above, most), "maximum": most,
        }  # fmt: skip


@compiled
def now_ns(schedule):
    clock_gettime(MONOTONIC, schedule[SECONDS:].ctypes.data)
    return schedule[SECONDS] * NS_PER_SECOND + schedule[NANOSECONDS]


@compiled
def wait_for(tick, schedule, sums, histogram):
    """Until the wall clock reaches this tick. The first frame begins the schedule, and no wait before the second is a gap."""
    due = schedule[CLOCK_NS] + (tick - schedule[TICK]) * schedule[STEP_NS]
    late = now_ns(schedule) - due
    if late > GAP_NS or schedule[CLOCK_NS] == 0:
        schedule[GAPS] += schedule[FRAMES] > 0
        schedule[CLOCK_NS], schedule[TICK] = due + late, tick
        return
    while late < 0:
        schedule[SECONDS], schedule[NANOSECONDS] = due // NS_PER_SECOND, due % NS_PER_SECOND
        clock_nanosleep(MONOTONIC, ABSOLUTE, schedule[SECONDS:].ctypes.data, 0)
        late = now_ns(schedule) - due
    seconds = late / NS_PER_SECOND
    schedule[FRAMES] += 1
    schedule[LATE] += late > TOLERANCE_NS
    sums[SUM] += seconds
    sums[SQUARES] += seconds * seconds
    sums[MOST] = max(sums[MOST], seconds)
    histogram[min(late // BIN_NS, BINS)] += 1
