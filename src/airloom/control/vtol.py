"""A flight stack for aeroplanes that hover: the laws of multirotors and of aeroplanes, and the way between them.

What is asked for decides. A setpoint that stands, or moves no faster than `max_speed`, is flown on the rotors
(control/modes.py), a faster one on the wing (control/plane.py), and so is one that asks for V₁ through the air, against
a wind. Which rotors lift and which push follows from their axes.

With V the airspeed, V_s that of the stall, V₁ the greater of 1.2 V_s and 0.85 of cruise, α₁ the angle of attack at
which the wing carries the weight W at V₁ and α₀ the one at which it carries nothing, the wing lifts
L = W (V/V₁)² (α − α₀)/(α₁ − α₀):

- **Rotors** give what is lacking, W − L. So that the wing neither throws the vehicle up nor presses it down, its pitch
  stays where −W/4 ≤ L ≤ W; the pusher gives what it may not lean for, into a head wind for one.
- **Transition.** The vehicle turns to where it shall fly, keeps its height on the rotors at the pitch α₁ and is pushed.
  From V₁/1.2 to V₁ the law of the aeroplane takes over by its share s: servos get s of what it says, rotors 1 − s of
  their thrust and torque. Below V₁ the rotors help again, whatever the reason.
- **Lost.** If the wing does not carry it in good time, though it is pushed along its course, the pusher is held to be
  dead, and the rotors fly it on until something slow is asked for.
- **Back.** The rotors take over at once, the pusher stops, and the vehicle brakes by leaning, up to 17° and as far as
  the wing leaves to the rotors what they give at least, and more if it rises: speed shall not become height.
"""

from __future__ import annotations

from math import atan2, sqrt, tan
from typing import Any, ClassVar

from pydantic import Field

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.lanes import is_kept_off, limit
from airloom.compiled.rows import LANES
from airloom.control import modes as hover
from airloom.control.flight_stack import StackError, block_kernel
from airloom.control.mixer import WANT_THRUST, WANT_X, WANT_Y, WANT_Z, mix
from airloom.control.modes import IDLE, POSITION, VELOCITY, HoverParameters, Modes
from airloom.control.plane import Plane, PlaneParameters, fly_or_rest
from airloom.control.plane_guidance import MOVES
from airloom.control.plane_rows import FASTEST, MIX, PER_THROTTLE, PITCH, ROLL, THRUST, airspeed_of
from airloom.control.turning import PERIOD, resist_pushes, turn_by_torque
from airloom.vehicles.aeroplane import Aeroplane
from airloom.vehicles.airframe import Airframe

HOVER_GAINS = 21
BEGINS, WHOLE, FAST, NO_LIFT, FULL_LIFT, PUSH, STATIC, PATIENCE = (
    row.GAIN + (HOVER_GAINS + k) * LANES for k in range(8)
)
"""V_s, V₁, what is fast, α₀, α₁ − α₀, throttle in transition, thrust of all pushers at full throttle,
and how long a transition may take."""
INTEGRAL = hover.DRIFT_WATCH
WING_MIX = row.WING_GAIN + MIX - row.GAIN

WING_MEMORY = 14
"""Rows that the law of the aeroplane may remember things in; they lie behind those of the hover's and of ours."""
SHARE, ON_WING, THROTTLE, WING_ROLL, WING_PITCH, WAITED = (row.MEMORY + (15 + k) * LANES for k in range(6))
"""WAITED is how much of its patience a transition has taken; 1 is all of it, and the pusher is dead."""
OF_WING = row.MEMORY + (row.MEMORY_ROWS - WING_MEMORY) * LANES
CARRIES = 1.2  # of the stall's speed, from which on the wing carries all
NEAR_CRUISE = 0.85  # of the speed of cruise, from which on it does not dive to become faster
PUSHED = 0.35  # of the weight, in transition
PATIENT = 2.0  # of the time in which the push alone would make it so fast, from a tail wind of 8 m/s on
MORE = 0.05  # throttle, for what more of it does
STILL_FAST = 0.8  # of what is fast, below which one on the wing comes back
TAKES_OVER = 1.0  # s, from rotors to wing at the quickest
PRESSED = 0.25  # of the weight, which the wing may press down with
LEAST_LIFT = 0.2  # of the weight, which the rotors give at least (hover.lean_to_accelerate)
LESS_IF_RISING = 0.3  # of the weight for each m/s, which the wing shall carry less
STEEPEST = 0.3  # rad, of the nose, when it brakes
MOST_LIFT = 1.44  # of what carries the weight at V₁: that at the stall
ALONG = 0.5  # rad off the course, from which on it is not pushed
MOST_TURN = 1.0  # rad/s, towards the course
MOST_INTEGRAL = 3.0  # m/s²
MOST_INTEGRATED = 0.15  # of an error, as a part of the braking distance


