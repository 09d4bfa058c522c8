"""A vehicle's hull in the water around it: what the water does there now, and what that does to the hull.

The surface near a vehicle is the plane that touches the waves above its centre. Waves are Airy's on deep water:
η = a cos φ, φ = k·x − ω t + φ₀, ω² = g k, with the water's velocity ω a e^{k z} (cos φ along the wave, sin φ upwards).
"""

from math import cos, exp, pi, sin, sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.hydrodynamics import drag_water_along, resist
from airloom.physics.submersion import MIDDLE_X, MIDDLE_Y, MIDDLE_Z, VOLUME, add_mesh, add_revolved
from airloom.world.ground import W_STEP

LAYERS, WAVES = 4, 4
AIR = 1.225
# Numbers of a vehicle: how many shapes its hull has, their volume. Of the world: current (velocity, depth, period),
# waves (amplitude, wave number, direction's cosine and sine, phase), layers (upper end, density). Now: the
# surface (height, slopes to east and north) and the water's velocity. Of the hull: added mass, damping, its shapes.
SHAPES, TOTAL, CURRENT, CURRENT_DEPTH, CURRENT_PERIOD = 0, LANES, 2 * LANES, 5 * LANES, 6 * LANES
FIRST_WAVE = 7 * LANES
WAVE_ROWS = 5
FIRST_LAYER = FIRST_WAVE + WAVES * WAVE_ROWS * LANES
SURFACE = FIRST_LAYER + 2 * LAYERS * LANES
EAST, NORTH, FLOW = SURFACE + LANES, SURFACE + 2 * LANES, SURFACE + 3 * LANES
ADDED = FLOW + 3 * LANES
DAMPING = ADDED + 36 * LANES
QUADRATIC = DAMPING + 6 * LANES
FIRST_SHAPE = QUADRATIC + 6 * LANES
# Of a shape: how long it is, its kind, its middle, the rotation from its axes to the body's; two numbers of a body of
# revolution, or how many triangles follow.
LENGTH, KIND, X, TURN, A, B = 0, LANES, 2 * LANES, 5 * LANES, 14 * LANES, 15 * LANES
SHAPE_ROWS = 16
MESH, CYLINDER, CAPSULE = 0.0, 1.0, 2.0


@compiled
def look_at_water(w, world, tick, p):
    """Once a tick: surface and flow at the centre of each vehicle."""
    t = tick * world[W_STEP]
    for i in range(LANES):
        if p[SHAPES + i] > 0.0:
            _look(w, i, t, p)


@compiled
def _look(w, i, t, p):
    x, y, z = w[row.PX + i], w[row.PY + i], w[row.PZ + i]
    level, g = p[FIRST_LAYER + i], w[row.GRAVITY + i]
    rise = east = north = u = v = s = 0.0
    for k in range(WAVES):
        at = FIRST_WAVE + k * WAVE_ROWS * LANES + i
        a, number, c, d = p[at], p[at + LANES], p[at + 2 * LANES], p[at + 3 * LANES]
        if a > 0.0:
            omega = sqrt(g * number)
            phase = number * (c * x + d * y) - omega * t + p[at + 4 * LANES]
            rise += a * cos(phase)
            east -= a * number * c * sin(phase)
            north -= a * number * d * sin(phase)
            size = omega * a * exp(number * min(z - level, 0.0))
            u += size * c * cos(phase)
            v += size * d * cos(phase)
            s += size * sin(phase)
    share, depth, period = 1.0, p[CURRENT_DEPTH + i], p[CURRENT_PERIOD + i]
    if depth > 0.0:
        share = min(max(1.0 - (level - z) / depth, 0.0), 1.0)
    if period > 0.0:
        share *= sin(2.0 * pi * t / period)
    p[SURFACE + i], p[EAST + i], p[NORTH + i] = level + rise, east, north
    p[FLOW + i] = share * p[CURRENT + i] + u
    p[FLOW + LANES + i] = share * p[CURRENT + LANES + i] + v
    p[FLOW + 2 * LANES + i] = share * p[CURRENT + 2 * LANES + i] + s


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
    else:
        add_revolved(part, p[a + A], p[a + B], 1.0 if p[a + KIND] == CAPSULE else 0.0, mx, my, mz, d, cuts)
    u, v, s = part[MIDDLE_X], part[MIDDLE_Y], part[MIDDLE_Z]
    sums[VOLUME] += part[VOLUME]
    sums[MIDDLE_X] += part[VOLUME] * x + p[k] * u + p[k + LANES] * v + p[k + 2 * LANES] * s
    sums[MIDDLE_Y] += part[VOLUME] * y + p[k + 3 * LANES] * u + p[k + 4 * LANES] * v + p[k + 5 * LANES] * s
    sums[MIDDLE_Z] += part[VOLUME] * z + p[k + 6 * LANES] * u + p[k + 7 * LANES] * v + p[k + 8 * LANES] * s


