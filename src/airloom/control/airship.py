"""A flight stack for airships: speed through the air, heading and height; waypoints, and places kept against the wind.

- **Wind.** What the velocity over the ground and the speed ahead through the air say together, w = v − V x̂, smoothed:
  an airship that drifts knows the wind at once, and one that flies does as far as it does not slip.
- **Guidance.** The velocity wanted over the ground, v* + k (p* − p), is slowed down on its course until, less the wind,
  it is no faster than `max_speed`; that is the one wanted through the air, u, with a lead by what lacks. The nose turns
  along u, so that it faces the wind where it keeps a place; where u is slower than `CALM`, the more to the yaw that is
  asked for. Ahead it flies as fast as u asks for along the nose, backwards if need be.
- **Forces.** F_x = (m + m_A) k_u (u_x − V) + d u_x |u_x|, F_z likewise from height and climb with what it is too heavy,
  T_z from heading and yaw rate; F_y against drifting aside, where propellers can. Propellers get the smallest thrusts
  that do so, by what each can give; flaps help the turn with the share h = V²/(V² + V_h²).

It goes no faster than it can turn out of a sideslip β of 0.2 rad: the air that moves along turns an airship across its
way by (m_Ay − m_Ax) V² β (Munk, NACA report 184).
"""

from __future__ import annotations

from math import atan2, sqrt
from typing import Any

import numpy as np
from pydantic import Field

from airloom.commands import Mode
from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.lanes import limit, shortest_turn
from airloom.compiled.rows import LANES
from airloom.control.flight_stack import Controller, Rated, StackError, block_kernel
from airloom.control.plane_rows import airspeed_of
from airloom.physics.attitude import rotation
from airloom.vehicles.aeroplane import Aeroplane
from airloom.vehicles.hull import hull_volume
from airloom.vehicles.vessel import Vessel
from airloom.world.atmosphere import STANDARD_DENSITY

(
    PERIOD, APPROACH, FASTEST, SPEED_K, DRAG, MASS_X, MASS_Z, HEIGHT_KP, HEIGHT_KD, HEIGHT_KI, HEAVY, MOST_UP,
    TURN_KP, TURN_KD, TURN_MASS, MOST_TURN, PITCH_K, ASIDE_K, MOST_ASIDE,
) = (row.GAIN + k * LANES for k in range(19))  # fmt: skip
FLAPS = row.GAIN + 19 * LANES
"""[servo, axis]: command of a servo per N m about y and z at 1 m/s."""
MIX = FLAPS + 2 * 2 * LANES
"""[rotor, force]: thrust per N ahead, N to the left, N up and N m to the left."""
MOST_ROTORS, MOST_SERVOS = 6, 2
WIND_X, WIND_Y, SUM_Z = (row.MEMORY + k * LANES for k in range(3))
THRUST, ROLL, PITCH, YAW_RATE = (row.COMMAND + k * LANES for k in range(4))
IDLE, VELOCITY = float(Mode.IDLE), float(Mode.VELOCITY_YAWRATE)
SMOOTHED = 8.0  # s, over which the wind is
CALM = 0.6  # m/s, of speeds that say little of a direction
LEAD = 1.0  # of the velocity that lacks, for it slips into a new course slowly
HELPFUL = 2.0  # m/s, V_h
SIDESLIP = 0.2  # rad, which it can turn out of
QUICKEST = 1.0  # rad/s, of the heading's loop
NEEDED = [0, 2, 5]  # of forces and torques along and about x, y, z


@compiled
def _wanted_over_ground(w, i, c, s):
    """Velocity east and north, and upwards."""
    if w[row.MODE + i] == VELOCITY:
        vx, vy = w[row.BVX + i], w[row.BVY + i]
        if w[row.B_IN_BODY + i] != 0.0:
            vx, vy = c * vx - s * vy, s * vx + c * vy
        return vx, vy, w[row.BVZ + i]
    ex, ey = w[row.SPX + i] - w[row.EPX + i], w[row.SPY + i] - w[row.EPY + i]
    far, reach = sqrt(ex * ex + ey * ey), w[FASTEST + i] / w[APPROACH + i]
    share = w[APPROACH + i] * (reach / far if far > reach else 1.0)
    return w[row.SVX + i] + share * ex, w[row.SVY + i] + share * ey, w[row.SVZ + i]


