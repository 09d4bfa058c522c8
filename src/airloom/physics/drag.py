"""Body drag."""

from math import sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES


@compiled
def add_drag(w):
    """F = −c |u| u at the centre of mass, u the centre's velocity through the air."""
    for i in range(LANES):
        x, y, z = w[row.UX + i], w[row.UY + i], w[row.UZ + i]
        s = -w[row.DRAG + i] * sqrt(x * x + y * y + z * z)
        w[row.FX + i] += s * x
        w[row.FY + i] += s * y
        w[row.FZ + i] += s * z
