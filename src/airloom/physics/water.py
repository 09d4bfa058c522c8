"""A vehicle's hull in the water around it: what the water does there now, and what that does to the hull.

The surface is a plane for each shape of the hull: that which touches the waves above the shape's middle, so a long hull
on short waves is best made of several shapes. Water that waves accelerate by a pushes as if it weighed g − a: the
pressure of undisturbed waves (Froude and Krylov), and the added mass is dragged along with it (Morison).
"""

from math import sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.attitude import rotate
from airloom.physics.hydrodynamics import drag_water_along
from airloom.physics.submersion import MIDDLE_X, MIDDLE_Y, MIDDLE_Z, VOLUME, add_mesh, add_revolved
from airloom.world.atmosphere import STANDARD_DENSITY
from airloom.world.ground import W_STEP
from airloom.world.water import flow_at, is_water, surface_at

LAYERS = 4
FADES_BELOW = 0.5  # of what is usually under water: less, and added mass and damping fade with it
HIGHEST = 0.5 * row.PARKED  # m, above which a lane has no vehicle
ABOVE_ALL = 1e4  # m, over which no hull reaches; more would cost digits
# Numbers of a vehicle: how many shapes its hull has, the volume that it displaces when it floats or dives. Of the
# world: layers (upper end, density). Now: the water's velocity and acceleration. Of the hull: added mass, damping,
# whether these are of air. Of the engine: its step if it takes velocities first, or 0. Of the hull: its shapes.
SHAPES, TOTAL, FIRST_LAYER = 0, LANES, 2 * LANES
FLOW = FIRST_LAYER + 2 * LAYERS * LANES
GAINS_SPEED = FLOW + 3 * LANES
ADDED = GAINS_SPEED + 3 * LANES
DAMPING = ADDED + 36 * LANES
QUADRATIC = DAMPING + 6 * LANES
IN_AIR = QUADRATIC + 6 * LANES
VELOCITIES_FIRST = IN_AIR + LANES
FIRST_SHAPE = VELOCITIES_FIRST + LANES
# Of a shape: how long it is, its kind, its middle, the rotation from its axes to the body's; two numbers of a body of
# revolution, or how many triangles follow; the surface above it now: height, slopes to east and north.
LENGTH, KIND, X, TURN, A, B = 0, LANES, 2 * LANES, 5 * LANES, 14 * LANES, 15 * LANES
SURFACE, EAST, NORTH = 16 * LANES, 17 * LANES, 18 * LANES
SHAPE_ROWS = 19
MESH, CYLINDER, CAPSULE, ELLIPSOID = 0.0, 1.0, 2.0, 3.0


@compiled
def look_at_water(w, world, tick, p):
    """Once a tick: flow at the centre of each vehicle, and the surface above each of its shapes."""
    if not is_water(world):
        return
    t, flow = tick * world[W_STEP], w[row.SCRATCH : row.SCRATCH + 6]
    for i in range(LANES):
        if p[SHAPES + i] > 0.0 and w[row.PZ + i] < HIGHEST:
            _look(w, i, t, world, p, flow)


@compiled
def _look(w, i, t, world, p, flow):
    px, py, pz = w[row.PX + i], w[row.PY + i], w[row.PZ + i]
    flow_at(world, t, px, py, pz, flow)
    for n in range(6):
        p[FLOW + n * LANES + i] = flow[n]
    at = FIRST_SHAPE + i
    for _ in range(int(p[SHAPES + i])):
        x, y, z = p[at + X], p[at + X + LANES], p[at + X + 2 * LANES]
        x, y, _ = rotate(w[row.QW + i], w[row.QX + i], w[row.QY + i], w[row.QZ + i], x, y, z)
        p[at + SURFACE], p[at + EAST], p[at + NORTH] = surface_at(world, t, px + x, py + y)
        at += int(p[at + LENGTH]) * LANES


