"""Fading: how much the power of one frame at one receiver differs from its mean. Each draw belongs to a frame, an attempt
and a receiver, so the order in which they are asked for does not matter."""

from __future__ import annotations

from math import cos, log, pi, sin, sqrt

import numpy as np

from airloom.compiled import compiled
from airloom.sensors.noise import philox

NO_FADING, NAKAGAMI, RICIAN = range(3)
_LOW, _16, _32 = np.uint64(0xFFFFFFFF), np.uint64(16), np.uint64(32)
_TO_UNIT = 2.0**-32


@compiled
def uniforms(key, number, attempt, receiver, purpose):
    """Four numbers between 0 and 1, exclusive, for an attempt to bring a frame to a receiver."""
    number, attempt = np.uint64(number), np.uint64(attempt)
    high = (number >> _32) ^ (attempt << _16)
    a, b, c, d = philox(number & _LOW, high & _LOW, np.uint64(receiver), np.uint64(purpose), key)
    return (
        (np.float64(a) + 0.5) * _TO_UNIT,
        (np.float64(b) + 0.5) * _TO_UNIT,
        (np.float64(c) + 0.5) * _TO_UNIT,
        (np.float64(d) + 0.5) * _TO_UNIT,
    )


@compiled
def nakagami(shape, key, number, attempt, receiver, purpose):
    """Power of a signal whose amplitude has Nakagami's distribution, with mean 1: a gamma variate of shape m, over m.

    Its variance is 1/m; m = 1 is Rayleigh's fading. Drawn by Marsaglia and Tsang's method (*ACM Trans. Math. Softw.*
    26, 2000): d (1 + c x)³ with normal x, d = m − 1/3, c = 1/√(9d), and U^(1/m) of the next shape if m < 1.
    """
    raised = shape if shape >= 1.0 else shape + 1.0
    d = raised - 1.0 / 3.0
    c = 1.0 / sqrt(9.0 * d)
    for trial in range(64):
        u, v, w, boost = uniforms(key, number, attempt, receiver, purpose + 256 * trial)
        x = sqrt(-2.0 * log(u)) * cos(2.0 * pi * v)
        cube = (1.0 + c * x) ** 3
        if cube > 0.0 and log(w) < 0.5 * x * x + d * (1.0 - cube + log(cube)):
            value = d * cube / shape
            return value if shape >= 1.0 else value * boost ** (1.0 / shape)
    return 1.0


@compiled
def rician(k, key, number, attempt, receiver, purpose):
    """Power of a steady ray and many scattered ones, with mean 1; K is the ratio of the steady power to the scattered.

    |√(K/(K+1)) + (x + iy)/√(2(K+1))|², x and y normal; the variance is (1 + 2K)/(1 + K)² (Rice, 1944). K = 0 is
    Rayleigh's fading.
    """
    u, v, _, _ = uniforms(key, number, attempt, receiver, purpose)
    radius = sqrt(-2.0 * log(u) / (2.0 * (k + 1.0)))
    along = sqrt(k / (k + 1.0)) + radius * cos(2.0 * pi * v)
    across = radius * sin(2.0 * pi * v)
    return along * along + across * across
