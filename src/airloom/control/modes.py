"""Six control modes for any multirotor, with the control laws of uav_gazebo.

Attitude is X-Y-Z: R = Rx(φ) Ry(θ) Rz(ψ), ρ = (φ, θ, ψ), ω = D(φ, θ) ρ̇ in the world.

- thrust and torque: as given
- thrust and angular velocity: ω̇ = ω̇* + k (ω* − ω)
- thrust and attitude: ρ̈ = k_d (ρ̇* − ρ̇) + k_p (ρ* − ρ), ω̇ = D ρ̈ + Ḋ ρ̇
- position and yaw: v̇ = v̇* + k_d (v* − v) + k_p (p* − p) [+ k_i ∫(p* − p)], f = m (v̇ − g),
  φ* = atan2(−f_y, f_z), θ* = asin(f_x / |f|), then as thrust and attitude
- velocity and yaw rate: the same with k_p = 0 for position and yaw

with torque τ = J ω̇ + ω × J ω, k_p = ω², k_d = 2 ξ ω. Beyond uav_gazebo: an integral in position mode (0 turns it off),
thrust and tilt limited to what the rotors can do, and yaw given up first where they saturate.
"""

from __future__ import annotations

from math import acos, asin, atan2, cos, nan, pi, sin, sqrt, tan
from typing import Any

from pydantic import Field, model_validator

from airloom.compiled import compiled
from airloom.control.mixer import WANT_THRUST, WANT_X, WANT_Y, WANT_Z, mix
from airloom.control.multirotor import MultirotorController
from airloom.flight_stack import Rated, block_kernel
from airloom.physics.rows import (
    APITCH, APITCHRATE, AROLL, AROLLRATE, ATHRUST, AYAW, AYAWRATE, BAX, BAY, BAZ, BVX, BVY, BVZ, BYAWRATE, B_IN_BODY,
    COMMAND, EPX, EPY, EPZ, EQW, EQX, EQY, EQZ, EVX, EVY, EVZ, EWX, EWY, EWZ, GAIN, GRAVITY, JXX, JXY, JXZ, JYY, JYZ,
    JZZ, LANES, MASS, MEMORY, MODE, QTHRUST, QTX, QTY, QTZ, Q_IN_WORLD, RAX, RAY, RAZ, RTHRUST, RX, RY, RZ, R_IN_WORLD,
    SAX, SAY, SAZ, SPX, SPY, SPZ, SVX, SVY, SVZ, SYAW, SYAWRATE,
)  # fmt: skip

(
    PERIOD, POSITION_KP, POSITION_KD, POSITION_KI, VELOCITY_K, ATTITUDE_KP, ATTITUDE_KD, YAW_KP, YAW_KD, YAWRATE_K,
    RATE_K, REACH, LEAN, MAX_THRUST,
) = (GAIN + k * LANES for k in range(14))  # fmt: skip
SUM_X, SUM_Y, SUM_Z = (MEMORY + k * LANES for k in range(3))
THRUST, ROLL, PITCH, YAW_RATE = (COMMAND + k * LANES for k in range(4))
MAX_INTEGRAL = 3.0  # m/s²
NEAR = 0.15  # part of the braking distance within which the integral works
LEAST_COSINE = 0.05  # of the pitch, where X-Y-Z angles are about to lose their meaning


@compiled
def _limit(x, size):
    return min(max(x, -size), size)


