"""A flight stack for boats, whose thrusters push ahead and turn, but not aside.

- **Guidance.** A setpoint that moves is a line along its velocity, which is followed by line of sight (Fossen 2011,
  10.3): the course χ = χ_line − atan(e/Δ), e the distance from the line and Δ how far the boat looks ahead, less the
  angle by which a current sets it aside. One that stands is steered for with k (p* − p) − d through the water, d the
  drift, and held from a circle around it on: the boat goes ahead or astern, with its bow into the drift, as one must
  that pushes ahead alone (Fossen and Strand, Nonlinear passive weather optimal positioning control, 2001), turned by
  what it is off aside. Where nothing sets it off it turns to the yaw that is wanted instead.
- **Drift** is what is left of the velocity over the ground, in the mean of some seconds, when the boat's own way
  through the water is taken off: (m + m_A) u̇_w = X − (d + d₂ |u_w|) u_w.
- **Heading.** r* = k wrap(ψ* − ψ), T = (J + J_A) (a (r* − r) + b ∫(r* − r)) + (d + d₂ |r*|) r*.
- **Speed.** X = (m + m_A) (a (u* − u) + b ∫(u* − u)) + (d + d₂ |u*|) u*, u ahead over the ground.
- **Thrusters** get the smallest thrusts that do so; turning comes before speed.

Heights are not steered: a boat floats where it floats.
"""

from __future__ import annotations

from math import atan, atan2, cos, inf, pi, sin, sqrt
from typing import Any

from pydantic import Field

from airloom.commands import Mode
from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.lanes import limit
from airloom.compiled.rows import LANES
from airloom.control.flight_stack import Rated, block_kernel
from airloom.control.thrusters import MOST_THRUSTERS, VesselController, rest, room_for, set_thrust

(
    PERIOD, TOP_SPEED, TOP_TURN, AHEAD, CIRCLE, NEARER, SPEED_K, SPEED_I, HEADING_K, TURN_K, TURN_I,
    MASS, DAMPING, SQUARE, TURN_MASS, TURN_DAMPING, TURN_SQUARE, MOST, MOST_TURN,
) = (row.GAIN + k * LANES for k in range(19))  # fmt: skip
MIX = row.GAIN + 24 * LANES
"""Of each thruster: its part in a newton ahead and in a newton metre to the left; its thrust backwards as a part of
that ahead."""
SUM_SPEED, SUM_TURN, HOLDS, OWN_WAY, DRIFT_X, DRIFT_Y = (row.MEMORY + k * LANES for k in range(6))
GOES, BY_YAW, INTO_DRIFT = 0.0, 1.0, 2.0  # how it holds its place, or not
GIVEN = row.SCRATCH
THRUST, ROLL, PITCH, YAW_RATE = (row.COMMAND + k * LANES for k in range(4))
IDLE, VELOCITY = float(Mode.IDLE), float(Mode.VELOCITY_YAWRATE)
MOVES = 0.05  # m/s, above which a setpoint is a line
LEAST_SPEED = 0.3  # m/s, below which a current sets nobody aside
CALM, DRIFTS = 0.03, 0.06  # m/s of drift: below it a yaw is held, above it not
DRIFT_TIME = 8.0  # s in which drift is known
ASIDE = 0.7  # of the drift: how far it turns from it for what it is off


@compiled
def _wrap(angle):
    return angle - 2.0 * pi * round(angle / (2.0 * pi))


@compiled
def _heading(w, i):
    a, b, c, d = w[row.EQW + i], w[row.EQX + i], w[row.EQY + i], w[row.EQZ + i]
    return atan2(2.0 * (a * d + b * c), 1.0 - 2.0 * (c * c + d * d))


@compiled
def _along_line(w, i):
    """Course and speed for a setpoint that moves."""
    sx, sy = w[row.SVX + i], w[row.SVY + i]
    pace = sqrt(sx * sx + sy * sy)
    ux, uy = sx / pace, sy / pace
    ex, ey = w[row.EPX + i] - w[row.SPX + i], w[row.EPY + i] - w[row.SPY + i]
    left, ahead = ux * ey - uy * ex, ux * ex + uy * ey
    return atan2(uy, ux) - atan(left / w[AHEAD + i]), max(pace - w[NEARER + i] * ahead, 0.0)


@compiled
def _find_drift(w, i, yaw, ahead):
    """Of a boat that has pushed ahead so much."""
    dt, way = w[PERIOD + i], w[OWN_WAY + i]
    way += dt * (ahead - (w[DAMPING + i] + w[SQUARE + i] * abs(way)) * way) / w[MASS + i]
    w[OWN_WAY + i] = limit(way, -2.0 * w[TOP_SPEED + i], 2.0 * w[TOP_SPEED + i])
    share = min(dt / DRIFT_TIME, 1.0)
    w[DRIFT_X + i] += share * (w[row.EVX + i] - way * cos(yaw) - w[DRIFT_X + i])
    w[DRIFT_Y + i] += share * (w[row.EVY + i] - way * sin(yaw) - w[DRIFT_Y + i])


