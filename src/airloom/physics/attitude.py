"""Attitude: rotation matrix, velocity through the air, quaternion steps."""

from math import cos, sin, sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES


@compiled
def rotation(a, b, c, d):
    """Rotation matrix of a unit quaternion w, x, y, z, row by row."""
    return (
        1.0 - 2.0 * (c * c + d * d), 2.0 * (b * c - a * d), 2.0 * (b * d + a * c),
        2.0 * (b * c + a * d), 1.0 - 2.0 * (b * b + d * d), 2.0 * (c * d - a * b),
        2.0 * (b * d - a * c), 2.0 * (c * d + a * b), 1.0 - 2.0 * (b * b + c * c),
    )  # fmt: skip


@compiled
def rotate(a, b, c, d, x, y, z):
    """A vector rotated by a unit quaternion: from the body's axes to the world's, if that is the attitude."""
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation(a, b, c, d)
    return r00 * x + r01 * y + r02 * z, r10 * x + r11 * y + r12 * z, r20 * x + r21 * y + r22 * z


@compiled
def rotate_back(a, b, c, d, x, y, z):
    """The opposite of `rotate`: from the world's axes to the body's."""
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation(a, b, c, d)
    return r00 * x + r10 * y + r20 * z, r01 * x + r11 * y + r21 * z, r02 * x + r12 * y + r22 * z


@compiled
def orient(w):
    """Rotation matrix body→world from the quaternion, and the centre's velocity through the air."""
    for i in range(LANES):
        (
            w[row.R00 + i], w[row.R01 + i], w[row.R02 + i],
            w[row.R10 + i], w[row.R11 + i], w[row.R12 + i],
            w[row.R20 + i], w[row.R21 + i], w[row.R22 + i],
        ) = rotation(w[row.QW + i], w[row.QX + i], w[row.QY + i], w[row.QZ + i])  # fmt: skip
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
