"""Six control modes for any multirotor, with the control laws of uav_gazebo.

Attitude is X-Y-Z: R = Rx(φ) Ry(θ) Rz(ψ), ρ = (φ, θ, ψ), ω = D(φ, θ) ρ̇ in the world.

- thrust and torque: as given
- thrust and angular velocity: ω̇ = ω̇* + k (ω* − ω)
- thrust and attitude: ρ̈ = k_d (ρ̇* − ρ̇) + k_p (ρ* − ρ), ω̇ = D ρ̈ + Ḋ ρ̇
- position and yaw: v̇ = v̇* + k_d (v* − v) + k_p (p* − p) [− d], f = m (v̇ − g),
  φ* = atan2(−f_y, f_z), θ* = asin(f_x / |f|), then as thrust and attitude
- velocity and yaw rate: the same with k_p = 0 for position and yaw

with torque τ = J ω̇ + ω × J ω, k_p = ω², k_d = 2 ξ ω. Beyond uav_gazebo: the drift d, an observer of torques from
outside and a lead of the motors (control/turning.py), each of which can be turned off; thrust that keeps the height,
f_z over the cosine of the tilt that there is instead of |f|; thrust and tilt limited to what the rotors can do, and
what is given up first where they saturate (see mixer.py). Errors of angles are turned the shorter way.

The drift d is what accelerates the vehicle besides gravity and its own thrust: wind, a load that nobody has told of, a
weak battery. An observer expects the speed that thrust and attitude lead to, and what lasts of the difference is d.
Unlike an integral of the error it knows nothing of setpoints: it cannot wind up on a long way or where the tilt is
limited, so it serves position and velocity alike.

Where the pitch, wanted or actual, comes near 90°, φ and ψ lose their meaning. From 72° on the law gives way to one that
knows no angles, and from 81° on that one rules alone: the rotation q⁻¹ q* from the attitude to the wanted one is
a turn about body z followed by the tilt of that axis, and with e twice the sine of half of each,
ω̇ = k_d (ω* − ω) + k_p e, with the gains of yaw for the turn and those of the attitude for the tilt.
"""

from __future__ import annotations

from math import acos, cos, nan, pi, sin, sqrt, tan
from typing import Any, ClassVar

from pydantic import Field, model_validator

from airloom.commands import Mode
from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.lanes import angle_of, limit, shortest_turn
from airloom.compiled.rows import LANES
from airloom.control.flight_stack import Rated, block_kernel
from airloom.control.mixer import OTHER_WANTS, WANT_THRUST, WANT_X, WANT_Y, WANT_Z, mix
from airloom.control.multirotor import VELOCITY_OVER_TILT, MultirotorController
from airloom.control.turning import OWN_GAINS, OWN_MEMORY, PERIOD, resist_pushes, turn_by_torque
from airloom.physics.attitude import rotation

(
    POSITION_KP, POSITION_KD, VELOCITY_K, ATTITUDE_KP, ATTITUDE_KD, YAW_KP, YAW_KD, YAWRATE_K,
    RATE_K, REACH, LEAN, MAX_THRUST, DRIFT_WATCH, MAKES_UP,
) = (OWN_GAINS + k * LANES for k in range(14))  # fmt: skip
DRIFT_X, DRIFT_Y, DRIFT_Z, EXPECT_VX, EXPECT_VY, EXPECT_VZ = (OWN_MEMORY + k * LANES for k in range(6))
THRUST, ROLL, PITCH, YAW_RATE = (row.COMMAND + k * LANES for k in range(4))
WANT_ROLL, WANT_PITCH, WANT_YAW, WANT_ROLLRATE, WANT_PITCHRATE, WANT_YAWRATE, WANT_LEVEL = (
    OTHER_WANTS + k * LANES for k in range(7)
)  # the last is the cosine of the pitch
IDLE, POSITION, VELOCITY, ATTITUDE, RATES, TORQUE = (float(mode) for mode in Mode)
MOST_DRIFT = 5.0  # m/s²
UPRIGHT = 0.5  # cosine of the tilt up to which thrust makes up for it
LEAST_COSINE = 0.05  # of the pitch, which must not be divided by
ANGLES_FADE, ANGLES_END = 0.3, 0.15  # cosines of the pitch between which X-Y-Z angles give way


