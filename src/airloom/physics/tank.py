"""A tank in the loop: what flows out of it, what the vehicle weighs with it, and how its liquid swings.

The liquid counts as frozen in the rigid body that the engines move; its swinging is the difference to that. With s the
place where a mass m of a mode would be frozen and ρ its displacement, body axes, f = a − g the specific force at the
origin, α and ω the body's angular acceleration and rates, frozen it would have the specific force
    f_s = f + α × s + ω × (ω × s)
and it has f_s + e with e = ρ̈ + α × ρ + ω × (ω × ρ) + 2 ω × ρ̇. Across the tank's axis a spring and a damper hold it,
    (f_s + e)_xy = −ω_n² ρ − 2 ζ ω_n ρ̇,    ω_n² = f_z/L_n
and along it the tank's own structure. So the body feels the force −m e, and the torque −m (s × e + ρ × (f_s + e)).

Liquids are slow beside the bodies that they push, so they swing in steps of their own: as many ticks as fit into
LONGEST_STEP. f and α in a step follow from the mean accelerations in the two before, which include contacts, by a
straight line; oscillators are stepped by the implicit midpoint rule. Since the rigid body holds the frozen mass, this
is stable for any share of liquid, and its error in the damping ratio is of third order in the step: 1e-5 for a fifth
of the vehicle's mass that swings at 10 rad/s, and steps of 4 ms. The body is given what momentum the liquid loses in a
step. Within, time is counted in half steps, which saves a fifth of the products.

Where f_z is below LEAST_PULL (free fall, upside down) a liquid would float; these masses then hang on a weak spring.
A mass stops where a plane surface would meet lid or bottom, and loses its speed there: a full tank does not slosh.
"""

from math import sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.attitude import rotate_back
from airloom.physics.liquid import (
    MODES,
    damping_ratio,
    free_surface,
    liquid_at_rest,
    steepest_surface,
    swinging_mass,
)
from airloom.physics.wrench import effect, ticker

LEAST_PULL = 1.0  # m/s²
LONGEST_STEP = 0.002  # s
FINEST_CHANGE = 1e-4  # of the capacity, by which the level changes before the vehicle is weighed anew


def _numbered(count: int, first: int = 0) -> tuple[int, ...]:
    return tuple((first + k) * LANES for k in range(count))


# From the vehicle file. Sizes and places in m, the dry vehicle's mass, centre and inertia, how many rotors. A tick, and
# how many of them a liquid swings at once.
(
    STEP, TICKS, CAPACITY, DENSITY, VISCOSITY, SHAPE, LENGTH, WIDTH, HEIGHT, TANK_X, TANK_Y, TANK_Z, SLOSHES, BAFFLES,
    MAX_FLOW, FOLLOWED, DRY_MASS, DRY_X, DRY_Y, DRY_Z, DRY_JXX, DRY_JYY, DRY_JZZ, DRY_JXY, DRY_JXZ, DRY_JYZ, ROTORS,
) = _numbered(FILE_ROWS := 27)  # fmt: skip
# What is told it: flow with all nozzles open (L/min), share of the nozzles that are open.
ASKED, OPEN_SHARE = _numbered(2, FILE_ROWS)
# Its state: litres, pump's flow, flow in the last tick (L/min), litres given since the start, the litres it was weighed
# with, the tick in which it ran dry (−1 if it has not).
LITRES, RUNNING, FLOW, GIVEN, WEIGHED, DRY_SINCE = _numbered(6, FILE_ROWS + 2)
# Accelerations as MEAN_AX … MEAN_ALPHA_Z: their sum since the last step, and that in the step before.
RECENT, PAST = ((FILE_ROWS + 8 + 6 * k) * LANES for k in range(2))
# Half a step, its square, and the inverse of that.
HALF, UNIT, PER_UNIT = _numbered(3, FILE_ROWS + 20)
# Of this step, m and half steps: the specific force on the tank's axis beside the origin; how it changes along x, y and
# z, that is the columns of α× + ω×ω×; twice the rates; the least pull, and the root of that in the liquid's middle.
(
    PULL_X, PULL_Y, PULL_Z, XX, YX, ZX, XY, YY, ZY, XZ, YZ, ZZ, TWICE_X, TWICE_Y, TWICE_Z, LEAST, ROOT,
) = _numbered(MOTION_ROWS := 17, FILE_ROWS + 23)  # fmt: skip
FIRST_MODE = FILE_ROWS + 23 + MOTION_ROWS
# Of each mode: displacement along x and y, velocity (m per half step), its mean if nothing stops it; for both 1/L,
# 2ζ/√L, mass, height above the origin and where it stops; √(m_y/m_x), its inverse, √(m_x m_y).
(
    X, Y, U, V, MEAN_U, MEAN_V, PER_LENGTH_X, PER_LENGTH_Y, DAMPING_X, DAMPING_Y, MASS_X, MASS_Y, HEIGHT_X, HEIGHT_Y,
    STOP_X, STOP_Y, RATIO, INVERSE_RATIO, MASS_XY,
) = _numbered(MODE_ROWS := 19, FIRST_MODE)  # fmt: skip
MODE_WIDTH = MODE_ROWS * LANES
OWN_ROWS = FIRST_MODE + MODES * MODE_ROWS
MIX = OWN_ROWS * LANES  # of each rotor: its part of the thrust, with the tank empty


