"""Body drag."""

from math import sqrt

from airloom.compiled import compiled
from airloom.physics.rows import DRAG, FX, FY, FZ, LANES, UX, UY, UZ


@compiled
def add_drag(w):
    """F = −c |u| u at the centre of mass, u the centre's velocity through the air."""
    for i in range(LANES):
        x, y, z = w[UX + i], w[UY + i], w[UZ + i]
        s = -w[DRAG + i] * sqrt(x * x + y * y + z * z)
        w[FX + i] += s * x
        w[FY + i] += s * y
        w[FZ + i] += s * z
