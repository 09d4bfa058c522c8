"""A position controller for any multirotor, tuned from its mass, inertia, rotors and motor lag.

Position: a = a* + k_d (v* − v) + k_p (p* − p) + k_i ∫(p* − p), with k_p = ω², k_d = 2ω; the thrust direction that gives
this acceleration and the heading that gives the yaw are followed by α = ω_a² e − 2 ω_a (ω − ω*), and the torque is
J α + ω × J ω, less what turns it from outside (control/turning.py). The attitude error e is twice the tangent of half
the angle between body z and the wanted thrust direction: it needs no trigonometry and stays defined when upside down.

Tuning: see control/multirotor.py.
"""

from __future__ import annotations

from math import pi, sqrt, tan

from pydantic import Field

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.lanes import is_kept_off, limit
from airloom.compiled.rows import LANES
from airloom.control.flight_stack import Rated, block_kernel
from airloom.control.mixer import WANT_THRUST, WANT_X, WANT_Y, WANT_Z, mix
from airloom.control.multirotor import MultirotorController
from airloom.control.turning import OWN_GAINS, OWN_MEMORY, PERIOD, resist_pushes, turn_by_torque
from airloom.physics.attitude import rotation

(
    KP, KD, KI, REACH, TILT_KP, TILT_KD, YAW_KP, YAW_KD, LEAN, MIN_THRUST, MAX_THRUST,
) = (OWN_GAINS + k * LANES for k in range(11))  # fmt: skip
SUM_X, SUM_Y, SUM_Z = (OWN_MEMORY + k * LANES for k in range(3))
THRUST, ROLL, PITCH, YAW_RATE = (row.COMMAND + k * LANES for k in range(4))
MAX_INTEGRAL = 5.0  # m/s² that the integral may add
MOST_INTEGRATED = 0.15  # of an error, as a part of the braking distance
MOST_TILT_ERROR = 6.0  # twice the tangent of half the angle, reached at 143°: from there on only the way back counts


@compiled
def want_acceleration(w):
    """Specific force wanted in the world, left in WANT_X, WANT_Y, WANT_Z."""
    for i in range(LANES):
        ex, ey, ez = w[row.SPX + i] - w[row.EPX + i], w[row.SPY + i] - w[row.EPY + i], w[row.SPZ + i] - w[row.EPZ + i]
        far = sqrt(ex * ex + ey * ey + ez * ez) / w[REACH + i]
        near = 1.0 / far if far > 1.0 else 1.0
        ex, ey, ez = ex * near, ey * near, ez * near
        vx, vy, vz = w[row.SVX + i] - w[row.EVX + i], w[row.SVY + i] - w[row.EVY + i], w[row.SVZ + i] - w[row.EVZ + i]
        kept_off = is_kept_off(w[KP + i], w[KD + i], ex, ey, ez, vx, vy, vz) & (w[row.MODE + i] > 0.0)
        gain = w[PERIOD + i] if kept_off else 0.0
        gain = gain * MOST_INTEGRATED / far if far > MOST_INTEGRATED else gain
        w[SUM_X + i] = limit(w[SUM_X + i] + gain * w[KI + i] * ex, -MAX_INTEGRAL, MAX_INTEGRAL)
        w[SUM_Y + i] = limit(w[SUM_Y + i] + gain * w[KI + i] * ey, -MAX_INTEGRAL, MAX_INTEGRAL)
        w[SUM_Z + i] = limit(w[SUM_Z + i] + gain * w[KI + i] * ez, -MAX_INTEGRAL, MAX_INTEGRAL)
        x = w[row.SAX + i] + w[KP + i] * ex + w[KD + i] * vx + w[SUM_X + i]
        y = w[row.SAY + i] + w[KP + i] * ey + w[KD + i] * vy + w[SUM_Y + i]
        z = w[row.SAZ + i] + w[KP + i] * ez + w[KD + i] * vz + w[SUM_Z + i] + w[row.GRAVITY + i]
        lowest = 0.2 * w[row.GRAVITY + i]
        z = z if z > lowest else lowest
        level, most = sqrt(x * x + y * y), w[LEAN + i] * z
        shrink = most / level if level > most else 1.0
        w[WANT_X + i] = x * shrink
        w[WANT_Y + i] = y * shrink
        w[WANT_Z + i] = z


