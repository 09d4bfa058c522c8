"""A flight stack for underwater vehicles whose thrusters push along and about all axes.

- **Position.** With e = p* − p in the body, F = (m + m_A) (ω² e + 2 ζ ω (ν* − ν)) + (d + d₂ |ν*|) ν* + ∫, each axis by
  its own mass, added mass and damping. The integral is one of the world, since what it finds is: currents, buoyancy.
- **Attitude.** T = (J + J_A) (ω² e + 2 ζ ω (ω* − ω)) + ∫, e the rotation vector to level with the yaw that is wanted.
- **Thrusters** get the smallest thrusts that do so. Where that is more than they can, torques come first, then what
  keeps the depth, then the rest: a vehicle that a current carries away stays upright and at its depth.
"""

from __future__ import annotations

from math import atan2, cos, sin, sqrt
from typing import Any

from pydantic import Field

from airloom.commands import Mode
from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.lanes import limit
from airloom.compiled.rows import LANES
from airloom.control.flight_stack import Rated, block_kernel
from airloom.control.thrusters import MOST_THRUSTERS, VesselController, rest, room_for, set_thrust
from airloom.physics.attitude import multiply, rotate, rotate_back

PERIOD, STIFF, DAMP, INTEGRAL, TURN_STIFF, TURN_DAMP, TURN_INTEGRAL, FASTEST, MOST_TURN = (
    row.GAIN + k * LANES for k in range(9)
)
MASS, LINEAR, SQUARE, MOST = (row.GAIN + (9 + k) * LANES for k in (0, 6, 9, 12))
"""Masses of six axes; damping of three by speed and by its square; the most that the integrals of three may push."""
MIX = row.GAIN + 24 * LANES
"""Of each thruster: its part in a newton ahead and in one aside, its thrust backwards as a part of that ahead. Its
parts in the other axes are rows of the rotor, as a multirotor's are."""
SUM, SUM_TURN = row.MEMORY, row.MEMORY + 3 * LANES
WANT, GIVEN = row.SCRATCH, row.SCRATCH + 6 * LANES
"""Forces and torques, body; and of each thruster what it gives, N."""
THRUST, ROLL, PITCH, YAW_RATE = (row.COMMAND + k * LANES for k in range(4))
IDLE, VELOCITY = float(Mode.IDLE), float(Mode.VELOCITY_YAWRATE)


@compiled
def _attitude(w, i):
    return w[row.EQW + i], w[row.EQX + i], w[row.EQY + i], w[row.EQZ + i]


@compiled
def _wanted_motion(w, i):
    """Position error, which is none in velocity mode, and velocity, both world."""
    if w[row.MODE + i] == VELOCITY:
        x, y, z = w[row.BVX + i], w[row.BVY + i], w[row.BVZ + i]
        if w[row.B_IN_BODY + i] != 0.0:
            x, y, z = rotate(*_attitude(w, i), x, y, z)
        return 0.0, 0.0, 0.0, x, y, z
    ex, ey, ez = w[row.SPX + i] - w[row.EPX + i], w[row.SPY + i] - w[row.EPY + i], w[row.SPZ + i] - w[row.EPZ + i]
    return ex, ey, ez, w[row.SVX + i], w[row.SVY + i], w[row.SVZ + i]


@compiled
def _push(w, i):
    """Forces that are wanted, into WANT."""
    ex, ey, ez, vx, vy, vz = _wanted_motion(w, i)
    far, reach = sqrt(ex * ex + ey * ey + ez * ez), w[DAMP + i] * w[FASTEST + i] / w[STIFF + i]
    share = reach / far if far > reach else 1.0
    by_velocity = w[row.MODE + i] == VELOCITY
    if share == 1.0:
        stiff, ux, uy, uz = w[INTEGRAL + i], ex, ey, ez
        if by_velocity:
            stiff, ux, uy, uz = w[STIFF + i], vx - w[row.EVX + i], vy - w[row.EVY + i], vz - w[row.EVZ + i]
        _sum_up(w, i, stiff, ux, uy, uz)
    ex, ey, ez = rotate_back(*_attitude(w, i), share * ex, share * ey, share * ez)
    ox, oy, oz = rotate_back(*_attitude(w, i), vx - w[row.EVX + i], vy - w[row.EVY + i], vz - w[row.EVZ + i])
    vx, vy, vz = rotate_back(*_attitude(w, i), vx, vy, vz)
    fx, fy, fz = rotate_back(*_attitude(w, i), w[SUM + i], w[SUM + LANES + i], w[SUM + 2 * LANES + i])
    w[WANT + i] = fx + _along(w, i, 0, ex, ox, vx)
    w[WANT + LANES + i] = fy + _along(w, i, 1, ey, oy, vy)
    w[WANT + 2 * LANES + i] = fz + _along(w, i, 2, ez, oz, vz)