@compiled
def _exchange_laws(w):
    """Numbers and memory of the one law for those of the other, each of which expects its own in one place."""
    for j in range(row.GAIN_ROWS * LANES):
        w[row.GAIN + j], w[row.WING_GAIN + j] = w[row.WING_GAIN + j], w[row.GAIN + j]
    for j in range(WING_MEMORY * LANES):
        w[row.MEMORY + j], w[OF_WING + j] = w[OF_WING + j], w[row.MEMORY + j]


@compiled
def _asked(w, i):
    """Velocity over the ground that is asked for, east and north."""
    if w[row.MODE + i] == POSITION:
        return w[row.SVX + i], w[row.SVY + i]
    if w[row.MODE + i] == VELOCITY:
        vx, vy = w[row.BVX + i], w[row.BVY + i]
        if w[row.B_IN_BODY + i] == 0.0:
            return vx, vy
        c, s = _heading(w, i)
        return c * vx - s * vy, s * vx + c * vy
    return 0.0, 0.0


@compiled
def _heading(w, i):
    """Cosine and sine of the yaw."""
    r00, _, _, r10, _, _, _, _, _ = hover.believed_rotation(w, i)
    level = sqrt(r00 * r00 + r10 * r10)
    return (r00 / level, r10 / level) if level > 1e-6 else (1.0, 0.0)


@compiled
def _off_course(w, i):
    (c, s), (east, north) = _heading(w, i), _asked(w, i)
    return atan2(c * north - s * east, c * east + s * north)


@compiled
def _faces_course(w, i):
    """1 if it looks along its course, 0 if it looks elsewhere."""
    return limit(2.0 - 2.0 * abs(_off_course(w, i)) / ALONG, 0.0, 1.0)


@compiled
def _decide(w, i):
    """Whether the wing shall fly, and the share that it has."""
    east, north = _asked(w, i)
    pace, over_ground = sqrt(east * east + north * north), sqrt(w[row.EVX + i] ** 2 + w[row.EVY + i] ** 2)
    through_air = pace + airspeed_of(w, i) - over_ground
    part = STILL_FAST if w[ON_WING + i] != 0.0 else 1.0
    fast = (pace > part * w[FAST + i]) | (through_air > part * w[WHOLE + i])
    fast &= pace > MOVES
    if not fast:
        w[WAITED + i] = 0.0
    elif w[WAITED + i] < 1.0:
        waits = (w[SHARE + i] < 1.0) & (through_air > w[WHOLE + i]) & (_faces_course(w, i) > 0.0)
        w[WAITED + i] = min(w[WAITED + i] + w[PERIOD + i] / w[PATIENCE + i], 1.0) if waits else 0.0
    w[ON_WING + i] = 1.0 if fast & (w[WAITED + i] < 1.0) else 0.0
    carries = (airspeed_of(w, i) - w[BEGINS + i]) / (w[WHOLE + i] - w[BEGINS + i])
    wanted = limit(carries, 0.0, 1.0) if w[ON_WING + i] != 0.0 else 0.0
    w[SHARE + i] = min(wanted, w[SHARE + i] + w[PERIOD + i] / TAKES_OVER)


@compiled
def _is_steered(w, i, servo):
    """By the law of the aeroplane; a flap is not, and is left to whoever commands it."""
    first = WING_MIX + 3 * servo * LANES + i
    return (w[first] != 0.0) | (w[first + LANES] != 0.0) | (w[first + 2 * LANES] != 0.0)


