"""Surfaces that lift: each a flat piece at its centre of pressure, with the air that it meets there.

The law is that of the seed and of Gazebo's LiftDrag, with the code followed where text and code differ. With the
velocity v of the centre of pressure through the air, f forward and u up of the surface, s = f × u its span:

    v' = v − (v·s) s           what it meets across its span
    α  = α₀ + atan2(−v·u, v·f) folded to ±90°: a surface that flies backwards is one that flies forwards
    c  = c_α α κ               up to the stall at ±α_s
       = (±c_α α_s + c_stall (α ∓ α_s)) κ beyond it, where lift and moment do not change their sign
    κ  = |v'|²/|v|²            of the sweep: cos², where the seed's text has cos
    F  = ½ ρ |v'|² S (C_L l + C_D d), M = ½ ρ |v'|² S C_M s

l is across v' towards u, d against v'; a servo's angle δ adds C_Lδ δ to the lift and C_Mδ δ to the moment. C_D has no
sign of its own, and C_D0 κ is added to it, which Gazebo's has not: a wing without lift is not without drag.

A surface with a polar has its coefficients from there (physics/polars.py), without κ: the wind tunnel had no sweep.
"""

from math import pi, sqrt

import numpy as np

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.lanes import angle_of
from airloom.compiled.rows import LANES
from airloom.physics.polars import POLAR_ROWS, look_up
from airloom.physics.pushing import push_and_turn_at
from airloom.physics.servos import ANGLE, SERVO_ROWS
from airloom.world.atmosphere import STANDARD_DENSITY

KNOTS = 0  # of its polar, which follows; 0 without one
X, Y, Z, FORWARD, UP, SPAN = LANES, 2 * LANES, 3 * LANES, 4 * LANES, 7 * LANES, 10 * LANES
AREA, ALPHA_0, STALL = 13 * LANES, 14 * LANES, 15 * LANES
LIFT, LIFT_STALL, DRAG_0, DRAG, DRAG_STALL, MOMENT, MOMENT_STALL = ((16 + k) * LANES for k in range(7))
SERVO, LIFT_SERVO, MOMENT_SERVO = 23 * LANES, 24 * LANES, 25 * LANES
# What its servo adds to lift and moment in this tick.
LIFT_NOW, MOMENT_NOW = 26 * LANES, 27 * LANES
# Of the air there against that of the vehicle: its velocity in this tick (body), what the weather has left (world).
AIR, GUST = 28 * LANES, 31 * LANES
# The propeller that blows over it, a number of the rows WASH, and the air's velocity there per speed-up in its disc.
BLOWN, BLOW = 34 * LANES, 35 * LANES
SURFACE_ROWS = 38
HALF_DENSITY = 0.5 * STANDARD_DENSITY  # kg/m³; the row DENSITY is a share of the standard one


@compiled
def rows_of(p, at):
    """How many numbers a surface has in the block's lanes together."""
    knots = int(p[at + KNOTS])
    return (SURFACE_ROWS + (POLAR_ROWS + 4 * knots if knots > 0 else 0)) * LANES


@compiled
def settle_surface(p, at, servos):
    """What its servo does in this tick."""
    for i in range(LANES):
        delta = p[servos + int(p[at + SERVO + i]) * SERVO_ROWS * LANES + ANGLE + i]
        p[at + LIFT_NOW + i] = p[at + LIFT_SERVO + i] * delta
        p[at + MOMENT_NOW + i] = p[at + MOMENT_SERVO + i] * delta


@compiled
def _dot(x, y, z, p, at):
    return x * p[at] + y * p[at + LANES] + z * p[at + 2 * LANES]


@compiled
def _beyond_stall(slope, stalled, size, stall):
    """A coefficient for α ≥ 0, linear up to the stall and after it; without the correction for sweep."""
    return slope * (size if size < stall else stall) + stalled * (size - stall if size > stall else 0.0)


