"""Fading: how much the power of one frame at one receiver differs from its mean.

Each draw belongs to a frame, an attempt and a receiver, so the order in which they are asked for does not matter.
"""

from __future__ import annotations

from math import cos, log, pi, sin, sqrt

import numpy as np

from airloom.compiled import compiled
from airloom.sensors.noise import philox, philox_side_by_side

NO_FADING, NAKAGAMI, RICIAN = range(3)
_LOW, _16, _32 = np.uint64(0xFFFFFFFF), np.uint64(16), np.uint64(32)
_TO_UNIT = 2.0**-32
MOST_TRIALS = 64


@compiled
def uniforms(key, number, attempt, receiver, purpose):
    """Four numbers between 0 and 1, exclusive, for an attempt to bring a frame to a receiver."""
    low, high = _counter(number, attempt)
    a, b, c, d = philox(low, high, np.uint64(receiver), np.uint64(purpose), key)
    return _to_unit(a), _to_unit(b), _to_unit(c), _to_unit(d)


@compiled
def fill_uniforms(key, number, attempt, receivers, count, purpose, words, uniform):
    """The same for each of `count` receivers, [number, receiver]."""
    low, high = _counter(number, attempt)
    for i in range(count):
        words[0, i], words[1, i] = low, high
        words[2, i], words[3, i] = np.uint64(receivers[i]), np.uint64(purpose)
    philox_side_by_side(words, count, key)
    for draw in range(4):
        for i in range(count):
            uniform[draw, i] = _to_unit(words[draw, i])


@compiled
def _counter(number, attempt):
    number, attempt = np.uint64(number), np.uint64(attempt)
    return number & _LOW, ((number >> _32) ^ (attempt << _16)) & _LOW


@compiled
def _to_unit(word):
    return (np.float64(np.int64(word)) + 0.5) * _TO_UNIT


@compiled
def nakagami(shape, u, v, w, boost):
    """Power of a signal whose amplitude has Nakagami's distribution, with mean 1: a gamma variate of shape m, over m.

    Its variance is 1/m; m = 1 is Rayleigh's fading. Drawn by Marsaglia and Tsang's method (*ACM Trans. Math. Softw.*
    26, 2000): d (1 + c x)³ with normal x, d = m − 1/3, c = 1/√(9d), and U^(1/m) of the next shape if m < 1. It rejects
    some draws, and is negative then.
    """
    raised = shape if shape >= 1.0 else shape + 1.0
    d = raised - 1.0 / 3.0
    c = 1.0 / sqrt(9.0 * d)
    x = sqrt(-2.0 * log(u)) * cos(2.0 * pi * v)
    cube = (1.0 + c * x) ** 3
    if cube <= 0.0 or not (w < 1.0 - 0.0331 * x**4 or log(w) < 0.5 * x * x + d * (1.0 - cube + log(cube))):
        return -1.0
    value = d * cube / shape
    return value if shape >= 1.0 else value * boost ** (1.0 / shape)


@compiled
def nakagami_after_all(shape, key, number, attempt, receiver, purpose):
    """The same when the first draw was rejected."""
    for trial in range(1, MOST_TRIALS):
        u, v, w, boost = uniforms(key, number, attempt, receiver, purpose + 256 * trial)
        value = nakagami(shape, u, v, w, boost)
        if value >= 0.0:
            return value
    return 1.0


@compiled
def rician(k, u, v):
    """Power of a steady ray and many scattered ones, with mean 1; K is the ratio of the steady power to the scattered.

    |√(K/(K+1)) + (x + iy)/√(2(K+1))|², x and y normal; the variance is (1 + 2K)/(1 + K)² (Rice, 1944). K = 0 is
    Rayleigh's fading.
    """
    radius = sqrt(-2.0 * log(u) / (2.0 * (k + 1.0)))
    along = sqrt(k / (k + 1.0)) + radius * cos(2.0 * pi * v)
    across = radius * sin(2.0 * pi * v)
    return along * along + across * across