@compiled
def believed_rotation(w, i):
    """Rotation matrix body→world, row by row."""
    return rotation(w[row.EQW + i], w[row.EQX + i], w[row.EQY + i], w[row.EQZ + i])


@compiled
def is_any(w, mode):
    """Whether a vehicle of the block is in this mode; its stage is left out if not."""
    count = 0
    for i in range(LANES):
        count += 1 if w[row.MODE + i] == mode else 0
    return count > 0


@compiled
def _learn_drift(w, i, on, speed, acceleration, drift, expected):
    off = w[speed + i] - w[expected + i]
    watch, period = w[DRIFT_WATCH + i], w[PERIOD + i]
    found = limit(w[drift + i] + period * watch * watch * off, -MOST_DRIFT, MOST_DRIFT)
    found = found if on else 0.0
    w[drift + i] = found
    w[expected + i] = w[speed + i] + period * (acceleration + found) - (1.0 - 2.0 * period * watch) * off
    w[expected + i] = w[expected + i] if on else w[speed + i]


@compiled
def learn_drift(w):
    """What accelerates each vehicle besides its thrust and gravity, such as wind or a load that nobody has told of."""
    for i in range(LANES):
        on = (w[row.MODE + i] == POSITION) | (w[row.MODE + i] == VELOCITY)
        _, _, r02, _, _, r12, _, _, r22 = believed_rotation(w, i)
        lift = w[THRUST + i] / w[row.MASS + i]
        _learn_drift(w, i, on, row.EVX, lift * r02, DRIFT_X, EXPECT_VX)
        _learn_drift(w, i, on, row.EVY, lift * r12, DRIFT_Y, EXPECT_VY)
        _learn_drift(w, i, on, row.EVZ, lift * r22 - w[row.GRAVITY + i], DRIFT_Z, EXPECT_VZ)


@compiled
def accelerate_to_position(w):
    for i in range(LANES):
        ex, ey, ez = w[row.SPX + i] - w[row.EPX + i], w[row.SPY + i] - w[row.EPY + i], w[row.SPZ + i] - w[row.EPZ + i]
        far = sqrt(ex * ex + ey * ey + ez * ez) / w[REACH + i]
        shrink = 1.0 / far if far > 1.0 else 1.0
        ex, ey, ez = ex * shrink, ey * shrink, ez * shrink
        vx, vy, vz = w[row.SVX + i] - w[row.EVX + i], w[row.SVY + i] - w[row.EVY + i], w[row.SVZ + i] - w[row.EVZ + i]
        kp, kd = w[POSITION_KP + i], w[POSITION_KD + i]
        w[WANT_X + i] = w[row.SAX + i] + kd * vx + kp * ex - w[DRIFT_X + i]
        w[WANT_Y + i] = w[row.SAY + i] + kd * vy + kp * ey - w[DRIFT_Y + i]
        w[WANT_Z + i] = w[row.SAZ + i] + kd * vz + kp * ez - w[DRIFT_Z + i]
        w[WANT_YAW + i] = w[row.SYAW + i]
        w[WANT_YAWRATE + i] = w[row.SYAWRATE + i]


