"""Attitude: rotation matrix, velocity through the air, quaternion steps."""

from math import cos, sin, sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES


@compiled
def orient(w):
    """Rotation matrix body→world from the quaternion, and the centre's velocity through the air."""
    for i in range(LANES):
        a, b, c, d = w[row.QW + i], w[row.QX + i], w[row.QY + i], w[row.QZ + i]
        w[row.R00 + i] = 1.0 - 2.0 * (c * c + d * d)
        w[row.R01 + i] = 2.0 * (b * c - a * d)
        w[row.R02 + i] = 2.0 * (b * d + a * c)
        w[row.R10 + i] = 2.0 * (b * c + a * d)
        w[row.R11 + i] = 1.0 - 2.0 * (b * b + d * d)
        w[row.R12 + i] = 2.0 * (c * d - a * b)
        w[row.R20 + i] = 2.0 * (b * d - a * c)
        w[row.R21 + i] = 2.0 * (c * d + a * b)
        w[row.R22 + i] = 1.0 - 2.0 * (b * b + c * c)
    for i in range(LANES):
        x, y, z = w[row.VX + i] - w[row.WINDX + i], w[row.VY + i] - w[row.WINDY + i], w[row.VZ + i] - w[row.WINDZ + i]
        p, q, r = w[row.WX + i], w[row.WY + i], w[row.WZ + i]
        cx, cy, cz = w[row.CX + i], w[row.CY + i], w[row.CZ + i]
        w[row.UX + i] = w[row.R00 + i] * x + w[row.R10 + i] * y + w[row.R20 + i] * z + (q * cz - r * cy)
        w[row.UY + i] = w[row.R01 + i] * x + w[row.R11 + i] * y + w[row.R21 + i] * z + (r * cx - p * cz)
        w[row.UZ + i] = w[row.R02 + i] * x + w[row.R12 + i] * y + w[row.R22 + i] * z + (p * cy - q * cx)


@compiled
def multiply(a0, b0, c0, d0, a1, b1, c1, d1):
    """Quaternion product."""
    return (
        a0 * a1 - b0 * b1 - c0 * c1 - d0 * d1,
        a0 * b1 + b0 * a1 + c0 * d1 - d0 * c1,
        a0 * c1 - b0 * d1 + c0 * a1 + d0 * b1,
        a0 * d1 + b0 * c1 - c0 * b1 + d0 * a1,
    )


@compiled
def normalize(w):
    for i in range(LANES):
        a, b, c, d = w[row.QW + i], w[row.QX + i], w[row.QY + i], w[row.QZ + i]
        s = 1.0 / sqrt(a * a + b * b + c * c + d * d)
        w[row.QW + i] = a * s
        w[row.QX + i] = b * s
        w[row.QY + i] = c * s
        w[row.QZ + i] = d * s


@compiled
def rotate_by_rates(w, dt):
    """q ← q ⊗ exp(ω dt / 2): the exponential map, exact for constant rates."""
    for i in range(LANES):
        p, q, r = w[row.WX + i], w[row.WY + i], w[row.WZ + i]
        rate = sqrt(p * p + q * q + r * r)
        half = 0.5 * dt * rate
        s = sin(half) / rate if rate > 0.0 else 0.0
        w[row.QW + i], w[row.QX + i], w[row.QY + i], w[row.QZ + i] = multiply(
            w[row.QW + i], w[row.QX + i], w[row.QY + i], w[row.QZ + i], cos(half), p * s, q * s, r * s
        )
    normalize(w)
