"""The air below rotors: a jet from each, which spreads, is left behind by a moving vehicle, and turns at the ground.

Near the disc it is the stream of momentum theory. An actuator disc of radius R and thrust T in air of density ρ induces
v_i = T / (2 ρ π R² √(V_h² + (V_z + v_i)²)) at a velocity (V_h, V_z) across and along its axis (H. Glauert, *The
Elements of Aerofoil and Airscrew Theory*, 1926), √(T / (2 ρ π R²)) in hover. At a depth s below it the stream has
the speed u₀ = v_i (1 + s / √(s² + R²)) (B. W. McCormick, *Aerodynamics of V/STOL Flight*, 1967) and, by continuity, the
radius r₀ = R √(v_i / u₀): far below 2 v_i and R / √2.

From there it is a round turbulent jet (M. L. Albertson et al., *Diffusion of submerged jets*, Trans. ASCE 115, 1950). A
core of speed u₀ shrinks to nothing over 12.4 radii; around it, and after it everywhere, the profile is Gaussian,
exp(−(y / δ)²). Momentum is conserved: δ follows from the core's radius, then δ = 0.1146 s and u = u₀ √2 r₀ / δ.

Air that passes a vehicle at a velocity V sweeps the jets back by V ∫ ds / u. Momentum of jets adds up (H. Reichardt,
VDI-Forschungsheft 414, 1942): where they overlap it is u² that is summed.

At the ground they become one radial wall jet, 1.03 U D / r at a distance r from where they come down, with a half
thickness of 0.087 r (N. Rajaratnam, *Turbulent Jets*, 1976); U D is √n that of one of n jets. Around that place it is a
stagnation flow. Where the air passes as fast as the wall jet flows, it ends.

All jets of a vehicle have the shape of the mean one; each has its own place and speed. Not modelled: swirl, tip
vortices, and that at forward speeds well above v_i a wake rolls up into a pair of vortices.
"""

from __future__ import annotations

from math import exp, pi, sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import ROTOR_WIDTH
from airloom.world.ground import ground

# A vehicle's wake: the middle of its rotors, how high it begins and how far it reaches, velocity of the passing air,
# how far its axis leans for each metre down, ground below, radius and induced speed of the mean rotor, distance of the
# outermost one, strength and end of the wall jet, number of jets.
(
    WAKE_X, WAKE_Y, WAKE_Z, WAKE_TOP, WAKE_REACH, WAKE_BACK_X, WAKE_BACK_Y, WAKE_LEAN_X, WAKE_LEAN_Y, WAKE_GROUND,
    WAKE_RADIUS, WAKE_SPEED, WAKE_FOOT, WAKE_STRENGTH, WAKE_WALL, WAKE_JETS, WAKE_WIDTH,
) = range(17)  # fmt: skip
JET_X, JET_Y, JET_SHARE, JET_WIDTH = range(4)
"""Of a jet: its place from the middle of the wake, and its speed in shares of the mean one's."""
GEOMETRY_WIDTH = 7  # numbers of a rotor as the vehicle has it: hub, axis, radius

CORE = 12.4  # radii of the jet, after which it has no core
SPREAD = 0.1146  # of a Gaussian jet, for each metre
EDGE = 2.5  # times δ, beyond which there is no jet any more
WALL, THICKNESS = 1.03, 0.087
STILL = 0.4  # m/s of passing air that is taken at least for where wall jets end
FARTHEST = 15.0  # m, of a wall jet
OLD = 4.0  # s, after which the eddies of the air around have broken a jet up; our own guess
LEAST = 0.05  # m/s of induced speed, below which a vehicle has no wake
STEEP = 0.3  # of a rotor's axis: its upward part, below which it blows aside rather than down


@compiled
def induced_speed(thrust, radius, density, across, along):
    """v_i of a disc through which air comes at `along` and past which it goes at `across`, m/s, by Newton's method."""
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
def add_downwash(wake, jets, x, y, z, v):
    """Add the velocity of the air below one vehicle's rotors to `v`."""
    if z > wake[WAKE_TOP]:
        return
    dx, dy = x - wake[WAKE_X], y - wake[WAKE_Y]
    if dx * dx + dy * dy > wake[WAKE_REACH] * wake[WAKE_REACH]:
        return
    s, h = wake[WAKE_Z] - z, max(z - wake[WAKE_GROUND], 0.0)
    u, core, delta, since = jet_at(s, wake[WAKE_RADIUS], wake[WAKE_SPEED])
    since = max(since, 0.0)
    if since > OLD:
        return
    dx -= s * wake[WAKE_LEAN_X] + since * wake[WAKE_BACK_X]
    dy -= s * wake[WAKE_LEAN_Y] + since * wake[WAKE_BACK_Y]
    fading = 1.0 - since / OLD
    turning = core + delta  # height at which the ground begins to turn jets aside
    v[2] -= fading * u * sqrt(_squares(jets, int(wake[WAKE_JETS]), dx, dy, core, delta)) * min(h / turning, 1.0)
    around = wake[WAKE_FOOT] + turning
    r2 = dx * dx + dy * dy
    if r2 > wake[WAKE_WALL] * wake[WAKE_WALL]:
        return
    r = sqrt(r2)
    half = THICKNESS * r + 0.5 * turning
    if h < 3.0 * half and r > 1e-6:
        across = fading * wake[WAKE_STRENGTH] / max(r, around) * min(r / around, 1.0) * (1.0 - r / wake[WAKE_WALL])
        across *= exp(-0.693 * (h / half) ** 2) / r
        v[0] += across * dx
        v[1] += across * dy


