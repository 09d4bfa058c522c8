"""Frames at their time of the wall clock: a compiled wait for it, and how late each frame was.

The schedule is fixed when it begins, so that a late frame does not delay those after it. After a gap, such as a pause,
it begins anew: nobody who lives on the wall clock could follow a burst of frames that makes up for it.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from airloom.basics.clock import NS_PER_SECOND, OVERSLEPT
from airloom.compiled import compiled
from airloom.compiled.libc import ABSOLUTE, MONOTONIC, clock_gettime, clock_nanosleep

GAP = 0.1  # s of lateness after which the schedule begins anew
BIN_NS = 10_000
BINS = round(GAP * NS_PER_SECOND / BIN_NS)
OVERSLEPT_NS, GAP_NS = round(OVERSLEPT * NS_PER_SECOND), round(GAP * NS_PER_SECOND)

# When the schedule began by clock and tick, a moment as the C library wants it, what was counted, and how often frames
# were late by each multiple of BIN_NS.
CLOCK_NS, TICK, SECONDS, NANOSECONDS, FRAMES, LATE, GAPS, SUM_NS, SQUARES_US, MOST_NS, HISTOGRAM = range(11)
BEAT = HISTOGRAM + BINS + 1


def report(beat: np.ndarray) -> dict[str, float]:
    """Lateness in seconds; `jitter` is its standard deviation."""
    frames, late, gaps, most_ns = (int(beat[k]) for k in (FRAMES, LATE, GAPS, MOST_NS))
    mean = beat[SUM_NS] / NS_PER_SECOND / max(frames, 1)
    variance = beat[SQUARES_US] * 1e-12 / max(frames, 1) - mean * mean
    enough = int(np.searchsorted(np.cumsum(beat[HISTOGRAM:]), 0.99 * frames)) + 1
    return {
        "frames": frames, "late": late, "gaps": gaps, "mean": float(mean), "jitter": sqrt(max(variance, 0.0)),
        "percentile_99": min(enough * BIN_NS, most_ns) / NS_PER_SECOND, "maximum": most_ns / NS_PER_SECOND,
    }  # fmt: skip


@compiled
def _now_ns(beat):
    clock_gettime(MONOTONIC, beat[SECONDS:].ctypes.data)
    return beat[SECONDS] * NS_PER_SECOND + beat[NANOSECONDS]


@compiled
def wait_for(tick, step_ns, beat):
    """Until the wall clock reaches this tick. The first frame begins the schedule, and what delays the second, when
    everything is compiled, is no gap.
    """
    due = beat[CLOCK_NS] + (tick - beat[TICK]) * step_ns
    late = _now_ns(beat) - due
    if late > GAP_NS or beat[CLOCK_NS] == 0:
        beat[GAPS] += beat[FRAMES] > 0
        beat[CLOCK_NS], beat[TICK] = due + late, tick
        return
    while late < 0:
        beat[SECONDS], beat[NANOSECONDS] = due // NS_PER_SECOND, due % NS_PER_SECOND
        clock_nanosleep(MONOTONIC, ABSOLUTE, beat[SECONDS:].ctypes.data, 0)
        late = _now_ns(beat) - due
    beat[FRAMES] += 1
    beat[LATE] += late > OVERSLEPT_NS
    beat[SUM_NS] += late
    beat[SQUARES_US] += (late // 1000) ** 2
    beat[MOST_NS] = max(beat[MOST_NS], late)
    beat[HISTOGRAM + min(late // BIN_NS, BINS)] += 1
