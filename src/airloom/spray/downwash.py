"""The air below rotors: a jet from each, which spreads, is left behind by a moving vehicle, and turns aside at the ground.

Near the disc it is the stream of momentum theory. An actuator disc of radius R and thrust T in air of density ρ induces
v_i = T / (2 ρ π R² √(V_h² + (V_z + v_i)²)) at a velocity (V_h, V_z) across and along its axis (H. Glauert, *The Elements
of Aerofoil and Airscrew Theory*, 1926), √(T / (2 ρ π R²)) in hover. At a depth s below it the stream has the speed
u₀ = v_i (1 + s / √(s² + R²)) (B. W. McCormick, *Aerodynamics of V/STOL Flight*, 1967) and, by continuity, the radius
r₀ = R √(v_i / u₀): far below 2 v_i and R / √2.

From there it is a round turbulent jet (M. L. Albertson et al., *Diffusion of submerged jets*, Trans. ASCE 115, 1950). A
core of speed u₀ shrinks to nothing over 12.4 radii; around it, and after it everywhere, the profile is Gaussian,
exp(−(y / δ)²). Momentum is conserved: δ follows from the core's radius, then δ = 0.1146 s and u = u₀ √2 r₀ / δ.

Air that passes a vehicle at a velocity V sweeps the jet back by V ∫ ds / u. Momentum of several jets adds up (H. Reichardt,
VDI-Forschungsheft 414, 1942): the sum of u |u|, not of u.

At the ground a jet becomes a radial wall jet, 1.03 u₀ 2 r₀ / r at a distance r from where it comes down, with a half
thickness of 0.087 r (N. Rajaratnam, *Turbulent Jets*, 1976); around that place it is a stagnation flow. Where the air
passes as fast as the wall jet flows, it ends.

Not modelled: swirl, tip vortices, and that at forward speeds well above v_i a wake rolls up into a pair of vortices.
"""

from __future__ import annotations

from math import exp, pi, sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import ROTOR_WIDTH
from airloom.world.ground import ground

# A vehicle's wake: a row of the table of wakes. Then its rotors, JET_WIDTH numbers each.
WAKE_X, WAKE_Y, WAKE_TOP, WAKE_REACH, WAKE_BACK_X, WAKE_BACK_Y, WAKE_GROUND, WAKE_JETS, WAKE_WIDTH = range(9)
# Of a jet: hub, how far its axis leans east and north for each metre down, radius, induced speed, reach of its wall jet.
JET_X, JET_Y, JET_Z, JET_LEAN_X, JET_LEAN_Y, JET_RADIUS, JET_SPEED, JET_WALL, JET_WIDTH = range(9)
# Of a rotor, as the vehicle has it: hub, axis, radius.
GEOMETRY_WIDTH = 7

CORE = 12.4  # radii of the jet, after which it has no core
SPREAD = 0.1146  # of a Gaussian jet, for each metre
WALL, THICKNESS = 1.03, 0.087
STILL = 0.4  # m/s of passing air that is taken at least for where wall jets end
FARTHEST = 15.0  # m, of a wall jet
OLD = 4.0  # s, after which the eddies of the air around have broken a jet up; our own guess
LEAST = 0.05  # m/s of induced speed, below which a rotor has no wake


@compiled
def induced_speed(thrust, radius, density, across, along):
    """v_i of a disc through which air comes with `along` and past which it goes with `across`, m/s; by Newton's method."""
    hover2 = max(thrust, 0.0) / (2.0 * density * pi * radius * radius)
    v = sqrt(hover2)
    along = max(along, 0.0)  # in descent momentum theory ends; hover is the nearest that holds
    for _ in range(8):
        total = sqrt(across * across + (along + v) * (along + v))
        if total == 0.0:
            return 0.0
        slope = 1.0 + hover2 * (along + v) / (total * total * total)
        v -= (v - hover2 / total) / slope
    return v


