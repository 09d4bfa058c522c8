"""A flight stack for aeroplanes: guidance, total energy, attitude, rates, servos; tuned from the file of the airframe.

- **Guidance.** A setpoint that moves is a line along its velocity, which is joined by the L1 law (Park, Deyst and How,
  AIAA 2004-4900): a = 4ζ² V²/L sin η, L = ζ T V/π. One that stands is circled (Beard and McLain 2012, 10.2): the course
  wanted at distance d from the middle is the tangent turned inwards by atan(k (d − R)/R). The bank for a is atan(a/g).
- **Energy** (Lambregts, AIAA 83-2239): the throttle answers to what is lacking in γ + V̇/g, the pitch to what is wrong
  in γ − V̇/g, with γ = climb/V wanted from the height and V̇ from the speed.
- **Attitude.** p = k (φ* − φ), q likewise, both with the rates of a coordinated turn, g tan φ/V; the rudder follows r.
- **Rates.** ω̇ = k (ω* − ω) + d ω* + k_i ∫(ω* − ω), d the damping by the air; the mixer has the servos that turn the
  aeroplane so at its cruise speed V₀, and (V₀/V)² of them at another.
"""

from __future__ import annotations

from math import atan, atan2, cos, pi, sin, sqrt, tan

import numpy as np
from pydantic import Field

from airloom.commands import Mode
from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.lanes import limit
from airloom.compiled.rows import LANES
from airloom.control.flight_stack import Controller, Rated, StackError, block_kernel
from airloom.physics.attitude import rotation
from airloom.vehicles.aeroplane import Aeroplane

(
    PERIOD, CRUISE, SLOWEST, FASTEST, ALPHA, THROTTLE, PER_THROTTLE, STATIC, MOST_BANK, CLIMB, SINK, RADIUS, L1,
    ROLL_K, PITCH_K, RATE_K, RATE_I, DAMP_X, DAMP_Y, DAMP_Z, HEIGHT_K, SPEED_K, TURN_DRAG, NO_LIFT,
) = (row.GAIN + k * LANES for k in range(24))  # fmt: skip
MIX = row.GAIN + 24 * LANES
"""[servo, axis]: command of a servo per rad/s² about x, y, z."""
SUM_X, SUM_Y, SUM_Z, SUM_ENERGY, SUM_BALANCE = (row.MEMORY + k * LANES for k in range(5))
THRUST, ROLL, PITCH, YAW_RATE = (row.COMMAND + k * LANES for k in range(4))
IDLE, POSITION, VELOCITY, ATTITUDE, RATES, TORQUE = (float(mode) for mode in Mode)
DAMPING = 0.75  # ζ of the L1 law
INWARDS = 2.0  # how steeply a circle is joined
MOVES = 0.5  # m/s, above which a setpoint is a line
LEAST_GROUND_SPEED = 3.0  # m/s, below which a course has no meaning
ENERGY_I, BALANCE_I, BALANCE_P = 0.3, 0.15, 0.5


@compiled
def _towards_line(w, i, speed, vx, vy):
    """Acceleration to the left that joins the line of a moving setpoint, and the ground speed that it asks for."""
    sx, sy = w[row.SVX + i], w[row.SVY + i]
    pace = sqrt(sx * sx + sy * sy)
    ux, uy = sx / pace, sy / pace
    ex, ey = w[row.EPX + i] - w[row.SPX + i], w[row.EPY + i] - w[row.SPY + i]
    left, ahead = ux * ey - uy * ex, ux * ex + uy * ey
    reach = w[L1 + i] * speed
    across = limit(left / reach, -0.7071, 0.7071)
    course = atan2(ux * vy - uy * vx, ux * vx + uy * vy)
    eta = limit(-(course + across / sqrt(1.0 - across * across)), -0.5 * pi, 0.5 * pi)
    return 4.0 * DAMPING * DAMPING * speed * speed / reach * sin(eta), pace - 0.2 * ahead


@compiled
def _around(w, i, speed, vx, vy):
    """Acceleration to the left that circles a setpoint to the left."""
    ex, ey = w[row.EPX + i] - w[row.SPX + i], w[row.EPY + i] - w[row.SPY + i]
    far, radius = sqrt(ex * ex + ey * ey), w[RADIUS + i]
    inwards = atan(INWARDS * (far - radius) / radius)
    wanted = atan2(ey, ex) + 0.5 * pi + inwards
    off = atan2(sin(wanted - atan2(vy, vx)), cos(wanted - atan2(vy, vx)))
    near = limit(2.0 - 2.0 * abs(far - radius) / radius, 0.0, 1.0)
    return near * speed * speed / radius + 2.0 * speed / w[L1 + i] * limit(off, -1.0, 1.0)


