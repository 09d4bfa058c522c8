"""Discrete gusts."""

from __future__ import annotations

from math import cos, floor, inf, pi

import numpy as np

from airloom.scenario import weather as models
from airloom.weather.air import wind_law
from airloom.weather.law import Law, Surroundings

START, RISE, HOLD, EVERY, SLOW_X, SLOW_Y, SLOW_Z = range(3, 10)


@wind_law
def blow_in_gusts(t, x, y, z, h, p, v):
    """V/2 (1 − cos(π s/rise)) for 0 ≤ s ≤ rise, then V while it holds, then back the same way: the discrete gust of
    MIL-F-8785C, 3.7.2.3, with an end.

    s is the time since its front came by: t − start − r·c/c², c the velocity that carries it. p: V (m/s), start, rise,
    hold, time from gust to gust (s), c/c² (s/m, 0 for everywhere at once).
    """
    s = t - p[START] - (x * p[SLOW_X] + y * p[SLOW_Y] + z * p[SLOW_Z])
    if s <= 0.0:
        return
    if p[EVERY] < inf:
        s -= p[EVERY] * floor(s / p[EVERY])
    s = min(s, 2.0 * p[RISE] + p[HOLD] - s, p[RISE])
    if s <= 0.0:
        return
    share = 0.5 * (1.0 - cos(pi * s / p[RISE]))
    v[0] += p[0] * share
    v[1] += p[1] * share
    v[2] += p[2] * share


class GustLaw(Law):
    kernel = blow_in_gusts

    def __init__(self, layer: models.Gust, around: Surroundings) -> None:
        carrier = np.array(layer.carried_by or (0.0, 0.0, 0.0))
        square = float(carrier @ carrier)
        slowness = carrier / square if square > 0.0 else carrier
        every = inf if layer.every is None else layer.every
        self.numbers = np.array([*layer.velocity, layer.start, layer.rise, layer.hold, every, *slowness])
