"""A force of your own: an elastic tether between a vehicle and a fixed point. Copy this file to begin yours.

Use it in a scenario as `systems: {tether: {kind: my_force.py:Tether, vehicle: drone, length: 3}}`.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from math import sqrt

from pydantic import Field

import airloom as al
from airloom.kernels import LANES, effect, row

# Rows of `p`, in the order in which `effect_parameters` below returns the numbers.
ANCHOR_X, ANCHOR_Y, ANCHOR_Z, LENGTH, STIFFNESS, DAMPING = (k * LANES for k in range(6))


@effect
def pull_tether(w, p):
    """Tension T = max(0, k (d − L) + c ḋ) towards the anchor while the distance d exceeds the length L.

    A Kelvin-Voigt element: spring and damper in parallel, which cannot push. It is tied to the vehicle's origin and
    acts at the centre of mass, so it must be used for vehicles where the two lie close together: it gives no torque.
    """
    for i in range(LANES):
        x = p[ANCHOR_X + i] - w[row.PX + i]
        y = p[ANCHOR_Y + i] - w[row.PY + i]
        z = p[ANCHOR_Z + i] - w[row.PZ + i]
        distance = sqrt(x * x + y * y + z * z)
        stretch = distance - p[LENGTH + i]
        if stretch > 0.0:
            lengthening = -(x * w[row.VX + i] + y * w[row.VY + i] + z * w[row.VZ + i]) / distance
            tension = max(0.0, p[STIFFNESS + i] * stretch + p[DAMPING + i] * lengthening)
            x, y, z = tension * x / distance, tension * y / distance, tension * z / distance
            # From the world into the body: with the transpose of the rotation matrix.
            w[row.FX + i] += w[row.R00 + i] * x + w[row.R10 + i] * y + w[row.R20 + i] * z
            w[row.FY + i] += w[row.R01 + i] * x + w[row.R11 + i] * y + w[row.R21 + i] * z
            w[row.FZ + i] += w[row.R02 + i] * x + w[row.R12 + i] * y + w[row.R22 + i] * z


class TetherParameters(al.Parameters):
    vehicle: str = Field("*", description="name or pattern")
    anchor: tuple[float, float, float] = Field((0.0, 0.0, 0.0), description="world, m")
    length: float = Field(2.0, gt=0, description="without load, m")
    stiffness: float = Field(50.0, gt=0, description="k, N/m")
    damping: float = Field(2.0, ge=0, description="c, N s/m")


class Tether(al.System):
    """Tie vehicles to a fixed point with an elastic tether."""

    Parameters = TetherParameters
    effect = pull_tether

    def effect_parameters(self, vehicle: str) -> list[float] | None:
        p = self.parameters
        if not fnmatchcase(vehicle, p.vehicle):
            return None  # this vehicle flies free
        return [*p.anchor, p.length, p.stiffness, p.damping]
