"""Timers of many nodes in a tournament: the next to ring stands at the root.

Every timer has a leaf of its own, so setting one anew replaces it and nothing stale is left behind. A timer that is
not set stands at NEVER. Timers that ring at the same time come in the order of their leaves.
"""

from __future__ import annotations

import numpy as np

from airloom.compiled import compiled

NEVER = np.iinfo(np.int64).max


def new_timers(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Times of `count` timers at least, filled up to a power of two, and the winners of their matches, root first."""
    leaves = 1 << max(count - 1, 1).bit_length()
    winners = np.zeros(leaves, dtype=np.int64)
    level, first = np.arange(leaves), leaves // 2
    while first >= 1:
        level = level[::2]
        winners[first : 2 * first] = level
        first //= 2
    return np.full(leaves, NEVER, dtype=np.int64), winners


@compiled
def set_timer(times, winners, timer, time):
    """Let a timer ring at another time; O(log n)."""
    times[timer] = time
    leaves = times.shape[0]
    match = (leaves + timer) >> 1
    left = timer & ~1
    right = left + 1
    winners[match] = left if times[left] <= times[right] else right
    match >>= 1
    while match >= 1:
        left, right = winners[2 * match], winners[2 * match + 1]
        winners[match] = left if times[left] <= times[right] else right
        match >>= 1


@compiled
def next_timer(winners):
    return winners[1]
