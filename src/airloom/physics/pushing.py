"""Forces on a vehicle that act beside its centre of mass, body axes."""

from airloom.compiled import compiled
from airloom.compiled import rows as row


@compiled
def push_at(w, i, x, y, z, fx, fy, fz):
    """A force at a place, seen from the centre of mass."""
    w[row.FX + i] += fx
    w[row.FY + i] += fy
    w[row.FZ + i] += fz
    w[row.TX + i] += y * fz - z * fy
    w[row.TY + i] += z * fx - x * fz
    w[row.TZ + i] += x * fy - y * fx


@compiled
def push_and_turn_at(w, i, x, y, z, fx, fy, fz, tx, ty, tz):
    """A force at a place, and a torque of its own beside that of the force."""
    w[row.FX + i] += fx
    w[row.FY + i] += fy
    w[row.FZ + i] += fz
    w[row.TX + i] += y * fz - z * fy + tx
    w[row.TY + i] += z * fx - x * fz + ty
    w[row.TZ + i] += x * fy - y * fx + tz