@compiled
def _add_shape(sums, p, at, i, nx, ny, nz, d, cuts, part):
    """What of a shape has n·r < d, n in the body and r from its origin; added to `sums` about that origin."""
    a, k = at + i, at + TURN + i
    x, y, z = p[a + X], p[a + X + LANES], p[a + X + 2 * LANES]
    mx = p[k] * nx + p[k + 3 * LANES] * ny + p[k + 6 * LANES] * nz
    my = p[k + LANES] * nx + p[k + 4 * LANES] * ny + p[k + 7 * LANES] * nz
    mz = p[k + 2 * LANES] * nx + p[k + 5 * LANES] * ny + p[k + 8 * LANES] * nz
    d -= nx * x + ny * y + nz * z
    for n in range(4):
        part[n] = 0.0
    if p[a + KIND] == MESH:
        add_mesh(part, p, a + SHAPE_ROWS * LANES, int(p[a + A]), LANES, mx, my, mz, d)
    elif p[a + KIND] == ELLIPSOID:
        _add_ellipsoid(part, p, a + SHAPE_ROWS * LANES, mx, my, mz, d, cuts)
    else:
        add_revolved(part, p[a + A], p[a + B], 1.0 if p[a + KIND] == CAPSULE else 0.0, mx, my, mz, d, cuts)
    u, v, s = part[MIDDLE_X], part[MIDDLE_Y], part[MIDDLE_Z]
    sums[VOLUME] += part[VOLUME]
    sums[MIDDLE_X] += part[VOLUME] * x + p[k] * u + p[k + LANES] * v + p[k + 2 * LANES] * s
    sums[MIDDLE_Y] += part[VOLUME] * y + p[k + 3 * LANES] * u + p[k + 4 * LANES] * v + p[k + 5 * LANES] * s
    sums[MIDDLE_Z] += part[VOLUME] * z + p[k + 6 * LANES] * u + p[k + 7 * LANES] * v + p[k + 8 * LANES] * s


@compiled
def _add_ellipsoid(part, p, at, mx, my, mz, d, cuts):
    """A ball of radius 1 that is stretched: with (x, y, z) = (a u, b v, c w), n·r < d is (a n_x, …)·(u, …) < d."""
    a, b, c = p[at], p[at + LANES], p[at + 2 * LANES]
    mx, my, mz = a * mx, b * my, c * mz
    size = sqrt(mx * mx + my * my + mz * mz)
    add_revolved(part, 1.0, 0.0, 1.0, mx / size, my / size, mz / size, d / size, cuts)
    whole = a * b * c
    part[VOLUME] *= whole
    part[MIDDLE_X] *= whole * a
    part[MIDDLE_Y] *= whole * b
    part[MIDDLE_Z] *= whole * c


@compiled
def _below(w, sums, p, i, height, is_wavy, cuts, part):
    """Volume below a height, or below the surface, and volume × middle."""
    for n in range(4):
        sums[n] = 0.0
    at = FIRST_SHAPE
    nx, ny, nz, d = w[row.R20 + i], w[row.R21 + i], w[row.R22 + i], height - w[row.PZ + i]
    for _ in range(int(p[SHAPES + i])):
        if is_wavy:
            east, north = p[at + EAST + i], p[at + NORTH + i]
            slope = sqrt(1.0 + east * east + north * north)
            nx, ny, nz = _to_body(w, i, -east / slope, -north / slope, 1.0 / slope)
            k = at + i
            x, y, _ = _to_world(w, i, p[k + X], p[k + X + LANES], p[k + X + 2 * LANES])
            d = (p[at + SURFACE + i] - east * x - north * y - w[row.PZ + i]) / slope
        _add_shape(sums, p, at, i, nx, ny, nz, d, cuts, part)
        at += int(p[at + LENGTH + i]) * LANES


@compiled
def _lift(w, i, density, gx, gy, gz, sums):
    """Archimedes: against what the liquid weighs by (gx, gy, gz), world, through the middle of what is displaced."""
    fx, fy, fz = _to_body(w, i, density * gx, density * gy, density * gz)
    v = sums[VOLUME]
    x, y, z = sums[MIDDLE_X] - v * w[row.CX + i], sums[MIDDLE_Y] - v * w[row.CY + i], sums[MIDDLE_Z] - v * w[row.CZ + i]
    w[row.FX + i] += v * fx
    w[row.FY + i] += v * fy
    w[row.FZ + i] += v * fz
    w[row.TX + i] += y * fz - z * fy
    w[row.TY + i] += z * fx - x * fz
    w[row.TZ + i] += x * fy - y * fx