@compiled
def accelerate_to_velocity(w):
    """In the body frame a velocity is along the heading and level: forward does not mean down when leaning."""
    for i in range(LANES):
        if w[row.MODE + i] == VELOCITY:
            vx, vy, ax, ay = w[row.BVX + i], w[row.BVY + i], w[row.BAX + i], w[row.BAY + i]
            r00, _, _, r10, _, _, _, _, _ = believed_rotation(w, i)
            level = sqrt(r00 * r00 + r10 * r10)
            if w[row.B_IN_BODY + i] != 0.0 and level > 0.0:
                c, s = r00 / level, r10 / level
                vx, vy, ax, ay = c * vx - s * vy, s * vx + c * vy, c * ax - s * ay, s * ax + c * ay
            k = w[VELOCITY_K + i]
            w[WANT_X + i] = ax + k * (vx - w[row.EVX + i]) - w[DRIFT_X + i]
            w[WANT_Y + i] = ay + k * (vy - w[row.EVY + i]) - w[DRIFT_Y + i]
            w[WANT_Z + i] = w[row.BAZ + i] + k * (w[row.BVZ + i] - w[row.EVZ + i]) - w[DRIFT_Z + i]
            w[WANT_YAW + i], w[WANT_YAWRATE + i] = 0.0, w[row.BYAWRATE + i]


@compiled
def lean_to_accelerate(w):
    """Force that gives this acceleration against gravity; what is too much is taken from the level part first."""
    for i in range(LANES):
        m, most, weight = w[row.MASS + i], w[MAX_THRUST + i], w[row.MASS + i] * w[row.GRAVITY + i]
        x, y, z = m * w[WANT_X + i], m * w[WANT_Y + i], m * w[WANT_Z + i] + weight
        z = limit(z, 0.2 * weight, most)
        level, lean, rest = sqrt(x * x + y * y), w[LEAN + i] * z, sqrt(most * most - z * z)
        room = lean if lean < rest else rest
        shrink = room / level if level > room else 1.0
        x, y = x * shrink, y * shrink
        w[WANT_X + i] = x
        w[WANT_Y + i] = y
        w[WANT_Z + i] = z
        force = sqrt(x * x + y * y + z * z)
        _, _, _, _, _, _, _, _, up = believed_rotation(w, i)
        low = up if up > 0.1 else 0.1
        carried = z / up if up > UPRIGHT else z * low / UPRIGHT**2
        w[WANT_THRUST + i] = carried if w[MAKES_UP + i] > 0.0 else force
        w[WANT_ROLL + i] = angle_of(-y, z)
        w[WANT_PITCH + i] = angle_of(x, sqrt(y * y + z * z))
        w[WANT_LEVEL + i] = sqrt(y * y + z * z) / force
        w[WANT_ROLLRATE + i] = 0.0
        w[WANT_PITCHRATE + i] = 0.0


@compiled
def take_attitude(w):
    for i in range(LANES):
        if w[row.MODE + i] == ATTITUDE:
            roll, pitch = w[row.AROLL + i], w[row.APITCH + i]
            w[WANT_X + i], w[WANT_Y + i], w[WANT_Z + i] = sin(pitch), -sin(roll) * cos(pitch), cos(roll) * cos(pitch)
            w[WANT_THRUST + i] = w[row.ATHRUST + i]
            w[WANT_ROLL + i], w[WANT_PITCH + i], w[WANT_YAW + i] = roll, pitch, w[row.AYAW + i]
            w[WANT_ROLLRATE + i], w[WANT_PITCHRATE + i] = w[row.AROLLRATE + i], w[row.APITCHRATE + i]
            w[WANT_YAWRATE + i], w[WANT_LEVEL + i] = w[row.AYAWRATE + i], cos(pitch)


@compiled
def tell_tilt(w):
    """The wanted thrust direction in the roll and pitch of Z-Y-X angles, which the log and its readers use."""
    for i in range(LANES):
        r00, _, _, r10, _, _, _, _, _ = believed_rotation(w, i)
        x, y, z = w[WANT_X + i], w[WANT_Y + i], w[WANT_Z + i]
        size = sqrt(r00 * r00 + r10 * r10)
        size = size if size > LEAST_COSINE else LEAST_COSINE
        forward, left = (r00 * x + r10 * y) / size, (r00 * y - r10 * x) / size
        w[ROLL + i] = angle_of(-left, sqrt(forward * forward + z * z))
        w[PITCH + i] = angle_of(forward, z)
        w[YAW_RATE + i] = w[WANT_YAWRATE + i]


