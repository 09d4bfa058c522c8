"""A whole aircraft by its coefficients: six of force and moment, with sideslip, rates and control surfaces.

The build-up of Gazebo's AdvancedLiftDrag and of Beard and McLain, Small Unmanned Aircraft (2012), chapter 4.
With v the velocity of the reference point through the air, x forward, y right, z down; p, q, r the rates about them;
b the span, c the chord, S the area; V the speed without its part along y:

    α = atan2(v_z, v_x), β = atan2(v_y, v_x)
    C_L = (1 − σ)(C_L0 + C_Lα α) + σ · 2 sgn α sin²α cos α + C_Lβ β + Σ C_Lδ δ       flat plate beyond the stall
    C_D = (1 − σ)(C_D0 + (C_L − C_Ld)²/(π A e)) + σ C_Dp sin²α + Σ C_Dδ δ
    C_Dp = 2/(1 + exp(k₁ + k₂ max(A, 1/A)))
    C_Y, C_l, C_n = C_α α + C_β β + Σ C_δ δ
    C_m = C_m0 + C_mα α up to the stall, C_m0 ± C_mα α_s + C_m,stall (α ∓ α_s) beyond it, + C_mβ β + Σ C_mδ δ
    each with (C_p p b + C_q q c + C_r r b)/(2 V)

σ = (1 + e^−M(α−α_s) + e^M(α+α_s))/((1 + e^−M(α−α_s))(1 + e^M(α+α_s))) blends both. Gazebo's code loses C_m0 and C_mα,
since the line for β sets C_m instead of adding to it; here they count. Lift is across v towards −z, drag against it,
both in the plane of x and z.
"""

from math import atan2, cos, exp, pi, sin, sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.servos import ANGLE, SERVO_ROWS
from airloom.physics.surfaces import HALF_DENSITY

X, Y, Z = 0, LANES, 2 * LANES
AREA, SPAN, CHORD, ASPECT, EFFICIENCY, STALL, BLEND, PLATE = ((3 + k) * LANES for k in range(8))
# Six coefficients, and what each has: at zero, per α, β, p, q and r, then per servo.
AT_ZERO, PER_ALPHA, PER_BETA, PER_P, PER_Q, PER_R, PER_SERVO = range(7)
COEFFICIENT_ROWS = 6 + row.SERVOS
DRAG, SIDE, LIFT, ROLL, PITCH, YAW = (k * COEFFICIENT_ROWS * LANES for k in range(6))
FIRST_COEFFICIENT = 11 * LANES
PITCH_STALLED = FIRST_COEFFICIENT + 6 * COEFFICIENT_ROWS * LANES
LEAST_DRAG = PITCH_STALLED + LANES
AIRCRAFT_ROWS = 13 + 6 * COEFFICIENT_ROWS
LEAST_SPEED = 1e-3  # m/s, below which the air does not count
STEEPEST = 500.0  # exponents beyond which exp is 0 or endless for our purpose


@compiled
def _share_stalled(alpha, stall, blend):
    before, beyond = exp(min(-blend * (alpha - stall), STEEPEST)), exp(min(blend * (alpha + stall), STEEPEST))
    return (1.0 + before + beyond) / ((1.0 + before) * (1.0 + beyond))


@compiled
def _linear(p, at, alpha, beta):
    return p[at + AT_ZERO * LANES] + p[at + PER_ALPHA * LANES] * alpha + p[at + PER_BETA * LANES] * beta


@compiled
def _of_servos(p, at, servos):
    total = 0.0
    for k in range(row.SERVOS):
        total += p[at + (PER_SERVO + k) * LANES] * p[servos + k * SERVO_ROWS * LANES + ANGLE]
    return total


@compiled
def _of_rates(p, at, roll, pitch, yaw):
    return p[at + PER_P * LANES] * roll + p[at + PER_Q * LANES] * pitch + p[at + PER_R * LANES] * yaw


