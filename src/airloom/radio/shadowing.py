"""Shadowing: what stands between two antennas, as a random loss that changes slowly with the places of both.

A field over the places a and b of the two ends, a sum of N waves (Cai, Giannakis, "A two-dimensional channel simulation
model for shadowing processes", *IEEE Trans. Veh. Technol.* 52, 2003; for two moving ends: Jaeckel et al., "Efficient
sum-of-sinusoids-based spatial consistency for the 3GPP New-Radio channel model", 2018):

    S(a, b) = σ / √(N (1 + e^(−2|a−b|/D))) Σᵢ cos(kᵢ·a + qᵢ·b + φᵢ) + cos(kᵢ·b + qᵢ·a + φᵢ)

σ is the standard deviation, dB, and D the distance over which the correlation falls to 1/e: e^(−|Δa|/D) (Gudmundson,
*Electronics Letters* 27, 1991). That asks for wave vectors from the spectrum of e^(−r/D) in space, (1 + k²D²)^(−2),
which is Cauchy's distribution: three normal numbers over a fourth. Both directions of a link have the same loss, and
there is no state: the field follows from the seed. The root makes the variance σ² for ends that are close, too, where
the two cosines are alike.
"""

from __future__ import annotations

from math import cos, exp, sin, sqrt

import numpy as np

from airloom.compiled import compiled

WAVES = 64


def waves_of(key: int, distance: float) -> np.ndarray:
    """kᵢ, qᵢ (1/m) and φᵢ (rad) of each wave, [wave, 7]."""
    random = np.random.Generator(np.random.Philox(key=key))
    normal = random.standard_normal((WAVES, 2, 4))
    vectors = normal[..., :3] / (distance * np.abs(normal[..., 3:]))
    return np.hstack([vectors.reshape(WAVES, 6), random.uniform(0.0, 2.0 * np.pi, (WAVES, 1))])


@compiled
def fill_phases(waves, positions, phases):
    """Cosines and sines of kᵢ·a + φᵢ and of qᵢ·a for the place a of each node, [node, wave, 4]."""
    for node in range(positions.shape[0]):
        x, y, z = positions[node, 0], positions[node, 1], positions[node, 2]
        for i in range(waves.shape[0]):
            first = waves[i, 0] * x + waves[i, 1] * y + waves[i, 2] * z + waves[i, 6]
            second = waves[i, 3] * x + waves[i, 4] * y + waves[i, 5] * z
            phases[node, i, 0], phases[node, i, 1] = cos(first), sin(first)
            phases[node, i, 2], phases[node, i, 3] = cos(second), sin(second)


@compiled
def shadowing(phases, a, b, apart, deviation, distance):
    """S(a, b), dB, of two nodes that are `apart`, m."""
    total = 0.0
    for i in range(phases.shape[1]):
        there = phases[a, i, 0] * phases[b, i, 2] - phases[a, i, 1] * phases[b, i, 3]
        back = phases[b, i, 0] * phases[a, i, 2] - phases[b, i, 1] * phases[a, i, 3]
        total += there + back
    return deviation * total / sqrt(phases.shape[1] * (1.0 + exp(-2.0 * apart / distance)))