@compiled
def turn_like(sp, cp, st, ct, droll, dpitch, dyaw, ddroll, ddpitch, ddyaw):
    """Angular acceleration in the world for angle accelerations: ω̇ = D ρ̈ + Ḋ ρ̇."""
    x = ddroll + st * ddyaw + dpitch * ct * dyaw
    y = cp * ddpitch - sp * ct * ddyaw - droll * sp * dpitch + (-droll * cp * ct + dpitch * sp * st) * dyaw
    z = sp * ddpitch + cp * ct * ddyaw + droll * cp * dpitch + (-droll * sp * ct - dpitch * cp * st) * dyaw
    return x, y, z


@compiled
def follow_attitude(w):
    """Angular acceleration of the body towards the wanted angles, left in WANT_X … WANT_Z."""
    for i in range(LANES):
        r00, r01, r02, r10, r11, r12, r20, r21, r22 = believed_rotation(w, i)
        p, q, r = w[row.EWX + i], w[row.EWY + i], w[row.EWZ + i]
        u, v, t = r00 * p + r01 * q + r02 * r, r10 * p + r11 * q + r12 * r, r20 * p + r21 * q + r22 * r
        st, level = r02, sqrt(r12 * r12 + r22 * r22)
        ct = level if level > LEAST_COSINE else LEAST_COSINE
        sp = -r12 / level if level > 0.0 else 0.0
        cp = r22 / level if level > 0.0 else 1.0
        # ρ̇ = D⁻¹ ω for ω in the world
        dyaw = (cp * t - sp * v) / ct
        dpitch = cp * v + sp * t
        droll = u - st * dyaw
        kp, kd, yaw_kp, yaw_kd = w[ATTITUDE_KP + i], w[ATTITUDE_KD + i], w[YAW_KP + i], w[YAW_KD + i]
        yawrate_k, holds_yaw = w[YAWRATE_K + i], w[row.MODE + i] != VELOCITY
        turn = shortest_turn(w[WANT_YAW + i] - angle_of(-r01, r00))
        turn = yaw_kp * turn if holds_yaw else 0.0
        yaw_kd = yaw_kd if holds_yaw else yawrate_k
        x, y, z = turn_like(
            sp, cp, st, ct, droll, dpitch, dyaw,
            kp * shortest_turn(w[WANT_ROLL + i] - angle_of(-r12, r22)) + kd * (w[WANT_ROLLRATE + i] - droll),
            kp * shortest_turn(w[WANT_PITCH + i] - angle_of(st, ct)) + kd * (w[WANT_PITCHRATE + i] - dpitch),
            turn + yaw_kd * (w[WANT_YAWRATE + i] - dyaw),
        )  # fmt: skip
        w[WANT_X + i] = r00 * x + r10 * y + r20 * z
        w[WANT_Y + i] = r01 * x + r11 * y + r21 * z
        w[WANT_Z + i] = r02 * x + r12 * y + r22 * z


@compiled
def is_any_steep(w):
    """Whether a vehicle of the block pitches, or shall, so far that angles lose their meaning."""
    count = 0
    for i in range(LANES):
        _, _, sine, _, _, _, _, _, _ = believed_rotation(w, i)
        steep = (1.0 - sine * sine < ANGLES_FADE * ANGLES_FADE) | (w[WANT_LEVEL + i] < ANGLES_FADE)
        count += 1 if steep & (w[row.MODE + i] >= POSITION) & (w[row.MODE + i] <= ATTITUDE) else 0
    return count > 0


