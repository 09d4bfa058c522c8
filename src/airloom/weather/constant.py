"""Wind that is the same everywhere and always, and the seed's wave in time."""

from __future__ import annotations

from math import cos

import numpy as np

from airloom.scenario import weather as models
from airloom.weather.air import wind_law
from airloom.weather.law import Law, Surroundings


@wind_law
def blow_constantly(t, x, y, z, h, p, v):
    """p is its velocity, m/s."""
    v[0] += p[0]
    v[1] += p[1]
    v[2] += p[2]


@wind_law
def blow_in_waves(t, x, y, z, h, p, v):
    """V (1 − A cos ωt) on x and y, V on z: a sprayer thesis' wind controller, its Figure 14. p: V, A, ω (rad/s).

    With −cos it starts from the least wind.
    """
    share = 1.0 - p[3] * cos(p[4] * t)
    v[0] += p[0] * share
    v[1] += p[1] * share
    v[2] += p[2]


class ConstantLaw(Law):
    kernel = blow_constantly

    def __init__(self, layer: models.Constant, around: Surroundings) -> None:
        self.numbers = np.array(layer.velocity, dtype=float)


class WaveLaw(Law):
    kernel = blow_in_waves

    def __init__(self, layer: models.Wave, around: Surroundings) -> None:
        self.numbers = np.array([*layer.velocity, layer.amplitude, layer.pulsation])
