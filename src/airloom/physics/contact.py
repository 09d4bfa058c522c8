"""Ground contact of the batch engine: a spring and a damper at each corner of the body's box, with friction.

A corner at depth d below the ground is pushed out along the ground's normal with N = k d − c v_n (never pulled) and
held back sideways with μ N v_t / √(v_t² + ε²), Coulomb friction smoothed at creeping speeds. By this alone a vehicle
on a slope below the friction angle would creep at ε s/√(1 − s²), s = tan α/μ: `standing` holds it.
Stiffness and damping follow from the mass, so that a vehicle on four corners is an oscillator of CONTACT_FREQUENCY: it
sinks g/ω² when at rest, 0.7 mm. The MuJoCo engine has its own contacts and does not use this.
"""

from math import sqrt

import numpy as np

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.attitude import orient
from airloom.world.ground import W_COLUMNS, W_STEP, W_TOP, ceiling, ground

CONTACT_FREQUENCY = 120.0  # rad/s, lowered for long steps so that a step turns the oscillator by at most 0.3 rad
DAMPING_RATIO = 0.7
FRICTION = 0.6
CREEP = 20.0  # m/s for each second of step: the shorter the step, the closer to Coulomb's law
(
    BODY_X, BODY_Y, BODY_Z, CORNER_X, CORNER_Y, CORNER_Z, HEIGHT, EAST, NORTH, GROUND_X, GROUND_Y, GROUND_Z, TOUCHING,
) = (row.SCRATCH + k * LANES for k in range(13))  # fmt: skip


@compiled
def add_ground_contact(w, world):
    if is_any_near(w, world):
        for corner in range(8):
            _place_corner(w, corner & 1, corner & 2, corner & 4)
            _look_at_ground(w, world)
            _push_corner(w, contact_frequency(world), CREEP * world[W_STEP])


@compiled
def contact_frequency(world):
    return min(CONTACT_FREQUENCY, 0.3 / world[W_STEP])


@compiled
def is_any_near(w, world):
    """Below the highest point of all ground, a comparison for eight at once; then below the highest nearby."""
    near = False
    for i in range(LANES):
        near |= w[row.PZ + i] - _reach(w, i) < world[W_TOP]
    if world[W_COLUMNS] == 0.0 or not near:
        return near
    for i in range(LANES):
        reach = _reach(w, i)
        if w[row.PZ + i] - reach < ceiling(world, w[row.PX + i], w[row.PY + i], reach):
            return True
    return False


@compiled
def _reach(w, i):
    return (
        abs(w[row.BOX_CX + i]) + abs(w[row.BOX_CY + i]) + abs(w[row.BOX_CZ + i])
        + w[row.BOX_X + i] + w[row.BOX_Y + i] + w[row.BOX_Z + i]
    )  # fmt: skip