@compiled
def _guide(w, i, airspeed):
    """Acceleration to the left, airspeed and climb that are wanted."""
    vx, vy = w[row.EVX + i], w[row.EVY + i]
    over_ground = sqrt(vx * vx + vy * vy)
    speed = max(over_ground, LEAST_GROUND_SPEED)
    if w[row.MODE + i] == VELOCITY:
        return _by_velocity(w, i, airspeed, speed, vx, vy)
    climb = w[row.SVZ + i] + w[HEIGHT_K + i] * (w[row.SPZ + i] - w[row.EPZ + i])
    if w[row.SVX + i] * w[row.SVX + i] + w[row.SVY + i] * w[row.SVY + i] > MOVES * MOVES:
        left, pace = _towards_line(w, i, speed, vx, vy)
        return left, airspeed + pace - over_ground, climb
    return _around(w, i, speed, vx, vy), w[CRUISE + i], climb


@compiled
def _by_velocity(w, i, airspeed, speed, vx, vy):
    bx, by = w[row.BVX + i], w[row.BVY + i]
    if w[row.B_IN_BODY + i] != 0.0:
        return speed * w[row.BYAWRATE + i], bx, w[row.BVZ + i]
    off = atan2(vx * by - vy * bx, vx * bx + vy * by)
    pace = sqrt(bx * bx + by * by)
    return 2.0 * speed / w[L1 + i] * limit(off, -1.0, 1.0), airspeed + pace - speed, w[row.BVZ + i]


@compiled
def _manage_energy(w, i, airspeed, wanted_speed, wanted_climb, bank):
    """Pitch and throttle."""
    g, dt = w[row.GRAVITY + i], w[PERIOD + i]
    wanted_speed = limit(wanted_speed, w[SLOWEST + i], w[FASTEST + i])
    slope = limit(wanted_climb, -w[SINK + i], w[CLIMB + i]) / airspeed
    faster = limit(w[SPEED_K + i] * (wanted_speed - airspeed) / g, -0.3, 0.3)
    error = slope - limit(w[row.EVZ + i] / airspeed, -1.0, 1.0)
    energy, balance = error + faster, error - faster
    drag_of_turn = w[TURN_DRAG + i] * (1.0 / max(cos(bank), 0.3) - 1.0)
    throttle = w[THROTTLE + i] + w[SUM_ENERGY + i] + (slope + faster + drag_of_turn) / w[PER_THROTTLE + i]
    given = limit(throttle, 0.0, 1.0)
    grows = (throttle < 1.0) | (energy < 0.0)
    shrinks = (throttle > 0.0) | (energy > 0.0)
    w[SUM_ENERGY + i] += ENERGY_I * dt * energy / w[PER_THROTTLE + i] if grows & shrinks else 0.0
    w[SUM_BALANCE + i] = limit(w[SUM_BALANCE + i] + BALANCE_I * dt * balance, -0.2, 0.2)
    lift = (w[CRUISE + i] / airspeed) ** 2 / max(cos(bank), 0.3)
    alpha = w[NO_LIFT + i] + (w[ALPHA + i] - w[NO_LIFT + i]) * lift
    pitch = alpha + slope + BALANCE_P * balance + w[SUM_BALANCE + i]
    return limit(pitch, -0.5, 0.5), given


@compiled
def _turn(w, i, roll, pitch, wanted_roll, wanted_pitch, airspeed):
    """Rates about x, y, z that are wanted: y is nose down, z to the left."""
    around = w[row.GRAVITY + i] * tan(limit(roll, -1.2, 1.2)) / airspeed
    p = w[ROLL_K + i] * (wanted_roll - roll)
    q = w[PITCH_K + i] * (wanted_pitch - pitch) + around * sin(roll) * cos(pitch)
    return p, -q, -around * cos(roll) * cos(pitch)


@compiled
def _move_servos(w, i, wanted, airspeed):
    """Servos for the rates that are wanted, and the integrals that find their trim."""
    dt, weaker = w[PERIOD + i], (w[CRUISE + i] / airspeed) ** 2
    for axis in range(3):
        error = wanted[axis] - w[row.EWX + axis * LANES + i]
        at = SUM_X + axis * LANES + i
        most = 0.5 * w[RATE_K + i]
        w[at] = limit(w[at] + w[RATE_I + i] * dt * error, -most, most)
        damped = w[DAMP_X + axis * LANES + i] * wanted[axis] / w[CRUISE + i] * airspeed
        wanted_turn = w[RATE_K + i] * error + damped + w[at]
        w[row.SCRATCH + axis * LANES + i] = wanted_turn * weaker
    for k in range(row.SERVOS):
        told = 0.0
        for axis in range(3):
            told += w[MIX + (3 * k + axis) * LANES + i] * w[row.SCRATCH + axis * LANES + i]
        w[row.SERVO + k * LANES + i] = limit(told, -1.0, 1.0)


@compiled
def _rest(w, rotors, i):
    for k in range(row.SERVOS):
        w[row.SERVO + k * LANES + i] = 0.0
    for base in range(0, rotors.size, row.ROTOR_WIDTH):
        rotors[base + row.TARGET + i] = 0.0


@compiled
def airspeed_of(w, i):
    """What the sensor read last; without one, the speed over the ground."""
    if w[row.AIRSPEED + i] > 0.0:
        return w[row.AIRSPEED + i]
    vx, vy, vz = w[row.EVX + i], w[row.EVY + i], w[row.EVZ + i]
    return sqrt(vx * vx + vy * vy + vz * vz)