@compiled
def _keep_what_wing_wants(w, i):
    """Servos by the wing's share; without a part, it forgets."""
    share = w[SHARE + i]
    for k in range(row.SERVOS):
        at = k * LANES + i
        if _is_steered(w, i, k):
            w[row.SERVO + at] *= share
    for k in range(WING_MEMORY):
        w[OF_WING + k * LANES + i] *= 1.0 if share > 0.0 else 0.0
    w[THROTTLE + i] = sqrt(w[THRUST + i] / w[STATIC + i])
    w[WING_ROLL + i], w[WING_PITCH + i] = w[ROLL + i], -w[PITCH + i]


@compiled
def _hold_height(w, i, part):
    """Acceleration upwards: without regard to how far the setpoint is ahead, as that of the hover has."""
    kd = w[hover.POSITION_KD + i]
    if w[row.MODE + i] == VELOCITY:
        return w[hover.VELOCITY_K + i] * (w[row.BVZ + i] - w[row.EVZ + i])
    most = w[hover.POSITION_KP + i] * w[hover.REACH + i]
    up = limit(w[hover.POSITION_KP + i] * (w[row.SPZ + i] - w[row.EPZ + i]), -part * most, part * most)
    return w[row.SAZ + i] + up + kd * (w[row.SVZ + i] - w[row.EVZ + i])


@compiled
def _per_weight(w, i, airspeed):
    """Lift over the weight, per rad above the angle without lift."""
    share = airspeed / w[WHOLE + i]
    return share * share / w[FULL_LIFT + i]


@compiled
def _lean(w, i):
    """What the rotors shall give, an acceleration in the world beside gravity: as hover or wing want to lean."""
    g, (c, s), airspeed = w[row.GRAVITY + i], _heading(w, i), airspeed_of(w, i)
    _, _, _, _, _, _, r20, r21, r22 = hover.believed_rotation(w, i)
    pitch = atan2(r20, sqrt(r21 * r21 + r22 * r22))
    slope, share = _per_weight(w, i, airspeed), w[SHARE + i]
    climbs = limit(w[row.EVZ + i] / max(airspeed, 1.0), -0.5, 0.5)
    carried = limit(slope * (pitch - climbs - w[NO_LIFT + i]), -PRESSED, min(1.0, MOST_LIFT * slope * w[FULL_LIFT + i]))
    if w[ON_WING + i] != 0.0:
        for axis in range(3):
            w[hover.DRIFT_X + axis * LANES + i] = 0.0
        up = _hold_height(w, i, 0.5)
        lift = g * (1.0 - carried) + up
        nose = (1.0 - share) * (w[NO_LIFT + i] + w[FULL_LIFT + i]) + share * w[WING_PITCH + i]
        ahead, left = -lift * tan(nose), -lift * tan(share * w[WING_ROLL + i])
        w[THROTTLE + i] = share * w[THROTTLE + i] + (1.0 - share) * w[PUSH + i] * _faces_course(w, i)
    else:
        up = w[WANT_Z + i] if w[row.MODE + i] == VELOCITY else _hold_height(w, i, 1.0) - w[hover.DRIFT_Z + i]
        lift = max(g * (1.0 - carried) + up, LEAST_LIFT * g)
        ahead, left = c * w[WANT_X + i] + s * w[WANT_Y + i], c * w[WANT_Y + i] - s * w[WANT_X + i]
        most = limit(1.0 - LEAST_LIFT - LESS_IF_RISING * w[row.EVZ + i], 0.0, 1.0 - LEAST_LIFT)
        highest = limit(w[NO_LIFT + i] + climbs + most / max(slope, 1e-3), w[NO_LIFT + i], STEEPEST)
        lowest = limit(w[NO_LIFT + i] + climbs - PRESSED / max(slope, 1e-3), -1.2, 0.0)
        given = limit(ahead, -lift * tan(highest), -lift * tan(lowest))
        w[THROTTLE + i] = sqrt(limit(w[row.MASS + i] * (ahead - given) / w[STATIC + i], 0.0, 1.0))
        ahead = given
    w[WANT_X + i], w[WANT_Y + i], w[WANT_Z + i] = c * ahead - s * left, s * ahead + c * left, lift - g


@compiled
def _look_along_course(w, i):
    c, s = _heading(w, i)
    off = _off_course(w, i)
    w[hover.WANT_YAW + i] = atan2(s, c) + limit(off, -0.5, 0.5)
    w[hover.WANT_YAWRATE + i] = limit(off, -MOST_TURN, MOST_TURN) if w[row.MODE + i] == VELOCITY else 0.0


