"""A force of your own: an elastic tether between a vehicle and a point on the ground. Copy this file to begin yours.

Use it in a scenario as `systems: {tether: {kind: my_force.py:Tether, vehicle: drone, length: 3}}`.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from math import sqrt

from pydantic import Field

import airloom as al
from airloom.physics.rows import (
    FX, FY, FZ, LANES, PX, PY, PZ, R00, R01, R02, R10, R11, R12, R20, R21, R22, VX, VY, VZ,
)  # fmt: skip

# The parameters in the order of `effect_parameters`, each a row of LANES values, one for each vehicle of the block.
ANCHOR_X, ANCHOR_Y, ANCHOR_Z, LENGTH, STIFFNESS, DAMPING = (k * LANES for k in range(6))


@al.effect
def pull_tether(w, p):
    """Tension T = max(0, k (d − L) + c ḋ) towards the anchor while the distance d exceeds the length L.

    It acts at the vehicle's centre of mass, here taken to be its origin, so there is no torque.
    """
    for i in range(LANES):
        x, y, z = p[ANCHOR_X + i] - w[PX + i], p[ANCHOR_Y + i] - w[PY + i], p[ANCHOR_Z + i] - w[PZ + i]
        distance = sqrt(x * x + y * y + z * z)
        stretch = distance - p[LENGTH + i]
        if stretch > 0.0:
            x, y, z = x / distance, y / distance, z / distance
            lengthening = -(x * w[VX + i] + y * w[VY + i] + z * w[VZ + i])
            tension = max(0.0, p[STIFFNESS + i] * stretch + p[DAMPING + i] * lengthening)
            x, y, z = tension * x, tension * y, tension * z  # the force in the world; its transpose rotates it into the body
            w[FX + i] += w[R00 + i] * x + w[R10 + i] * y + w[R20 + i] * z
            w[FY + i] += w[R01 + i] * x + w[R11 + i] * y + w[R21 + i] * z
            w[FZ + i] += w[R02 + i] * x + w[R12 + i] * y + w[R22 + i] * z


class TetherParameters(al.Parameters):
    vehicle: str = Field("*", description="name or pattern")
    anchor: tuple[float, float, float] = Field((0.0, 0.0, 0.0), description="world, m")
    length: float = Field(gt=0, description="without load, m")
    stiffness: float = Field(50.0, gt=0, description="N/m")
    damping: float = Field(2.0, ge=0, description="N s/m")


class Tether(al.System):
    """Tie vehicles to a point on the ground with an elastic tether."""

    Parameters = TetherParameters
    effect = pull_tether

    def effect_parameters(self, vehicle: str) -> list[float] | None:
        p = self.parameters
        if not fnmatchcase(vehicle, p.vehicle):
            return None
        return [*p.anchor, p.length, p.stiffness, p.damping]