@compiled
def _fly(w, rotors, i):
    mode = w[row.MODE + i]
    airspeed = max(airspeed_of(w, i), 0.5 * w[SLOWEST + i])
    _, _, _, _, _, _, r20, r21, r22 = rotation(w[row.EQW + i], w[row.EQX + i], w[row.EQY + i], w[row.EQZ + i])
    roll, pitch = atan2(r21, r22), atan2(r20, sqrt(r21 * r21 + r22 * r22))
    if mode == RATES:
        wanted = (w[row.RX + i], w[row.RY + i], w[row.RZ + i])
        throttle = sqrt(max(w[row.RTHRUST + i], 0.0) / w[STATIC + i])
        wanted_roll, wanted_pitch = roll, pitch
    else:
        if mode == ATTITUDE:
            wanted_roll, wanted_pitch = w[row.AROLL + i], -w[row.APITCH + i]
            throttle = sqrt(max(w[row.ATHRUST + i], 0.0) / w[STATIC + i])
        else:
            left, speed, climb = _guide(w, i, airspeed)
            most = w[MOST_BANK + i]
            wanted_roll = limit(-atan(left / w[row.GRAVITY + i]), -most, most)
            wanted_pitch, throttle = _manage_energy(w, i, airspeed, speed, climb, wanted_roll)
        wanted = _turn(w, i, roll, pitch, wanted_roll, wanted_pitch, airspeed)
    _move_servos(w, i, wanted, airspeed)
    for base in range(0, rotors.size, row.ROTOR_WIDTH):
        rotors[base + row.TARGET + i] = min(throttle, 1.0) * rotors[base + row.MAX_SPEED + i]
    w[THRUST + i] = min(throttle, 1.0)
    w[ROLL + i], w[PITCH + i], w[YAW_RATE + i] = wanted_roll, -wanted_pitch, wanted[2]


@block_kernel
def control_plane(w, rotors, tick):
    for i in range(LANES):
        if w[row.MODE + i] > IDLE:
            _fly(w, rotors, i)
        else:
            _rest(w, rotors, i)


class PlaneParameters(Rated):
    """What is left out is tuned from the airframe."""

    rate: float = Field(100.0, gt=0, description="Hz")
    cruise_speed: float | None = Field(
        None, gt=0, description="through the air, m/s; 1.4 times the stall's if left out"
    )
    radius: float | None = Field(None, gt=0, description="of circles, m; that of a bank of 30° if left out")
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
    thrust_unit = "N"

    def check(self) -> None:
        self._aeroplane = plane = Aeroplane(self.airframe)
        cruise = self.cruise_speed
        if np.linalg.matrix_rank(plane.mixer(cruise), tol=1e-9) < 3:
            raise StackError("an aeroplane needs servos that roll it, pitch it and yaw it; these do not")
        self._trim = plane.trim(cruise)
        if self._trim.remainder > 0.5 or (self._trim.speeds > self._fastest).any():
            raise StackError(f"there is no level flight at {cruise:.3g} m/s; give another cruise_speed")

    @property
    def _fastest(self) -> float:
        return min(rotor.max_speed for rotor in self.airframe.rotors)

    @property
    def cruise_speed(self) -> float:
        return self.parameters.cruise_speed or 1.4 * self._aeroplane.stall_speed

    def gains(self, step_ns: int) -> list[float]:
        p, frame, plane, trim = self.parameters, self.airframe, self._aeroplane, self._trim
        cruise, weight, share = trim.speed, frame.mass * frame.gravity, trim.speeds[0] / self._fastest
        pull = [plane.thrust(cruise, speed) / weight for speed in (share * self._fastest, self._fastest)]
        per_throttle = (pull[1] - pull[0]) / (1.0 - share)
        static = sum(rotor.thrust_constant * rotor.max_speed**2 for rotor in frame.rotors)
        climb = p.max_climb or 0.7 * (pull[1] - pull[0]) * cruise
        sink = p.max_sink or 0.25 * cruise
        radius = p.radius or cruise**2 / (frame.gravity * tan(pi / 6))
        damping = plane.damping(trim)
        rate = min(0.3 / max(servo.lag for servo in frame.vehicle.servos.values()), 10.0)
        gains = [
            1.0 / p.rate, cruise, plane.stall_speed * 1.15, 1.6 * cruise, trim.alpha, share, per_throttle, static,
            p.max_bank, climb, sink, radius, DAMPING * p.l1_period / pi, 0.4 * rate, 0.4 * rate, rate, rate * rate / 4,
            *damping, 0.3, 0.4, 0.1, plane.zero_lift,
        ]  # fmt: skip
        farthest = np.array([max(servo.highest, -servo.lowest) for servo in frame.vehicle.servos.values()])
        mix = np.zeros((row.SERVOS, 3))
        mix[: len(farthest)] = plane.mixer(cruise) / farthest[:, None]
        return [*gains, *mix.ravel()]
