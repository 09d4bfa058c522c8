"""A whole aircraft by its coefficients: six of force and moment, with sideslip, rates and control surfaces.

The build-up of Gazebo's AdvancedLiftDrag and of Beard and McLain, Small Unmanned Aircraft (2012), chapter 4.
With v the velocity of the reference point through the air, x forward, y right, z down; p, q, r the rates about them
against the air; b the span, c the chord, S the area; V the speed without its part along y:

    α = atan2(v_z, v_x), β = atan2(v_y, V)
    C_L = (1 − σ)(C_L0 + C_Lα α) + σ · 2 sgn α sin²α cos α + C_Lβ β + Σ C_Lδ δ       flat plate beyond the stall
    C_D = (1 − σ)(C_D0 + (C_L − C_Ld)²/(π A e)) + σ C_Dp sin²α + Σ C_Dδ δ
    C_Dp = 2/(1 + exp(k₁ + k₂ max(A, 1/A)))
    C_Y, C_l, C_n = C_α α' + C_β β + Σ C_δ δ
    C_m = C_m0 + C_mα α' up to the stall, C_m0 ± C_mα α_s + C_m,stall (α' ∓ α_s) beyond it, + C_mβ β + Σ C_mδ δ
    each with (C_p p b + C_q q c + C_r r b)/(2 V)

α' is α up to ±90° and ±180° − α beyond. σ = (u + v + u v)/((1 + u)(1 + v)) blends both, u = e^M(|α|−α_s) and
v = e^−M(|α|+α_s). Lift is across v towards −z, drag against it, both in the plane of x and z. Gazebo's code differs in
three points. It loses C_m0 and C_mα, since the line for β sets C_m instead of adding to it. Its β = atan2(v_y, v_x)
and its α, used beyond ±90°, make side force and moments jump where the aircraft flies backwards or straight down. Here
all are continuous over the sphere; without sideslip, and within ±90°, they are Gazebo's.
"""

from math import exp, pi, sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.lanes import angle_of, exp_of, limit
from airloom.compiled.rows import LANES
from airloom.physics.pushing import push_and_turn_at
from airloom.physics.servos import ANGLE, SERVO_ROWS
from airloom.physics.surfaces import HALF_DENSITY

X, Y, Z, AREA, SPAN, CHORD, INDUCED, STALL, BLEND, BEFORE, PLATE, LEAST_DRAG, PITCH_STALLED = (
    k * LANES for k in range(13)
)
# Of the air there against that of the vehicle: velocity and rates as this tick has them (body), and as the weather
# has left them (world): velocity, and how it changes over a metre to the left.
AIR, SPIN, GUST, SHEAR = 13 * LANES, 16 * LANES, 19 * LANES, 22 * LANES
# Six coefficients, and what each has: at zero, per α, β, p, q and r, of all servos in this tick, then per servo.
AT_ZERO, PER_ALPHA, PER_BETA, PER_P, PER_Q, PER_R, OF_SERVOS, PER_SERVO = (k * LANES for k in range(8))
COEFFICIENT_ROWS = 7 + row.SERVOS
FIRST_COEFFICIENT = 25 * LANES
DRAG, SIDE, LIFT, ROLL, PITCH, YAW = (FIRST_COEFFICIENT + k * COEFFICIENT_ROWS * LANES for k in range(6))
AIRCRAFT_ROWS = 25 + 6 * COEFFICIENT_ROWS
LEAST_SPEED = 1e-3  # m/s, below which the air does not count
STEEPEST = 500.0  # exponents beyond which exp is 0 or endless for our purpose


def before_stall(blend: float, stall: float) -> float:
    """u v = e^−2Mα_s, which the row BEFORE holds."""
    return exp(-2.0 * blend * stall)


@compiled
def settle_aircraft(p, at, servos):
    """What the servos do to each coefficient in this tick."""
    for c in range(6):
        of = at + FIRST_COEFFICIENT + c * COEFFICIENT_ROWS * LANES
        for i in range(LANES):
            p[of + OF_SERVOS + i] = 0.0
        for k in range(row.SERVOS):
            for i in range(LANES):
                p[of + OF_SERVOS + i] += (
                    p[of + PER_SERVO + k * LANES + i] * p[servos + k * SERVO_ROWS * LANES + ANGLE + i]
                )