@compiled
def jet_at(s, radius, speed):
    """Speed in the middle, radius of the core, δ of the Gaussian around it, and time since the disc, at a depth s."""
    u0 = speed * (1.0 + s / sqrt(s * s + radius * radius))
    r0 = radius * sqrt(speed / u0)
    end = CORE * r0
    if s < end:
        core = r0 * min(1.0 - s / end, 1.0)
        delta = sqrt(core * core * (0.5 * pi - 2.0) + 2.0 * r0 * r0) - core * sqrt(0.5 * pi)
        return u0, core, delta, s / u0
    delta = SPREAD * s
    return u0 * sqrt(2.0) * r0 / delta, 0.0, delta, (end + 0.5 * (s * s - end * end) / end) / u0


@compiled
def _add_jet(jets, at, back_x, back_y, floor, x, y, z, momentum):
    """Add u |u| of one jet at a place."""
    radius, speed = jets[at + JET_RADIUS], jets[at + JET_SPEED]
    if speed < LEAST:
        return
    s, h = jets[at + JET_Z] - z, max(z - floor, 0.0)
    if s < -radius:
        return
    u, core, delta, since = jet_at(s, radius, speed)
    since = max(since, 0.0)
    if since > OLD:
        return
    u *= 1.0 - since / OLD
    dx = x - jets[at + JET_X] - s * jets[at + JET_LEAN_X] - back_x * since
    dy = y - jets[at + JET_Y] - s * jets[at + JET_LEAN_Y] - back_y * since
    r = sqrt(dx * dx + dy * dy)
    turning = core + delta  # height at which the ground begins to turn the jet aside
    beyond = r - core
    if beyond < 2.5 * delta:
        down = u * (exp(-((beyond / delta) ** 2)) if beyond > 0.0 else 1.0) * min(h / turning, 1.0)
        momentum[2] -= down * down
    wall = jets[at + JET_WALL]
    if r < wall and r > 1e-6:
        across = speed * 2.0 * sqrt(2.0) * radius * WALL / max(r, 2.0 * turning)
        across *= min(r / turning, 1.0) * (1.0 - r / wall)
        half = THICKNESS * r + 0.5 * turning
        if h < 3.0 * half:
            across *= exp(-0.693 * (h / half) ** 2)
            momentum[0] += across * across * dx / r
            momentum[1] += across * across * dy / r


@compiled
def add_downwash(wake, jets, x, y, z, momentum, v):
    """Add the velocity of the air below one vehicle's rotors to `v`; `momentum` is scratch."""
    if z > wake[WAKE_TOP]:
        return
    dx, dy = x - wake[WAKE_X], y - wake[WAKE_Y]
    if dx * dx + dy * dy > wake[WAKE_REACH] * wake[WAKE_REACH]:
        return
    momentum[0] = momentum[1] = momentum[2] = 0.0
    for k in range(int(wake[WAKE_JETS])):
        _add_jet(jets, k * JET_WIDTH, wake[WAKE_BACK_X], wake[WAKE_BACK_Y], wake[WAKE_GROUND], x, y, z, momentum)
    size = sqrt(sqrt(momentum[0] ** 2 + momentum[1] ** 2 + momentum[2] ** 2))
    if size > 0.0:
        for axis in range(3):
            v[axis] += momentum[axis] / size