@compiled
def _flyable_share(vx, vy, wx, wy, most):
    """The greatest s ≤ 1 with |s v − w| ≤ V_max, or the nearest: wind takes speed, and the course stays."""
    square, along, room = vx * vx + vy * vy, vx * wx + vy * wy, most * most - wx * wx - wy * wy
    root = max(along * along + square * room, 0.0)
    return limit((along + sqrt(root)) / square, 0.0, 1.0) if square > 0.0 else 1.0


@compiled
def _through_air(w, i, c, s, ahead):
    """Velocity wanted through the air, east and north, and upwards; the force to the left. The wind is learned."""
    part = w[PERIOD + i] / SMOOTHED
    w[WIND_X + i] += part * (w[row.EVX + i] - ahead * c - w[WIND_X + i])
    w[WIND_Y + i] += part * (w[row.EVY + i] - ahead * s - w[WIND_Y + i])
    vx, vy, up = _wanted_over_ground(w, i, c, s)
    swing, roll = w[row.EWY + i] * w[row.CZ + i], -w[row.EWX + i] * w[row.CZ + i]
    share = _flyable_share(vx, vy, w[WIND_X + i], w[WIND_Y + i], w[FASTEST + i])
    vx, vy = share * vx, share * vy
    lack_x = vx - (w[row.EVX + i] + c * swing - s * roll)  # at the centre of mass: the rest swings above it
    lack_y = vy - (w[row.EVY + i] + s * swing + c * roll)
    ux, uy = vx - w[WIND_X + i] + LEAD * lack_x, vy - w[WIND_Y + i] + LEAD * lack_y
    size = sqrt(ux * ux + uy * uy)
    share = w[FASTEST + i] / size if size > w[FASTEST + i] else 1.0
    aside = limit(w[ASIDE_K + i] * (c * lack_y - s * lack_x), -w[MOST_ASIDE + i], w[MOST_ASIDE + i])
    return share * ux, share * uy, up, aside


@compiled
def _rise(w, i, up):
    """Force upwards."""
    error = 0.0 if w[row.MODE + i] == VELOCITY else w[row.SPZ + i] - w[row.EPZ + i]
    most = w[MOST_UP + i]
    near = limit(error, -2.0, 2.0)
    w[SUM_Z + i] = limit(w[SUM_Z + i] + w[PERIOD + i] * w[HEIGHT_KI + i] * near, -0.5 * most, 0.5 * most)
    wanted = w[HEIGHT_KP + i] * near + w[HEIGHT_KD + i] * (up - w[row.EVZ + i])
    return limit(w[HEAVY + i] + w[SUM_Z + i] + w[MASS_Z + i] * wanted, -most, most)


@compiled
def _turn(w, i, off):
    """Torque to the left, and the yaw rate that is wanted."""
    rate = limit(w[TURN_KP + i] / w[TURN_KD + i] * off, -0.5, 0.5)
    if (w[row.MODE + i] == VELOCITY) & (w[row.B_IN_BODY + i] != 0.0):
        rate = w[row.BYAWRATE + i]
    wanted = w[TURN_MASS + i] * w[TURN_KD + i] * (rate - w[row.EWZ + i])
    return limit(wanted, -w[MOST_TURN + i], w[MOST_TURN + i]), rate


@compiled
def _move_flaps(w, i, ahead, pitch_torque, yaw_torque):
    weaker = 1.0 / max(ahead * ahead, 1.0)
    for k in range(MOST_SERVOS):
        at = FLAPS + 2 * k * LANES + i
        told = weaker * (w[at] * pitch_torque + w[at + LANES] * yaw_torque)
        w[row.SERVO + k * LANES + i] = limit(told, -1.0, 1.0)