def corner_forces(w: np.ndarray, lanes: int, world: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners of a block's first vehicles that touch the ground, and the forces there (world, N); spoils the block."""
    points, forces = [], []
    orient(w)
    turns = w[row.R00 : row.R00 + 9 * LANES].reshape(3, 3, LANES)
    for corner in range(8):
        w[row.FX : row.FX + 3 * LANES] = 0.0
        _place_corner(w, corner & 1, corner & 2, corner & 4)
        _look_at_ground(w, world)
        _push_corner(w, contact_frequency(world), CREEP * world[W_STEP])
        force = np.einsum("jki,ki->ij", turns, w[row.FX : row.FX + 3 * LANES].reshape(3, LANES))[:lanes]
        touching = np.any(force != 0.0, axis=1)
        points.append(w[CORNER_X : CORNER_X + 3 * LANES].reshape(3, LANES)[:, :lanes].T[touching].copy())
        forces.append(force[touching].copy())
    return np.concatenate(points), np.concatenate(forces)


@compiled
def _place_corner(w, front, left, top):
    """Where a corner of the box is, in the body and in the world."""
    x, y, z = 1.0 if front else -1.0, 1.0 if left else -1.0, 1.0 if top else -1.0
    for i in range(LANES):
        bx = w[row.BOX_CX + i] + x * w[row.BOX_X + i]
        by = w[row.BOX_CY + i] + y * w[row.BOX_Y + i]
        bz = w[row.BOX_CZ + i] + z * w[row.BOX_Z + i]
        w[BODY_X + i] = bx
        w[BODY_Y + i] = by
        w[BODY_Z + i] = bz
        w[CORNER_X + i] = w[row.PX + i] + w[row.R00 + i] * bx + w[row.R01 + i] * by + w[row.R02 + i] * bz
        w[CORNER_Y + i] = w[row.PY + i] + w[row.R10 + i] * bx + w[row.R11 + i] * by + w[row.R12 + i] * bz
        w[CORNER_Z + i] = w[row.PZ + i] + w[row.R20 + i] * bx + w[row.R21 + i] * by + w[row.R22 + i] * bz


@compiled
def look_at_corner(w, world, i, corner, frequency):
    """A corner of vehicle `i`: its place in the body, the slopes of the ground there, and how hard it is pushed out, N;
    0 if it does not touch.
    """
    bx = w[row.BOX_CX + i] + (w[row.BOX_X + i] if corner & 1 else -w[row.BOX_X + i])
    by = w[row.BOX_CY + i] + (w[row.BOX_Y + i] if corner & 2 else -w[row.BOX_Y + i])
    bz = w[row.BOX_CZ + i] + (w[row.BOX_Z + i] if corner & 4 else -w[row.BOX_Z + i])
    x = w[row.PX + i] + w[row.R00 + i] * bx + w[row.R01 + i] * by + w[row.R02 + i] * bz
    y = w[row.PY + i] + w[row.R10 + i] * bx + w[row.R11 + i] * by + w[row.R12 + i] * bz
    z = w[row.PZ + i] + w[row.R20 + i] * bx + w[row.R21 + i] * by + w[row.R22 + i] * bz
    height, east, north = ground(world, x, y)
    nz = 1.0 / sqrt(1.0 + east * east + north * north)
    push = w[row.MASS + i] * 0.25 * frequency * frequency * (height - z) * nz
    return bx, by, bz, east, north, max(push, 0.0)


@compiled
def _look_at_ground(w, world):
    for i in range(LANES):
        w[HEIGHT + i], w[EAST + i], w[NORTH + i] = ground(world, w[CORNER_X + i], w[CORNER_Y + i])


@compiled
def _push_corner(w, frequency, creep):
    """Chosen by arithmetic rather than by branches, so that eight vehicles are handled at once."""
    for i in range(LANES):
        east, north, depth = w[EAST + i], w[NORTH + i], w[HEIGHT + i] - w[CORNER_Z + i]
        nz = 1.0 / sqrt(1.0 + east * east + north * north)
        nx, ny = -east * nz, -north * nz
        bx, by, bz = w[BODY_X + i], w[BODY_Y + i], w[BODY_Z + i]
        p, q, r = w[row.WX + i], w[row.WY + i], w[row.WZ + i]
        sx, sy, sz = q * bz - r * by, r * bx - p * bz, p * by - q * bx
        vx = w[row.VX + i] + w[row.R00 + i] * sx + w[row.R01 + i] * sy + w[row.R02 + i] * sz
        vy = w[row.VY + i] + w[row.R10 + i] * sx + w[row.R11 + i] * sy + w[row.R12 + i] * sz
        vz = w[row.VZ + i] + w[row.R20 + i] * sx + w[row.R21 + i] * sy + w[row.R22 + i] * sz
        out = vx * nx + vy * ny + vz * nz
        push = w[row.MASS + i] * frequency * (0.25 * frequency * depth * nz - 0.5 * DAMPING_RATIO * out)
        touching = 1.0 if (depth > 0.0) & (push > 0.0) else 0.0
        vx, vy, vz = vx - out * nx, vy - out * ny, vz - out * nz
        hold = FRICTION * push / sqrt(vx * vx + vy * vy + vz * vz + creep * creep)
        fx, fy, fz = push * nx - hold * vx, push * ny - hold * vy, push * nz - hold * vz
        w[GROUND_X + i] = w[row.R00 + i] * fx + w[row.R10 + i] * fy + w[row.R20 + i] * fz
        w[GROUND_Y + i] = w[row.R01 + i] * fx + w[row.R11 + i] * fy + w[row.R21 + i] * fz
        w[GROUND_Z + i] = w[row.R02 + i] * fx + w[row.R12 + i] * fy + w[row.R22 + i] * fz
        w[TOUCHING + i] = touching
    for i in range(LANES):
        x, y, z = w[BODY_X + i] - w[row.CX + i], w[BODY_Y + i] - w[row.CY + i], w[BODY_Z + i] - w[row.CZ + i]
        gx, gy, gz = w[GROUND_X + i], w[GROUND_Y + i], w[GROUND_Z + i]
        fx, fy, fz, tx, ty, tz = (
            w[row.FX + i],
            w[row.FY + i],
            w[row.FZ + i],
            w[row.TX + i],
            w[row.TY + i],
            w[row.TZ + i],
        )
        touching = w[TOUCHING + i] > 0.0
        w[row.FX + i] = fx + gx if touching else fx
        w[row.FY + i] = fy + gy if touching else fy
        w[row.FZ + i] = fz + gz if touching else fz
        w[row.TX + i] = tx + (y * gz - z * gy) if touching else tx
        w[row.TY + i] = ty + (z * gx - x * gz) if touching else ty
        w[row.TZ + i] = tz + (x * gy - y * gx) if touching else tz