@compiled
def _of_rates(p, at, roll, pitch, yaw):
    return p[at + PER_P] * roll + p[at + PER_Q] * pitch + p[at + PER_R] * yaw


@compiled
def _linear(p, at, alpha, beta):
    return p[at + AT_ZERO] + p[at + PER_ALPHA] * alpha + p[at + PER_BETA] * beta + p[at + OF_SERVOS]


@compiled
def _share_stalled(p, a, size):
    beyond = exp_of(limit(p[a + BLEND] * (size - p[a + STALL]), -STEEPEST, STEEPEST))
    before = p[a + BEFORE] / beyond
    return (beyond + before + p[a + BEFORE]) / ((1.0 + beyond) * (1.0 + before))


@compiled
def add_aircraft(w, p, at):
    """Force and torque of the aircraft of each lane; one without an area has none."""
    for i in range(LANES):
        a = at + i
        x, y, z = p[a + X] - w[row.CX + i], p[a + Y] - w[row.CY + i], p[a + Z] - w[row.CZ + i]
        wx, wy, wz = w[row.WX + i], w[row.WY + i], w[row.WZ + i]
        ahead = w[row.UX + i] + wy * z - wz * y - p[a + AIR]
        right = p[a + AIR + LANES] - (w[row.UY + i] + wz * x - wx * z)
        down = p[a + AIR + 2 * LANES] - (w[row.UZ + i] + wx * y - wy * x)
        speed = sqrt(ahead * ahead + down * down)
        flies = speed > LEAST_SPEED
        over = 1.0 / (speed if flies else 1.0)
        c, s = ahead * over, down * over
        alpha, beta = angle_of(down, ahead), angle_of(right, speed)
        size = alpha if alpha > 0.0 else -alpha
        sign = 1.0 if alpha >= 0.0 else -1.0
        bent = sign * (size if size < 0.5 * pi else pi - size)
        stall = p[a + STALL]
        within = limit(bent, -stall, stall)
        share = _share_stalled(p, a, size)

        half = 0.5 * over
        rp = (wx - p[a + SPIN]) * p[a + SPAN] * half
        rq = (p[a + SPIN + LANES] - wy) * p[a + CHORD] * half
        rr = (p[a + SPIN + 2 * LANES] - wz) * p[a + SPAN] * half

        attached = p[a + LIFT + AT_ZERO] + p[a + LIFT + PER_ALPHA] * alpha
        lift = (1.0 - share) * attached + share * 2.0 * sign * s * s * c
        lift += p[a + LIFT + PER_BETA] * beta + p[a + LIFT + OF_SERVOS]
        more = lift - p[a + LEAST_DRAG]
        drag = (1.0 - share) * (p[a + DRAG + AT_ZERO] + more * more * p[a + INDUCED]) + share * p[a + PLATE] * s * s
        drag += p[a + DRAG + OF_SERVOS] + _of_rates(p, a + DRAG, rp, rq, rr)
        lift += _of_rates(p, a + LIFT, rp, rq, rr)
        side = _linear(p, a + SIDE, bent, beta) + _of_rates(p, a + SIDE, rp, rq, rr)
        roll = _linear(p, a + ROLL, bent, beta) + _of_rates(p, a + ROLL, rp, rq, rr)
        yaw = _linear(p, a + YAW, bent, beta) + _of_rates(p, a + YAW, rp, rq, rr)
        pitch = _linear(p, a + PITCH, within, beta) + p[a + PITCH_STALLED] * (bent - within)
        pitch += _of_rates(p, a + PITCH, rp, rq, rr)

        push = HALF_DENSITY * w[row.DENSITY + i] * p[a + AREA] * (speed * speed if flies else 0.0)
        fx, fy, fz = push * (lift * s - drag * c), -push * side, push * (lift * c + drag * s)
        tx, ty, tz = push * p[a + SPAN] * roll, -push * p[a + CHORD] * pitch, -push * p[a + SPAN] * yaw
        push_and_turn_at(w, i, x, y, z, fx, fy, fz, tx, ty, tz)
