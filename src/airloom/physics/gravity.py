"""Gravity of a round Earth that does not turn: towards its middle, by the inverse square of the distance.

g = −g₀ (R/r)² r/|r|, r from the Earth's middle, g₀ at the sea. Engines know a gravity that is the same everywhere; what
is to be added is a force at the centre of mass. The row LEAN tells accelerometers, which do not feel gravity.
"""

from math import sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.world.geodesy import EARTH_RADIUS


@compiled
def lean(w, p):
    """The difference at the centre of mass of each vehicle, world; `p` has the altitude of the world's origin."""
    for i in range(LANES):
        cx, cy, cz = w[row.CX + i], w[row.CY + i], w[row.CZ + i]
        x = w[row.PX + i] + w[row.R00 + i] * cx + w[row.R01 + i] * cy + w[row.R02 + i] * cz
        y = w[row.PY + i] + w[row.R10 + i] * cx + w[row.R11 + i] * cy + w[row.R12 + i] * cz
        z = w[row.PZ + i] + w[row.R20 + i] * cx + w[row.R21 + i] * cy + w[row.R22 + i] * cz
        z += p[i] + EARTH_RADIUS
        far = x * x + y * y + z * z
        pull = -w[row.GRAVITY + i] * EARTH_RADIUS * EARTH_RADIUS / (far * sqrt(far))
        w[row.LEAN_X + i], w[row.LEAN_Y + i], w[row.LEAN_Z + i] = pull * x, pull * y, pull * z + w[row.GRAVITY + i]


@compiled
def add_lean(w):
    for i in range(LANES):
        x, y, z = w[row.LEAN_X + i], w[row.LEAN_Y + i], w[row.LEAN_Z + i]
        m = w[row.MASS + i]
        w[row.FX + i] += m * (w[row.R00 + i] * x + w[row.R10 + i] * y + w[row.R20 + i] * z)
        w[row.FY + i] += m * (w[row.R01 + i] * x + w[row.R11 + i] * y + w[row.R21 + i] * z)
        w[row.FZ + i] += m * (w[row.R02 + i] * x + w[row.R12 + i] * y + w[row.R22 + i] * z)
