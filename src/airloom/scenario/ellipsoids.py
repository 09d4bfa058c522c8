"""The mass of the fluid that an ellipsoid drags along (Lamb, Hydrodynamics, articles 114 and 115).

With semi-axes a, b, c and Δ = √((a² + λ)(b² + λ)(c² + λ)), α₀ = abc ∫₀^∞ dλ/((a² + λ) Δ), likewise β₀ and γ₀.
Of the mass M of the fluid displaced, α₀/(2 − α₀) goes along in motions along a, and turning about a has the inertia
M/5 (b² − c²)² (γ₀ − β₀)/(2 (b² − c²) + (b² + c²)(β₀ − γ₀)).
"""

from __future__ import annotations

from functools import cache

import numpy as np


@cache
def _nodes_and_weights() -> tuple[np.ndarray, np.ndarray]:
    return np.polynomial.legendre.leggauss(200)


def added_mass(size: tuple[float, float, float], mass: float) -> np.ndarray:
    """Six numbers along and about its axes: kg, kg m². `size` is length, width and height, `mass` what it displaces."""
    squares = (0.5 * np.array(size)) ** 2
    shares = _shares(squares)
    along = mass * shares / (2.0 - shares)
    about = [_about(squares, shares, (axis + 1) % 3, (axis + 2) % 3) for axis in range(3)]
    return np.concatenate([along, mass / 5.0 * np.array(about)])


def _shares(squares: np.ndarray) -> np.ndarray:
    """α₀, β₀, γ₀, with λ = s² (x/(1 − x))² for x from 0 to 1, by Gauss and Legendre."""
    nodes, weights = _nodes_and_weights()
    x, scale = 0.5 * (nodes + 1.0), squares.max()
    along = scale * (x / (1.0 - x)) ** 2
    step = 0.5 * weights * 2.0 * scale * x / (1.0 - x) ** 3
    sums = squares[:, None] + along
    return np.sqrt(squares.prod()) * (step / (sums * np.sqrt(sums.prod(axis=0)))).sum(axis=1)


def _about(squares: np.ndarray, shares: np.ndarray, one: int, other: int) -> float:
    apart, together = squares[one] - squares[other], squares[one] + squares[other]
    below = 2.0 * apart + together * (shares[one] - shares[other])
    return 0.0 if abs(apart) < 1e-9 * together else float(apart**2 * (shares[other] - shares[one]) / below)