@compiled
def pour(p, i, tick):
    """Backward rectangular integration of the flow, V ← V − Q dt; the last tick gives what is left.

    The pump's flow follows the command by Q ← Q + (1 − exp(−dt/τ)) (Q* − Q).
    """
    asked, most = p[ASKED + i], p[MAX_FLOW + i]
    asked = (asked if asked < most else most) * p[OPEN_SHARE + i]
    p[RUNNING + i] += p[FOLLOWED + i] * (asked - p[RUNNING + i])
    minutes = p[STEP + i] / 60.0
    leaves = p[RUNNING + i] * minutes
    if leaves >= p[LITRES + i] and p[LITRES + i] > 0.0:
        leaves = p[LITRES + i]
        p[LITRES + i] = 0.0
        p[DRY_SINCE + i] = tick
    elif p[LITRES + i] > 0.0:
        p[LITRES + i] -= leaves
    else:
        leaves = 0.0
    p[GIVEN + i] += leaves
    p[FLOW + i] = leaves / minutes


@compiled
def _set_inertia(w, i, xx, yy, zz, xy, xz, yz):
    """Inertia about the centre of mass, and its inverse."""
    w[row.JXX + i], w[row.JYY + i], w[row.JZZ + i] = xx, yy, zz
    w[row.JXY + i], w[row.JXZ + i], w[row.JYZ + i] = xy, xz, yz
    a, b, c = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    s = 1.0 / (xx * a + xy * b + xz * c)
    w[row.INV_JXX + i], w[row.INV_JXY + i], w[row.INV_JXZ + i] = s * a, s * b, s * c
    w[row.INV_JYY + i] = s * (xx * zz - xz * xz)
    w[row.INV_JZZ + i] = s * (xx * yy - xy * xy)
    w[row.INV_JYZ + i] = s * (xy * xz - xx * yz)


@compiled
def _join(w, p, i):
    """Dry vehicle and liquid as one rigid body: J = J_d + J_l + μ (δ² 1 − δ δᵀ), μ = m_d m_l/m, δ from one centre to
    the other.
    """
    dry, liquid = p[DRY_MASS + i], w[row.LIQUID_MASS + i]
    mass = dry + liquid
    x, y, z = w[row.LIQUID_X + i] - p[DRY_X + i], w[row.LIQUID_Y + i] - p[DRY_Y + i], w[row.LIQUID_Z + i] - p[DRY_Z + i]
    share, reduced = liquid / mass, dry * liquid / mass
    w[row.MASS + i], w[row.INV_MASS + i] = mass, 1.0 / mass
    w[row.CX + i] = p[DRY_X + i] + share * x
    w[row.CY + i] = p[DRY_Y + i] + share * y
    w[row.CZ + i] = p[DRY_Z + i] + share * z
    _set_inertia(
        w, i,
        p[DRY_JXX + i] + w[row.LIQUID_JXX + i] + reduced * (y * y + z * z),
        p[DRY_JYY + i] + w[row.LIQUID_JYY + i] + reduced * (x * x + z * z),
        p[DRY_JZZ + i] + w[row.LIQUID_JZZ + i] + reduced * (x * x + y * y),
        p[DRY_JXY + i] - reduced * x * y, p[DRY_JXZ + i] - reduced * x * z, p[DRY_JYZ + i] - reduced * y * z,
    )  # fmt: skip


