"""A flight stack for underwater vehicles whose thrusters push along and about all axes.

- **Position.** The velocity u = v* + k (p* − p) is wanted, towards the setpoint no faster than the vehicle may.
- **Velocity.** F = (m + m_A) (a (u − v) + b ∫(u − v)) + (d + d₂ |u|) u, each axis of the body by its own mass, added
  mass and damping. The integral is one of the world, since what it finds is: currents, buoyancy. It waits while
  thrusters are at their limits. With a = 5/2 ω, k = 2/5 ω and b = ω² for the frequency ω, all is well damped.
- **Attitude.** T = (J + J_A) (ω² e + 2 ω (ω* − ω)) + ∫ + v_r × M_A v_r, e the rotation vector to level with the yaw
  that is wanted. The last is against Munk's moment, which turns a vehicle its broad side to the flow; of a BlueROV2 at
  1 m/s it is three times as stiff as the loop. The flow v_r is what the thrust must have led to:
  (m + m_A) (v̇_r + ω × v_r) = F − (d + d₂ |v_r|) v_r.
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

PERIOD, NEARER, FASTER, INTEGRAL, TURN_STIFF, TURN_DAMP, TURN_INTEGRAL, FASTEST, MOST_TURN = (
    row.GAIN + k * LANES for k in range(9)
)
MASS, LINEAR, SQUARE, MOST = (row.GAIN + (9 + k) * LANES for k in (0, 6, 9, 12))
"""Masses of six axes; damping of three by speed and by its square; the most that the integrals of three may push."""
MIX = row.GAIN + 24 * LANES
"""Of each thruster: its part in a newton ahead and in one aside, its thrust backwards as a part of that ahead. Its
parts in the other axes are rows of the rotor, as a multirotor's are."""
SUM, SUM_TURN, SATURATED, FLOW = (row.MEMORY + k * LANES for k in (0, 3, 6, 7))
NOT, BY_FORCES, BY_TORQUES = 0.0, 1.0, 2.0  # saturated
FASTEST_FLOW = 5.0  # m/s
WANT, GIVEN = row.SCRATCH, row.SCRATCH + 6 * LANES
"""Forces and torques, body; and of each thruster what it gives, N."""
THRUST, ROLL, PITCH, YAW_RATE = (row.COMMAND + k * LANES for k in range(4))
IDLE, VELOCITY = float(Mode.IDLE), float(Mode.VELOCITY_YAWRATE)


@compiled
def _attitude(w, i):
    return w[row.EQW + i], w[row.EQX + i], w[row.EQY + i], w[row.EQZ + i]


@compiled
def _wanted_velocity(w, i):
    """World: that of the setpoint, and towards it."""
    if w[row.MODE + i] == VELOCITY:
        x, y, z = w[row.BVX + i], w[row.BVY + i], w[row.BVZ + i]
        return rotate(*_attitude(w, i), x, y, z) if w[row.B_IN_BODY + i] != 0.0 else (x, y, z)
    k = w[NEARER + i]
    x, y, z = (
        k * (w[row.SPX + i] - w[row.EPX + i]),
        k * (w[row.SPY + i] - w[row.EPY + i]),
        k * (w[row.SPZ + i] - w[row.EPZ + i]),
    )
    speed = sqrt(x * x + y * y + z * z)
    share = w[FASTEST + i] / speed if speed > w[FASTEST + i] else 1.0
    return share * x + w[row.SVX + i], share * y + w[row.SVY + i], share * z + w[row.SVZ + i]


@compiled
def _push(w, i):
    """Forces that are wanted, into WANT."""
    ux, uy, uz = _wanted_velocity(w, i)
    ex, ey, ez = ux - w[row.EVX + i], uy - w[row.EVY + i], uz - w[row.EVZ + i]
    if w[SATURATED + i] == NOT:
        _sum_up(w, i, ex, ey, ez)
    ex, ey, ez = rotate_back(*_attitude(w, i), ex, ey, ez)
    ux, uy, uz = rotate_back(*_attitude(w, i), ux, uy, uz)
    fx, fy, fz = rotate_back(*_attitude(w, i), w[SUM + i], w[SUM + LANES + i], w[SUM + 2 * LANES + i])
    w[WANT + i] = fx + _along(w, i, 0, ex, ux)
    w[WANT + LANES + i] = fy + _along(w, i, 1, ey, uy)
    w[WANT + 2 * LANES + i] = fz + _along(w, i, 2, ez, uz)


@compiled
def _along(w, i, axis, faster, speed):
    at = axis * LANES + i
    return w[MASS + at] * w[FASTER + i] * faster + (w[LINEAR + at] + w[SQUARE + at] * abs(speed)) * speed


