"""Sizes of drops: how the volume of a spray is spread over their diameters."""

from __future__ import annotations

from math import exp, log
from statistics import NormalDist

import numpy as np

from airloom.scenario.nozzles import Drops

TABLE = 256  # diameters that stand for a distribution
SMALLEST, LARGEST = 5e-6, 4e-3  # m
MICROMETRE = 1e-6


def quantile(drops: Drops, share: float) -> float:
    """The diameter, m, below which this share of the volume is: D_V0.1 for 0.1.

    Rosin–Rammler: 1 − exp(−ln 2 (D / D_V0.5)^q) of the volume is in drops below D (P. Rosin, E. Rammler, J. Inst. Fuel
    7, 1933). Log-normal: ln D is normal with mean ln D_V0.5 and standard deviation ln σ_g.
    """
    median = drops.median * MICROMETRE
    if drops.law == "rosin_rammler":
        return median * (-log(1.0 - share) / log(2.0)) ** (1.0 / drops.spread)
    return median * exp(log(drops.spread) * NormalDist().inv_cdf(share))


def relative_span(drops: Drops) -> float:
    """(D_V0.9 − D_V0.1) / D_V0.5."""
    return (quantile(drops, 0.9) - quantile(drops, 0.1)) / quantile(drops, 0.5)


def diameters(drops: Drops) -> np.ndarray:
    """[TABLE] m, from small to large, in which equal volumes are: whoever draws one evenly draws by volume."""
    shares = (np.arange(TABLE) + 0.5) / TABLE
    return np.clip([quantile(drops, float(share)) for share in shares], SMALLEST, LARGEST)