@compiled
def _is_guided(w, i):
    return (w[row.MODE + i] == POSITION) | (w[row.MODE + i] == VELOCITY)


@compiled
def _learn_drift(w, i):
    """By an integral: hover.learn_drift takes the rotors for all that lifts and pushes."""
    x, y, z = w[row.SPX + i] - w[row.EPX + i], w[row.SPY + i] - w[row.EPY + i], w[row.SPZ + i] - w[row.EPZ + i]
    u, v, t = w[row.SVX + i] - w[row.EVX + i], w[row.SVY + i] - w[row.EVY + i], w[row.SVZ + i] - w[row.EVZ + i]
    far = sqrt(x * x + y * y + z * z) / w[hover.REACH + i]
    near = 1.0 / max(far, 1.0)
    x, y, z = near * x, near * y, near * z
    if (w[row.MODE + i] == POSITION) & is_kept_off(
        w[hover.POSITION_KP + i], w[hover.POSITION_KD + i], x, y, z, u, v, t
    ):
        gain = w[INTEGRAL + i] * w[PERIOD + i] * MOST_INTEGRATED / max(far, MOST_INTEGRATED)
        w[hover.DRIFT_X + i] = limit(w[hover.DRIFT_X + i] - gain * x, -MOST_INTEGRAL, MOST_INTEGRAL)
        w[hover.DRIFT_Y + i] = limit(w[hover.DRIFT_Y + i] - gain * y, -MOST_INTEGRAL, MOST_INTEGRAL)
        w[hover.DRIFT_Z + i] = limit(w[hover.DRIFT_Z + i] - gain * z, -MOST_INTEGRAL, MOST_INTEGRAL)


@compiled
def _want_attitude(w):
    """Stages of the hover's law, with what the wing has to say to them."""
    for i in range(LANES):
        _learn_drift(w, i)
    hover.accelerate_to_position(w)
    hover.accelerate_to_velocity(w)
    for i in range(LANES):
        if _is_guided(w, i):
            _lean(w, i)
        else:
            w[THROTTLE + i] = 0.0
        if w[ON_WING + i] != 0.0:
            _look_along_course(w, i)
    hover.lean_to_accelerate(w)
    hover.take_attitude(w)


@compiled
def _tell_attitude(w):
    """Roll and pitch that are wanted: those of the wing by its share, since rotors that lift nothing lean nowhere."""
    hover.tell_tilt(w)
    for i in range(LANES):
        share = w[SHARE + i]
        w[ROLL + i] += share * (w[WING_ROLL + i] - w[ROLL + i])
        w[PITCH + i] += share * (-w[WING_PITCH + i] - w[PITCH + i])


@compiled
def _push(w, rotors):
    """Rotors without a part in lift and balance are those that push."""
    for base in range(0, rotors.size, row.ROTOR_WIDTH):
        for i in range(LANES):
            if (rotors[base + row.MIX_THRUST + i] == 0.0) & (w[row.MODE + i] != IDLE):
                rotors[base + row.TARGET + i] = w[THROTTLE + i] * rotors[base + row.MAX_SPEED + i]


@block_kernel
def control_vtol(w, rotors, tick):
    for i in range(LANES):
        _decide(w, i)
    _exchange_laws(w)
    fly_or_rest(w, rotors)
    _exchange_laws(w)
    for i in range(LANES):
        _keep_what_wing_wants(w, i)
    _want_attitude(w)
    _tell_attitude(w)
    steep = hover.is_any_steep(w)
    hover.follow_attitude(w)
    if steep:
        hover.follow_steep_attitude(w)
    hover.follow_rates(w)
    for i in range(LANES):
        resist_pushes(w, i, (w[row.MODE + i] > IDLE) & (w[row.MODE + i] != hover.TORQUE) & (w[SHARE + i] < 0.5))
    turn_by_torque(w)
    hover.take_torque(w)
    hover.rest(w)
    for i in range(LANES):
        rest = 1.0 - w[SHARE + i]
        w[WANT_THRUST + i] *= rest
        w[WANT_X + i] *= rest
        w[WANT_Y + i] *= rest
        w[WANT_Z + i] *= rest
    hover.limit_thrust(w)
    mix(w, rotors)
    _push(w, rotors)