@compiled
def _how_it_holds(w, i, far, drift):
    circle, before = w[CIRCLE + i], w[HOLDS + i]
    if far > 2.0 * circle or (before == GOES and far > circle):
        return GOES
    if drift > DRIFTS or (before == INTO_DRIFT and drift > CALM):
        return INTO_DRIFT
    return BY_YAW


@compiled
def _to_point(w, i, yaw):
    """Heading and speed for a setpoint that stands."""
    ex, ey = w[row.SPX + i] - w[row.EPX + i], w[row.SPY + i] - w[row.EPY + i]
    dx, dy = w[DRIFT_X + i], w[DRIFT_Y + i]
    far, drift, pace = sqrt(ex * ex + ey * ey), sqrt(dx * dx + dy * dy), w[NEARER + i]
    w[HOLDS + i] = _how_it_holds(w, i, far, drift)
    if w[HOLDS + i] == GOES:
        most = w[TOP_SPEED + i] / (pace * far)
        part = pace * min(most, 1.0)
        bearing = atan2(part * ey - dy, part * ex - dx)
        return bearing, pace * far * max(cos(bearing - yaw), 0.0)
    speed = pace * (ex * cos(yaw) + ey * sin(yaw))
    if w[HOLDS + i] == BY_YAW:
        return w[row.SYAW + i], speed
    part = min(pace, ASIDE * drift / far) if far > 0.0 else 0.0
    return atan2(part * ey - dy, part * ex - dx), speed


@compiled
def _guide(w, i, yaw, u, v):
    """Speed ahead and yaw rate that are wanted, of a boat that goes u ahead and v to the left over the ground."""
    if w[row.MODE + i] == VELOCITY:
        bx, by = w[row.BVX + i], w[row.BVY + i]
        if w[row.B_IN_BODY + i] != 0.0:
            return bx, w[row.BYAWRATE + i]
        heading, speed, is_course = atan2(by, bx), sqrt(bx * bx + by * by), True
        if speed < MOVES:
            return 0.0, w[row.BYAWRATE + i]
    elif w[row.SVX + i] * w[row.SVX + i] + w[row.SVY + i] * w[row.SVY + i] > MOVES * MOVES:
        w[HOLDS + i] = GOES
        heading, speed = _along_line(w, i)
        is_course = True
    else:
        heading, speed = _to_point(w, i, yaw)
        is_course = False
    if is_course:
        heading -= atan2(v, max(u, LEAST_SPEED)) if speed > LEAST_SPEED else 0.0
    off = _wrap(heading - yaw)
    if is_course:
        speed *= max(cos(off), 0.0)
    most = w[TOP_TURN + i]
    return limit(speed, -0.5 * w[TOP_SPEED + i], w[TOP_SPEED + i]), limit(w[HEADING_K + i] * off, -most, most)