@compiled
def _mix_about_centre(w, rotors, p, i):
    """Thrust T at the dry vehicle's centre turns the whole about its own by −d × T: rotors' parts make up for it."""
    x, y = w[row.CX + i] - p[DRY_X + i], w[row.CY + i] - p[DRY_Y + i]
    for r in range(int(p[ROTORS + i])):
        at = r * row.ROTOR_WIDTH + i
        balance = rotors[at + row.MIX_X] * y - rotors[at + row.MIX_Y] * x
        rotors[at + row.MIX_THRUST] = p[MIX + r * LANES + i] + balance


@compiled
def _tune_modes(w, p, i, volume, depth):
    shape, length, width, height = int(p[SHAPE + i]), p[LENGTH + i], p[WIDTH + i], p[HEIGHT + i]
    a, b, box_depth = free_surface(shape, length, width, height, volume, depth)
    twice_zeta_x = 2.0 * (damping_ratio(p[VISCOSITY + i], a, box_depth) + p[BAFFLES + i])
    twice_zeta_y = 2.0 * (damping_ratio(p[VISCOSITY + i], b, box_depth) + p[BAFFLES + i])
    half = 0.5 * p[STEP + i] * p[TICKS + i]
    p[HALF + i], p[UNIT + i], p[PER_UNIT + i] = half, half * half, 1.0 / (half * half)
    mass, middle = w[row.LIQUID_MASS + i] * p[SLOSHES + i], w[row.LIQUID_Z + i]
    for n in range(MODES):
        at = n * MODE_WIDTH + i
        p[at + PER_LENGTH_X], share_x, up = swinging_mass(shape, n, a, box_depth)
        p[at + MASS_X], p[at + HEIGHT_X] = mass * share_x, middle + up
        p[at + STOP_X] = steepest_surface(a, depth, height) / p[at + PER_LENGTH_X]
        p[at + PER_LENGTH_Y], share_y, up = swinging_mass(shape, n, b, box_depth)
        p[at + MASS_Y], p[at + HEIGHT_Y] = mass * share_y, middle + up
        p[at + STOP_Y] = steepest_surface(b, depth, height) / p[at + PER_LENGTH_Y]
        p[at + RATIO], p[at + INVERSE_RATIO] = sqrt(share_y / share_x), sqrt(share_x / share_y)
        p[at + MASS_XY] = mass * sqrt(share_x * share_y)
        p[at + DAMPING_X] = twice_zeta_x * sqrt(p[at + PER_LENGTH_X])
        p[at + DAMPING_Y] = twice_zeta_y * sqrt(p[at + PER_LENGTH_Y])


@compiled
def weigh(w, rotors, p, i, litres):
    """Mass, centre and inertia of vehicle `i` with `litres` in its tank, and the masses that swing there."""
    shape, length, width, height = int(p[SHAPE + i]), p[LENGTH + i], p[WIDTH + i], p[HEIGHT + i]
    volume = 1e-3 * litres
    depth, middle, var_x, var_y, var_z = liquid_at_rest(shape, length, width, height, volume)
    mass, bottom = p[DENSITY + i] * volume, p[TANK_Z + i] - 0.5 * height
    p[WEIGHED + i] = litres
    w[row.LITRES + i], w[row.LIQUID_MASS + i] = p[LITRES + i], mass
    w[row.LIQUID_X + i], w[row.LIQUID_Y + i], w[row.LIQUID_Z + i] = p[TANK_X + i], p[TANK_Y + i], bottom + middle
    w[row.LIQUID_JXX + i] = mass * (var_y + var_z)
    w[row.LIQUID_JYY + i] = mass * (var_x + var_z)
    w[row.LIQUID_JZZ + i] = mass * (var_x + var_y)
    _join(w, p, i)
    _mix_about_centre(w, rotors, p, i)
    _tune_modes(w, p, i, volume, depth)


