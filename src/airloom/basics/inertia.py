"""Inertia that a rigid body can have: no principal moment is larger than the sum of the other two."""

from __future__ import annotations

import numpy as np

ROUNDING = 1e-9
"""Of the sum, by which moments may exceed it by arithmetic alone."""
TOLERATED = 0.02
"""Of the sum, by which published moments may exceed it: those of RotorPy's Crazyflie do by 1.05 %, being rounded."""


def excess(inertia: np.ndarray) -> float:
    """By which the largest principal moment exceeds the sum of the others, as a share of it; negative within."""
    small, middle, large = np.linalg.eigvalsh(inertia)
    return float(large / (small + middle) - 1.0)


def possible(inertia: np.ndarray) -> np.ndarray:
    """With the largest principal moment lowered to what the others allow, if it is not below; MuJoCo refuses others."""
    moments, axes = np.linalg.eigh(inertia)
    most = (moments[0] + moments[1]) * (1 - 1e-9)
    if moments[2] <= most:
        return inertia
    return axes @ np.diag([*moments[:2], most]) @ axes.T
