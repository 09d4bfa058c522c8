"""A controller of your own, in plain Python and compiled. Copy this file to begin yours.

Use it in a vehicle as `controller: {kind: my_controller.py:HoverPD, position_frequency: 2}`.

The law (PD in position, PD in attitude, small angles):

    a = ω_p² (p* − p) + 2 ω_p (v* − v)                       wanted acceleration, world
    pitch* = (a_x cos ψ + a_y sin ψ) / g                     tilt that gives it, ψ the yaw
    roll*  = (a_x sin ψ − a_y cos ψ) / g
    T = m (g + a_z) / (cos roll cos pitch)                   thrust along body z
    τ = J (ω_a² (angle* − angle) − 2 ω_a rate)               torque, body

Both loops have damping ratio 1. See for example Mellinger, Michael and Kumar (IJRR 31-5, 2012), section 3.
"""

from __future__ import annotations

from math import asin, atan2, cos, pi, sin

import numpy as np
from pydantic import Field

import airloom as al
from airloom.compiled import compiled
from airloom.control.mixer import WANT_THRUST, WANT_X, WANT_Y, WANT_Z, mix
from airloom.flight_stack import Rated, block_kernel
from airloom.physics.rows import (
    ARMED, EPX, EPY, EPZ, EQW, EQX, EQY, EQZ, EVX, EVY, EVZ, EWX, EWY, EWZ, GAIN, GRAVITY, JXX, JYY, JZZ, LANES, MASS,
    SPX, SPY, SPZ, SVX, SVY, SVZ, SYAW,
)  # fmt: skip
from airloom.rotations import euler_from_quaternion


class HoverParameters(Rated):
    """What a file may set; `rate` comes from Rated."""

    position_frequency: float = Field(2.0, gt=0, description="natural frequency ω_p, rad/s")
    attitude_frequency: float = Field(12.0, gt=0, description="natural frequency ω_a, rad/s")
    max_tilt: float = Field(0.4, gt=0, lt=pi / 2, description="rad")


class HoverPD(al.Controller):
    """PD position and attitude control in plain Python."""

    Parameters = HoverParameters

    def control(self, vehicle: al.Vehicle) -> np.ndarray:
        p, frame = self.parameters, self.airframe
        now, wanted = vehicle.estimate, vehicle.setpoint
        kp, kd = p.position_frequency**2, 2 * p.position_frequency
        ax, ay, az = kp * (np.array(wanted.position) - now.position) + kd * (np.array(wanted.velocity) - now.velocity)
        roll, pitch, yaw = euler_from_quaternion(now.attitude)
        c, s, g = cos(yaw), sin(yaw), frame.gravity
        tilt = np.clip([(ax * s - ay * c) / g, (ax * c + ay * s) / g], -p.max_tilt, p.max_tilt)
        turn = wanted.yaw - yaw
        errors = np.array([tilt[0] - roll, tilt[1] - pitch, atan2(sin(turn), cos(turn))])
        thrust = frame.mass * (g + az) / (cos(roll) * cos(pitch))
        torque = np.diag(frame.inertia) * (p.attitude_frequency**2 * errors - 2 * p.attitude_frequency * now.rates)
        thrusts = frame.mixer @ [thrust, *torque]  # newtons of each rotor
        constants = [rotor.thrust_constant for rotor in frame.rotors]
        return np.sqrt(np.maximum(thrusts, 0.0) / constants)


# The same law compiled: for a whole block of LANES vehicles, with every number in a named row.

POSITION_KP, POSITION_KD, ATTITUDE_KP, ATTITUDE_KD, TILT = (GAIN + k * LANES for k in range(5))


@compiled
def limit(x, size):
    return min(max(x, -size), size)


@block_kernel
def control_hover(w, rotors, tick):
    for i in range(LANES):
        kp, kd, g = w[POSITION_KP + i], w[POSITION_KD + i], w[GRAVITY + i]
        ax = kp * (w[SPX + i] - w[EPX + i]) + kd * (w[SVX + i] - w[EVX + i])
        ay = kp * (w[SPY + i] - w[EPY + i]) + kd * (w[SVY + i] - w[EVY + i])
        az = kp * (w[SPZ + i] - w[EPZ + i]) + kd * (w[SVZ + i] - w[EVZ + i])
        a, b, c, d = w[EQW + i], w[EQX + i], w[EQY + i], w[EQZ + i]
        roll = atan2(2.0 * (a * b + c * d), 1.0 - 2.0 * (b * b + c * c))
        pitch = asin(limit(2.0 * (a * c - d * b), 1.0))
        yaw = atan2(2.0 * (a * d + b * c), 1.0 - 2.0 * (c * c + d * d))
        roll_error = limit((ax * sin(yaw) - ay * cos(yaw)) / g, w[TILT + i]) - roll
        pitch_error = limit((ax * cos(yaw) + ay * sin(yaw)) / g, w[TILT + i]) - pitch
        turn = w[SYAW + i] - yaw
        yaw_error = atan2(sin(turn), cos(turn))
        kp, kd = w[ATTITUDE_KP + i], w[ATTITUDE_KD + i]
        on = 1.0 if w[ARMED + i] > 0.0 else 0.0
        w[WANT_THRUST + i] = on * w[MASS + i] * (g + az) / (cos(roll) * cos(pitch))
        w[WANT_X + i] = on * w[JXX + i] * (kp * roll_error - kd * w[EWX + i])
        w[WANT_Y + i] = on * w[JYY + i] * (kp * pitch_error - kd * w[EWY + i])
        w[WANT_Z + i] = on * w[JZZ + i] * (kp * yaw_error - kd * w[EWZ + i])
    mix(w, rotors)


class CompiledHoverPD(al.Controller):
    """PD position and attitude control, compiled."""

    Parameters = HoverParameters
    kernel = control_hover

    def gains(self, step_ns: int) -> list[float]:
        p = self.parameters
        position, attitude = p.position_frequency, p.attitude_frequency
        return [position**2, 2 * position, attitude**2, 2 * attitude, p.max_tilt]
