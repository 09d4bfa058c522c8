"""Bodies in water, or light ones in air: buoyancy, damping and the mass of the water that moves along.

Fossen, Handbook of Marine Craft Hydrodynamics and Motion Control (2011), 6.3 and 8.1, about the centre of mass, in the
body's axes, with ν = (v, ω), the current v_c and ν_r = (v − v_c, ω):

    M ν̇ + C(ν) ν + M_A ν̇_r + C_A(ν_r) ν_r + D ν_r + D₂ |ν_r| ν_r = τ,   ν̇_r = ν̇ + (ω × v_c − a_c, 0)

with the acceleration a_c that waves give the water.

An engine knows M alone. So the acceleration is solved for with both masses, and the wrench that gives M this
acceleration takes the place of all others. With the momentum (p, h) = (M + M_A) ν_r all of it is an equation of the
flow (his 8.1):

    (M + M_A) ν̇_r = τ − m (a_c, 0) − (C + D) ν_r,   C = [0, −S(p); −S(p), −S(h)],   D = diag(d + d₂ |ν_r|)

Engines that take stages, as Runge and Kutta, need no more. One that takes velocities first, as MuJoCo and Euler, would
gain energy from the C of one end of its step. For it C and D of the beginning act on the mean of both ends:

    (M + M_A + Δt/2 (C + D)) Δν_r = Δt (τ − m (a_c, 0) − (C + D) ν_r)

Since C is skew and D is not negative, the energy ν_rᵀ (M + M_A) ν_r never grows by itself, at any step and however
heavy the water. The wrench is then that with which the engine, whose velocities are the world's, comes to this end.

Added mass and damping are constant, as in linear models of boats in waves, until more than half of what usually is
under water is out of it; then they fade.
"""

from math import cos, sin, sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.attitude import rotate

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
def resistance(p, linear, quadratic, k, i, share, flow):
    """Of axis k, per speed against the flow: `flow` is ν_r."""
    v, at = flow[k], k * LANES + i
    return share * (p[linear + at] + p[quadratic + at] * (v if v > 0.0 else -v))


@compiled
def _gather_mass(w, i, p, added, share, matrix):
    """M + M_A"""
    for k in range(SIX * SIX):
        matrix[k] = share * p[added + k * LANES + i]
    for k in range(3):
        matrix[(SIX + 1) * k] += w[row.MASS + i]
    matrix[21] += w[row.JXX + i]
    matrix[28] += w[row.JYY + i]
    matrix[35] += w[row.JZZ + i]
    matrix[22] += w[row.JXY + i]
    matrix[27] += w[row.JXY + i]
    matrix[23] += w[row.JXZ + i]
    matrix[33] += w[row.JXZ + i]
    matrix[29] += w[row.JYZ + i]
    matrix[34] += w[row.JYZ + i]


@compiled
def _add_skew(matrix, first, x, y, z):
    """S(x, y, z) to the block of the matrix whose first number is there."""
    matrix[first + 1] -= z
    matrix[first + 2] += y
    matrix[first + 6] += z
    matrix[first + 8] -= x
    matrix[first + 12] -= y
    matrix[first + 13] += x


@compiled
def _act_on_the_mean(matrix, half, momentum):
    """Add Δt/2 C to the masses."""
    x, y, z = -half * momentum[0], -half * momentum[1], -half * momentum[2]
    _add_skew(matrix, 3, x, y, z)
    _add_skew(matrix, 18, x, y, z)
    _add_skew(matrix, 21, -half * momentum[3], -half * momentum[4], -half * momentum[5])


@compiled
def _turned(rx, ry, rz, x, y, z):
    """A vector, turned by a rotation vector."""
    angle = sqrt(rx * rx + ry * ry + rz * rz)
    share = 0.5 if angle < 1e-9 else sin(0.5 * angle) / angle
    return rotate(cos(0.5 * angle), share * rx, share * ry, share * rz, x, y, z)