@compiled
def wanted_quaternion(w, i):
    """Of Rx(φ*) Ry(θ*) Rz(ψ*)."""
    roll, pitch, yaw = 0.5 * w[WANT_ROLL + i], 0.5 * w[WANT_PITCH + i], 0.5 * w[WANT_YAW + i]
    cr, sr, cp, sp, cy, sy = cos(roll), sin(roll), cos(pitch), sin(pitch), cos(yaw), sin(yaw)
    return (
        cr * cp * cy - sr * sp * sy, sr * cp * cy + cr * sp * sy,
        cr * sp * cy - sr * cp * sy, cr * cp * sy + sr * sp * cy,
    )  # fmt: skip


@compiled
def turn_and_tilt(w, i):
    """What takes body z to where it shall be, about x and y, and the turn about z: twice the sines of half the angles.

    q⁻¹ q* = (a, b, c, d) is the turn (a, 0, 0, d)/n about z, followed by the tilt (n, (a b + c d)/n, (a c − b d)/n, 0).
    """
    e, f, g, h = w[row.EQW + i], -w[row.EQX + i], -w[row.EQY + i], -w[row.EQZ + i]
    p, q, r, s = wanted_quaternion(w, i)
    a, b = e * p - f * q - g * r - h * s, e * q + f * p + g * s - h * r
    c, d = e * r - f * s + g * p + h * q, e * s + f * r - g * q + h * p
    n = sqrt(a * a + d * d)
    if n < 1e-9:
        return 2.0 * b, 2.0 * c, 0.0
    return 2.0 * (a * b + c * d) / n, 2.0 * (a * c - b * d) / n, 2.0 * d / n * (1.0 if a >= 0.0 else -1.0)


@compiled
def follow_steep_attitude(w):
    """Mend the angular acceleration of those who are near 90° of pitch, or shall be."""
    for i in range(LANES):
        r00, r01, r02, r10, r11, r12, r20, r21, r22 = believed_rotation(w, i)
        level = sqrt(r12 * r12 + r22 * r22)
        share = limit((ANGLES_FADE - min(level, w[WANT_LEVEL + i])) / (ANGLES_FADE - ANGLES_END), 0.0, 1.0)
        if share > 0.0:
            sp, cp = (-r12 / level, r22 / level) if level > 0.0 else (0.0, 1.0)
            droll, dpitch, dyaw = w[WANT_ROLLRATE + i], w[WANT_PITCHRATE + i], w[WANT_YAWRATE + i]
            tilt_x, tilt_y, turn = turn_and_tilt(w, i)
            kp, kd, holds_yaw = w[ATTITUDE_KP + i], w[ATTITUDE_KD + i], w[row.MODE + i] != VELOCITY
            yaw_kp, yaw_kd = (w[YAW_KP + i], w[YAW_KD + i]) if holds_yaw else (0.0, w[YAWRATE_K + i])
            x = kp * tilt_x + kd * (r00 * droll + (cp * r10 + sp * r20) * dpitch - w[row.EWX + i])
            y = kp * tilt_y + kd * (r01 * droll + (cp * r11 + sp * r21) * dpitch - w[row.EWY + i])
            z = yaw_kp * turn + yaw_kd * (r02 * droll + dyaw - w[row.EWZ + i])
            w[WANT_X + i] += share * (x - w[WANT_X + i])
            w[WANT_Y + i] += share * (y - w[WANT_Y + i])
            w[WANT_Z + i] += share * (z - w[WANT_Z + i])


@compiled
def to_body(w, i, x, y, z, in_world):
    if in_world == 0.0:
        return x, y, z
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = believed_rotation(w, i)
    return r00 * x + r10 * y + r20 * z, r01 * x + r11 * y + r21 * z, r02 * x + r12 * y + r22 * z