class VtolParameters(PlaneParameters, HoverParameters):
    """All that `modes` and `plane` take. What is left out is tuned from the airframe."""

    rate: float = Field(250.0, gt=0, description="Hz")
    max_speed: float = Field(
        5.0, gt=0, description="on the rotors, m/s; setpoints that move faster are flown on the wing"
    )
    position_integral: float = Field(0.15, ge=0, lt=2, description="as a part of the position's frequency cubed")


class Vtol(Modes):
    """Hovers by `modes` and cruises by `plane`, as the speed of the setpoint asks for, tuned from the file."""

    Parameters = VtolParameters
    parameters: VtolParameters
    kernel = control_vtol
    flies = "both"
    alarms: ClassVar = {WAITED: "its pusher does not push: it flies on its rotors"}

    def __init__(self, parameters: VtolParameters, airframe: Airframe) -> None:
        lifters = airframe.lifters
        if lifters.all() or not lifters.any():
            raise StackError("a vtol needs wings, rotors along body z that lift it and rotors across that push it")
        self._cruising = airframe.with_rotors(~lifters)
        self._aeroplane = Aeroplane(self._cruising)
        self._wing: tuple[VtolParameters, Plane] | None = None
        super().__init__(parameters, airframe.with_rotors(lifters))

    def check(self) -> None:
        super().check()
        cruise, least = self.parameters.cruise_speed, CARRIES * self._aeroplane.stall_speed
        if cruise is not None and cruise < least:
            raise StackError(f"cruise_speed {cruise:.3g} m/s is too near the stall; give {least:.3g} m/s or more")
        self.wing.check()

    @property
    def wing(self) -> Plane:
        """The stack that flies it as an aeroplane."""
        if self._wing is None or self._wing[0] is not self.parameters:
            own = self.parameters.model_dump(include=set(PlaneParameters.model_fields))
            self._wing = self.parameters, Plane(PlaneParameters(**own), self._cruising)
        return self._wing[1]

    @property
    def slowest_on_wing(self) -> float:
        """V₁, at which the wing carries all, m/s."""
        return max(CARRIES * self._aeroplane.stall_speed, NEAR_CRUISE * self.wing.cruise_speed)

    def _drift_gain(self) -> float:
        """Of the integral."""
        return self.parameters.position_integral * self.frequencies()[0] ** 3

    @property
    def fastest(self) -> float:
        return 1.2 * self.wing.cruise_speed

    def gains(self, step_ns: int) -> list[float]:
        frame, plane = self.airframe, self._aeroplane
        weight, whole = frame.mass * frame.gravity, self.slowest_on_wing
        full_lift = weight / whole**2 / plane.lift_slope
        static = sum(rotor.thrust_constant * rotor.max_speed**2 for rotor in self._cruising.rotors)
        push = min(sqrt(PUSHED * weight / static), 1.0)
        hovers = super().gains(step_ns)
        assert len(hovers) == HOVER_GAINS
        patience = PATIENT * (whole + 8.0) / (push**2 * static / frame.mass)
        own = [whole / CARRIES, whole, self.parameters.max_speed, plane.zero_lift, full_lift, push, static, patience]
        return [*hovers, *own]

    def wing_gains(self, step_ns: int) -> list[float]:
        """Those of `plane`, but for a pusher much stronger than cruise needs: it need not dive for speed."""
        gains, trim = self.wing.gains(step_ns), self._aeroplane.trim(self.wing.cruise_speed)
        fastest = min(rotor.max_speed for rotor in self._cruising.rotors)
        thrusts = [self._aeroplane.thrust(trim.speed, trim.speeds[0] + part * fastest) for part in (0.0, MORE)]
        weight = self.airframe.mass * self.airframe.gravity
        own = {PER_THROTTLE: (thrusts[1] - thrusts[0]) / MORE / weight, FASTEST: self.fastest}
        for at, gain in own.items():
            gains[(at - row.GAIN) // LANES] = gain
        return gains

    def in_force(self) -> dict[str, Any]:
        return super().in_force() | {"cruise_speed": self.wing.cruise_speed}
