"""Noise from counters: every draw is a function of (seed, vehicle, sensor, sample, channel) and of nothing else.

Philox 4×32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). No generator state is kept, so
adding a sensor, skipping one or sampling in another order changes no other sensor's noise.
"""

from __future__ import annotations

import hashlib
from math import cos, log, pi, sin, sqrt

import numpy as np

from airloom.compiled import compiled

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW, _32, _11 = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(11)
_TO_UNIT = 2.0**-53
ROUNDS = 10


def stream_key(seed: int, *names: str) -> int:
    """The 64-bit key of a noise stream."""
    text = "\0".join([str(seed), *names]).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


@compiled
def philox(c0, c1, c2, c3, key):
    """Four random 32-bit words for a 128-bit counter and a 64-bit key."""
    k0, k1 = key & _LOW, key >> _32
    for _ in range(ROUNDS):
        c0, c1, c2, c3 = _round(c0, c1, c2, c3, k0, k1)
        k0, k1 = (k0 + _W0) & _LOW, (k1 + _W1) & _LOW
    return c0, c1, c2, c3


@compiled
def _round(c0, c1, c2, c3, k0, k1):
    a, b = _M0 * c0, _M1 * c2
    return (b >> _32) ^ c1 ^ k0, b & _LOW, (a >> _32) ^ c3 ^ k1, a & _LOW


@compiled
def philox_side_by_side(words, count, key):
    """The same for many counters at once, [word, counter], in place: the processor does several in one go."""
    k0, k1 = key & _LOW, key >> _32
    for _ in range(ROUNDS):
        for i in range(count):
            words[0, i], words[1, i], words[2, i], words[3, i] = _round(
                words[0, i], words[1, i], words[2, i], words[3, i], k0, k1
            )
        k0, k1 = (k0 + _W0) & _LOW, (k1 + _W1) & _LOW


@compiled
def normal_pair(key, sample, channel):
    """Two independent standard normal numbers (Box and Muller) of a stream."""
    sample, channel = np.uint64(sample), np.uint64(channel)
    a, b, c, d = philox(sample & _LOW, sample >> _32, channel, np.uint64(0), key)
    u = (np.float64(((a << _32) | b) >> _11) + 0.5) * _TO_UNIT
    v = np.float64(((c << _32) | d) >> _11) * _TO_UNIT
    radius = sqrt(-2.0 * log(u))
    return radius * cos(2.0 * pi * v), radius * sin(2.0 * pi * v)