@compiled
def _below(sums, p, i, nx, ny, nz, d, cuts, part):
    for n in range(4):
        sums[n] = 0.0
    at = FIRST_SHAPE
    for _ in range(int(p[SHAPES + i])):
        _add_shape(sums, p, at, i, nx, ny, nz, d, cuts, part)
        at += int(p[at + LENGTH + i]) * LANES


@compiled
def _lift(w, i, p, density, sums):
    """Archimedes: upwards, through the middle of what is displaced."""
    g = density * w[row.GRAVITY + i]
    fx, fy, fz = g * w[row.R20 + i], g * w[row.R21 + i], g * w[row.R22 + i]
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
def _float(w, i, p, sums, cuts, part):
    """Buoyancy of all layers and of the air above them; gives the share of the hull that is in water."""
    air = AIR * w[row.DENSITY + i]
    _below(sums, p, i, 0.0, 0.0, 1.0, 1e9, cuts, part)
    _lift(w, i, p, air, sums)
    above, share = air, 0.0
    for k in range(LAYERS):
        at = FIRST_LAYER + 2 * k * LANES + i
        density = p[at + LANES]
        if density == 0.0:
            break
        if k == 0:
            slope = sqrt(1.0 + p[EAST + i] * p[EAST + i] + p[NORTH + i] * p[NORTH + i])
            nx, ny, nz = _to_body(w, i, -p[EAST + i] / slope, -p[NORTH + i] / slope, 1.0 / slope)
            d = (p[SURFACE + i] - w[row.PZ + i]) / slope
        else:
            nx, ny, nz = w[row.R20 + i], w[row.R21 + i], w[row.R22 + i]
            d = p[at] - w[row.PZ + i]
        _below(sums, p, i, nx, ny, nz, d, cuts, part)
        _lift(w, i, p, density - above, sums)
        above = density
        if k == 0:
            share = sums[VOLUME] / p[TOTAL + i]
    return share


@compiled
def add_water(w, p):
    """All that the water does; the last of a vehicle's effects, since it must know the wrench of all others."""
    room = w[row.SCRATCH : row.SCRATCH + 77]
    scratch, sums, part, cuts = room[:48], room[48:52], room[52:56], room[56:68]
    flow, current = room[68:74], room[74:77]
    for i in range(LANES):
        if p[SHAPES + i] == 0.0:
            continue
        share = _float(w, i, p, sums, cuts, part)
        x, y, z = p[FLOW + i], p[FLOW + LANES + i], p[FLOW + 2 * LANES + i]
        current[0], current[1], current[2] = _to_body(w, i, x, y, z)
        vx, vy, vz = _to_body(w, i, w[row.VX + i], w[row.VY + i], w[row.VZ + i])
        a, b, c = w[row.WX + i], w[row.WY + i], w[row.WZ + i]
        cx, cy, cz = w[row.CX + i], w[row.CY + i], w[row.CZ + i]
        flow[0] = vx + b * cz - c * cy - current[0]
        flow[1] = vy + c * cx - a * cz - current[1]
        flow[2] = vz + a * cy - b * cx - current[2]
        flow[3], flow[4], flow[5] = a, b, c
        resist(w, i, p, DAMPING, QUADRATIC, share, flow)
        if share > 0.0:
            drag_water_along(w, i, p, ADDED, share, flow, current, scratch)