@compiled
def follow_rates(w):
    for i in range(LANES):
        if w[row.MODE + i] == RATES:
            k = w[RATE_K + i]
            x, y, z = (
                w[row.RAX + i] + k * w[row.RX + i],
                w[row.RAY + i] + k * w[row.RY + i],
                w[row.RAZ + i] + k * w[row.RZ + i],
            )
            x, y, z = to_body(w, i, x, y, z, w[row.R_IN_WORLD + i])
            w[WANT_X + i], w[WANT_Y + i], w[WANT_Z + i] = (
                x - k * w[row.EWX + i],
                y - k * w[row.EWY + i],
                z - k * w[row.EWZ + i],
            )
            w[WANT_THRUST + i] = w[row.RTHRUST + i]
            w[ROLL + i], w[PITCH + i], w[YAW_RATE + i] = nan, nan, w[row.RZ + i]


@compiled
def resist_pushes_of_all(w):
    for i in range(LANES):
        resist_pushes(w, i, (w[row.MODE + i] != IDLE) & (w[row.MODE + i] != TORQUE))


@compiled
def take_torque(w):
    for i in range(LANES):
        if w[row.MODE + i] == TORQUE:
            x, y, z = to_body(w, i, w[row.QTX + i], w[row.QTY + i], w[row.QTZ + i], w[row.Q_IN_WORLD + i])
            w[WANT_THRUST + i], w[WANT_X + i], w[WANT_Y + i], w[WANT_Z + i] = w[row.QTHRUST + i], x, y, z
            w[ROLL + i], w[PITCH + i], w[YAW_RATE + i] = nan, nan, nan


@compiled
def rest(w):
    for i in range(LANES):
        if w[row.MODE + i] == IDLE:
            w[WANT_THRUST + i], w[WANT_X + i], w[WANT_Y + i], w[WANT_Z + i] = 0.0, 0.0, 0.0, 0.0
            w[ROLL + i], w[PITCH + i], w[YAW_RATE + i] = nan, nan, nan


@compiled
def limit_thrust(w):
    for i in range(LANES):
        thrust = limit(w[WANT_THRUST + i], 0.0, w[MAX_THRUST + i])
        w[WANT_THRUST + i] = thrust
        w[THRUST + i] = thrust


@block_kernel
def control_modes(w, rotors, tick):
    """Stage after stage for all lanes; each vehicle's last word is that of its own mode."""
    to_position, to_velocity, to_attitude = is_any(w, POSITION), is_any(w, VELOCITY), is_any(w, ATTITUDE)
    learn_drift(w)
    if to_position:
        accelerate_to_position(w)
    if to_velocity:
        accelerate_to_velocity(w)
    if to_position or to_velocity:
        lean_to_accelerate(w)
    if to_attitude:
        take_attitude(w)
    if to_position or to_velocity or to_attitude:
        tell_tilt(w)
        steep = is_any_steep(w)
        follow_attitude(w)
        if steep:
            follow_steep_attitude(w)
    if is_any(w, RATES):
        follow_rates(w)
    resist_pushes_of_all(w)
    turn_by_torque(w)
    if is_any(w, TORQUE):
        take_torque(w)
    if is_any(w, IDLE):
        rest(w)
    limit_thrust(w)
    mix(w, rotors)