@compiled
def _mean_acceleration(w, i, dt, flow, faster, gains):
    """Of the centre of mass, as an engine must see it that moves the origin's velocity, world, and then turns."""
    cx, cy, cz = w[row.CX + i], w[row.CY + i], w[row.CZ + i]
    a, b, c = flow[3], flow[4], flow[5]
    at, bt, ct = a + dt * faster[3], b + dt * faster[4], c + dt * faster[5]
    ox, oy, oz = _cross(at, bt, ct, cx, cy, cz)
    x, y, z = flow[0] + dt * faster[0] - ox, flow[1] + dt * faster[1] - oy, flow[2] + dt * faster[2] - oz
    x, y, z = _turned(dt * at, dt * bt, dt * ct, x, y, z)
    ox, oy, oz = _cross(a, b, c, cx, cy, cz)
    lx, ly, lz = _cross(faster[3], faster[4], faster[5], cx, cy, cz)
    ix, iy, iz = _cross(a, b, c, ox, oy, oz)
    return (
        (x - flow[0] + ox) / dt + gains[0] + lx + ix,
        (y - flow[1] + oy) / dt + gains[1] + ly + iy,
        (z - flow[2] + oz) / dt + gains[2] + lz + iz,
    )


@compiled
def drag_water_along(w, i, p, added, linear, quadratic, share, flow, gains, dt, scratch):
    """Replace the block's wrench by that which moves the body as if the water it drags along were a part of it.

    `flow` is ν_r and `gains` a_c, in the body; `dt` is the step of an engine that takes velocities first, or 0;
    `scratch` has room for 48: the matrix, what is on its right, momentum.
    """
    matrix, right, momentum = scratch[:36], scratch[36:42], scratch[42:48]
    m, g = w[row.MASS + i], w[row.GRAVITY + i]
    gx, gy, gz = g * w[row.R20 + i], g * w[row.R21 + i], g * w[row.R22 + i]
    a, b, c = flow[3], flow[4], flow[5]
    _gather_mass(w, i, p, added, share, matrix)
    for k in range(SIX):
        momentum[k] = 0.0
        for n in range(SIX):
            momentum[k] += matrix[SIX * k + n] * flow[n]

    # C ν_r = (ω × p, v_r × p + ω × h)
    fx, fy, fz = _cross(a, b, c, momentum[0], momentum[1], momentum[2])
    hx, hy, hz = _cross(flow[0], flow[1], flow[2], momentum[0], momentum[1], momentum[2])
    qx, qy, qz = _cross(a, b, c, momentum[3], momentum[4], momentum[5])
    right[0] = w[row.FX + i] - m * (gx + gains[0]) - fx
    right[1] = w[row.FY + i] - m * (gy + gains[1]) - fy
    right[2] = w[row.FZ + i] - m * (gz + gains[2]) - fz
    right[3] = w[row.TX + i] - hx - qx
    right[4] = w[row.TY + i] - hy - qy
    right[5] = w[row.TZ + i] - hz - qz
    if dt > 0.0:
        _act_on_the_mean(matrix, 0.5 * dt, momentum)
    for k in range(SIX):
        against = resistance(p, linear, quadratic, k, i, share, flow)
        right[k] -= against * flow[k]
        matrix[(SIX + 1) * k] += 0.5 * dt * against
    solve_six(matrix, right)

    if dt > 0.0:
        ax, ay, az = _mean_acceleration(w, i, dt, flow, right, gains)
    else:
        ax, ay, az = _cross(a, b, c, flow[0], flow[1], flow[2])
        ax, ay, az = right[0] + ax + gains[0], right[1] + ay + gains[1], right[2] + az + gains[2]
    w[row.FX + i], w[row.FY + i], w[row.FZ + i] = m * (ax + gx), m * (ay + gy), m * (az + gz)
    _turn_body(w, i, a, b, c, right[3], right[4], right[5])


@compiled
def _turn_body(w, i, a, b, c, x, y, z):
    """T = J ω̇ + ω × J ω"""
    jx = w[row.JXX + i] * a + w[row.JXY + i] * b + w[row.JXZ + i] * c
    jy = w[row.JXY + i] * a + w[row.JYY + i] * b + w[row.JYZ + i] * c
    jz = w[row.JXZ + i] * a + w[row.JYZ + i] * b + w[row.JZZ + i] * c
    tx, ty, tz = _cross(a, b, c, jx, jy, jz)
    w[row.TX + i] = w[row.JXX + i] * x + w[row.JXY + i] * y + w[row.JXZ + i] * z + tx
    w[row.TY + i] = w[row.JXY + i] * x + w[row.JYY + i] * y + w[row.JYZ + i] * z + ty
    w[row.TZ + i] = w[row.JXZ + i] * x + w[row.JYZ + i] * y + w[row.JZZ + i] * z + tz
