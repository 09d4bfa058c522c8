"""Wind that grows with the height above the ground."""

from __future__ import annotations

from math import log

import numpy as np

from airloom.scenario import weather as models
from airloom.weather.air import wind_law
from airloom.weather.law import Law, Surroundings


@wind_law
def grow_as_logarithm(t, x, y, z, h, p, v):
    """v ← v ln((h − d)/z₀) / ln((h_r − d)/z₀), 0 below d + z₀: the neutral surface layer (Stull, An Introduction to
    Boundary Layer Meteorology, 1988, 9.7). p: z₀, d (m), 1/ln((h_r − d)/z₀). The vertical wind stays.
    """
    above = (h - p[1]) / p[0]
    share = log(above) * p[2] if above > 1.0 else 0.0
    v[0] *= share
    v[1] *= share


@wind_law
def grow_as_power(t, x, y, z, h, p, v):
    """v ← v (h/h_r)^α, 0 at the ground (IEC 61400-1, 6.3.1.2). p: h_r (m), α. The vertical wind stays."""
    share = (h / p[0]) ** p[1] if h > 0.0 else 0.0
    v[0] *= share
    v[1] *= share


class ProfileLaw(Law):
    def __init__(self, layer: models.Profile, around: Surroundings) -> None:
        if layer.law == "power":
            self.kernel = grow_as_power
            self.numbers = np.array([layer.reference_height, layer.exponent])
        else:
            self.kernel = grow_as_logarithm
            rise = log((layer.reference_height - layer.displacement) / layer.roughness)
            self.numbers = np.array([layer.roughness, layer.displacement, 1.0 / rise])
