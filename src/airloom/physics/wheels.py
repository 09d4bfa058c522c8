"""Wheels on the ground: springs and dampers that roll one way and hold the other.

A wheel at depth d below the ground pushes out along its normal with N = m ω² d/n − 2 ζ m ω v_n/n (never pulls), n
wheels being an oscillator of ω = √(g/sinks) together. Along its way it takes μ_r N to roll, across it holds with
μ N s/√(1 + s²), s = v_across/(ε + κ |v_along|): a tyre's slip, after Pacejka, Tyre and Vehicle Dynamics (2012), 1.2,
where its force is in proportion to the angle of slip and no greater than its grip.
"""

from math import cos, sin, sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.pushing import push_at
from airloom.physics.servos import ANGLE, SERVO_ROWS, follow
from airloom.world.ground import W_STEP, ground

# Of a vehicle: how many wheels it has, how fast friction may grow from rest. Of each: its place, stiffness and damping
# per mass, what it takes to roll, grip, which servo steers it (−1 for none) and how far; the servo; the ground below.
WHEELS, CREEP, FIRST = 0, LANES, 2 * LANES
X, Y, Z, STIFFNESS, DAMPING, ROLLING, GRIP, STEERED_BY, STEERING = (k * LANES for k in range(9))
SERVO = 9 * LANES
HEIGHT, EAST, NORTH = ((9 + SERVO_ROWS + k) * LANES for k in range(3))
WHEEL_ROWS = 12 + SERVO_ROWS
DAMPING_RATIO = 0.5
LEAST_CREEP, CREEP_PER_STEP = 0.05, 20.0  # m/s, and m/s for each second of a step
SLIP = 0.12  # κ: the angle at which most of the grip is used


@compiled
def _most(p):
    most = 0.0
    for i in range(LANES):
        most = max(most, p[WHEELS + i])
    return int(most)


@compiled
def steer_wheels(w, world, p):
    """Once a tick: the ground below each wheel, and where its servo stands."""
    for k in range(_most(p)):
        for i in range(LANES):
            a = FIRST + k * WHEEL_ROWS * LANES + i
            if p[a + STEERED_BY] >= 0.0:
                follow(p, a + SERVO, w[row.SERVO + int(p[a + STEERED_BY]) * LANES + i])
            x, y, z = p[a + X], p[a + Y], p[a + Z]
            at_x = w[row.PX + i] + w[row.R00 + i] * x + w[row.R01 + i] * y + w[row.R02 + i] * z
            at_y = w[row.PY + i] + w[row.R10 + i] * x + w[row.R11 + i] * y + w[row.R12 + i] * z
            p[a + HEIGHT], p[a + EAST], p[a + NORTH] = ground(world, at_x, at_y)
            p[CREEP + i] = max(LEAST_CREEP, CREEP_PER_STEP * world[W_STEP])


@compiled
def add_wheels(w, p):
    for k in range(_most(p)):
        for i in range(LANES):
            _push(w, p, FIRST + k * WHEEL_ROWS * LANES + i, i)


@compiled
def _push(w, p, a, i):
    bx, by, bz = p[a + X], p[a + Y], p[a + Z]
    at_z = w[row.PZ + i] + w[row.R20 + i] * bx + w[row.R21 + i] * by + w[row.R22 + i] * bz
    depth = p[a + HEIGHT] - at_z
    if depth <= 0.0 or p[a + STIFFNESS] == 0.0:
        return
    east, north = p[a + EAST], p[a + NORTH]
    r00, r01, r02 = w[row.R00 + i], w[row.R01 + i], w[row.R02 + i]
    r10, r11, r12 = w[row.R10 + i], w[row.R11 + i], w[row.R12 + i]
    r20, r21, r22 = w[row.R20 + i], w[row.R21 + i], w[row.R22 + i]
    nz = 1.0 / sqrt(1.0 + east * east + north * north)
    nx, ny = -east * nz, -north * nz
    sx = w[row.WY + i] * bz - w[row.WZ + i] * by
    sy = w[row.WZ + i] * bx - w[row.WX + i] * bz
    sz = w[row.WX + i] * by - w[row.WY + i] * bx
    vx = w[row.VX + i] + r00 * sx + r01 * sy + r02 * sz
    vy = w[row.VY + i] + r10 * sx + r11 * sy + r12 * sz
    vz = w[row.VZ + i] + r20 * sx + r21 * sy + r22 * sz
    out = vx * nx + vy * ny + vz * nz
    load = w[row.MASS + i] * (p[a + STIFFNESS] * depth * nz - p[a + DAMPING] * out)
    if load <= 0.0:
        return
    # The way it rolls: the body's x, turned by the steering, laid on the ground; and across it, to the left.
    turned = p[a + STEERING] * p[a + SERVO + ANGLE]
    c, s = cos(turned), sin(turned)
    ax, ay, az = r00 * c + r01 * s, r10 * c + r11 * s, r20 * c + r21 * s
    up = ax * nx + ay * ny + az * nz
    ax, ay, az = ax - up * nx, ay - up * ny, az - up * nz
    size = sqrt(ax * ax + ay * ay + az * az)
    if size < 1e-6:
        return
    ax, ay, az = ax / size, ay / size, az / size
    lx, ly, lz = ny * az - nz * ay, nz * ax - nx * az, nx * ay - ny * ax
    along, across = vx * ax + vy * ay + vz * az, vx * lx + vy * ly + vz * lz
    slip = across / (p[CREEP + i] + SLIP * abs(along))
    back = -p[a + ROLLING] * load * along / sqrt(along * along + p[CREEP + i] * p[CREEP + i])
    side = -p[a + GRIP] * load * slip / sqrt(1.0 + slip * slip)
    fx, fy, fz = (
        load * nx + back * ax + side * lx,
        load * ny + back * ay + side * ly,
        load * nz + back * az + side * lz,
    )
    gx, gy, gz = r00 * fx + r10 * fy + r20 * fz, r01 * fx + r11 * fy + r21 * fz, r02 * fx + r12 * fy + r22 * fz
    x, y, z = bx - w[row.CX + i], by - w[row.CY + i], bz - w[row.CZ + i]
    push_at(w, i, x, y, z, gx, gy, gz)