@compiled
def follow_thrust_direction(w):
    """Body thrust and torque that turn body z towards the wanted force and body x towards the wanted heading."""
    for i in range(LANES):
        r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation(
            w[row.EQW + i], w[row.EQX + i], w[row.EQY + i], w[row.EQZ + i]
        )
        fx, fy, fz = w[WANT_X + i], w[WANT_Y + i], w[WANT_Z + i]
        size = sqrt(fx * fx + fy * fy + fz * fz)
        x = (r00 * fx + r10 * fy + r20 * fz) / size
        y = (r01 * fx + r11 * fy + r21 * fz) / size
        z = (r02 * fx + r12 * fy + r22 * fz) / size
        side = sqrt(x * x + y * y)
        error = 2.0 * side / (1.0 + z) if z > -0.8 else MOST_TILT_ERROR
        roll_error, pitch_error = -error * y / side, error * x / side
        roll_error = roll_error if side > 1e-9 else error  # upside down to the last digit, any way is as good
        pitch_error = pitch_error if side > 1e-9 else 0.0
        ahead = r00 * w[row.SCOS + i] + r10 * w[row.SSIN + i]
        aside = r00 * w[row.SSIN + i] - r10 * w[row.SCOS + i]
        level = sqrt(ahead * ahead + aside * aside)
        below = level + ahead if ahead > -0.8 * level else 0.2 * level
        yaw_error = 2.0 * aside / below if level > 1e-6 else 0.0
        p, q, r = w[row.EWX + i], w[row.EWY + i], w[row.EWZ + i]
        turn = w[row.SYAWRATE + i]
        lx = w[TILT_KP + i] * roll_error + w[TILT_KD + i] * (turn * r20 - p)
        ly = w[TILT_KP + i] * pitch_error + w[TILT_KD + i] * (turn * r21 - q)
        lz = w[YAW_KP + i] * yaw_error + w[YAW_KD + i] * (turn * r22 - r)
        on = 1.0 if w[row.MODE + i] > 0.0 else 0.0
        thrust = w[row.MASS + i] * size * (z if z > 0.1 else 0.1)
        thrust = limit(thrust, w[MIN_THRUST + i], w[MAX_THRUST + i])
        w[THRUST + i] = on * thrust
        w[ROLL + i] = (fx * w[row.SSIN + i] - fy * w[row.SCOS + i]) / size
        w[PITCH + i] = (fx * w[row.SCOS + i] + fy * w[row.SSIN + i]) / size
        w[YAW_RATE + i] = turn
        w[WANT_THRUST + i] = on * thrust
        w[WANT_X + i] = lx
        w[WANT_Y + i] = ly
        w[WANT_Z + i] = lz
        resist_pushes(w, i, w[row.MODE + i] > 0.0)


@compiled
def rest(w):
    """Idle vehicles want no torque; they want no thrust already."""
    for i in range(LANES):
        on = 1.0 if w[row.MODE + i] > 0.0 else 0.0
        w[WANT_X + i] *= on
        w[WANT_Y + i] *= on
        w[WANT_Z + i] *= on


@block_kernel
def control_cascade(w, rotors, tick):
    want_acceleration(w)
    follow_thrust_direction(w)
    turn_by_torque(w)
    rest(w)
    mix(w, rotors)


class CascadeParameters(Rated):
    """Frequencies left out are tuned from the airframe."""

    position_frequency: float | None = Field(None, gt=0, description="natural frequency of the position loop, rad/s")
    tilt_frequency: float | None = Field(None, gt=0, description="natural frequency of the tilt loop, rad/s")
    yaw_frequency: float | None = Field(None, gt=0, description="natural frequency of the yaw loop, rad/s")
    integral: float = Field(0.25, ge=0, lt=2, description="integral gain as a part of the frequency cubed")
    max_speed: float = Field(5.0, gt=0, description="towards a far setpoint, m/s")
    max_tilt: float = Field(0.6, gt=0, lt=pi / 2, description="rad")


class Cascade(MultirotorController):
    """Position → thrust direction → torque → rotors, for any multirotor, tuned from its file."""

    Parameters = CascadeParameters
    parameters: CascadeParameters
    kernel = control_cascade

    def frequencies(self) -> tuple[float, float, float]:
        """Natural frequencies of position, tilt and yaw, rad/s."""
        p = self.parameters
        position, tilt, turn = self.tuned_frequencies(p.tilt_frequency)
        return p.position_frequency or position, tilt, p.yaw_frequency or turn

    def gains(self, step_ns: int) -> list[float]:
        p = self.parameters
        position, tilt, turn = self.frequencies()
        loop = [position**2, 2.0 * position, p.integral * position**3]
        return [
            *self.turning_gains(tilt), *loop, 2.0 * p.max_speed / position, tilt**2, 2.0 * tilt, turn**2, 2.0 * turn,
            tan(p.max_tilt), 0.05 * self.lift, 0.95 * self.lift,
        ]  # fmt: skip