@compiled
def _mix(w, rotors, i, ahead, turn):
    """Whether turning was given in full, and which share of the push ahead."""
    count = min(rotors.size // row.ROTOR_WIDTH, MOST_THRUSTERS)
    for n in range(count):
        w[GIVEN + n * LANES + i] = 0.0
    turns = pushes = 1.0
    for n in range(count):
        mix = MIX + 3 * n * LANES + i
        turns = min(turns, room_for(rotors[n * row.ROTOR_WIDTH :], i, w[mix + 2 * LANES], 0.0, w[mix + LANES] * turn))
    for n in range(count):
        mix, at = MIX + 3 * n * LANES + i, GIVEN + n * LANES + i
        w[at] = turns * w[mix + LANES] * turn
        pushes = min(pushes, room_for(rotors[n * row.ROTOR_WIDTH :], i, w[mix + 2 * LANES], w[at], w[mix] * ahead))
    for n in range(count):
        mix, at = MIX + 3 * n * LANES + i, GIVEN + n * LANES + i
        set_thrust(rotors[n * row.ROTOR_WIDTH :], i, w[mix + 2 * LANES], w[at] + pushes * w[mix] * ahead)
    return turns == 1.0, pushes


@compiled
def _steer(w, rotors, i):
    yaw, dt = _heading(w, i), w[PERIOD + i]
    u = cos(yaw) * w[row.EVX + i] + sin(yaw) * w[row.EVY + i]
    v = cos(yaw) * w[row.EVY + i] - sin(yaw) * w[row.EVX + i]
    speed, rate = _guide(w, i, yaw, u, v)
    faster, sooner = speed - u, rate - w[row.EWZ + i]
    ahead = w[SUM_SPEED + i] + w[MASS + i] * w[SPEED_K + i] * faster
    ahead += (w[DAMPING + i] + w[SQUARE + i] * abs(speed)) * speed
    turn = w[SUM_TURN + i] + w[TURN_MASS + i] * w[TURN_K + i] * sooner
    turn += (w[TURN_DAMPING + i] + w[TURN_SQUARE + i] * abs(rate)) * rate
    turns, pushes = _mix(w, rotors, i, ahead, turn)
    if turns:
        total = w[SUM_TURN + i] + dt * w[TURN_MASS + i] * w[TURN_I + i] * sooner
        w[SUM_TURN + i] = limit(total, -w[MOST_TURN + i], w[MOST_TURN + i])
    _find_drift(w, i, yaw, pushes * ahead)
    if pushes == 1.0:
        total = w[SUM_SPEED + i] + dt * w[MASS + i] * w[SPEED_I + i] * faster
        w[SUM_SPEED + i] = limit(total, -w[MOST + i], w[MOST + i])
    w[THRUST + i], w[ROLL + i], w[PITCH + i], w[YAW_RATE + i] = ahead, 0.0, 0.0, rate


@block_kernel
def control_boat(w, rotors, tick):
    for i in range(LANES):
        if w[row.MODE + i] == IDLE:
            rest(rotors, i)
            w[THRUST + i], w[HOLDS + i] = 0.0, GOES
            _find_drift(w, i, _heading(w, i), 0.0)
        else:
            _steer(w, rotors, i)


class BoatParameters(Rated):
    """What is left out is tuned from the boat: its mass with that of the water, its damping, its thrusters."""

    rate: float = Field(50.0, gt=0, description="Hz")
    max_speed: float | None = Field(None, gt=0, description="m/s; four fifths of what thrusters reach if left out")
    look_ahead: float | None = Field(None, gt=0, description="along a line, m; three lengths of the body if left out")
    circle: float | None = Field(None, gt=0, description="in which a place is held, m; a length if left out")


class Boat(VesselController):
    """Speed and heading of a boat, along lines and to places, which it holds; tuned from its file."""

    Parameters = BoatParameters
    parameters: BoatParameters
    kernel = control_boat
    modes = (int(Mode.POSITION_YAW), int(Mode.VELOCITY_YAWRATE))
    floats = True

    @property
    def holds_within(self) -> float:
        return 3.0 * (self.parameters.circle or self._length)

    def check_thrusters(self) -> None:
        self._mixer = self.mixer([0, 5], "ahead and turn")

    @property
    def top_speed(self) -> float:
        mix = self._mixer[:, 0]
        ahead = min(
            (full / part for full, part in zip(self.vessel.ahead, mix, strict=True) if part > 1e-9), default=inf
        )
        return self.parameters.max_speed or 0.8 * min(self.vessel.speed_at(ahead, 0), 10.0)

    @property
    def _length(self) -> float:
        return self.airframe.vehicle.body.size[0]

    def frequencies(self) -> tuple[float, float]:
        """Of speed and heading: not so fast that thrusters lag behind or run after each wave."""
        push, turn = self.vessel.greatest(self._mixer) / self.vessel.mass[[0, 5]]
        return min(0.2 / self.vessel.lag, 0.5 * push, 1.0), min(0.3 / self.vessel.lag, sqrt(turn), 1.5)

    def gains(self, step_ns: int) -> list[float]:
        p, (speed, turn), mass = self.parameters, self.frequencies(), self.vessel.mass
        push, torque = self.vessel.greatest(self._mixer)
        linear, square = self.vessel.damping
        top_turn = min(self.vessel.speed_at(0.5 * torque, 5), 1.0)
        gains = [
            1.0 / p.rate, self.top_speed, top_turn, p.look_ahead or 3 * self._length, p.circle or self._length,
            0.4 * speed, 2 * speed, 0.5 * speed**2, 0.5 * turn, 2 * turn, 0.5 * turn**2,
            mass[0], linear[0], square[0], mass[5], linear[5], square[5], 0.8 * push, 0.5 * torque,
        ]  # fmt: skip
        gains += [0.0] * ((MIX - row.GAIN) // LANES - len(gains))
        for thruster, reverse in zip(self._mixer, self.vessel.reverse, strict=True):
            gains += [*thruster, reverse]
        return [float(gain) for gain in gains]

    def in_force(self) -> dict[str, Any]:
        length = self._length
        tuned = {"max_speed": self.top_speed, "look_ahead": 3 * length, "circle": length}
        return tuned | self.parameters.model_dump(exclude_none=True)
