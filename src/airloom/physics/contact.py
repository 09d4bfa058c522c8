"""Ground contact of the batch engine: a spring and a damper at each corner of the body's box, with friction.

A corner at depth d below the ground is pushed out along the ground's normal with N = k d − c v_n (never pulled) and
held back sideways with μ N v_t / √(v_t² + ε²), Coulomb friction smoothed at creeping speeds. Stiffness and damping
follow from the mass, so that a vehicle on four corners is an oscillator of CONTACT_FREQUENCY: it sinks g/ω² when
at rest, 0.7 mm. The MuJoCo engine has its own contacts and does not use this.
"""

from math import sqrt

from airloom.compiled import compiled
from airloom.physics.rows import (
    BOX_CX, BOX_CY, BOX_CZ, BOX_X, BOX_Y, BOX_Z, CX, CY, CZ, FX, FY, FZ, LANES, MASS, PX, PY, PZ,
    R00, R01, R02, R10, R11, R12, R20, R21, R22, TX, TY, TZ, VX, VY, VZ, WX, WY, WZ,
)  # fmt: skip
from airloom.world.ground import W_STEP, W_TOP, ground

CONTACT_FREQUENCY = 120.0  # rad/s, lowered for long steps so that a step turns the oscillator by at most 0.3 rad
DAMPING_RATIO = 0.7
FRICTION = 0.6
CREEP = 0.05  # m/s


@compiled
def add_ground_contact(w, world):
    for i in range(LANES):
        reach = (
            abs(w[BOX_CX + i]) + abs(w[BOX_CY + i]) + abs(w[BOX_CZ + i])
            + w[BOX_X + i] + w[BOX_Y + i] + w[BOX_Z + i]
        )  # fmt: skip
        if w[PZ + i] - reach < world[W_TOP]:
            _push_corners(w, i, world)


@compiled
def _push_corners(w, i, world):
    frequency = min(CONTACT_FREQUENCY, 0.3 / world[W_STEP])
    spring = 0.25 * w[MASS + i] * frequency * frequency
    damper = 0.5 * w[MASS + i] * frequency * DAMPING_RATIO
    p, q, r = w[WX + i], w[WY + i], w[WZ + i]
    for corner in range(8):
        bx = w[BOX_CX + i] + (w[BOX_X + i] if corner & 1 else -w[BOX_X + i])
        by = w[BOX_CY + i] + (w[BOX_Y + i] if corner & 2 else -w[BOX_Y + i])
        bz = w[BOX_CZ + i] + (w[BOX_Z + i] if corner & 4 else -w[BOX_Z + i])
        x = w[PX + i] + w[R00 + i] * bx + w[R01 + i] * by + w[R02 + i] * bz
        y = w[PY + i] + w[R10 + i] * bx + w[R11 + i] * by + w[R12 + i] * bz
        z = w[PZ + i] + w[R20 + i] * bx + w[R21 + i] * by + w[R22 + i] * bz
        height, east, north = ground(world, x, y)
        if z >= height:
            continue
        nz = 1.0 / sqrt(1.0 + east * east + north * north)
        nx, ny = -east * nz, -north * nz
        sx, sy, sz = q * bz - r * by, r * bx - p * bz, p * by - q * bx
        vx = w[VX + i] + w[R00 + i] * sx + w[R01 + i] * sy + w[R02 + i] * sz
        vy = w[VY + i] + w[R10 + i] * sx + w[R11 + i] * sy + w[R12 + i] * sz
        vz = w[VZ + i] + w[R20 + i] * sx + w[R21 + i] * sy + w[R22 + i] * sz
        out = vx * nx + vy * ny + vz * nz
        push = spring * (height - z) * nz - damper * out
        if push <= 0.0:
            continue
        vx, vy, vz = vx - out * nx, vy - out * ny, vz - out * nz
        hold = FRICTION * push / sqrt(vx * vx + vy * vy + vz * vz + CREEP * CREEP)
        fx, fy, fz = push * nx - hold * vx, push * ny - hold * vy, push * nz - hold * vz
        gx = w[R00 + i] * fx + w[R10 + i] * fy + w[R20 + i] * fz
        gy = w[R01 + i] * fx + w[R11 + i] * fy + w[R21 + i] * fz
        gz = w[R02 + i] * fx + w[R12 + i] * fy + w[R22 + i] * fz
        bx, by, bz = bx - w[CX + i], by - w[CY + i], bz - w[CZ + i]
        w[FX + i] += gx
        w[FY + i] += gy
        w[FZ + i] += gz
        w[TX + i] += by * gz - bz * gy
        w[TY + i] += bz * gx - bx * gz
        w[TZ + i] += bx * gy - by * gx