@compiled
def _to_body(w, i, x, y, z):
    return (
        w[row.R00 + i] * x + w[row.R10 + i] * y + w[row.R20 + i] * z,
        w[row.R01 + i] * x + w[row.R11 + i] * y + w[row.R21 + i] * z,
        w[row.R02 + i] * x + w[row.R12 + i] * y + w[row.R22 + i] * z,
    )


@compiled
def _to_world(w, i, x, y, z):
    return (
        w[row.R00 + i] * x + w[row.R01 + i] * y + w[row.R02 + i] * z,
        w[row.R10 + i] * x + w[row.R11 + i] * y + w[row.R12 + i] * z,
        w[row.R20 + i] * x + w[row.R21 + i] * y + w[row.R22 + i] * z,
    )


@compiled
def _float(w, i, p, sums, cuts, part):
    """Buoyancy of all layers and of the air above them; gives the share of added mass and damping there is."""
    air, g = STANDARD_DENSITY * w[row.DENSITY + i], w[row.GRAVITY + i]
    _below(w, sums, p, i, w[row.PZ + i] + ABOVE_ALL, False, cuts, part)
    _lift(w, i, air, 0.0, 0.0, g, sums)
    above, share, at = air, 0.0, GAINS_SPEED + i
    for k in range(LAYERS):
        layer = FIRST_LAYER + 2 * k * LANES + i
        density = p[layer + LANES]
        if density == 0.0:
            break
        _below(w, sums, p, i, p[layer], k == 0, cuts, part)
        _lift(w, i, density - above, p[at], p[at + LANES], g + p[at + 2 * LANES], sums)
        above = density
        if k == 0:
            share = min(sums[VOLUME] / (FADES_BELOW * p[TOTAL + i]), 1.0)
    return share


@compiled
def _fly_in_air(w, i, flow, gains):
    """The air takes the place of the water: its flow, and the share of the standard density."""
    flow[0], flow[1], flow[2] = w[row.UX + i], w[row.UY + i], w[row.UZ + i]
    gains[0], gains[1], gains[2] = 0.0, 0.0, 0.0
    return w[row.DENSITY + i]


@compiled
def add_water(w, p):
    """All that the water does; the last of a vehicle's effects, since it must know the wrench of all others."""
    room = w[row.SCRATCH : row.SCRATCH + 77]
    scratch, sums, part, cuts = room[:48], room[48:52], room[52:56], room[56:68]
    flow, gains = room[68:74], room[74:77]
    for i in range(LANES):
        if p[SHAPES + i] == 0.0 or w[row.PZ + i] > HIGHEST:
            continue
        share = _float(w, i, p, sums, cuts, part)
        x, y, z = p[FLOW + i], p[FLOW + LANES + i], p[FLOW + 2 * LANES + i]
        ux, uy, uz = _to_body(w, i, x, y, z)
        x, y, z = p[GAINS_SPEED + i], p[GAINS_SPEED + LANES + i], p[GAINS_SPEED + 2 * LANES + i]
        gains[0], gains[1], gains[2] = _to_body(w, i, x, y, z)
        vx, vy, vz = _to_body(w, i, w[row.VX + i], w[row.VY + i], w[row.VZ + i])
        a, b, c = w[row.WX + i], w[row.WY + i], w[row.WZ + i]
        cx, cy, cz = w[row.CX + i], w[row.CY + i], w[row.CZ + i]
        flow[0] = vx + b * cz - c * cy - ux
        flow[1] = vy + c * cx - a * cz - uy
        flow[2] = vz + a * cy - b * cx - uz
        flow[3], flow[4], flow[5] = a, b, c
        if p[IN_AIR + i] != 0.0:
            share = _fly_in_air(w, i, flow, gains)
        if share > 0.0:
            drag_water_along(w, i, p, ADDED, DAMPING, QUADRATIC, share, flow, gains, p[VELOCITIES_FIRST + i], scratch)