@compiled
def _cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@compiled
def foresee_motion(w, p):
    """The body's motion in the middle of this step, along its own axes."""
    per_ticks = 1.0 / p[TICKS]  # those in a block have equal ones
    twice = 2.0 * per_ticks
    for i in range(LANES):
        half, unit = p[HALF + i], p[UNIT + i]
        px, py = p[TANK_X + i], p[TANK_Y + i]
        tx = unit * (twice * p[RECENT + 3 * LANES + i] - p[PAST + 3 * LANES + i])
        ty = unit * (twice * p[RECENT + 4 * LANES + i] - p[PAST + 4 * LANES + i])
        tz = unit * (twice * p[RECENT + 5 * LANES + i] - p[PAST + 5 * LANES + i])
        a, b, c = half * w[row.WX + i] + tx, half * w[row.WY + i] + ty, half * w[row.WZ + i] + tz
        x = unit * (twice * p[RECENT + i] - p[PAST + i])
        y = unit * (twice * p[RECENT + LANES + i] - p[PAST + LANES + i])
        z = unit * (twice * p[RECENT + 2 * LANES + i] - p[PAST + 2 * LANES + i] + w[row.GRAVITY + i])
        x, y, z = rotate_back(w[row.QW + i], w[row.QX + i], w[row.QY + i], w[row.QZ + i], x, y, z)
        dx, dy, dz = _cross(a, b, c, x, y, z)
        aa, bb, cc, ab, ac, bc = a * a, b * b, c * c, a * b, a * c, b * c
        xx, yx, zx = -bb - cc, ab + tz, ac - ty
        xy, yy, zy = ab - tz, -aa - cc, bc + tx
        zz = -aa - bb
        pull, least = z - dz + zx * px + zy * py, LEAST_PULL * unit
        middle = pull + w[row.LIQUID_Z + i] * zz
        p[PULL_X + i] = x - dx + xx * px + xy * py
        p[PULL_Y + i] = y - dy + yx * px + yy * py
        p[PULL_Z + i], p[LEAST + i] = pull, least
        p[ROOT + i] = sqrt(middle if middle > least else least)
        p[XX + i], p[YX + i], p[ZX + i] = xx, yx, zx
        p[XY + i], p[YY + i], p[ZY + i] = xy, yy, zy
        p[XZ + i], p[YZ + i], p[ZZ + i] = ac + ty, bc - tx, zz
        p[TWICE_X + i], p[TWICE_Y + i], p[TWICE_Z + i] = 2.0 * a, 2.0 * b, 2.0 * c
    for j in range(6 * LANES):
        p[PAST + j] = p[RECENT + j] * per_ticks
        p[RECENT + j] = 0.0


@compiled
def _find_speeds(p, m):
    """Mean velocities of a mode if nothing stops it: implicit midpoint, two equations that Coriolis forces couple.

    `m` is `p` moved on, so that its rows are where the first mode's are in `p`. In a round or square tank both axes
    move one mass, which Coriolis and centrifugal forces lead from one to the other. Where they move two of unlike size,
    what couples them counts with the geometric mean of both.
    """
    for i in range(LANES):
        x, y, u, v, ratio, inverse = m[X + i], m[Y + i], m[U + i], m[V + i], m[RATIO + i], m[INVERSE_RATIO + i]
        hx, hy, turn, root, least = m[HEIGHT_X + i], m[HEIGHT_Y + i], p[TWICE_Z + i], p[ROOT + i], p[LEAST + i]
        ax, by, az = p[PULL_X + i] + hx * p[XZ + i], p[PULL_Y + i] + hy * p[YZ + i], p[PULL_Z + i] + hx * p[ZZ + i]
        pull = az if az > least else least
        kx, ky = pull * m[PER_LENGTH_X + i], pull * m[PER_LENGTH_Y + i]
        ahead_x, ahead_y = x + u, y + v
        cx = u - (ax + p[XX + i] * ahead_x + ratio * p[XY + i] * ahead_y) - kx * x
        cy = v - (by + p[YY + i] * ahead_y + inverse * p[YX + i] * ahead_x) - ky * y
        dx, dy = 1.0 + root * m[DAMPING_X + i] + kx, 1.0 + root * m[DAMPING_Y + i] + ky
        per_det = 1.0 / (dx * dy + turn * turn)
        m[MEAN_U + i], m[MEAN_V + i] = (
            per_det * (dy * cx + ratio * turn * cy),
            per_det * (dx * cy - inverse * turn * cx),
        )


