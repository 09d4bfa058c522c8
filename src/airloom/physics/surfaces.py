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
"""

from math import pi, sqrt

import numpy as np

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.lanes import angle_of
from airloom.compiled.rows import LANES
from airloom.physics.servos import ANGLE, SERVO_ROWS

X, Y, Z, FORWARD, UP, SPAN = 0, LANES, 2 * LANES, 3 * LANES, 6 * LANES, 9 * LANES
AREA, ALPHA_0, STALL = 12 * LANES, 13 * LANES, 14 * LANES
LIFT, LIFT_STALL, DRAG_0, DRAG, DRAG_STALL, MOMENT, MOMENT_STALL = ((15 + k) * LANES for k in range(7))
SERVO, LIFT_SERVO, MOMENT_SERVO = 22 * LANES, 23 * LANES, 24 * LANES
SURFACE_ROWS = 25
HALF_DENSITY = 0.5 * 1.225  # kg/m³; the row DENSITY is a share of the standard one


@compiled
def _dot(x, y, z, p, at):
    return x * p[at] + y * p[at + LANES] + z * p[at + 2 * LANES]


@compiled
def _beyond_stall(slope, stalled, alpha, stall):
    """A coefficient, linear up to the stall and after it; without the correction for sweep."""
    size = alpha if alpha > 0.0 else -alpha
    c = slope * (size if size < stall else stall) + stalled * (size - stall if size > stall else 0.0)
    return c, size > stall


@compiled
def add_surface(w, p, at, servos):
    """Force and torque of one surface of each of the block's vehicles."""
    for i in range(LANES):
        x, y, z = p[at + X + i] - w[row.CX + i], p[at + Y + i] - w[row.CY + i], p[at + Z + i] - w[row.CZ + i]
        vx = w[row.UX + i] + w[row.WY + i] * z - w[row.WZ + i] * y
        vy = w[row.UY + i] + w[row.WZ + i] * x - w[row.WX + i] * z
        vz = w[row.UZ + i] + w[row.WX + i] * y - w[row.WY + i] * x
        along = _dot(vx, vy, vz, p, at + FORWARD + i)
        above = _dot(vx, vy, vz, p, at + UP + i)
        aside = _dot(vx, vy, vz, p, at + SPAN + i)
        met = along * along + above * above
        total = met + aside * aside
        sweep = met / (total if total > 0.0 else 1.0)

        alpha = p[at + ALPHA_0 + i] + angle_of(-above, along)
        alpha = alpha - pi * np.floor(alpha / pi + 0.5)
        sign = 1.0 if alpha >= 0.0 else -1.0
        stall = p[at + STALL + i]
        lift, stalled = _beyond_stall(p[at + LIFT + i], p[at + LIFT_STALL + i], alpha, stall)
        moment, _ = _beyond_stall(p[at + MOMENT + i], p[at + MOMENT_STALL + i], alpha, stall)
        drag, _ = _beyond_stall(p[at + DRAG + i], p[at + DRAG_STALL + i], alpha, stall)
        lift = 0.0 if stalled & (lift < 0.0) else lift
        moment = 0.0 if stalled & (moment < 0.0) else moment
        drag = drag if drag > 0.0 else -drag
        delta = p[servos + int(p[at + SERVO + i]) * SERVO_ROWS * LANES + ANGLE + i]
        lift = sign * lift * sweep + p[at + LIFT_SERVO + i] * delta
        moment = sign * moment * sweep + p[at + MOMENT_SERVO + i] * delta
        drag = (drag + p[at + DRAG_0 + i]) * sweep

        # ½ ρ |v'|² S l with l = (u along − f above)/|v'|, and likewise d = −(f along + u above)/|v'|.
        size = HALF_DENSITY * w[row.DENSITY + i] * p[at + AREA + i]
        speed = sqrt(met)
        forward = -size * speed * (lift * above + drag * along)
        up = size * speed * (lift * along - drag * above)
        turn = size * met * moment
        fx = forward * p[at + FORWARD + i] + up * p[at + UP + i]
        fy = forward * p[at + FORWARD + LANES + i] + up * p[at + UP + LANES + i]
        fz = forward * p[at + FORWARD + 2 * LANES + i] + up * p[at + UP + 2 * LANES + i]
        w[row.FX + i] += fx
        w[row.FY + i] += fy
        w[row.FZ + i] += fz
        w[row.TX + i] += y * fz - z * fy + turn * p[at + SPAN + i]
        w[row.TY + i] += z * fx - x * fz + turn * p[at + SPAN + LANES + i]
        w[row.TZ + i] += x * fy - y * fx + turn * p[at + SPAN + 2 * LANES + i]
