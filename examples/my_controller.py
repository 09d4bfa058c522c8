"""A controller of your own in plain Python. Copy this file to begin yours.

Use it in a vehicle as `controller: {kind: my_controller.py:HoverPD, position_frequency: 2}`.

The law (PD in position, PD in attitude, for small angles; all loops have damping ratio 1):

    a = ω_p² (p* − p) + 2 ω_p (v* − v)             wanted acceleration, world
    pitch* = (a_x cos ψ + a_y sin ψ) / g           the tilt that gives it, ψ the yaw
    roll*  = (a_x sin ψ − a_y cos ψ) / g
    T = m (g + a_z) / (cos roll cos pitch)         thrust along body z
    τ = J (ω_a² (angle* − angle) − 2 ω_a rate)     torque, body; for yaw with ω_ψ in place of ω_a
"""

from __future__ import annotations

from math import atan2, cos, pi, sin

import numpy as np
from pydantic import Field

import airloom as al


class HoverParameters(al.Rated):
    """What a file may set, with limits; `rate` (Hz) comes from Rated."""

    position_frequency: float = Field(2.0, gt=0, description="natural frequency ω_p, rad/s")
    attitude_frequency: float = Field(12.0, gt=0, description="natural frequency ω_a, rad/s")
    yaw_frequency: float = Field(3.0, gt=0, description="natural frequency ω_ψ, rad/s; rotors turn a vehicle weakly")
    max_tilt: float = Field(0.4, gt=0, lt=pi / 2, description="rad")


class HoverPD(al.Controller):
    """PD control of position and attitude, in plain Python."""

    Parameters = HoverParameters

    def control(self, vehicle: al.Vehicle) -> np.ndarray:
        p, frame = self.parameters, self.airframe
        now, wanted = vehicle.estimate, vehicle.setpoint
        kp, kd, g = p.position_frequency**2, 2 * p.position_frequency, frame.gravity
        ax, ay, az = kp * (np.array(wanted.position) - now.position) + kd * (np.array(wanted.velocity) - now.velocity)

        roll, pitch, yaw = al.euler_from_quaternion(now.attitude)
        ahead, left = ax * cos(yaw) + ay * sin(yaw), ay * cos(yaw) - ax * sin(yaw)
        wanted_roll, wanted_pitch = np.clip([-left / g, ahead / g], -p.max_tilt, p.max_tilt)
        turn = wanted.yaw - yaw
        errors = np.array([wanted_roll - roll, wanted_pitch - pitch, atan2(sin(turn), cos(turn))])

        frequency = np.array([p.attitude_frequency, p.attitude_frequency, p.yaw_frequency])
        torque = np.diag(frame.inertia) * (frequency**2 * errors - 2 * frequency * now.rates)
        thrust = frame.mass * (g + az) / (cos(roll) * cos(pitch))

        thrusts = frame.mixer @ [thrust, *torque]  # of each rotor, N
        constants = [rotor.thrust_constant for rotor in frame.rotors]  # thrust = constant × speed²
        return np.sqrt(np.maximum(thrusts, 0.0) / constants)