@compiled
def acceleration_for_position(w, i):
    ex, ey, ez = w[SPX + i] - w[EPX + i], w[SPY + i] - w[EPY + i], w[SPZ + i] - w[EPZ + i]
    far = sqrt(ex * ex + ey * ey + ez * ez) / w[REACH + i]
    if far > 1.0:
        ex, ey, ez = ex / far, ey / far, ez / far
    kp, kd, ki = w[POSITION_KP + i], w[POSITION_KD + i], w[POSITION_KI + i] * w[PERIOD + i] if far < NEAR else 0.0
    w[SUM_X + i] = _limit(w[SUM_X + i] + ki * ex, MAX_INTEGRAL)
    w[SUM_Y + i] = _limit(w[SUM_Y + i] + ki * ey, MAX_INTEGRAL)
    w[SUM_Z + i] = _limit(w[SUM_Z + i] + ki * ez, MAX_INTEGRAL)
    return (
        w[SAX + i] + kd * (w[SVX + i] - w[EVX + i]) + kp * ex + w[SUM_X + i],
        w[SAY + i] + kd * (w[SVY + i] - w[EVY + i]) + kp * ey + w[SUM_Y + i],
        w[SAZ + i] + kd * (w[SVZ + i] - w[EVZ + i]) + kp * ez + w[SUM_Z + i],
    )


@compiled
def acceleration_for_velocity(w, i, heading):
    """In the body frame a velocity is along the heading and level: forward does not mean down when leaning."""
    vx, vy, ax, ay = w[BVX + i], w[BVY + i], w[BAX + i], w[BAY + i]
    if w[B_IN_BODY + i] != 0.0:
        c, s = cos(heading), sin(heading)
        vx, vy, ax, ay = c * vx - s * vy, s * vx + c * vy, c * ax - s * ay, s * ax + c * ay
    k = w[VELOCITY_K + i]
    return (
        ax + k * (vx - w[EVX + i]),
        ay + k * (vy - w[EVY + i]),
        w[BAZ + i] + k * (w[BVZ + i] - w[EVZ + i]),
    )


@compiled
def force_within_reach(w, i, ax, ay, az):
    """Force that gives this acceleration against gravity; what is too much is taken from the level part first."""
    m, most = w[MASS + i], w[MAX_THRUST + i]
    fz = min(max(m * (az + w[GRAVITY + i]), 0.2 * m * w[GRAVITY + i]), most)
    fx, fy = m * ax, m * ay
    level = sqrt(fx * fx + fy * fy)
    room = min(w[LEAN + i] * fz, sqrt(most * most - fz * fz))
    if level > room:
        fx, fy = fx * room / level, fy * room / level
    return fx, fy, fz


@compiled
def turn_like(sp, cp, st, ct, droll, dpitch, dyaw, ddroll, ddpitch, ddyaw):
    """Angular acceleration in the world for angle accelerations: ω̇ = D ρ̈ + Ḋ ρ̇."""
    x = ddroll + st * ddyaw + dpitch * ct * dyaw
    y = cp * ddpitch - sp * ct * ddyaw - droll * sp * dpitch + (-droll * cp * ct + dpitch * sp * st) * dyaw
    z = sp * ddpitch + cp * ct * ddyaw + droll * cp * dpitch + (-droll * sp * ct - dpitch * cp * st) * dyaw
    return x, y, z


@compiled
def tilt_along_heading(roll, pitch, r00, r10):
    """The same thrust direction in the roll and pitch of Z-Y-X angles, which the log and its readers use."""
    x, y, z = sin(pitch), -sin(roll) * cos(pitch), cos(roll) * cos(pitch)
    size = max(sqrt(r00 * r00 + r10 * r10), LEAST_COSINE)
    forward, left = (r00 * x + r10 * y) / size, (r00 * y - r10 * x) / size
    return atan2(-left, sqrt(forward * forward + z * z)), atan2(forward, z)