@compiled
def _mix(w, rotors, i, ahead, aside, up, turn):
    for n in range(min(rotors.size // row.ROTOR_WIDTH, MOST_ROTORS)):
        at, base = MIX + 4 * n * LANES + i, n * row.ROTOR_WIDTH + i
        level = w[at] * ahead + w[at + LANES] * aside
        thrust = level + w[at + 2 * LANES] * up + w[at + 3 * LANES] * turn
        speed = sqrt(abs(thrust) / (rotors[base + row.THRUST_CONSTANT] * w[row.DENSITY + i]))
        rotors[base + row.TARGET] = speed if thrust >= 0.0 else -speed


@compiled
def _fly(w, rotors, i):
    r00, _, _, r10, _, _, r20, r21, r22 = rotation(w[row.EQW + i], w[row.EQX + i], w[row.EQY + i], w[row.EQZ + i])
    level = sqrt(r00 * r00 + r10 * r10)
    c, s = (r00 / level, r10 / level) if level > 1e-6 else (1.0, 0.0)
    ahead = _speed_ahead(w, i, c, s)
    ux, uy, up, aside = _through_air(w, i, c, s, ahead)
    lx, ly = ux, uy
    if w[row.MODE + i] != VELOCITY:
        free = max(CALM - sqrt(ux * ux + uy * uy), 0.0)
        lx, ly = ux + free * w[row.SCOS + i], uy + free * w[row.SSIN + i]
    off = shortest_turn(atan2(ly, lx) - atan2(s, c))
    turn, rate = _turn(w, i, off)
    wanted, still = ux * c + uy * s, ahead + w[row.EWY + i] * w[row.CZ + i]
    push = w[MASS_X + i] * w[SPEED_K + i] * (wanted - still) + w[DRAG + i] * wanted * abs(wanted)
    lift = _rise(w, i, up)
    share = ahead * ahead / (ahead * ahead + HELPFUL * HELPFUL) if ahead > 0.0 else 0.0
    pitch = atan2(r20, sqrt(r21 * r21 + r22 * r22))
    _move_flaps(w, i, ahead, share * w[PITCH_K + i] * (pitch - w[row.EWY + i]), share * turn)
    _mix(w, rotors, i, push, aside, lift, turn)
    w[THRUST + i], w[ROLL + i], w[PITCH + i], w[YAW_RATE + i] = push, 0.0, 0.0, rate


@compiled
def _speed_ahead(w, i, c, s):
    """Through the air; a pitot tube knows nothing of flying backwards, where the wind learned so far must do."""
    if w[row.AIRSPEED + i] > 0.0:
        return airspeed_of(w, i) / sqrt(w[row.DENSITY + i])
    return min(c * (w[row.EVX + i] - w[WIND_X + i]) + s * (w[row.EVY + i] - w[WIND_Y + i]), 0.0)


@block_kernel
def control_airship(w, rotors, tick):
    for i in range(LANES):
        if w[row.MODE + i] > IDLE:
            _fly(w, rotors, i)
        else:
            for base in range(0, rotors.size, row.ROTOR_WIDTH):
                rotors[base + row.TARGET + i] = 0.0
            w[THRUST + i] = 0.0


class AirshipParameters(Rated):
    """What is left out is tuned from the vehicle: its mass with that of the air, its drag, its propellers."""

    rate: float = Field(100.0, gt=0, description="Hz")
    max_speed: float | None = Field(
        None, gt=0, description="through the air, m/s; as fast as it stays on its way if left out"
    )
    approach: float = Field(0.12, gt=0, le=2, description="speed towards a place, m/s for each metre that it is away")
    height_frequency: float = Field(0.4, gt=0, le=5, description="rad/s")
    heading_frequency: float | None = Field(None, gt=0, le=5, description="rad/s")


class Airship(Controller):
    """Speed, heading and height of an airship, tuned from its file; keeps a place with its nose in the wind."""

    Parameters = AirshipParameters
    parameters: AirshipParameters
    kernel = control_airship
    modes = (int(Mode.POSITION_YAW), int(Mode.VELOCITY_YAWRATE))
    faces_wind = True
    thrust_unit = "N"

    def check(self) -> None:
        frame = self.airframe
        hull, rotors = frame.vehicle.hull, len(frame.rotors)
        if hull is None or hull.fluid != "air":
            raise StackError("this controller flies airships: vehicles with a hull whose fluid is air")
        if rotors > MOST_ROTORS or len(frame.vehicle.servos) > MOST_SERVOS:
            raise StackError(f"this controller has up to {MOST_ROTORS} rotors and {MOST_SERVOS} servos")
        self.vessel = Vessel(frame)
        if np.linalg.matrix_rank(frame.wrenches.T[NEEDED], tol=1e-6) < len(NEEDED):
            raise StackError("an airship needs rotors that push it ahead, lift it and turn it; these do not")
        self._mixer = self._mix()
        greatest = 1.0 / np.maximum(np.abs(self._mixer) / frame.max_thrusts[:, None], 1e-9).max(axis=0)
        self._ahead, self._aside, self._up, self._torque = greatest.tolist()
        self.heavy = (frame.mass - STANDARD_DENSITY * hull_volume(hull)) * frame.gravity
        if abs(self.heavy) > 0.7 * self._up:
            what = f"{abs(self.heavy):.3g} N too {'heavy' if self.heavy > 0 else 'light'}"
            raise StackError(f"it is {what} for its rotors, which give {self._up:.3g} N up or down at most")

    @property
    def holds_within(self) -> float:
        """Its length: gusts carry it off, and it comes back slowly."""
        return self.airframe.vehicle.body.size[0]

    def _mix(self) -> np.ndarray:
        """[rotor, force]: the least of what each can that gives N ahead, N to the left, N up and N m to the left."""
        strength = np.diag(self.airframe.max_thrusts)
        wanted = [0, 1, 2, 5]
        if np.linalg.matrix_rank(self.airframe.wrenches.T[wanted], tol=1e-6) == len(wanted):
            return strength @ np.linalg.pinv(self.airframe.wrenches.T[wanted] @ strength)
        return np.insert(strength @ np.linalg.pinv(self.airframe.wrenches.T[NEEDED] @ strength), 1, 0.0, axis=1)

    @property
    def top_speed(self) -> float:
        return self.max_speed()

    def max_speed(self) -> float:
        """Given, or as fast as it turns out of a sideslip, with four fifths of its thrust at most."""
        own = self.vessel.mass
        munk = max(own[1] - own[0], 1e-6)
        by_turn = float(np.sqrt(self._torque / (munk * SIDESLIP)))
        return self.parameters.max_speed or min(by_turn, float(np.sqrt(0.8 * self._ahead / max(self._drag, 1e-6))))

    @property
    def _drag(self) -> float:
        """Of hull and fins along x, N per (m/s)²."""
        wings = Aeroplane(self.airframe).wrench([1.0, 0.0, 0.0], np.zeros(3), np.zeros(self._servos), self._still)
        return self.airframe.vehicle.hull.quadratic_damping[0] - float(wings[0])  # type: ignore[union-attr]

    @property
    def _servos(self) -> int:
        return len(self.airframe.vehicle.servos)

    @property
    def _still(self) -> np.ndarray:
        return np.zeros(len(self.airframe.rotors))

    def heading_frequency(self) -> float:
        own = self.vessel.mass
        return self.parameters.heading_frequency or min(float(np.sqrt(0.5 * self._torque / own[5])), QUICKEST)

    def _flaps(self) -> np.ndarray:
        """[servo, axis y, z]: commands per N m at 1 m/s."""
        flaps = np.zeros((MOST_SERVOS, 2))
        if self._servos and self.airframe.vehicle.has_wings:
            per_turn = Aeroplane(self.airframe).mixer(1.0, axes=[1, 2]) / np.diag(self.airframe.inertia)[1:]
            ends = [max(servo.highest, -servo.lowest) for servo in self.airframe.vehicle.servos.values()]
            flaps[: self._servos] = per_turn / np.array(ends)[:, None]
        return flaps

    def gains(self, step_ns: int) -> list[float]:
        p, own = self.parameters, self.vessel.mass
        height, heading = p.height_frequency, self.heading_frequency()
        gains = [
            1.0 / p.rate, p.approach, self.max_speed(), 0.4, self._drag, own[0], own[2],
            height**2, 2 * height, 0.2 * height**3 * own[2], self.heavy, 0.9 * self._up,
            heading**2, 2 * heading, own[5], 0.7 * self._torque, 2.0 * heading * own[4],
            0.06 * own[1], 0.5 * self._aside if self._mixer[:, 1].any() else 0.0,
        ]  # fmt: skip
        return [float(gain) for gain in [*gains, *self._flaps().ravel(), *self._mixer.ravel()]]

    def in_force(self) -> dict[str, Any]:
        tuned = {"max_speed": self.max_speed(), "heading_frequency": self.heading_frequency()}
        return tuned | self.parameters.model_dump(exclude_none=True)
