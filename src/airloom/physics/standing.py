"""The rest of friction, in the batch engine: what stands on a slope stays where it is.

The smoothed friction of `contact`, μ N v/√(v² + ε²), needs some speed to hold a weight: by it alone a vehicle creeps.
What it lacks of Coulomb's μ N is made up for when a tick is over: it takes off up to μ N (1 − v/√(v² + ε²)) Δt/m of the
speed along the ground. v is the speed that the integrator went by, the mean of the tick for Runge and Kutta's and that
at its beginning for Euler's. What stood before and is stopped by this has not moved.

Ground without slopes has none of this: there, nothing pulls at what stands.
"""

from math import sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.contact import CREEP, FRICTION, contact_frequency, is_any_near, look_at_corner
from airloom.world.ground import W_COLUMNS, W_STEP

LEAST_CORNERS = 2  # of the eight that touch
LARGEST_RATE = 0.1  # rad/s; what turns faster tips or rolls
AT_REST = 1e-9  # m/s


@compiled
def stand_still(w, world, rk4):
    """Hold those that do not tip or roll."""
    if world[W_COLUMNS] == 0.0 or not is_any_near(w, world):
        return
    for i in range(LANES):
        if _turns(w, i) < LARGEST_RATE:
            _hold(w, world, i, rk4)


@compiled
def _turns(w, i):
    p, q, r = w[row.WX + i], w[row.WY + i], w[row.WZ + i]
    return sqrt(p * p + q * q + r * r)


@compiled
def _hold(w, world, i, rk4):
    """Vehicle `i`, where it touches: n is the mean normal there, b the mean place in the body."""
    count, bx, by, bz, nx, ny, nz, push = 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for corner in range(8):
        x, y, z, east, north, force = look_at_corner(w, world, i, corner, contact_frequency(world))
        if force > 0.0:
            up = 1.0 / sqrt(1.0 + east * east + north * north)
            count, push = count + 1, push + force
            bx, by, bz = bx + x, by + y, bz + z
            nx, ny, nz = nx - east * up, ny - north * up, nz + up
    if count < LEAST_CORNERS:
        return
    bx, by, bz, size = bx / count, by / count, bz / count, sqrt(nx * nx + ny * ny + nz * nz)
    nx, ny, nz = nx / size, ny / size, nz / size
    x, y, z = _along(*_velocity(w, row.VX, row.WX, i, bx, by, bz), nx, ny, nz)
    before = row.START - row.STATE
    u, v, s = _along(*_velocity(w, before + row.VX, before + row.WX, i, bx, by, bz), nx, ny, nz)
    now, earlier = sqrt(x * x + y * y + z * z), sqrt(u * u + v * v + s * s)
    speed, creep = 0.5 * (now + earlier) if rk4 else earlier, CREEP * world[W_STEP]
    lacking = 1.0 - speed / sqrt(speed * speed + creep * creep)
    rest = FRICTION * push * w[row.INV_MASS + i] * lacking * world[W_STEP]
    share = 1.0 if now <= rest else rest / now
    w[row.VX + i] -= share * x
    w[row.VY + i] -= share * y
    w[row.VZ + i] -= share * z
    if now <= rest and earlier < AT_REST:
        _put_back(w, i, nx, ny, nz)


@compiled
def _put_back(w, i, nx, ny, nz):
    """To where it was along the ground."""
    before = row.START - row.STATE
    x, y, z = w[before + row.PX + i], w[before + row.PY + i], w[before + row.PZ + i]
    x, y, z = _along(w[row.PX + i] - x, w[row.PY + i] - y, w[row.PZ + i] - z, nx, ny, nz)
    w[row.PX + i] -= x
    w[row.PY + i] -= y
    w[row.PZ + i] -= z


@compiled
def _velocity(w, linear, angular, i, bx, by, bz):
    """Of a point of the body, world."""
    p, q, r = w[angular + i], w[angular + LANES + i], w[angular + 2 * LANES + i]
    x, y, z = q * bz - r * by, r * bx - p * bz, p * by - q * bx
    return (
        w[linear + i] + w[row.R00 + i] * x + w[row.R01 + i] * y + w[row.R02 + i] * z,
        w[linear + LANES + i] + w[row.R10 + i] * x + w[row.R11 + i] * y + w[row.R12 + i] * z,
        w[linear + 2 * LANES + i] + w[row.R20 + i] * x + w[row.R21 + i] * y + w[row.R22 + i] * z,
    )


@compiled
def _along(x, y, z, nx, ny, nz):
    """The part of a vector that is across the normal."""
    out = x * nx + y * ny + z * nz
    return x - out * nx, y - out * ny, z - out * nz