@compiled
def prepare_wakes(blocks, rotors, places, geometry, world, density, wakes, jets):
    """Fill the wakes and jets of all vehicles from their states and rotor speeds.

    `places` is [vehicle, (block, lane, rotors)], `geometry` [vehicle, GEOMETRY_WIDTH · rotor].
    """
    for n in range(places.shape[0]):
        w, lane = blocks[places[n, 0]], places[n, 1]
        spin = rotors[places[n, 0]]
        px, py, pz = w[row.PX + lane], w[row.PY + lane], w[row.PZ + lane]
        back_x, back_y = w[row.WINDX + lane] - w[row.VX + lane], w[row.WINDY + lane] - w[row.VY + lane]
        climb = w[row.VZ + lane] - w[row.WINDZ + lane]
        qw, qx, qy, qz = w[row.QW + lane], w[row.QX + lane], w[row.QY + lane], w[row.QZ + lane]
        passing, floor = sqrt(back_x * back_x + back_y * back_y), ground(world, px, py)[0]
        reach, top = 0.0, pz
        for k in range(places[n, 2]):
            g = k * GEOMETRY_WIDTH
            x, y, z = _turned(qw, qx, qy, qz, geometry[n, g], geometry[n, g + 1], geometry[n, g + 2])
            ax, ay, az = _turned(qw, qx, qy, qz, geometry[n, g + 3], geometry[n, g + 4], geometry[n, g + 5])
            radius = geometry[n, g + 6]
            turning = spin[k * ROTOR_WIDTH + row.SPEED + lane]
            thrust = spin[k * ROTOR_WIDTH + row.THRUST_CONSTANT + lane] * turning * turning
            speed = induced_speed(thrust, radius, density, passing, climb) if az > 0.3 else 0.0
            at = k * JET_WIDTH
            jets[n, at + JET_X], jets[n, at + JET_Y], jets[n, at + JET_Z] = px + x, py + y, pz + z
            jets[n, at + JET_LEAN_X], jets[n, at + JET_LEAN_Y] = -ax / max(az, 0.3), -ay / max(az, 0.3)
            jets[n, at + JET_RADIUS], jets[n, at + JET_SPEED] = radius, speed
            jets[n, at + JET_WALL] = min(WALL * speed * 2.0 * sqrt(2.0) * radius / max(passing, STILL), FARTHEST)
            if speed >= LEAST:
                depth = max(pz + z - floor, 0.0)
                _, core, delta, since = jet_at(depth, radius, speed)
                lean = depth * sqrt(ax * ax + ay * ay) / max(az, 0.3)
                swept = sqrt(x * x + y * y) + lean + passing * min(since, OLD)
                reach = max(reach, swept + max(core + 2.5 * delta, jets[n, at + JET_WALL]))
            top = max(top, pz + z + radius)
        wakes[n, WAKE_X], wakes[n, WAKE_Y], wakes[n, WAKE_TOP], wakes[n, WAKE_REACH] = px, py, top, reach
        wakes[n, WAKE_BACK_X], wakes[n, WAKE_BACK_Y], wakes[n, WAKE_GROUND] = back_x, back_y, floor
        wakes[n, WAKE_JETS] = places[n, 2]


@compiled
def _turned(qw, qx, qy, qz, x, y, z):
    """A vector of the body in the world."""
    tx, ty, tz = 2.0 * (qy * z - qz * y), 2.0 * (qz * x - qx * z), 2.0 * (qx * y - qy * x)
    return x + qw * tx + qy * tz - qz * ty, y + qw * ty + qz * tx - qx * tz, z + qw * tz + qx * ty - qy * tx


@compiled
def sort_wakes(wakes, corner_x, corner_y, cell, near):
    """Note in `near` [row, column, (count, vehicles …)] which wakes reach into which cell of a coarse grid."""
    rows, columns, most = near.shape[0], near.shape[1], near.shape[2] - 1
    for r in range(rows):
        for c in range(columns):
            near[r, c, 0] = 0
    for n in range(wakes.shape[0]):
        reach = wakes[n, WAKE_REACH]
        if reach <= 0.0:
            continue
        west, east = (wakes[n, WAKE_X] - reach - corner_x) / cell, (wakes[n, WAKE_X] + reach - corner_x) / cell
        south, north = (wakes[n, WAKE_Y] - reach - corner_y) / cell, (wakes[n, WAKE_Y] + reach - corner_y) / cell
        if east < 0.0 or north < 0.0 or west >= columns or south >= rows:
            continue
        for r in range(max(int(south), 0), min(int(north), rows - 1) + 1):
            for c in range(max(int(west), 0), min(int(east), columns - 1) + 1):
                if near[r, c, 0] < most:
                    near[r, c, 0] += 1
                    near[r, c, near[r, c, 0]] = n