@compiled
def _halt(x, v, mean, stop):
    """Place and speed of a mass after a step, mean acceleration and speed in it; `mean` is this if nothing stops it."""
    there, speed = x + 2.0 * mean, 2.0 * mean - v
    beyond = (there > stop) | (there < -stop)
    there = there if there < stop else stop
    there = there if there > -stop else -stop
    speed = 0.0 if beyond else speed
    return there, speed, 0.5 * (speed - v), 0.5 * (there - x)


@compiled
def _swing_mode(w, p, m):
    """One step of a mode in both axes, and what its wrench adds, about the tank's axis beside the origin."""
    for i in range(LANES):
        a, b, c = p[TWICE_X + i], p[TWICE_Y + i], p[TWICE_Z + i]
        xx, yx, zx, xy, yy, zy = p[XX + i], p[YX + i], p[ZX + i], p[XY + i], p[YY + i], p[ZY + i]
        hx, hy, mx, my, both = m[HEIGHT_X + i], m[HEIGHT_Y + i], m[MASS_X + i], m[MASS_Y + i], m[MASS_XY + i]
        ay, az = p[PULL_Y + i] + hx * p[YZ + i], p[PULL_Z + i] + hx * p[ZZ + i]
        bx, bz = p[PULL_X + i] + hy * p[XZ + i], p[PULL_Z + i] + hy * p[ZZ + i]
        x, y = m[X + i], m[Y + i]
        new_x, new_u, push_x, u = _halt(x, m[U + i], m[MEAN_U + i], m[STOP_X + i])
        new_y, new_v, push_y, v = _halt(y, m[V + i], m[MEAN_V + i], m[STOP_Y + i])
        m[X + i], m[Y + i], m[U + i], m[V + i] = new_x, new_y, new_u, new_v
        # e of the mass along x and of that along y.
        x, y = x + u, y + v
        ex, ey, ez = xx * x + push_x, yx * x + c * u, zx * x - b * u
        gx, gy, gz = xy * y - c * v, yy * y + push_y, zy * y + a * v
        rx, ry = mx * hx, my * hy
        w[row.SWING_FX + i] -= mx * ex + my * gx
        w[row.SWING_FY + i] -= mx * ey + my * gy
        w[row.SWING_FZ + i] -= mx * ez + my * gz
        w[row.SWING_TX + i] -= y * (my * (bz + gz) + both * ez) - rx * ey - ry * gy
        w[row.SWING_TY + i] -= rx * ex + ry * gx - x * (mx * (az + ez) + both * gz)
        w[row.SWING_TZ + i] -= x * (mx * (ay + ey) + both * gy) - y * (my * (bx + gx) + both * ex)
        w[row.SWING_X + i] += mx * new_x
        w[row.SWING_Y + i] += my * new_y


@compiled
def _move_to_origin(w, p):
    """The wrench that was summed per half step², about the tank's axis: in newtons, about the origin."""
    for i in range(LANES):
        px, py, s = p[TANK_X + i], p[TANK_Y + i], p[PER_UNIT + i]
        fx, fy, fz = s * w[row.SWING_FX + i], s * w[row.SWING_FY + i], s * w[row.SWING_FZ + i]
        w[row.SWING_FX + i], w[row.SWING_FY + i], w[row.SWING_FZ + i] = fx, fy, fz
        w[row.SWING_TX + i] = s * w[row.SWING_TX + i] + py * fz
        w[row.SWING_TY + i] = s * w[row.SWING_TY + i] - px * fz
        w[row.SWING_TZ + i] = s * w[row.SWING_TZ + i] + (px * fy - py * fx)


