"""Newton and Euler for a body whose centre of mass lies off its origin."""

from airloom.compiled import compiled
from airloom.physics.rows import (
    CX, CY, CZ, DPX, DPY, DPZ, DQW, DQX, DQY, DQZ, DVX, DVY, DVZ, DWX, DWY, DWZ, FX, FY, FZ, GRAVITY, INV_MASS, IXX,
    IXY, IXZ, IYY, IYZ, IZZ, JXX, JXY, JXZ, JYY, JYZ, JZZ, LANES, QW, QX, QY, QZ, R00, R01, R02, R10, R11, R12, R20,
    R21, R22, TX, TY, TZ, VX, VY, VZ, WX, WY, WZ,
)  # fmt: skip


@compiled
def newton_euler(w):
    """State derivative from the wrench about the centre of mass.

    ω̇ = J⁻¹ (τ − ω × J ω). The centre accelerates with F/m + g; the origin, at −c from it, with
    F/m + g − ω̇ × c − ω × (ω × c). This is what MuJoCo integrates for a free joint as well.
    """
    for i in range(LANES):
        p, q, r = w[WX + i], w[WY + i], w[WZ + i]
        hx = w[JXX + i] * p + w[JXY + i] * q + w[JXZ + i] * r
        hy = w[JXY + i] * p + w[JYY + i] * q + w[JYZ + i] * r
        hz = w[JXZ + i] * p + w[JYZ + i] * q + w[JZZ + i] * r
        tx = w[TX + i] - (q * hz - r * hy)
        ty = w[TY + i] - (r * hx - p * hz)
        tz = w[TZ + i] - (p * hy - q * hx)
        w[DWX + i] = w[IXX + i] * tx + w[IXY + i] * ty + w[IXZ + i] * tz
        w[DWY + i] = w[IXY + i] * tx + w[IYY + i] * ty + w[IYZ + i] * tz
        w[DWZ + i] = w[IXZ + i] * tx + w[IYZ + i] * ty + w[IZZ + i] * tz
    for i in range(LANES):
        p, q, r = w[WX + i], w[WY + i], w[WZ + i]
        cx, cy, cz = w[CX + i], w[CY + i], w[CZ + i]
        lx, ly, lz = w[DWX + i], w[DWY + i], w[DWZ + i]
        sx, sy, sz = q * cz - r * cy, r * cx - p * cz, p * cy - q * cx
        m = w[INV_MASS + i]
        x = w[FX + i] * m - (ly * cz - lz * cy) - (q * sz - r * sy)
        y = w[FY + i] * m - (lz * cx - lx * cz) - (r * sx - p * sz)
        z = w[FZ + i] * m - (lx * cy - ly * cx) - (p * sy - q * sx)
        w[DVX + i] = w[R00 + i] * x + w[R01 + i] * y + w[R02 + i] * z
        w[DVY + i] = w[R10 + i] * x + w[R11 + i] * y + w[R12 + i] * z
        w[DVZ + i] = w[R20 + i] * x + w[R21 + i] * y + w[R22 + i] * z - w[GRAVITY + i]
    for i in range(LANES):
        p, q, r = w[WX + i], w[WY + i], w[WZ + i]
        a, b, c, d = w[QW + i], w[QX + i], w[QY + i], w[QZ + i]
        w[DPX + i] = w[VX + i]
        w[DPY + i] = w[VY + i]
        w[DPZ + i] = w[VZ + i]
        w[DQW + i] = 0.5 * (-b * p - c * q - d * r)
        w[DQX + i] = 0.5 * (a * p + c * r - d * q)
        w[DQY + i] = 0.5 * (a * q + d * p - b * r)
        w[DQZ + i] = 0.5 * (a * r + b * q - c * p)
