"""Force and torque that systems put on a vehicle from outside."""

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES


@compiled
def set_external(w):
    """Start the wrench with the force at the centre (world) and the torque (body) that systems have set."""
    for i in range(LANES):
        x, y, z = w[row.EFX + i], w[row.EFY + i], w[row.EFZ + i]
        w[row.FX + i] = w[row.R00 + i] * x + w[row.R10 + i] * y + w[row.R20 + i] * z
        w[row.FY + i] = w[row.R01 + i] * x + w[row.R11 + i] * y + w[row.R21 + i] * z
        w[row.FZ + i] = w[row.R02 + i] * x + w[row.R12 + i] * y + w[row.R22 + i] * z
        w[row.TX + i] = w[row.ETX + i]
        w[row.TY + i] = w[row.ETY + i]
        w[row.TZ + i] = w[row.ETZ + i]