@compiled
def control_vehicle(w, i):
    """Body thrust and torque for the mode in force, left in WANT_THRUST … WANT_Z."""
    mode = int(w[MODE + i])
    a, b, c, d = w[EQW + i], w[EQX + i], w[EQY + i], w[EQZ + i]
    r00, r01, r02 = 1.0 - 2.0 * (c * c + d * d), 2.0 * (b * c - a * d), 2.0 * (b * d + a * c)
    r10, r11, r12 = 2.0 * (b * c + a * d), 1.0 - 2.0 * (b * b + d * d), 2.0 * (c * d - a * b)
    r20, r21, r22 = 2.0 * (b * d - a * c), 2.0 * (c * d + a * b), 1.0 - 2.0 * (b * b + c * c)
    p, q, r = w[EWX + i], w[EWY + i], w[EWZ + i]
    thrust, x, y, z = 0.0, 0.0, 0.0, 0.0
    w[ROLL + i], w[PITCH + i], w[YAW_RATE + i] = nan, nan, nan  # for the log: not every mode wants them
    turning, in_world = True, True  # x, y, z are an angular acceleration, given in the world
    if mode == 5:
        thrust, x, y, z = w[QTHRUST + i], w[QTX + i], w[QTY + i], w[QTZ + i]
        turning, in_world = False, w[Q_IN_WORLD + i] != 0.0
    elif mode == 4:
        thrust, in_world = w[RTHRUST + i], w[R_IN_WORLD + i] != 0.0
        u, v, t = p, q, r
        if in_world:
            u, v, t = r00 * p + r01 * q + r02 * r, r10 * p + r11 * q + r12 * r, r20 * p + r21 * q + r22 * r
        k = w[RATE_K + i]
        x = w[RAX + i] + k * (w[RX + i] - u)
        y = w[RAY + i] + k * (w[RY + i] - v)
        z = w[RAZ + i] + k * (w[RZ + i] - t)
        w[YAW_RATE + i] = w[RZ + i]
    else:
        roll, yaw = atan2(-r12, r22), atan2(-r01, r00)
        st = r02
        ct = max(sqrt(r00 * r00 + r01 * r01), LEAST_COSINE)
        pitch, sp, cp = atan2(st, ct), sin(roll), cos(roll)
        # ρ̇ = D⁻¹ ω for ω in the world
        u, v, t = r00 * p + r01 * q + r02 * r, r10 * p + r11 * q + r12 * r, r20 * p + r21 * q + r22 * r
        dyaw = (cp * t - sp * v) / ct
        dpitch = cp * v + sp * t
        droll = u - st * dyaw
        kp, kd, yaw_kp, yaw_kd = w[ATTITUDE_KP + i], w[ATTITUDE_KD + i], w[YAW_KP + i], w[YAW_KD + i]
        if mode == 3:
            thrust = w[ATHRUST + i]
            want_roll, want_pitch, want_yaw = w[AROLL + i], w[APITCH + i], w[AYAW + i]
            want_droll, want_dpitch, want_dyaw = w[AROLLRATE + i], w[APITCHRATE + i], w[AYAWRATE + i]
        else:
            if mode == 1:
                fx, fy, fz = acceleration_for_position(w, i)
                want_yaw, want_dyaw = w[SYAW + i], w[SYAWRATE + i]
            else:
                fx, fy, fz = acceleration_for_velocity(w, i, atan2(r10, r00))
                want_yaw, want_dyaw, yaw_kp, yaw_kd = yaw, w[BYAWRATE + i], 0.0, w[YAWRATE_K + i]
            fx, fy, fz = force_within_reach(w, i, fx, fy, fz)
            thrust = sqrt(fx * fx + fy * fy + fz * fz)
            want_roll, want_pitch = atan2(-fy, fz), asin(fx / thrust)
            want_droll, want_dpitch = 0.0, 0.0
        turn = want_yaw - yaw
        turn = atan2(sin(turn), cos(turn))
        x, y, z = turn_like(
            sp, cp, st, ct, droll, dpitch, dyaw,
            kp * (want_roll - roll) + kd * (want_droll - droll),
            kp * (want_pitch - pitch) + kd * (want_dpitch - dpitch),
            yaw_kp * turn + yaw_kd * (want_dyaw - dyaw),
        )  # fmt: skip
        w[ROLL + i], w[PITCH + i] = tilt_along_heading(want_roll, want_pitch, r00, r10)
        w[YAW_RATE + i] = want_dyaw
    if in_world:
        x, y, z = r00 * x + r10 * y + r20 * z, r01 * x + r11 * y + r21 * z, r02 * x + r12 * y + r22 * z
    if turning:
        hx = w[JXX + i] * p + w[JXY + i] * q + w[JXZ + i] * r
        hy = w[JXY + i] * p + w[JYY + i] * q + w[JYZ + i] * r
        hz = w[JXZ + i] * p + w[JYZ + i] * q + w[JZZ + i] * r
        x, y, z = (
            w[JXX + i] * x + w[JXY + i] * y + w[JXZ + i] * z + q * hz - r * hy,
            w[JXY + i] * x + w[JYY + i] * y + w[JYZ + i] * z + r * hx - p * hz,
            w[JXZ + i] * x + w[JYZ + i] * y + w[JZZ + i] * z + p * hy - q * hx,
        )
    thrust = min(max(thrust, 0.0), w[MAX_THRUST + i])
    w[THRUST + i] = thrust
    w[WANT_THRUST + i], w[WANT_X + i], w[WANT_Y + i], w[WANT_Z + i] = thrust, x, y, z