@compiled
def swing(w, p):
    """One step of sloshing, and the wrench that it adds.

    All modes' speeds before all wrenches: a processor works on the next while one waits for its quotient.
    """
    foresee_motion(w, p)
    for n in range(MODES):
        _find_speeds(p, p[n * MODE_WIDTH :])
    for j in range(8 * LANES):
        w[row.SWING_FX + j] = 0.0
    for n in range(MODES):
        _swing_mode(w, p, p[n * MODE_WIDTH :])
    _move_to_origin(w, p)


@ticker
def keep_tank(w, rotors, world, tick, p):
    sloshes = 0.0
    for i in range(LANES):
        pour(p, i, tick)
        litres = p[LITRES + i]
        if abs(litres - p[WEIGHED + i]) > FINEST_CHANGE * p[CAPACITY + i] or (litres == 0.0 and p[WEIGHED + i] > 0.0):
            weigh(w, rotors, p, i, litres)
        w[row.LITRES + i], w[row.FLOW + i] = litres, p[FLOW + i]
        sloshes += p[SLOSHES + i]
    if sloshes > 0.0:
        for j in range(6 * LANES):
            p[RECENT + j] += w[row.MEAN_AX + j]
        if tick % int(p[TICKS]) == 0:
            swing(w, p)


@compiled
def _damp(w, n, i, x, y, z):
    """The rotors' damping of a velocity: line n of their matrix."""
    at = row.ROTOR_DAMPING + n * 6 * LANES + i
    return w[at] * x + w[at + LANES] * y + w[at + 2 * LANES] * z


@compiled
def _rotor_force(w, n, i):
    """Line n of the rotors' force, as `add_rotors` has it."""
    at = row.ROTOR_DAMPING + (n * 6 + 3) * LANES + i
    turning = w[at] * w[row.WX + i] + w[at + LANES] * w[row.WY + i] + w[at + 2 * LANES] * w[row.WZ + i]
    return w[row.ROTOR_PUSH + n * LANES + i] - turning - _damp(w, n, i, w[row.UX + i], w[row.UY + i], w[row.UZ + i])


@effect
def add_liquid(w, p):
    """The wrench of the swinging liquid, and the rotors' about the centre of mass that the liquid has moved.

    Rotors are summed about the dry vehicle's centre; that of the whole is d away from it. There the velocity through
    the air is u − ω × d, so the force is greater by D_u (ω × d), and the torque about the whole's centre less by d × F.
    """
    for i in range(LANES):
        fx, fy, fz = w[row.SWING_FX + i], w[row.SWING_FY + i], w[row.SWING_FZ + i]
        tx, ty, tz = _cross(w[row.CX + i], w[row.CY + i], w[row.CZ + i], fx, fy, fz)
        w[row.FX + i] += fx
        w[row.FY + i] += fy
        w[row.FZ + i] += fz
        w[row.TX + i] += w[row.SWING_TX + i] - tx
        w[row.TY + i] += w[row.SWING_TY + i] - ty
        w[row.TZ + i] += w[row.SWING_TZ + i] - tz
    for i in range(LANES):
        x, y, z = w[row.CX + i] - p[DRY_X + i], w[row.CY + i] - p[DRY_Y + i], w[row.CZ + i] - p[DRY_Z + i]
        ex, ey, ez = _cross(w[row.WX + i], w[row.WY + i], w[row.WZ + i], x, y, z)
        gx, gy, gz = _damp(w, 0, i, ex, ey, ez), _damp(w, 1, i, ex, ey, ez), _damp(w, 2, i, ex, ey, ez)
        fx, fy, fz = gx + _rotor_force(w, 0, i), gy + _rotor_force(w, 1, i), gz + _rotor_force(w, 2, i)
        tx, ty, tz = _cross(x, y, z, fx, fy, fz)
        w[row.FX + i] += gx
        w[row.FY + i] += gy
        w[row.FZ + i] += gz
        w[row.TX + i] += _damp(w, 3, i, ex, ey, ez) - tx
        w[row.TY + i] += _damp(w, 4, i, ex, ey, ez) - ty
        w[row.TZ + i] += _damp(w, 5, i, ex, ey, ez) - tz