@compiled
def _sum_up(w, i, x, y, z):
    """In the world, with the mass of the middle axis ahead and aside, since the vehicle may turn meanwhile."""
    gain, most = w[PERIOD + i] * w[INTEGRAL + i], w[MOST + i]
    level, up = gain * w[MASS + LANES + i], gain * w[MASS + 2 * LANES + i]
    w[SUM + i] = limit(w[SUM + i] + level * x, -most, most)
    w[SUM + LANES + i] = limit(w[SUM + LANES + i] + level * y, -most, most)
    most = w[MOST + 2 * LANES + i]
    w[SUM + 2 * LANES + i] = limit(w[SUM + 2 * LANES + i] + up * z, -most, most)


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
    _stay_in_flow(w, i)
    return rate


@compiled
def _stay_in_flow(w, i):
    """Against Munk's moment."""
    x, y, z = w[FLOW + i], w[FLOW + LANES + i], w[FLOW + 2 * LANES + i]
    along, aside, up = w[MASS + i], w[MASS + LANES + i], w[MASS + 2 * LANES + i]
    w[WANT + 3 * LANES + i] += y * z * (up - aside)
    w[WANT + 4 * LANES + i] += z * x * (along - up)
    w[WANT + 5 * LANES + i] += x * y * (aside - along)


@compiled
def _find_flow(w, i, level, up):
    """Of a vehicle that was given these shares of the forces that it wanted."""
    dt, a, b, c = w[PERIOD + i], w[row.EWX + i], w[row.EWY + i], w[row.EWZ + i]
    x, y, z = w[FLOW + i], w[FLOW + LANES + i], w[FLOW + 2 * LANES + i]
    w[FLOW + i] = _flow_along(w, i, 0, x, dt, level, c * y - b * z)
    w[FLOW + LANES + i] = _flow_along(w, i, 1, y, dt, level, a * z - c * x)
    w[FLOW + 2 * LANES + i] = _flow_along(w, i, 2, z, dt, up, b * x - a * y)


@compiled
def _flow_along(w, i, axis, speed, dt, share, turns):
    at = axis * LANES + i
    against = w[LINEAR + at] + w[SQUARE + at] * abs(speed)
    faster = speed + dt * (share * w[WANT + at] / w[MASS + at] + turns)
    return limit(faster / (1.0 + dt * against / w[MASS + at]), -FASTEST_FLOW, FASTEST_FLOW)


@compiled
def _about(w, i, axis, error, slower):
    at, mass = axis * LANES + i, w[MASS + (3 + axis) * LANES + i]
    most = w[MOST_TURN + i] * mass
    if w[SATURATED + i] != BY_TORQUES:
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
    w[SATURATED + i] = NOT
    share = up = 1.0
    for stage in range(3):
        up, share = share, 1.0
        for n in range(count):
            rotor, reverse = rotors[n * row.ROTOR_WIDTH :], w[MIX + (3 * n + 2) * LANES + i]
            share = min(share, room_for(rotor, i, reverse, w[GIVEN + n * LANES + i], _part(w, rotor, i, n, stage)))
        if share < 1.0:
            w[SATURATED + i] = BY_TORQUES if stage == 0 else max(w[SATURATED + i], BY_FORCES)
        for n in range(count):
            w[GIVEN + n * LANES + i] += share * _part(w, rotors[n * row.ROTOR_WIDTH :], i, n, stage)
    for n in range(count):
        reverse = w[MIX + (3 * n + 2) * LANES + i]
        set_thrust(rotors[n * row.ROTOR_WIDTH :], i, reverse, w[GIVEN + n * LANES + i])
    _find_flow(w, i, share, up)


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
    integral: float = Field(1.0, ge=0, le=3, description="how hard what pushes for long is resisted; 0 for not at all")
    max_speed: float | None = Field(None, gt=0, description="towards a far setpoint, m/s")


class Rov(VesselController):
    """Position, depth and heading of a vehicle under water that pushes along and about all axes; tuned by its file."""

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

    @property
    def top_speed(self) -> float:
        """Given, or what four fifths of the thrust reach along the slowest axis."""
        speeds = [self.vessel.speed_at(0.8 * self._greatest[axis], axis) for axis in range(3)]
        return self.parameters.max_speed or min(*speeds, 2.0)

    def gains(self, step_ns: int) -> list[float]:
        p, (position, attitude) = self.parameters, self.frequencies()
        linear, square = self.vessel.damping
        most_turn = 0.3 * float((self._greatest / self.vessel.mass)[3:].min())
        gains = [
            1.0 / p.rate, 0.4 * position, 2.5 * position, p.integral * position**2,
            attitude**2, 2 * attitude, 0.1 * p.integral * attitude**3, self.top_speed, most_turn,
            *self.vessel.mass, *linear[:3], *square[:3], *(0.7 * self._greatest[:3]),
        ]  # fmt: skip
        for thruster, reverse in zip(self._mixer, self.vessel.reverse, strict=True):
            gains += [*thruster[:2], reverse]
        return [float(gain) for gain in gains]

    def in_force(self) -> dict[str, Any]:
        position, attitude = self.frequencies()
        tuned = {"position_frequency": position, "attitude_frequency": attitude, "max_speed": self.top_speed}
        return tuned | self.parameters.model_dump(exclude_none=True)
