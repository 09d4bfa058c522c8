"""Newton and Euler for a body whose centre of mass lies off its origin."""

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES


@compiled
def newton_euler(w):
    """State derivative from the wrench about the centre of mass.

    ω̇ = J⁻¹ (τ − ω × J ω). The centre accelerates with F/m + g; the origin, at −c from it, with
    F/m + g − ω̇ × c − ω × (ω × c). This is what MuJoCo integrates for a free joint as well.
    """
    for i in range(LANES):
        p, q, r = w[row.WX + i], w[row.WY + i], w[row.WZ + i]
        hx = w[row.JXX + i] * p + w[row.JXY + i] * q + w[row.JXZ + i] * r
        hy = w[row.JXY + i] * p + w[row.JYY + i] * q + w[row.JYZ + i] * r
        hz = w[row.JXZ + i] * p + w[row.JYZ + i] * q + w[row.JZZ + i] * r
        tx = w[row.TX + i] - (q * hz - r * hy)
        ty = w[row.TY + i] - (r * hx - p * hz)
        tz = w[row.TZ + i] - (p * hy - q * hx)
        w[row.DWX + i] = w[row.INV_JXX + i] * tx + w[row.INV_JXY + i] * ty + w[row.INV_JXZ + i] * tz
        w[row.DWY + i] = w[row.INV_JXY + i] * tx + w[row.INV_JYY + i] * ty + w[row.INV_JYZ + i] * tz
        w[row.DWZ + i] = w[row.INV_JXZ + i] * tx + w[row.INV_JYZ + i] * ty + w[row.INV_JZZ + i] * tz
    for i in range(LANES):
        p, q, r = w[row.WX + i], w[row.WY + i], w[row.WZ + i]
        cx, cy, cz = w[row.CX + i], w[row.CY + i], w[row.CZ + i]
        lx, ly, lz = w[row.DWX + i], w[row.DWY + i], w[row.DWZ + i]
        sx, sy, sz = q * cz - r * cy, r * cx - p * cz, p * cy - q * cx
        m = w[row.INV_MASS + i]
        x = w[row.FX + i] * m - (ly * cz - lz * cy) - (q * sz - r * sy)
        y = w[row.FY + i] * m - (lz * cx - lx * cz) - (r * sx - p * sz)
        z = w[row.FZ + i] * m - (lx * cy - ly * cx) - (p * sy - q * sx)
        w[row.DVX + i] = w[row.R00 + i] * x + w[row.R01 + i] * y + w[row.R02 + i] * z
        w[row.DVY + i] = w[row.R10 + i] * x + w[row.R11 + i] * y + w[row.R12 + i] * z
        w[row.DVZ + i] = w[row.R20 + i] * x + w[row.R21 + i] * y + w[row.R22 + i] * z - w[row.GRAVITY + i]
    for i in range(LANES):
        p, q, r = w[row.WX + i], w[row.WY + i], w[row.WZ + i]
        a, b, c, d = w[row.QW + i], w[row.QX + i], w[row.QY + i], w[row.QZ + i]
        w[row.DPX + i] = w[row.VX + i]
        w[row.DPY + i] = w[row.VY + i]
        w[row.DPZ + i] = w[row.VZ + i]
        w[row.DQW + i] = 0.5 * (-b * p - c * q - d * r)
        w[row.DQX + i] = 0.5 * (a * p + c * r - d * q)
        w[row.DQY + i] = 0.5 * (a * q + d * p - b * r)
        w[row.DQZ + i] = 0.5 * (a * r + b * q - c * p)
