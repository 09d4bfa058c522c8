"""The controller of my_controller.py, compiled: for fleets, and for long runs. Copy this file to begin yours.

Use it in a vehicle as `controller: {kind: my_compiled_controller.py:CompiledHoverPD}`.
"""

from __future__ import annotations

from math import asin, atan2, cos, pi, sin

from pydantic import Field

import airloom as al
from airloom.kernels import LANES, WANT_THRUST, WANT_X, WANT_Y, WANT_Z, block_kernel, limit, mix, row

# Rows for the gains, in the order in which `gains` below returns them.
POSITION_KP, POSITION_KD, ATTITUDE_KP, ATTITUDE_KD, YAW_KP, YAW_KD, TILT = (row.GAIN + k * LANES for k in range(7))


@block_kernel
def control_hover(w, rotors, tick):
    """Control the eight vehicles of a block; `w[row.EPX + i]` is the estimated x of vehicle i, and so on."""
    for i in range(LANES):
        kp, kd, g = w[POSITION_KP + i], w[POSITION_KD + i], w[row.GRAVITY + i]
        ax = kp * (w[row.SPX + i] - w[row.EPX + i]) + kd * (w[row.SVX + i] - w[row.EVX + i])
        ay = kp * (w[row.SPY + i] - w[row.EPY + i]) + kd * (w[row.SVY + i] - w[row.EVY + i])
        az = kp * (w[row.SPZ + i] - w[row.EPZ + i]) + kd * (w[row.SVZ + i] - w[row.EVZ + i])

        a, b, c, d = w[row.EQW + i], w[row.EQX + i], w[row.EQY + i], w[row.EQZ + i]
        roll = atan2(2.0 * (a * b + c * d), 1.0 - 2.0 * (b * b + c * c))
        pitch = asin(limit(2.0 * (a * c - d * b), -1.0, 1.0))
        yaw = atan2(2.0 * (a * d + b * c), 1.0 - 2.0 * (c * c + d * d))
        ahead, left = ax * cos(yaw) + ay * sin(yaw), ay * cos(yaw) - ax * sin(yaw)
        roll_error = limit(-left / g, -w[TILT + i], w[TILT + i]) - roll
        pitch_error = limit(ahead / g, -w[TILT + i], w[TILT + i]) - pitch
        turn = w[row.SYAW + i] - yaw
        yaw_error = atan2(sin(turn), cos(turn))

        on = 1.0 if w[row.MODE + i] > 0.0 else 0.0  # no thrust before the first command
        kp, kd = w[ATTITUDE_KP + i], w[ATTITUDE_KD + i]
        w[WANT_THRUST + i] = on * w[row.MASS + i] * (g + az) / (cos(roll) * cos(pitch))
        w[WANT_X + i] = on * w[row.JXX + i] * (kp * roll_error - kd * w[row.EWX + i])
        w[WANT_Y + i] = on * w[row.JYY + i] * (kp * pitch_error - kd * w[row.EWY + i])
        w[WANT_Z + i] = on * w[row.JZZ + i] * (w[YAW_KP + i] * yaw_error - w[YAW_KD + i] * w[row.EWZ + i])
    mix(w, rotors)


class HoverParameters(al.Rated):
    position_frequency: float = Field(2.0, gt=0, description="natural frequency ω_p, rad/s")
    attitude_frequency: float = Field(12.0, gt=0, description="natural frequency ω_a, rad/s")
    yaw_frequency: float = Field(3.0, gt=0, description="natural frequency ω_ψ, rad/s")
    max_tilt: float = Field(0.4, gt=0, lt=pi / 2, description="rad")


class CompiledHoverPD(al.Controller):
    """PD control of position and attitude, compiled."""

    Parameters = HoverParameters
    kernel = control_hover

    def gains(self, step_ns: int) -> list[float]:
        p = self.parameters
        frequencies = (p.position_frequency, p.attitude_frequency, p.yaw_frequency)
        return [*(gain for f in frequencies for gain in (f**2, 2 * f)), p.max_tilt]
