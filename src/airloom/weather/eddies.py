"""Lines of turbulence: sequences along the wind with the exact autocorrelations of Dryden's spectra.

Lengths are in units of the scale L, σ = 1. Along the wind R_u(s) = e^(−s), and across it, v and w alike,
R_v(s) = e^(−s) (1 − s/2): the Fourier transforms of the spectra in MIL-F-8785C, 3.7.1.2. Sampled every Δ, with
a = e^(−Δ) and n white noise, these are

    u_k = a u_(k−1) + √(1 − a²) n_k
    v_k = 2a v_(k−1) − a² v_(k−2) + b₀ n_k + b₁ n_(k−1),

with b₀ and b₁ so that the autocorrelations at 0 and Δ are exact; all others are then, too. Lines are rings:
the recursion starts from the state that its last samples lead to.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, sqrt

import numpy as np

from airloom.compiled import compiled
from airloom.sensors.noise import normal_pair

SAMPLES = 128  # in a length scale; linear interpolation between them loses 1/3 · 1/128 = 0.26 % of the variance of u
LENGTH = 2**17  # samples: 1024 scales until a line comes round
LINES = 4
WARM_UP = 40 * SAMPLES  # samples after which e^(−s) has forgotten how it began


def shaping(spacing: float) -> tuple[float, float, float]:
    """a, b₀, b₁ for samples every `spacing` scales."""
    a = exp(-spacing)
    weights = np.array([1.0, -2.0 * a, a * a])
    lags = np.arange(4) * spacing
    correlation = np.exp(-lags) * (1.0 - lags / 2.0)
    # Autocovariance at lags 0 and 1 of what drives the recursion: b₀² + b₁² and b₀ b₁.
    places = np.arange(3)
    power, overlap = (float(weights @ correlation[np.abs(places[:, None] - places + lag)] @ weights) for lag in (0, 1))
    plus, minus = sqrt(power + 2.0 * overlap), sqrt(power - 2.0 * overlap)
    return a, 0.5 * (plus + minus), 0.5 * (plus - minus)


@compiled
def _draw(pairs, singles, key, a, fresh, b0, b1):
    """Fill `pairs` [line, sample, (u, v)] and `singles` [line, sample] of w; the last sample repeats the first."""
    lines, length = pairs.shape[0], pairs.shape[1] - 1
    for line in range(lines):
        u = v = w = v_before = w_before = n_before = m_before = 0.0
        for k in range(-WARM_UP, length):
            sample = k if k >= 0 else k + length
            n_u, n_v = normal_pair(key, sample, 2 * line)
            n_w, _ = normal_pair(key, sample, 2 * line + 1)
            u = a * u + fresh * n_u
            v, v_before = 2.0 * a * v - a * a * v_before + b0 * n_v + b1 * n_before, v
            w, w_before = 2.0 * a * w - a * a * w_before + b0 * n_w + b1 * m_before, w
            n_before, m_before = n_v, n_w
            if k >= 0:
                pairs[line, k, 0], pairs[line, k, 1], singles[line, k] = u, v, w
        pairs[line, length, 0], pairs[line, length, 1] = pairs[line, 0, 0], pairs[line, 0, 1]
        singles[line, length] = singles[line, 0]


@lru_cache(maxsize=4)
def lines_of(key: int) -> tuple[np.ndarray, np.ndarray]:
    """float32 [line, sample, (u, v)] and [line, sample] of w, both with σ = 1."""
    pairs, singles = np.empty((LINES, LENGTH + 1, 2), np.float32), np.empty((LINES, LENGTH + 1), np.float32)
    a, b0, b1 = shaping(1.0 / SAMPLES)
    _draw(pairs, singles, np.uint64(key), a, sqrt(1.0 - a * a), b0, b1)
    return pairs, singles
