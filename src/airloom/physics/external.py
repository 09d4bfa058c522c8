"""Force and torque that systems put on a vehicle from outside."""

from airloom.compiled import compiled
from airloom.physics.rows import (
    EFX, EFY, EFZ, ETX, ETY, ETZ, FX, FY, FZ, LANES, R00, R01, R02, R10, R11, R12, R20, R21, R22, TX, TY, TZ,
)  # fmt: skip


@compiled
def set_external(w):
    """Start the wrench with the force at the centre (world) and the torque (body) that systems have set."""
    for i in range(LANES):
        x, y, z = w[EFX + i], w[EFY + i], w[EFZ + i]
        w[FX + i] = w[R00 + i] * x + w[R10 + i] * y + w[R20 + i] * z
        w[FY + i] = w[R01 + i] * x + w[R11 + i] * y + w[R21 + i] * z
        w[FZ + i] = w[R02 + i] * x + w[R12 + i] * y + w[R22 + i] * z
        w[TX + i] = w[ETX + i]
        w[TY + i] = w[ETY + i]
        w[TZ + i] = w[ETZ + i]
