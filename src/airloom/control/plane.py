"""A flight stack for aeroplanes: guidance, total energy, attitude, rates, servos; tuned from the file of the airframe.

- **Guidance** (plane_guidance.py): acceleration across the course, airspeed and climb.
- **Energy** (plane_energy.py): pitch and throttle for speed and climb.
- **Thrust** (plane_thrust.py): whether the propellers follow; if not, it glides.
- **Attitude.** p = k (φ* − φ), q likewise, both with the rates of a coordinated turn, g tan φ/V; the rudder follows r.
- **Rates.** ω̇ = k (ω* − ω) + d ω* + k_i ∫(ω* − ω) + t + s (α* − α₀), d the damping by the air, t the trim at cruise
  speed V₀, and s how stiffly the air holds the angle of attack, which is α₀ there and α* where the wing carries the
  weight now: so nothing but what the file does not know is left to the integral. The mixer has the servos that
  turn the aeroplane so at V₀, and (V₀/V)² of them at another speed.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import atan2, cos, pi, radians, sin, sqrt, tan
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from airloom.commands import Command, Mode, PositionYaw, ThrustAttitude, ThrustVelocity, VelocityYawRate
from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.lanes import limit
from airloom.compiled.rows import LANES
from airloom.control import plane_rows as own
from airloom.control.flight_stack import Controller, Rated, StackError, block_kernel
from airloom.control.plane_energy import manage_energy
from airloom.control.plane_guidance import DAMPING, bank_for, guide
from airloom.control.plane_thrust import notice_lost_thrust
from airloom.physics.attitude import rotate_back, rotation
from airloom.vehicles.aeroplane import Aeroplane, Trim
from airloom.world.atmosphere import STANDARD_DENSITY

if TYPE_CHECKING:
    from airloom.vehicle import Vehicle

USUAL_BANK = radians(25.0)
"""Of circles: with so much left that they keep their radius in wind."""
MOST_DROP = 1.0  # m, from which it may come down onto its wheels at the start
MOST_START = 2.0  # of the fastest speed
LEAST_PULL = 0.03  # of the weight: less holds no aeroplane level
STEEPEST_CLIMB = 0.35  # climb over speed
STEEPEST_START = 0.2  # rad
ANGLE_K = 0.4  # of the gain of rates
MOST_TRIM = 2.0  # of the gain of rates, rad/s² at cruise speed
LEAST_TRIMMED = 0.9
"""Of the slowest speed, below which it may be on its wheels, and the integrals learn nothing."""


@compiled
def _turn(w, i, roll, pitch, wanted_roll, wanted_pitch, airspeed):
    """Rates about x, y, z that are wanted: y is nose down, z to the left."""
    true_speed = airspeed / sqrt(w[row.DENSITY + i])
    around = w[row.GRAVITY + i] * tan(limit(roll, -1.2, 1.2)) / true_speed
    p = ANGLE_K * w[own.RATE_K + i] * (wanted_roll - roll)
    q = ANGLE_K * w[own.RATE_K + i] * (wanted_pitch - pitch) + around * sin(roll) * cos(pitch)
    return p, -q, -around * cos(roll) * cos(pitch)


@compiled
def _move_servos(w, i, wanted, airspeed, bank):
    """Servos for the rates that are wanted, and the integrals that find their trim."""
    weaker = (w[own.CRUISE + i] / airspeed) ** 2
    dt = w[own.PERIOD + i] if airspeed > LEAST_TRIMMED * w[own.SLOWEST + i] else 0.0
    for axis in range(3):
        error = wanted[axis] - w[row.EWX + axis * LANES + i]
        at = own.SUM_X + axis * LANES + i
        most = MOST_TRIM * w[own.RATE_K + i]
        w[at] = limit(w[at] + w[own.RATE_I + i] * dt * error, -most, most)
        damped = w[own.DAMP_X + axis * LANES + i] * wanted[axis] / w[own.CRUISE + i] * airspeed
        w[row.SCRATCH + axis * LANES + i] = (w[own.RATE_K + i] * error + damped) * weaker + w[at]
        w[row.SCRATCH + axis * LANES + i] += w[own.TRIM_X + axis * LANES + i]
    more = own.angle_of_attack(w, i, airspeed, bank) - w[own.ALPHA + i]
    w[row.SCRATCH + LANES + i] += w[own.STIFF + i] * more
    for k in range(row.SERVOS):
        told, is_used = 0.0, False
        for axis in range(3):
            mix = w[own.MIX + (3 * k + axis) * LANES + i]
            told += mix * w[row.SCRATCH + axis * LANES + i]
            is_used |= mix != 0.0
        if is_used:  # a flap is left to whoever commands it
            w[row.SERVO + k * LANES + i] = limit(told, -1.0, 1.0)


@compiled
def _rest(w, rotors, i):
    for k in range(row.SERVOS):
        w[row.SERVO + k * LANES + i] = 0.0
    for k in range(own.SUMS):
        w[own.SUM_X + k * LANES + i] = 0.0
    for base in range(0, rotors.size, row.ROTOR_WIDTH):
        rotors[base + row.TARGET + i] = 0.0


@compiled
def _fly(w, rotors, i):
    mode = w[row.MODE + i]
    airspeed = max(own.airspeed_of(w, i), 0.5 * w[own.SLOWEST + i])
    r00, _, _, r10, _, _, r20, r21, r22 = rotation(w[row.EQW + i], w[row.EQX + i], w[row.EQY + i], w[row.EQZ + i])
    roll, pitch = atan2(r21, r22), atan2(r20, sqrt(r21 * r21 + r22 * r22))
    if mode == own.RATES:
        wanted = (w[row.RX + i], w[row.RY + i], w[row.RZ + i])
        throttle = sqrt(max(w[row.RTHRUST + i], 0.0) / w[own.STATIC + i])
        wanted_roll, wanted_pitch = roll, pitch
    else:
        if mode == own.ATTITUDE:
            wanted_roll, wanted_pitch = w[row.AROLL + i], -w[row.APITCH + i]
            throttle = sqrt(max(w[row.ATHRUST + i], 0.0) / w[own.STATIC + i])
        else:
            left, speed, climb = guide(w, i, airspeed)
            most = w[own.MOST_BANK + i]
            wanted_roll = limit(bank_for(w, i, left, r00, r10), -most, most)
            wanted_pitch, throttle = manage_energy(w, i, airspeed, speed, climb, wanted_roll)
        p, q, r = _turn(w, i, roll, pitch, wanted_roll, wanted_pitch, airspeed)
        wanted = (p, q, r + w[row.AYAWRATE + i] if mode == own.ATTITUDE else r)
    _move_servos(w, i, wanted, airspeed, wanted_roll)
    for base in range(0, rotors.size, row.ROTOR_WIDTH):
        rotors[base + row.TARGET + i] = min(throttle, 1.0) * rotors[base + row.MAX_SPEED + i]
    w[own.THRUST + i] = w[own.STATIC + i] * min(throttle, 1.0) ** 2
    w[own.ROLL + i], w[own.PITCH + i], w[own.YAW_RATE + i] = wanted_roll, -wanted_pitch, wanted[2]


@compiled
def fly_or_rest(w, rotors):
    for i in range(LANES):
        if w[row.MODE + i] > own.IDLE:
            _fly(w, rotors, i)
        else:
            _rest(w, rotors, i)


@block_kernel
def control_plane(w, rotors, tick):
    fly_or_rest(w, rotors)
    for i in range(LANES):
        if w[row.MODE + i] > own.IDLE:
            notice_lost_thrust(w, rotors, i)


class PlaneParameters(Rated):
    """What is left out is tuned from the airframe."""

    rate: float = Field(100.0, gt=0, description="Hz")
    cruise_speed: float | None = Field(
        None, gt=0, description="through the air, m/s; 1.4 times the stall's if left out"
    )
    radius: float | None = Field(None, gt=0, description="of circles, m; that of a bank of 25° if left out")
    max_bank: float = Field(0.8, gt=0, lt=1.3, description="rad")
    max_climb: float | None = Field(None, gt=0, description="m/s; what the propellers can if left out")
    max_sink: float | None = Field(None, gt=0, description="m/s; that of a steep glide if left out")
    l1_period: float = Field(8.0, gt=1, description="of the way back to a line, s")


class Plane(Controller):
    """Guidance → energy and bank → attitude → rates → servos, for aeroplanes, tuned from their file."""

    Parameters = PlaneParameters
    parameters: PlaneParameters
    kernel = control_plane
    modes = (int(Mode.POSITION_YAW), int(Mode.VELOCITY_YAWRATE), int(Mode.THRUST_ATTITUDE), int(Mode.THRUST_VELOCITY))
    flies = "wings"
    alarms: ClassVar = {own.LOST_THRUST: "has lost its thrust: it glides"}
    thrust_unit = "N"

    def check(self) -> None:
        self._aeroplane = plane = Aeroplane(self.airframe)
        cruise = self.cruise_speed
        if np.linalg.matrix_rank(plane.mixer(cruise), tol=1e-9) < 2:
            raise StackError("an aeroplane needs servos that roll it and pitch it; these do not")
        self._check_pull()
        self._trim = trim = plane.trim(cruise)
        if trim.remainder > 0.5 or (trim.speeds > self._fastest_rotor).any():
            raise StackError(f"there is no level flight at {cruise:.3g} m/s; {self._why_not_level()}")

    def _check_pull(self) -> None:
        ahead = {name: rotor.axis[0] * rotor.thrust_constant for name, rotor in self.airframe.vehicle.rotors.items()}
        if sum(ahead.values()) < 0.0:
            name = min(ahead, key=ahead.__getitem__)
            raise StackError(f"its propeller {name} pulls it backwards: give rotors.{name} an axis ahead, [1, 0, 0]")

    def _why_not_level(self) -> str:
        """What is to be changed: if it is far too heavy for its propellers, no speed helps."""
        weight, pull = self.airframe.mass * self.airframe.gravity, self._aeroplane.static_thrust(self._fastest_rotor)
        if pull < LEAST_PULL * weight:
            return (
                f"its mass of {self.airframe.mass:.3g} kg weighs {weight:.3g} N, and its propellers pull with "
                f"{pull:.3g} N at most; give less mass or more thrust"
            )
        return "give another cruise_speed"

    def doubts(self) -> Iterator[str]:
        margin = self._aeroplane.static_margin(self._trim)
        if margin < 0.0:
            aerodynamics = self.airframe.vehicle.aerodynamics
            chord = None if aerodynamics is None else aerodynamics.chord
            share = "" if chord is None else f", a static margin of {margin / chord:.0%}"
            yield (
                f"is unstable in pitch: the air lifts it {-100 * margin:.2g} cm ahead of its center_of_mass{share}; "
                "move that ahead"
            )

    @property
    def holds_within(self) -> float:
        """It circles a place that it holds."""
        return 1.5 * self.radius

    def check_start(self, vehicle: Vehicle, height: float) -> None:
        through_air = vehicle.velocity - vehicle.wind
        speed = float(np.linalg.norm(through_air))
        if speed > MOST_START * self.fastest:
            raise StackError(
                f"it starts at {speed:.3g} m/s through the air, and flies at {self.fastest:.3g} m/s at most; "
                f"give it a motion.velocity of about {self.cruise_speed:.0f} m/s ahead"
            )
        ahead = float(rotate_back(*vehicle.attitude, *through_air)[0])
        if height > MOST_DROP and speed >= self.stall_speed and ahead < 0.0:
            raise StackError(
                f"it starts tail first: at {-ahead:.3g} m/s backwards through the air; "
                "give it a motion.velocity along its pose.yaw"
            )
        stall = self.stall_speed / sqrt(vehicle.air_density / STANDARD_DENSITY)
        if height > MOST_DROP and speed < stall:
            raise StackError(
                f"it starts {height:.3g} m above the ground at {speed:.3g} m/s through the air, and cannot fly below "
                f"{stall:.3g} m/s; give it a motion.velocity, such as {1.4 * stall:.0f} m/s ahead, or put it on the "
                f"ground (a pose.position {height:.3g} m lower)"
            )

    @property
    def _fastest_rotor(self) -> float:
        return min(rotor.max_speed for rotor in self.airframe.rotors)

    @property
    def stall_speed(self) -> float:
        return self._aeroplane.stall_speed

    def trim(self, speed: float) -> Trim:
        """Level flight at a speed through the air."""
        return self._aeroplane.trim(speed)

    @property
    def cruise_speed(self) -> float:
        return self.parameters.cruise_speed or 1.4 * self.stall_speed

    @property
    def slowest(self) -> float:
        """At which it is flown, m/s through the air."""
        return 1.15 * self.stall_speed

    @property
    def fastest(self) -> float:
        return 1.6 * self.cruise_speed

    @property
    def radius(self) -> float:
        """Of a circle, if nobody says otherwise, m."""
        return self.parameters.radius or self.cruise_speed**2 / (self.airframe.gravity * tan(USUAL_BANK))

    @property
    def climb(self) -> float:
        """The fastest, m/s."""
        cruise, most = self.cruise_speed, self._fastest_rotor
        pull = self._aeroplane.thrust(cruise, most) - self._aeroplane.thrust(cruise, self._trim.speeds[0])
        slope = min(0.7 * pull / (self.airframe.mass * self.airframe.gravity), STEEPEST_CLIMB)
        return self.parameters.max_climb or slope * cruise

    @property
    def sink(self) -> float:
        return self.parameters.max_sink or 0.25 * self.cruise_speed

    @property
    def climb_pitch(self) -> float:
        """With which it leaves the ground, rad."""
        return min(self._trim.alpha + 0.5 * self.climb / self.cruise_speed, STEEPEST_START)

    def holding(self, mode: Mode, vehicle: Vehicle) -> Command:
        """It cannot stay: it circles to the left from where it is, or flies on."""
        vx, vy, _ = vehicle.velocity
        course = atan2(vy, vx) if vx or vy else float(vehicle.euler[2])
        x, y, z = vehicle.position
        cruise, thrust = self.cruise_speed, self._aeroplane.static_thrust(self._trim.speeds[0])
        if mode is Mode.POSITION_YAW:
            middle = (x - self.radius * sin(course), y + self.radius * cos(course), z)
            return PositionYaw(middle, course, yaw_rate=cruise / self.radius)
        if mode is Mode.VELOCITY_YAWRATE:
            return VelocityYawRate((cruise * cos(course), cruise * sin(course), 0.0))
        if mode is Mode.THRUST_ATTITUDE:
            return ThrustAttitude(thrust, (0.0, -self._trim.alpha, 0.0))
        return ThrustVelocity(thrust)

    def gains(self, step_ns: int) -> list[float]:
        p, frame, plane, trim = self.parameters, self.airframe, self._aeroplane, self._trim
        cruise, weight, most = trim.speed, frame.mass * frame.gravity, self._fastest_rotor
        share = trim.speeds[0] / most
        pull = [plane.thrust(cruise, speed) / weight for speed in (share * most, most)]
        per_throttle = (pull[1] - pull[0]) / (1.0 - share)
        rate = min(0.3 / max(servo.lag for servo in frame.vehicle.servos.values()), 10.0)
        gains = [
            1.0 / p.rate, cruise, self.slowest, self.fastest, trim.alpha, share, per_throttle,
            plane.static_thrust(most), p.max_bank, self.climb, self.sink, self.radius, DAMPING * p.l1_period / pi,
            rate, rate * rate / 4, *plane.damping(trim), 0.4, plane.zero_lift, *trim.turns, plane.stiffness(trim),
        ]  # fmt: skip
        farthest = np.array([max(servo.highest, -servo.lowest) for servo in frame.vehicle.servos.values()])
        mix = np.zeros((row.SERVOS, 3))
        mix[: len(farthest)] = plane.mixer(cruise) / farthest[:, None]
        return [*gains, *mix.ravel()]
