"""Attitude: rotation matrix, velocity through the air, quaternion steps."""

from math import cos, sin, sqrt

from airloom.compiled import compiled
from airloom.physics.rows import (
    CX, CY, CZ, LANES, QW, QX, QY, QZ, R00, R01, R02, R10, R11, R12, R20, R21, R22, UX, UY, UZ, VX, VY, VZ, WINDX,
    WINDY, WINDZ, WX, WY, WZ,
)  # fmt: skip


@compiled
def orient(w):
    """Rotation matrix body→world from the quaternion, and the centre's velocity through the air."""
    for i in range(LANES):
        a, b, c, d = w[QW + i], w[QX + i], w[QY + i], w[QZ + i]
        w[R00 + i] = 1.0 - 2.0 * (c * c + d * d)
        w[R01 + i] = 2.0 * (b * c - a * d)
        w[R02 + i] = 2.0 * (b * d + a * c)
        w[R10 + i] = 2.0 * (b * c + a * d)
        w[R11 + i] = 1.0 - 2.0 * (b * b + d * d)
        w[R12 + i] = 2.0 * (c * d - a * b)
        w[R20 + i] = 2.0 * (b * d - a * c)
        w[R21 + i] = 2.0 * (c * d + a * b)
        w[R22 + i] = 1.0 - 2.0 * (b * b + c * c)
    for i in range(LANES):
        x, y, z = w[VX + i] - w[WINDX + i], w[VY + i] - w[WINDY + i], w[VZ + i] - w[WINDZ + i]
        p, q, r = w[WX + i], w[WY + i], w[WZ + i]
        cx, cy, cz = w[CX + i], w[CY + i], w[CZ + i]
        w[UX + i] = w[R00 + i] * x + w[R10 + i] * y + w[R20 + i] * z + (q * cz - r * cy)
        w[UY + i] = w[R01 + i] * x + w[R11 + i] * y + w[R21 + i] * z + (r * cx - p * cz)
        w[UZ + i] = w[R02 + i] * x + w[R12 + i] * y + w[R22 + i] * z + (p * cy - q * cx)


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
        a, b, c, d = w[QW + i], w[QX + i], w[QY + i], w[QZ + i]
        s = 1.0 / sqrt(a * a + b * b + c * c + d * d)
        w[QW + i] = a * s
        w[QX + i] = b * s
        w[QY + i] = c * s
        w[QZ + i] = d * s


@compiled
def rotate_by_rates(w, dt):
    """q ← q ⊗ exp(ω dt / 2): the exponential map, exact for constant rates."""
    for i in range(LANES):
        p, q, r = w[WX + i], w[WY + i], w[WZ + i]
        rate = sqrt(p * p + q * q + r * r)
        half = 0.5 * dt * rate
        s = sin(half) / rate if rate > 0.0 else 0.0
        w[QW + i], w[QX + i], w[QY + i], w[QZ + i] = multiply(
            w[QW + i], w[QX + i], w[QY + i], w[QZ + i], cos(half), p * s, q * s, r * s
        )
    normalize(w)