@compiled
def _along(w, i, axis, error, slower, speed):
    at = axis * LANES + i
    wanted = w[STIFF + i] * error + w[DAMP + i] * slower
    return w[MASS + at] * wanted + (w[LINEAR + at] + w[SQUARE + at] * abs(speed)) * speed


@compiled
def _sum_up(w, i, stiff, x, y, z):
    """In the world, by the mass of the middle axis: it may be turned while it pushes."""
    gain, most = w[PERIOD + i] * stiff * w[MASS + LANES + i], w[MOST + i]
    w[SUM + i] = limit(w[SUM + i] + gain * x, -most, most)
    w[SUM + LANES + i] = limit(w[SUM + LANES + i] + gain * y, -most, most)
    most = w[MOST + 2 * LANES + i]
    w[SUM + 2 * LANES + i] = limit(w[SUM + 2 * LANES + i] + gain * z, -most, most)


@compiled
def _turn(w, i):
    """Torques that are wanted, into WANT; gives the yaw rate."""
    a, b, c, d = _attitude(w, i)
    by_velocity = w[row.MODE + i] == VELOCITY
    yaw = w[row.SYAW + i]
    rate = w[row.BYAWRATE + i] if by_velocity else w[row.SYAWRATE + i]
    if by_velocity:
        yaw = atan2(2.0 * (a * d + b * c), 1.0 - 2.0 * (c * c + d * d))
    ew, ex, ey, ez = multiply(a, -b, -c, -d, cos(0.5 * yaw), 0.0, 0.0, sin(0.5 * yaw))
    sign = 2.0 if ew >= 0.0 else -2.0
    _about(w, i, 0, sign * ex, -w[row.EWX + i])
    _about(w, i, 1, sign * ey, -w[row.EWY + i])
    _about(w, i, 2, sign * ez, rate - w[row.EWZ + i])
    return rate


@compiled
def _about(w, i, axis, error, slower):
    at, mass = axis * LANES + i, w[MASS + (3 + axis) * LANES + i]
    most = w[MOST_TURN + i] * mass
    w[SUM_TURN + at] = limit(w[SUM_TURN + at] + w[PERIOD + i] * w[TURN_INTEGRAL + i] * mass * error, -most, most)
    error = limit(error, -0.7, 0.7)
    w[WANT + 3 * LANES + at] = w[SUM_TURN + at] + mass * (w[TURN_STIFF + i] * error + w[TURN_DAMP + i] * slower)


@compiled
def _part(w, rotor, i, n, stage):
    """Of a thruster: for torques, for what is up, for what is ahead and aside."""
    if stage == 0:
        x, y, z = w[WANT + 3 * LANES + i], w[WANT + 4 * LANES + i], w[WANT + 5 * LANES + i]
        return rotor[row.MIX_X + i] * x + rotor[row.MIX_Y + i] * y + rotor[row.MIX_Z + i] * z
    if stage == 1:
        return rotor[row.MIX_THRUST + i] * w[WANT + 2 * LANES + i]
    mix = MIX + 3 * n * LANES + i
    return w[mix] * w[WANT + i] + w[mix + LANES] * w[WANT + LANES + i]