@compiled
def _pitch(p, at, alpha, beta, stall, stalled):
    within = min(max(alpha, -stall), stall)
    return _linear(p, at, within, beta) + stalled * (alpha - within)


@compiled
def add_aircraft(w, p, at, servos):
    """Force and torque of the aircraft of each lane that has one."""
    for i in range(LANES):
        a = at + i
        area = p[a + AREA]
        if area == 0.0:
            continue
        x, y, z = p[a + X] - w[row.CX + i], p[a + Y] - w[row.CY + i], p[a + Z] - w[row.CZ + i]
        ahead = w[row.UX + i] + w[row.WY + i] * z - w[row.WZ + i] * y
        right = -(w[row.UY + i] + w[row.WZ + i] * x - w[row.WX + i] * z)
        down = -(w[row.UZ + i] + w[row.WX + i] * y - w[row.WY + i] * x)
        speed = sqrt(ahead * ahead + down * down)
        if speed < LEAST_SPEED:
            continue
        alpha, beta = atan2(down, ahead), atan2(right, ahead)
        stall, first = p[a + STALL], a + FIRST_COEFFICIENT
        share = _share_stalled(alpha, stall, p[a + BLEND])
        drag_at, side_at, lift_at = first + DRAG, first + SIDE, first + LIFT
        roll_at, pitch_at, yaw_at = first + ROLL, first + PITCH, first + YAW

        plate = 2.0 * sin(alpha) ** 2 * cos(alpha) * (1.0 if alpha >= 0.0 else -1.0)
        attached = p[lift_at + AT_ZERO * LANES] + p[lift_at + PER_ALPHA * LANES] * alpha
        lift = (1.0 - share) * attached + share * plate + p[lift_at + PER_BETA * LANES] * beta
        lift += _of_servos(p, lift_at, servos + i)
        more = lift - p[a + LEAST_DRAG]
        induced = more * more / (pi * p[a + ASPECT] * p[a + EFFICIENCY])
        drag = (1.0 - share) * (p[drag_at + AT_ZERO * LANES] + induced) + share * p[a + PLATE] * sin(alpha) ** 2
        drag += _of_servos(p, drag_at, servos + i)
        side = _linear(p, side_at, alpha, beta) + _of_servos(p, side_at, servos + i)
        roll = _linear(p, roll_at, alpha, beta) + _of_servos(p, roll_at, servos + i)
        yaw = _linear(p, yaw_at, alpha, beta) + _of_servos(p, yaw_at, servos + i)
        pitch = _pitch(p, pitch_at, alpha, beta, stall, p[a + PITCH_STALLED]) + _of_servos(p, pitch_at, servos + i)

        half = 0.5 / speed
        rp = w[row.WX + i] * p[a + SPAN] * half
        rq = -w[row.WY + i] * p[a + CHORD] * half
        rr = -w[row.WZ + i] * p[a + SPAN] * half
        lift += _of_rates(p, lift_at, rp, rq, rr)
        drag += _of_rates(p, drag_at, rp, rq, rr)
        side += _of_rates(p, side_at, rp, rq, rr)
        roll += _of_rates(p, roll_at, rp, rq, rr)
        pitch += _of_rates(p, pitch_at, rp, rq, rr)
        yaw += _of_rates(p, yaw_at, rp, rq, rr)

        push = HALF_DENSITY * w[row.DENSITY + i] * speed * speed * area
        c, s = ahead / speed, down / speed
        fx, fy, fz = push * (lift * s - drag * c), -push * side, push * (lift * c + drag * s)
        w[row.FX + i] += fx
        w[row.FY + i] += fy
        w[row.FZ + i] += fz
        w[row.TX + i] += y * fz - z * fy + push * p[a + SPAN] * roll
        w[row.TY + i] += z * fx - x * fz - push * p[a + CHORD] * pitch
        w[row.TZ + i] += x * fy - y * fx - push * p[a + SPAN] * yaw
