"""Bodies in water, or light ones in air: buoyancy, damping and the mass of the water that moves along.

Fossen, Handbook of Marine Craft Hydrodynamics and Motion Control (2011), 6.3 and 8.1, about the centre of mass, in the
body's axes, with ν = (v, ω), the current v_c and ν_r = (v − v_c, ω):

    M ν̇ + C(ν) ν + M_A ν̇_r + C_A(ν_r) ν_r + D ν_r + D₂ |ν_r| ν_r = τ,   ν̇_r = ν̇ + (ω × v_c − a_c, 0)

with the acceleration a_c that waves give the water.

An engine knows M alone. So ν̇ is solved for with M + M_A, and the wrench that gives M this acceleration takes the place
of all others: an added mass larger than the body's own is as stable as a small one, at any step. Added mass and damping
are constant, as in linear models of boats in waves, until more than half of what usually is under water is out of it;
then they fade.
"""

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES

SIX = 6


@compiled
def solve_six(matrix, right):
    """Gauss' elimination in place, of a positive definite matrix, row by row; the answer is left in `right`."""
    for k in range(SIX):
        for j in range(k + 1, SIX):
            share = matrix[SIX * j + k] / matrix[SIX * k + k]
            for n in range(k + 1, SIX):
                matrix[SIX * j + n] -= share * matrix[SIX * k + n]
            right[j] -= share * right[k]
    for k in range(SIX - 1, -1, -1):
        for n in range(k + 1, SIX):
            right[k] -= matrix[SIX * k + n] * right[n]
        right[k] /= matrix[SIX * k + k]


@compiled
def _cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@compiled
def _times(p, at, i, n, v):
    """A row of the added mass times six numbers."""
    total = 0.0
    for k in range(SIX):
        total += p[at + (SIX * n + k) * LANES + i] * v[k]
    return total


@compiled
def resist(w, i, p, linear, quadratic, share, flow):
    """Damping against the flow: `flow` is ν_r."""
    for k in range(SIX):
        v = flow[k]
        size = v if v > 0.0 else -v
        at = k * LANES + i
        w[row.FX + at] -= share * (p[linear + at] + p[quadratic + at] * size) * v


@compiled
def drag_water_along(w, i, p, added, share, flow, current, gains, scratch):
    """Replace the block's wrench by that which moves the body as if the water it drags along were a part of it.

    `current` is v_c in the body and `gains` a_c; `scratch` has room for 48: the matrix, what is on its
    right, momentum of the water.
    """
    matrix, right, momentum = scratch[:36], scratch[36:42], scratch[42:48]
    m, g = w[row.MASS + i], w[row.GRAVITY + i]
    a, b, c = w[row.WX + i], w[row.WY + i], w[row.WZ + i]
    vx, vy, vz = flow[0] + current[0], flow[1] + current[1], flow[2] + current[2]
    for k in range(SIX):
        momentum[k] = share * _times(p, added, i, k, flow)
        right[k] = w[row.FX + k * LANES + i]
        for n in range(SIX):
            matrix[SIX * k + n] = share * p[added + (SIX * k + n) * LANES + i]

    # b = (F + m g − m ω × v, T − ω × J ω): what acts on M alone.
    ox, oy, oz = _cross(a, b, c, vx, vy, vz)
    right[0] -= m * (g * w[row.R20 + i] + ox)
    right[1] -= m * (g * w[row.R21 + i] + oy)
    right[2] -= m * (g * w[row.R22 + i] + oz)
    jx = w[row.JXX + i] * a + w[row.JXY + i] * b + w[row.JXZ + i] * c
    jy = w[row.JXY + i] * a + w[row.JYY + i] * b + w[row.JYZ + i] * c
    jz = w[row.JXZ + i] * a + w[row.JYZ + i] * b + w[row.JZZ + i] * c
    tx, ty, tz = _cross(a, b, c, jx, jy, jz)
    right[3] -= tx
    right[4] -= ty
    right[5] -= tz
    before0, before1, before2 = right[0], right[1], right[2]
    before3, before4, before5 = right[3], right[4], right[5]

    # Less what the water does: C_A ν_r = (ω × p, v_r × p + ω × h) of its momentum (p, h), and M_A (ω × v_c − a_c).
    fx, fy, fz = _cross(a, b, c, momentum[0], momentum[1], momentum[2])
    hx, hy, hz = _cross(flow[0], flow[1], flow[2], momentum[0], momentum[1], momentum[2])
    qx, qy, qz = _cross(a, b, c, momentum[3], momentum[4], momentum[5])
    cx, cy, cz = _cross(a, b, c, current[0], current[1], current[2])
    momentum[0], momentum[1], momentum[2], momentum[3], momentum[4], momentum[5] = (
        cx - gains[0], cy - gains[1], cz - gains[2], 0.0, 0.0, 0.0,
    )  # fmt: skip
    right[0] -= fx + share * _times(p, added, i, 0, momentum)
    right[1] -= fy + share * _times(p, added, i, 1, momentum)
    right[2] -= fz + share * _times(p, added, i, 2, momentum)
    right[3] -= hx + qx + share * _times(p, added, i, 3, momentum)
    right[4] -= hy + qy + share * _times(p, added, i, 4, momentum)
    right[5] -= hz + qz + share * _times(p, added, i, 5, momentum)

    for k in range(3):
        matrix[SIX * k + k] += m
    matrix[21] += w[row.JXX + i]
    matrix[28] += w[row.JYY + i]
    matrix[35] += w[row.JZZ + i]
    matrix[22] += w[row.JXY + i]
    matrix[27] += w[row.JXY + i]
    matrix[23] += w[row.JXZ + i]
    matrix[33] += w[row.JXZ + i]
    matrix[29] += w[row.JYZ + i]
    matrix[34] += w[row.JYZ + i]
    solve_six(matrix, right)

    w[row.FX + i] += m * right[0] - before0
    w[row.FY + i] += m * right[1] - before1
    w[row.FZ + i] += m * right[2] - before2
    x, y, z = right[3], right[4], right[5]
    w[row.TX + i] += w[row.JXX + i] * x + w[row.JXY + i] * y + w[row.JXZ + i] * z - before3
    w[row.TY + i] += w[row.JXY + i] * x + w[row.JYY + i] * y + w[row.JYZ + i] * z - before4
    w[row.TZ + i] += w[row.JXZ + i] * x + w[row.JYZ + i] * y + w[row.JZZ + i] * z - before5