@block_kernel
def control_modes(w, rotors, tick):
    for i in range(LANES):
        if w[MODE + i] == 0.0:
            w[WANT_THRUST + i], w[WANT_X + i], w[WANT_Y + i], w[WANT_Z + i] = 0.0, 0.0, 0.0, 0.0
            w[THRUST + i], w[ROLL + i], w[PITCH + i], w[YAW_RATE + i] = 0.0, nan, nan, nan
        else:
            control_vehicle(w, i)
    mix(w, rotors)


class ModesParameters(Rated):
    """Natural frequencies (rad/s), damping ratios and gains (1/s). Those left out are tuned from the airframe."""

    position_frequency: float | None = Field(None, gt=0, description="rad/s")
    position_damping: float = Field(1.0, gt=0, description="damping ratio")
    position_integral: float = Field(
        0.15, ge=0, lt=2, description="as a part of the frequency cubed; 0 as in uav_gazebo"
    )
    velocity_gain: float | None = Field(None, gt=0, description="1/s")
    attitude_frequency: float | None = Field(None, gt=0, description="rad/s")
    attitude_damping: float = Field(1.0, gt=0, description="damping ratio")
    yaw_frequency: float | None = Field(None, gt=0, description="rad/s")
    yaw_damping: float = Field(1.0, gt=0, description="damping ratio")
    yaw_rate_gain: float | None = Field(None, gt=0, description="1/s")
    angular_velocity_gain: float | None = Field(None, gt=0, description="1/s")
    max_speed: float = Field(5.0, gt=0, description="towards a far setpoint, m/s")
    max_tilt: float = Field(0.6, gt=0, lt=pi / 2, description="rad, in position and velocity modes")

    @model_validator(mode="after")
    def _are_stable(self) -> ModesParameters:
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


class Modes(MultirotorController):
    """Six control modes with the laws of uav_gazebo, for any multirotor; gains tuned from its file or given."""

    Parameters = ModesParameters
    parameters: ModesParameters
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

    def gains(self, step_ns: int) -> list[float]:
        p = self.parameters
        position, attitude, yaw = self.frequencies()
        return [
            1.0 / p.rate,
            position**2, 2 * p.position_damping * position, p.position_integral * position**3,
            p.velocity_gain or 2 * position,
            attitude**2, 2 * p.attitude_damping * attitude,
            yaw**2, 2 * p.yaw_damping * yaw,
            p.yaw_rate_gain or 2 * yaw,
            p.angular_velocity_gain or attitude,
            2 * p.position_damping * p.max_speed / position,
            tan(self.max_tilt()), self.max_thrust(),
        ]  # fmt: skip

    def in_force(self) -> dict[str, Any]:
        position, attitude, yaw = self.frequencies()
        tuned = {
            "position_frequency": position, "attitude_frequency": attitude, "yaw_frequency": yaw,
            "velocity_gain": 2 * position, "yaw_rate_gain": 2 * yaw, "angular_velocity_gain": attitude,
        }  # fmt: skip
        return tuned | self.parameters.model_dump(exclude_none=True)