@compiled
def _squares(jets, count, x, y, core, delta):
    """Sum of the squares of what all jets have of the middle speed at a place."""
    edge, total = core + EDGE * delta, 0.0
    for k in range(count):
        dx, dy = x - jets[k * JET_WIDTH + JET_X], y - jets[k * JET_WIDTH + JET_Y]
        r2 = dx * dx + dy * dy
        if r2 < edge * edge:
            share = jets[k * JET_WIDTH + JET_SHARE]
            if r2 <= core * core:
                total += share * share
            else:
                total += share * share * exp(-2.0 * ((sqrt(r2) - core) / delta) ** 2)
    return total


@compiled
def prepare_wakes(blocks, rotors, places, geometry, world, density, wakes, jets):
    """Fill the wakes and jets of all vehicles from their states and rotor speeds.

    `places` is [vehicle, (block, lane, rotors)], `geometry` [vehicle, GEOMETRY_WIDTH · rotor].
    """
    for n in range(places.shape[0]):
        _prepare_wake(blocks[places[n, 0]], rotors[places[n, 0]], places[n], geometry[n], density, wakes[n], jets[n])
        _limit_wake(wakes[n], world)


@compiled
def _prepare_wake(w, rotors, place, geometry, density, wake, jets):
    lane, count = place[1], place[2]
    back_x, back_y = w[row.WINDX + lane] - w[row.VX + lane], w[row.WINDY + lane] - w[row.VY + lane]
    climb, passing = w[row.VZ + lane] - w[row.WINDZ + lane], sqrt(back_x * back_x + back_y * back_y)
    qw, qx, qy, qz = w[row.QW + lane], w[row.QX + lane], w[row.QY + lane], w[row.QZ + lane]
    x = y = z = lean_x = lean_y = radius = squares = 0.0
    for k in range(count):
        g, at = k * GEOMETRY_WIDTH, k * JET_WIDTH
        hx, hy, hz = _turned(qw, qx, qy, qz, geometry[g], geometry[g + 1], geometry[g + 2])
        ax, ay, az = _turned(qw, qx, qy, qz, geometry[g + 3], geometry[g + 4], geometry[g + 5])
        turning = rotors[k * ROTOR_WIDTH + row.SPEED + lane]
        thrust = rotors[k * ROTOR_WIDTH + row.THRUST_CONSTANT + lane] * turning * turning
        speed = induced_speed(thrust, geometry[g + 6], density, passing, climb) if az > STEEP else 0.0
        jets[at + JET_X], jets[at + JET_Y], jets[at + JET_SHARE] = hx, hy, speed
        x, y, z, radius = x + hx / count, y + hy / count, z + hz / count, radius + geometry[g + 6] / count
        lean_x, lean_y = lean_x - ax / max(az, STEEP) / count, lean_y - ay / max(az, STEEP) / count
        squares += speed * speed
    mean, foot = sqrt(squares / count), 0.0
    for k in range(count):
        at = k * JET_WIDTH
        jets[at + JET_X], jets[at + JET_Y] = jets[at + JET_X] - x, jets[at + JET_Y] - y
        jets[at + JET_SHARE] = jets[at + JET_SHARE] / mean if mean > 0.0 else 0.0
        foot = max(foot, sqrt(jets[at + JET_X] ** 2 + jets[at + JET_Y] ** 2))
    wake[WAKE_X], wake[WAKE_Y], wake[WAKE_Z] = w[row.PX + lane] + x, w[row.PY + lane] + y, w[row.PZ + lane] + z
    wake[WAKE_BACK_X], wake[WAKE_BACK_Y], wake[WAKE_LEAN_X], wake[WAKE_LEAN_Y] = back_x, back_y, lean_x, lean_y
    wake[WAKE_RADIUS], wake[WAKE_SPEED], wake[WAKE_FOOT], wake[WAKE_JETS] = radius, mean, foot, count
    wake[WAKE_STRENGTH] = WALL * 2.0 * sqrt(2.0 * count) * radius * mean


@compiled
def _limit_wake(wake, world):
    """How high it begins, and how far from the middle of the rotors it can be felt."""
    floor = ground(world, wake[WAKE_X], wake[WAKE_Y])[0]
    wake[WAKE_GROUND], wake[WAKE_TOP], wake[WAKE_REACH] = floor, wake[WAKE_Z] + wake[WAKE_RADIUS], 0.0
    if wake[WAKE_SPEED] < LEAST:
        return
    passing = sqrt(wake[WAKE_BACK_X] ** 2 + wake[WAKE_BACK_Y] ** 2)
    wake[WAKE_WALL] = min(wake[WAKE_STRENGTH] / max(passing, STILL), FARTHEST)
    depth = max(wake[WAKE_Z] - floor, 0.0)
    _, core, delta, since = jet_at(depth, wake[WAKE_RADIUS], wake[WAKE_SPEED])
    swept = depth * sqrt(wake[WAKE_LEAN_X] ** 2 + wake[WAKE_LEAN_Y] ** 2) + passing * min(since, OLD)
    wake[WAKE_REACH] = swept + max(wake[WAKE_FOOT] + core + EDGE * delta, wake[WAKE_WALL])


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
