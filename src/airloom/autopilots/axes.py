"""From our axes to those of autopilots: world east-north-up → north-east-down, body forward-left-up → …-right-down.

A vector swaps and negates. A rotation body→world is turned by half a turn about (1, 1, 0)/√2 on the side of the world,
and by half a turn about x on that of the body.
"""

from __future__ import annotations

from math import sqrt

from airloom.compiled import compiled

HALF = sqrt(0.5)


@compiled
def ned_from_enu(x, y, z):
    """A vector of the world; its own inverse."""
    return y, x, -z


@compiled
def frd_from_flu(x, y, z):
    """A vector of the body; its own inverse."""
    return x, -y, -z


@compiled
def ned_frd_from_enu_flu(w, x, y, z):
    """An attitude: (0, √½, √½, 0) ⊗ (w, x, y, z) ⊗ (0, 1, 0, 0), up to the sign, which means nothing."""
    return HALF * (w + z), HALF * (x + y), HALF * (x - y), HALF * (w - z)