class HoverParameters(Rated):
    """Natural frequencies (rad/s), damping ratios and gains (1/s). Those left out are tuned from the airframe."""

    position_frequency: float | None = Field(None, gt=0, description="rad/s")
    position_damping: float = Field(1.0, gt=0, description="damping ratio")
    velocity_gain: float | None = Field(None, gt=0, description="1/s")
    attitude_frequency: float | None = Field(None, gt=0, description="rad/s")
    attitude_damping: float = Field(1.0, gt=0, description="damping ratio")
    yaw_frequency: float | None = Field(None, gt=0, description="rad/s")
    yaw_damping: float = Field(1.0, gt=0, description="damping ratio")
    yaw_rate_gain: float | None = Field(None, gt=0, description="1/s")
    angular_velocity_gain: float | None = Field(None, gt=0, description="1/s")
    torque_observer: float = Field(
        1.0, ge=0, le=2, description="frequency as a part of the attitude's; 0 as in uav_gazebo"
    )
    motor_lead: float | None = Field(None, ge=1, le=10, description="see control/turning.py; 1 as in uav_gazebo")
    tilt_compensation: bool = Field(
        True, description="whether thrust keeps the height while leaning; not in uav_gazebo"
    )
    max_speed: float = Field(5.0, gt=0, description="towards a far setpoint, m/s")
    max_tilt: float = Field(0.6, gt=0, lt=pi / 2, description="rad, in position and velocity modes")

    @model_validator(mode="after")
    def _are_stable(self) -> HoverParameters:
        """Sampled every dt, PD on a double integrator is stable while ξ ω dt < 1 and ω dt < 4 ξ,
        P on one integrator while k dt < 2.
        """
        dt = 1.0 / self.rate
        for name in ("position", "attitude", "yaw"):
            frequency, damping = getattr(self, f"{name}_frequency"), getattr(self, f"{name}_damping")
            if frequency and (damping * frequency * dt >= 1 or frequency * dt >= 4 * damping):
                raise ValueError(
                    f"{name}_frequency {frequency:g} rad/s with {name}_damping {damping:g} is unstable at the control "
                    f"rate of {self.rate:g} Hz: lower the frequency or raise the rate"
                )
        for name in ("velocity_gain", "yaw_rate_gain", "angular_velocity_gain"):
            gain = getattr(self, name)
            if gain and gain * dt >= 2:
                raise ValueError(f"{name} {gain:g} 1/s is unstable at the control rate of {self.rate:g} Hz")
        return self


class ModesParameters(HoverParameters):
    drift_observer: float = Field(
        1.0, ge=0, le=5, description="frequency as a part of the position's; 0 as in uav_gazebo"
    )


class Modes(MultirotorController):
    """Six control modes with the laws of uav_gazebo, for any multirotor; gains tuned from its file or given."""

    Parameters: ClassVar[type[HoverParameters]] = ModesParameters
    parameters: HoverParameters
    kernel = control_modes
    modes = (1, 2, 3, 4, 5)

    def frequencies(self) -> tuple[float, float, float]:
        p = self.parameters
        position, tilt, turn = self.tuned_frequencies()
        return p.position_frequency or position, p.attitude_frequency or tilt, p.yaw_frequency or turn

    def max_thrust(self) -> float:
        return 0.95 * self.lift

    def max_tilt(self) -> float:
        """As asked, but no more than leaves the thrust to carry the weight."""
        weight = self.airframe.mass * self.airframe.gravity
        return min(self.parameters.max_tilt, acos(min(weight / self.max_thrust(), 1.0)))

    def _drift_gain(self) -> float:
        """The frequency of its observer, rad/s."""
        assert isinstance(self.parameters, ModesParameters)
        return self.parameters.drift_observer * self.frequencies()[0]

    def gains(self, step_ns: int) -> list[float]:
        p = self.parameters
        position, attitude, yaw = self.frequencies()
        return [
            *self.turning_gains(attitude, p.torque_observer, p.motor_lead),
            position**2, 2 * p.position_damping * position,
            p.velocity_gain or VELOCITY_OVER_TILT * attitude,
            attitude**2, 2 * p.attitude_damping * attitude,
            yaw**2, 2 * p.yaw_damping * yaw,
            p.yaw_rate_gain or 2 * yaw,
            p.angular_velocity_gain or attitude,
            2 * p.position_damping * p.max_speed / position,
            tan(self.max_tilt()), self.max_thrust(), self._drift_gain(), float(p.tilt_compensation),
        ]  # fmt: skip

    def in_force(self) -> dict[str, Any]:
        position, attitude, yaw = self.frequencies()
        tuned = {
            "position_frequency": position, "attitude_frequency": attitude, "yaw_frequency": yaw,
            "velocity_gain": VELOCITY_OVER_TILT * attitude, "yaw_rate_gain": 2 * yaw, "angular_velocity_gain": attitude,
        }  # fmt: skip
        return tuned | self.parameters.model_dump(exclude_none=True)