@compiled
def _mix(w, rotors, i):
    count = min(rotors.size // row.ROTOR_WIDTH, MOST_THRUSTERS)
    for n in range(count):
        w[GIVEN + n * LANES + i] = 0.0
    for stage in range(3):
        share = 1.0
        for n in range(count):
            rotor, reverse = rotors[n * row.ROTOR_WIDTH :], w[MIX + (3 * n + 2) * LANES + i]
            share = min(share, room_for(rotor, i, reverse, w[GIVEN + n * LANES + i], _part(w, rotor, i, n, stage)))
        for n in range(count):
            w[GIVEN + n * LANES + i] += share * _part(w, rotors[n * row.ROTOR_WIDTH :], i, n, stage)
    for n in range(count):
        reverse = w[MIX + (3 * n + 2) * LANES + i]
        set_thrust(rotors[n * row.ROTOR_WIDTH :], i, reverse, w[GIVEN + n * LANES + i])


@block_kernel
def control_rov(w, rotors, tick):
    for i in range(LANES):
        if w[row.MODE + i] == IDLE:
            rest(rotors, i)
            w[THRUST + i] = 0.0
            continue
        _push(w, i)
        rate = _turn(w, i)
        _mix(w, rotors, i)
        w[THRUST + i], w[ROLL + i], w[PITCH + i], w[YAW_RATE + i] = w[WANT + 2 * LANES + i], 0.0, 0.0, rate


class RovParameters(Rated):
    """What is left out is tuned from the vehicle: its mass with that of the water, its damping, its thrusters."""

    rate: float = Field(100.0, gt=0, description="Hz")
    position_frequency: float | None = Field(None, gt=0, le=20, description="rad/s")
    attitude_frequency: float | None = Field(None, gt=0, le=20, description="rad/s")
    damping: float = Field(1.0, gt=0, le=5, description="damping ratio")
    integral: float = Field(0.2, ge=0, le=1, description="as a part of the frequency cubed")
    max_speed: float | None = Field(None, gt=0, description="towards a far setpoint, m/s")


class Rov(VesselController):
    """Position, depth and heading of an underwater vehicle that can push along and about all axes, tuned from its file."""

    Parameters = RovParameters
    parameters: RovParameters
    kernel = control_rov
    modes = (int(Mode.POSITION_YAW), int(Mode.VELOCITY_YAWRATE))

    def check_thrusters(self) -> None:
        self._mixer = self.mixer(list(range(6)), "along and about all axes")
        self._greatest = self.vessel.greatest(self._mixer)

    def frequencies(self) -> tuple[float, float]:
        """Of position and attitude: as fast as thrusters follow, and as they can push for a metre or half a radian."""
        p, ways = self.parameters, self._greatest / self.vessel.mass
        position = min(0.2 / self.vessel.lag, 0.5 * sqrt(ways[:3].min() / 1.0))
        attitude = min(0.5 / self.vessel.lag, 0.7 * sqrt(ways[3:].min() / 0.5))
        return p.position_frequency or position, p.attitude_frequency or attitude

    def max_speed(self) -> float:
        """Given, or what four fifths of the thrust reach along the slowest axis."""
        speeds = [self.vessel.speed_at(0.8 * self._greatest[axis], axis) for axis in range(3)]
        return self.parameters.max_speed or min(*speeds, 2.0)

    def gains(self, step_ns: int) -> list[float]:
        p, (position, attitude) = self.parameters, self.frequencies()
        linear, square = self.vessel.damping
        most_turn = 0.3 * float((self._greatest / self.vessel.mass)[3:].min())
        gains = [
            1.0 / p.rate, position**2, 2 * p.damping * position, p.integral * position**3,
            attitude**2, 2 * p.damping * attitude, p.integral * attitude**3, self.max_speed(), most_turn,
            *self.vessel.mass, *linear[:3], *square[:3], *(0.7 * self._greatest[:3]),
        ]  # fmt: skip
        for thruster, reverse in zip(self._mixer, self.vessel.reverse, strict=True):
            gains += [*thruster[:2], reverse]
        return [float(gain) for gain in gains]

    def in_force(self) -> dict[str, Any]:
        position, attitude = self.frequencies()
        tuned = {"position_frequency": position, "attitude_frequency": attitude, "max_speed": self.max_speed()}
        return tuned | self.parameters.model_dump(exclude_none=True)
