"""Propellers that meet the air they fly into: thrust and torque by the advance ratio, and what they blow behind them.

J = V/(n D) of the speed V along the axis, the turns a second n and the diameter D. With the thrust at rest T₀ = k ω²
it is T = T₀ f(J) and Q = k_m T₀ g(J), f(0) = g(0) = 1: two polynomials, or a table of a wind tunnel, linear between
its rows (McCormick, Aerodynamics, Aeronautics and Flight Mechanics, chapter 6). Rotors give T₀ and k_m T₀
(physics/rotor.py); here is what is to be added. Beyond `LAST`, where the data end, f and g stay as they are there.

By the theory of momentum (McCormick, 6.2) a disc of area A that pulls with T speeds the air up by
v = −V/2 + √(V²/4 + T/(2ρA)) until it has passed, and by v (1 + s/√(s² + R²)) at a distance s behind it (6.4, of the
vortex cylinder that its wake is), which is 2 v far away.
"""

from math import pi, sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.attitude import rotate_back
from airloom.physics.pushing import push_and_turn_at
from airloom.world.atmosphere import STANDARD_DENSITY  # of which the row DENSITY is a share

TERMS = 6
# Of a vehicle: how many propellers it has. Of each: rows of its table, its rotor, its speed in this tick, thrust and
# torque per speed², its place and its axis, diameter, last J, which of the rows WASH it fills, −1 for none, and the
# polynomials from J on. A table follows: J, f − 1, g − 1 in each row.
PROPELLERS, FIRST = 0, LANES
KNOTS, ROTOR, SPEED, THRUST, TORQUE, X, Y, Z, AXIS_X, AXIS_Y, AXIS_Z, DIAMETER, LAST, BLOWS = (
    k * LANES for k in range(14)
)
F, G = 14 * LANES, (14 + TERMS) * LANES
PROPELLER_ROWS = 14 + 2 * TERMS
LEAST_SPEED = 1.0  # rad/s, below which a propeller stands


@compiled
def rows_of(p, at):
    """How many numbers a propeller has in the block's lanes together."""
    return (PROPELLER_ROWS + 3 * int(p[at + KNOTS])) * LANES


@compiled
def _change(p, at, j):
    """f(J) − 1, or g(J) − 1."""
    total = 0.0
    for k in range(TERMS - 1, -1, -1):
        total = (total + p[at + k * LANES]) * j
    return total


@compiled
def _changes_by_table(p, at, knots, j):
    """f(J) − 1 and g(J) − 1, linear from row to row; J is within the table."""
    f, g = p[at + LANES], p[at + 2 * LANES]
    for k in range(1, knots):
        here, after = at + 3 * (k - 1) * LANES, at + 3 * k * LANES
        width = p[after] - p[here]
        share = (j - p[here]) / width
        share = share if share > 0.0 else 0.0
        share = share if share < 1.0 else 1.0
        f += share * (p[after + LANES] - p[here + LANES])
        g += share * (p[after + 2 * LANES] - p[here + 2 * LANES])
    return f, g


@compiled
def _advance(p, a, along):
    """J, as far as it is known."""
    omega = p[a + SPEED]
    turns = (omega if omega > LEAST_SPEED else LEAST_SPEED) / (2.0 * pi)
    j = along / (turns * (p[a + DIAMETER] if p[a + DIAMETER] > 0.0 else 1.0))
    j = j if j > 0.0 else 0.0
    return j if j < p[a + LAST] else p[a + LAST]


@compiled
def note_speeds(w, rotors, p):
    """The speeds of this tick, and what the propellers blow with them."""
    at = FIRST
    for _ in range(int(p[PROPELLERS])):
        for i in range(LANES):
            p[at + SPEED + i] = rotors[int(p[at + ROTOR + i]) * row.ROTOR_WIDTH + row.SPEED + i]
        if p[at + BLOWS] >= 0.0:
            _blow(w, p, at)
        at += rows_of(p, at)


@compiled
def _blow(w, p, at):
    knots = int(p[at + KNOTS])
    for i in range(LANES):
        a = at + i
        vx, vy, vz = (
            w[row.VX + i] - w[row.WINDX + i],
            w[row.VY + i] - w[row.WINDY + i],
            w[row.VZ + i] - w[row.WINDZ + i],
        )
        ux, uy, uz = rotate_back(w[row.QW + i], w[row.QX + i], w[row.QY + i], w[row.QZ + i], vx, vy, vz)
        ux += w[row.WY + i] * p[a + Z] - w[row.WZ + i] * p[a + Y]
        uy += w[row.WZ + i] * p[a + X] - w[row.WX + i] * p[a + Z]
        uz += w[row.WX + i] * p[a + Y] - w[row.WY + i] * p[a + X]
        along = ux * p[a + AXIS_X] + uy * p[a + AXIS_Y] + uz * p[a + AXIS_Z]
        j, change = _advance(p, a, along), 0.0
        if knots > 0:
            change, _ = _changes_by_table(p, a + PROPELLER_ROWS * LANES, knots, j)
        else:
            change = _change(p, a + F, j)
        thrust = p[a + THRUST] * p[a + SPEED] * p[a + SPEED] * (1.0 + change)  # at standard density, which drops out
        disc = 0.25 * pi * p[a + DIAMETER] * p[a + DIAMETER]
        within = 0.25 * along * along + thrust / (2.0 * STANDARD_DENSITY * disc)
        w[row.WASH + int(p[a + BLOWS]) * LANES + i] = sqrt(max(within, 0.0)) - 0.5 * along


@compiled
def add_propellers(w, p):
    at = FIRST
    for _ in range(int(p[PROPELLERS])):
        knots = int(p[at + KNOTS])
        if knots > 0:
            for i in range(LANES):
                j = _advance(p, at + i, _along(w, p, at, i))
                f, g = _changes_by_table(p, at + PROPELLER_ROWS * LANES + i, knots, j)
                _pull(w, p, at, i, f, g)
        else:
            for i in range(LANES):
                j = _advance(p, at + i, _along(w, p, at, i))
                _pull(w, p, at, i, _change(p, at + F + i, j), _change(p, at + G + i, j))
        at += rows_of(p, at)


@compiled
def _along(w, p, at, i):
    """Speed of the hub through the air along the axis."""
    a = at + i
    x, y, z = p[a + X] - w[row.CX + i], p[a + Y] - w[row.CY + i], p[a + Z] - w[row.CZ + i]
    vx = w[row.UX + i] + w[row.WY + i] * z - w[row.WZ + i] * y
    vy = w[row.UY + i] + w[row.WZ + i] * x - w[row.WX + i] * z
    vz = w[row.UZ + i] + w[row.WX + i] * y - w[row.WY + i] * x
    return vx * p[a + AXIS_X] + vy * p[a + AXIS_Y] + vz * p[a + AXIS_Z]


@compiled
def _pull(w, p, at, i, f, g):
    """What f − 1 and g − 1 add to the thrust and torque at rest."""
    a = at + i
    x, y, z = p[a + X] - w[row.CX + i], p[a + Y] - w[row.CY + i], p[a + Z] - w[row.CZ + i]
    ax, ay, az = p[a + AXIS_X], p[a + AXIS_Y], p[a + AXIS_Z]
    push = w[row.DENSITY + i] * p[a + SPEED] * p[a + SPEED]
    thrust, torque = push * p[a + THRUST] * f, push * p[a + TORQUE] * g
    push_and_turn_at(
        w, i, x, y, z, thrust * ax, thrust * ay, thrust * az, torque * ax, torque * ay, torque * az
    )  # fmt: skip