@compiled
def _meet(w, p, at, i):
    """Velocity through the air at its centre of pressure: forward, up and along the span."""
    x, y, z = p[at + X + i] - w[row.CX + i], p[at + Y + i] - w[row.CY + i], p[at + Z + i] - w[row.CZ + i]
    vx = w[row.UX + i] + w[row.WY + i] * z - w[row.WZ + i] * y - p[at + AIR + i]
    vy = w[row.UY + i] + w[row.WZ + i] * x - w[row.WX + i] * z - p[at + AIR + LANES + i]
    vz = w[row.UZ + i] + w[row.WX + i] * y - w[row.WY + i] * x - p[at + AIR + 2 * LANES + i]
    along = _dot(vx, vy, vz, p, at + FORWARD + i)
    return along, _dot(vx, vy, vz, p, at + UP + i), _dot(vx, vy, vz, p, at + SPAN + i)


@compiled
def _push(w, p, at, i, along, above, lift, drag, moment):
    """½ ρ |v'|² S l with l = (u along − f above)/|v'|, and likewise d = −(f along + u above)/|v'|."""
    x, y, z = p[at + X + i] - w[row.CX + i], p[at + Y + i] - w[row.CY + i], p[at + Z + i] - w[row.CZ + i]
    met = along * along + above * above
    size, speed = HALF_DENSITY * w[row.DENSITY + i] * p[at + AREA + i], sqrt(met)
    forward = -size * speed * (lift * above + drag * along)
    up = size * speed * (lift * along - drag * above)
    turn = size * met * moment
    fx = forward * p[at + FORWARD + i] + up * p[at + UP + i]
    fy = forward * p[at + FORWARD + LANES + i] + up * p[at + UP + LANES + i]
    fz = forward * p[at + FORWARD + 2 * LANES + i] + up * p[at + UP + 2 * LANES + i]
    tx, ty = turn * p[at + SPAN + i], turn * p[at + SPAN + LANES + i]
    tz = turn * p[at + SPAN + 2 * LANES + i]
    push_and_turn_at(w, i, x, y, z, fx, fy, fz, tx, ty, tz)


@compiled
def add_surface(w, p, at):
    """Force and torque of one surface of each of the block's vehicles."""
    if p[at + KNOTS] > 0.0:
        _add_by_polar(w, p, at)
    else:
        _add_linear(w, p, at)


@compiled
def _add_linear(w, p, at):
    for i in range(LANES):
        along, above, aside = _meet(w, p, at, i)
        met = along * along + above * above
        total = met + aside * aside
        sweep = met / (total if total > 0.0 else 1.0)
        alpha = p[at + ALPHA_0 + i] + angle_of(-above, along)
        alpha = alpha - pi * np.floor(alpha / pi + 0.5)
        sign = 1.0 if alpha >= 0.0 else -1.0
        size, stall = sign * alpha, p[at + STALL + i]
        stalled = size > stall
        lift = _beyond_stall(p[at + LIFT + i], p[at + LIFT_STALL + i], size, stall)
        moment = _beyond_stall(p[at + MOMENT + i], p[at + MOMENT_STALL + i], size, stall)
        drag = _beyond_stall(p[at + DRAG + i], p[at + DRAG_STALL + i], size, stall)
        lift = 0.0 if stalled & (lift < 0.0) else lift
        moment = 0.0 if stalled & (moment < 0.0) else moment
        drag = drag if drag > 0.0 else -drag
        lift = sign * lift * sweep + p[at + LIFT_NOW + i]
        moment = sign * moment * sweep + p[at + MOMENT_NOW + i]
        _push(w, p, at, i, along, above, lift, (drag + p[at + DRAG_0 + i]) * sweep, moment)


@compiled
def _add_by_polar(w, p, at):
    knots, polar = int(p[at + KNOTS]), at + SURFACE_ROWS * LANES
    for i in range(LANES):
        along, above, _ = _meet(w, p, at, i)
        alpha = p[at + ALPHA_0 + i] + angle_of(-above, along)
        alpha = alpha - 2.0 * pi * np.floor(alpha / (2.0 * pi) + 0.5)
        lift, drag, moment = look_up(p, polar + i, knots, alpha)
        lift, moment = lift + p[at + LIFT_NOW + i], moment + p[at + MOMENT_NOW + i]
        _push(w, p, at, i, along, above, lift, drag + p[at + DRAG_0 + i], moment)
