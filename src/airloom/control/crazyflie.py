"""The Crazyflie's controller of the CrazyS paper (Silano and Iannelli, 2019): reference generator and on-board loops.

Reference generator (its Fig. 4, eq. 7): position errors in the body's heading are velocity setpoints, a PI loop turns
velocity errors into tilt; altitude PID gives the thrust as PWM. On board (Fig. 5): attitude PI at 250 Hz, rate P at
500 Hz, mixer (eq. 9), and PWM→speed ω = slope · PWM + offset.

Units as the paper's gains need them: xy_kp and xy_ki give DEGREES of tilt per m/s and per m; attitude_kp and
attitude_ki act on an error in DEGREES. The π/30 of its eq. 8 belongs to the offset only.

Beyond the paper: gains that are left out are tuned from the airframe; a setpoint that moves has its velocity taken
off the measured one, and its acceleration fed forward; speeds that errors may ask for and integrals can be limited;
thrust can make up for the lean; the rate loop may have a derivative, as that of the firmware; and a vehicle that is
upside down pitches the other way, since the pitch angle then falls with the pitch rate.
"""

from math import inf, pi, sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np
from pydantic import Field

from airloom.basics.clock import ticks_per_period
from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.lanes import angle_of, limit, shortest_turn, update
from airloom.compiled.rows import LANES
from airloom.control.flight_stack import Rated, StackError, block_kernel
from airloom.control.multirotor import MultirotorController

DEGREE = pi / 180.0

(
    POSITION_TICKS, ATTITUDE_TICKS, POSITION_DT, ATTITUDE_DT, RATE_DT,
    XY_KP, XY_KI, TILT_LIMIT, YAW_KP, YAW_RATE_LIMIT,
    Z_FEEDFORWARD, Z_KP, Z_KI, Z_KD, THRUST_MIN, THRUST_MAX,
    ATTITUDE_KP, ATTITUDE_KI, RATE_KP, YAW_RATE_KP, YAW_RATE_KI, PWM_SLOPE, PWM_OFFSET,
    XY_SPEED, TILT_INTEGRAL, THRUST_INTEGRAL, CLIMB, ATTITUDE_INTEGRAL, RATE_KD,
    XY_APPROACH, PER_ACCELERATION, MAKES_UP,
) = (row.GAIN + k * LANES for k in range(32))  # fmt: skip
(
    SUM_X, SUM_Y, SUM_Z, SUM_ROLL, SUM_PITCH, SUM_YAW_RATE, ROLL_RATE, PITCH_RATE, LAST_P, LAST_Q,
) = (row.MEMORY + k * LANES for k in range(10))  # fmt: skip
UPRIGHT = 0.5  # cosine of the tilt up to which thrust makes up for it
INTEGRATES, LIFT_INTEGRATES = 0.15, 0.05  # integral gains over the others, times the frequency or a second
THRUST, ROLL, PITCH, YAW_RATE = (row.COMMAND + k * LANES for k in range(4))


@compiled
def is_due(w, i, tick, ticks):
    """Whether vehicle `i` flies and the loop that runs every `w[ticks]` has its turn."""
    period = w[ticks + i]
    return (np.floor(tick / period) * period == tick) & (w[row.MODE + i] != 0.0)


@compiled
def is_any_due(w, tick, ticks):
    count = 0
    for i in range(LANES):
        count += 1 if is_due(w, i, tick, ticks) else 0
    return count > 0


@compiled
def generate_reference(w, tick):
    """Position errors → tilt, yaw rate and thrust commands."""
    for i in range(LANES):
        due = is_due(w, i, tick, POSITION_TICKS)
        a, b, c, d = w[row.EQW + i], w[row.EQX + i], w[row.EQY + i], w[row.EQZ + i]
        up, east, north = 1.0 - 2.0 * (b * b + c * c), 1.0 - 2.0 * (c * c + d * d), 2.0 * (a * d + b * c)
        level = sqrt(east * east + north * north)
        c, s = (east / level, north / level) if level > 0.0 else (1.0, 0.0)
        dt = w[POSITION_DT + i]
        ex, ey, ez = w[row.SPX + i] - w[row.EPX + i], w[row.SPY + i] - w[row.EPY + i], w[row.SPZ + i] - w[row.EPZ + i]
        vx, vy, vz = w[row.SVX + i] - w[row.EVX + i], w[row.SVY + i] - w[row.EVY + i], w[row.SVZ + i] - w[row.EVZ + i]
        fastest, lean, lift, tilt = w[XY_SPEED + i], w[TILT_INTEGRAL + i], w[THRUST_INTEGRAL + i], w[TILT_LIMIT + i]
        climb = w[CLIMB + i]
        approach, g = w[XY_APPROACH + i], w[row.GRAVITY + i]
        u_error = limit(approach * (ex * c + ey * s), -fastest, fastest) + vx * c + vy * s
        v_error = limit(approach * (ey * c - ex * s), -fastest, fastest) + vy * c - vx * s
        ahead, aside = (w[row.SAX + i] * c + w[row.SAY + i] * s) / g, (w[row.SAY + i] * c - w[row.SAX + i] * s) / g
        near = due & (ez < climb) & (ez > -climb)
        update(w, SUM_X + i, due, limit(w[SUM_X + i] + w[XY_KI + i] * DEGREE * u_error * dt, -lean, lean))
        update(w, SUM_Y + i, due, limit(w[SUM_Y + i] + w[XY_KI + i] * DEGREE * v_error * dt, -lean, lean))
        update(w, SUM_Z + i, near, limit(w[SUM_Z + i] + w[Z_KI + i] * ez * dt, -lift, lift))
        update(w, PITCH + i, due, limit(w[XY_KP + i] * DEGREE * u_error + w[SUM_X + i] + ahead, -tilt, tilt))
        update(w, ROLL + i, due, limit(-(w[XY_KP + i] * DEGREE * v_error + w[SUM_Y + i] + aside), -tilt, tilt))
        turn = w[YAW_KP + i] * shortest_turn(w[row.SYAW + i] - angle_of(north, east))
        update(w, YAW_RATE + i, due, limit(turn, -w[YAW_RATE_LIMIT + i], w[YAW_RATE_LIMIT + i]))
        pwm = w[Z_FEEDFORWARD + i] + w[Z_KP + i] * limit(ez, -climb, climb) + w[SUM_Z + i] + w[Z_KD + i] * vz
        pwm += w[PER_ACCELERATION + i] * w[row.SAZ + i]
        leaning = 1.0 / sqrt(up) if (up > UPRIGHT) & (w[MAKES_UP + i] > 0.0) else 1.0
        pwm = (pwm + w[PWM_OFFSET + i] / w[PWM_SLOPE + i]) * leaning - w[PWM_OFFSET + i] / w[PWM_SLOPE + i]
        update(w, THRUST + i, due, limit(pwm, w[THRUST_MIN + i], w[THRUST_MAX + i]))


@compiled
def control_attitude(w, tick):
    for i in range(LANES):
        due = is_due(w, i, tick, ATTITUDE_TICKS)
        a, b, c, d = w[row.EQW + i], w[row.EQX + i], w[row.EQY + i], w[row.EQZ + i]
        nose_down = limit(2.0 * (a * c - d * b), -1.0, 1.0)
        roll = angle_of(2.0 * (a * b + c * d), 1.0 - 2.0 * (b * b + c * c))
        pitch = angle_of(nose_down, sqrt((1.0 - nose_down) * (1.0 + nose_down)))
        dt, most = w[ATTITUDE_DT + i], w[ATTITUDE_INTEGRAL + i]
        turned = 1.0 if b * b + c * c < 0.5 else -1.0  # whether body z points up or down
        roll_error = shortest_turn(w[ROLL + i] - roll) / DEGREE
        pitch_error = turned * (w[PITCH + i] - pitch) / DEGREE
        kp, ki = w[ATTITUDE_KP + i], w[ATTITUDE_KI + i]
        update(w, SUM_ROLL + i, due, limit(w[SUM_ROLL + i] + roll_error * dt, -most, most))
        update(w, SUM_PITCH + i, due, limit(w[SUM_PITCH + i] + pitch_error * dt, -most, most))
        update(w, ROLL_RATE + i, due, kp * roll_error + ki * w[SUM_ROLL + i])
        update(w, PITCH_RATE + i, due, kp * pitch_error + ki * w[SUM_PITCH + i])


@compiled
def control_rates(w, rotors):
    """Rate errors → PWM of each motor (eq. 9) → rotor speeds."""
    for i in range(LANES):
        flies = w[row.MODE + i] != 0.0
        yaw_error = w[YAW_RATE + i] - w[row.EWZ + i]
        update(w, SUM_YAW_RATE + i, flies, w[SUM_YAW_RATE + i] + yaw_error * w[RATE_DT + i])
        p, q, kp, kd = w[row.EWX + i], w[row.EWY + i], w[RATE_KP + i], w[RATE_KD + i] / w[RATE_DT + i]
        roll = 0.5 * (kp * (w[ROLL_RATE + i] - p) + kd * (w[LAST_P + i] - p))
        pitch = 0.5 * (kp * (w[PITCH_RATE + i] - q) + kd * (w[LAST_Q + i] - q))
        w[LAST_P + i] = p
        w[LAST_Q + i] = q
        yaw = w[YAW_RATE_KP + i] * yaw_error + w[YAW_RATE_KI + i] * w[SUM_YAW_RATE + i]
        thrust, slope, offset = w[THRUST + i], w[PWM_SLOPE + i], w[PWM_OFFSET + i]
        rotors[row.TARGET + i] = slope * (thrust - pitch - roll - yaw) + offset if flies else 0.0
        rotors[row.ROTOR_WIDTH + row.TARGET + i] = slope * (thrust + pitch - roll + yaw) + offset if flies else 0.0
        rotors[2 * row.ROTOR_WIDTH + row.TARGET + i] = slope * (thrust + pitch + roll - yaw) + offset if flies else 0.0
        rotors[3 * row.ROTOR_WIDTH + row.TARGET + i] = slope * (thrust - pitch + roll + yaw) + offset if flies else 0.0


@block_kernel
def control_crazyflie(w, rotors, tick):
    if is_any_due(w, tick, POSITION_TICKS):
        generate_reference(w, tick)
    if is_any_due(w, tick, ATTITUDE_TICKS):
        control_attitude(w, tick)
    control_rates(w, rotors)


class CrazyflieParameters(Rated):
    """Gains left out are tuned from the airframe."""

    rate: float = Field(500.0, gt=0, description="of the rate loop, Hz")
    attitude_rate: float = Field(250.0, gt=0, description="of the attitude loop, Hz")
    position_rate: float = Field(100.0, gt=0, description="of the reference generator, Hz")
    xy_kp: float | None = Field(None, ge=0, description="degrees of tilt per m/s")
    xy_ki: float | None = Field(None, ge=0, description="degrees of tilt per m")
    xy_approach: float | None = Field(None, gt=0, description="m/s asked for per m of position error; 1 in the paper")
    tilt_limit: float = Field(pi / 6, gt=0, lt=pi / 2, description="rad")
    yaw_kp: float | None = Field(None, ge=0, description="rad/s per rad")
    yaw_rate_limit: float = Field(1.11 * pi, gt=0, description="rad/s")
    z_feedforward: float | None = Field(
        None, ge=0, le=65535, description="hover PWM; that of the vehicle's weight if left out"
    )
    z_kp: float | None = Field(None, ge=0, description="PWM per m")
    z_ki: float | None = Field(None, ge=0, description="PWM per m s")
    z_kd: float | None = Field(None, ge=0, description="PWM per m/s")
    thrust_min: float = Field(5156.0, ge=0, le=65535, description="PWM")
    thrust_max: float = Field(8163.0, ge=0, le=65535, description="PWM")
    attitude_kp: float | None = Field(None, ge=0, description="rad/s per degree")
    attitude_ki: float | None = Field(None, ge=0, description="rad/s per degree s")
    rate_kp: float | None = Field(None, ge=0, description="PWM per rad/s, roll and pitch")
    rate_kd: float | None = Field(None, ge=0, description="PWM per rad/s², roll and pitch")
    yaw_rate_kp: float | None = Field(None, ge=0, description="PWM per rad/s")
    yaw_rate_ki: float | None = Field(None, ge=0, description="PWM per rad")
    xy_speed_limit: float = Field(1000.0, gt=0, description="velocity that a position error may ask for, m/s")
    z_speed_limit: float = Field(1000.0, gt=0, description="likewise of a height error, m/s")
    tilt_integral_limit: float = Field(10.0, gt=0, description="tilt that the xy integral may reach, rad")
    thrust_integral_limit: float = Field(65535.0, gt=0, description="thrust that the z integral may reach, PWM")
    attitude_integral_limit: float = Field(1e6, gt=0, description="what the attitude integral may reach, degree s")
    tilt_compensation: bool = Field(True, description="whether thrust keeps the height while leaning; not in the paper")
    pwm_slope: float = Field(0.2685, gt=0, description="rad/s per PWM")
    pwm_offset: float = Field(426.24, description="rad/s")


class Crazyflie(MultirotorController):
    """Position, attitude and rate loops of the Crazyflie 2.0 as the CrazyS paper has them."""

    Parameters = CrazyflieParameters
    parameters: CrazyflieParameters
    kernel = control_crazyflie
    thrust_unit = "PWM"

    def check(self) -> None:
        signs = [(p[0] > 0, p[1] > 0, r.turns) for r in self.airframe.rotors for p in [r.position]]
        wanted = [(True, False, "ccw"), (False, False, "cw"), (False, True, "ccw"), (True, True, "cw")]
        if signs != wanted:
            raise StackError(
                "the controller 'crazyflie' flies four rotors in an ×, listed front right (ccw), back right (cw), "
                "back left (ccw), front left (cw); use the controller 'cascade' for any other layout"
            )
        p, weight = self.parameters, self.airframe.mass * self.airframe.gravity
        least, hover, most = map(self._thrust, (p.thrust_min, self.hover_pwm(), p.thrust_max))
        if weight > 0 and not (least < weight < most and abs(hover - weight) < 0.4 * weight):
            raise StackError(
                f"with these rotors the controller gives {least:.3g} to {most:.3g} N, and {hover:.3g} N to hover; the "
                f"vehicle weighs {weight:.3g} N: its gains are those of another vehicle"
            )

    def _thrust(self, pwm: float) -> float:
        """Of all four rotors together, N."""
        p = self.parameters
        return sum(
            rotor.thrust_constant * min(max(p.pwm_slope * pwm + p.pwm_offset, 0.0), rotor.max_speed) ** 2
            for rotor in self.airframe.rotors
        )

    def hover_pwm(self) -> float:
        p = self.parameters
        return (self.airframe.hover_speed - p.pwm_offset) / p.pwm_slope if p.z_feedforward is None else p.z_feedforward

    @property
    def inner_rate(self) -> float:
        return self.parameters.attitude_rate

    @property
    def braking_frequency(self) -> float:  # type: ignore[override]
        return self.in_force()["xy_approach"]

    def in_force(self) -> dict[str, Any]:
        return self._tuned() | self.parameters.model_dump(exclude_none=True)

    def _tuned(self) -> dict[str, float]:
        """Gains that give the loops of control/multirotor.py, in this controller's units.

        An error e asks for the rate ω/2 e, a rate error for the acceleration 2ω times itself, together ω² e. With a
        gain of L − 1 on the acceleration and of L on all else, motors follow L times as fast.
        """
        position, tilt, yaw = self.frequencies()
        lead, gravity = self.tuned_lead, self.airframe.gravity
        per_thrust, per_roll, per_yaw = self._accelerations_per_pwm()
        xy = 2.0 * position / gravity / DEGREE
        rate_kp, climb_kp, yaw_rate_kp = 2.0 * tilt * lead / per_roll, position**2 / per_thrust, 2.0 * yaw / per_yaw
        return {
            "z_feedforward": self.hover_pwm(),
            "xy_kp": xy, "xy_ki": INTEGRATES * position * xy, "xy_approach": 0.5 * position,
            "z_kp": climb_kp, "z_kd": 2.0 * climb_kp / position, "z_ki": LIFT_INTEGRATES * position * climb_kp,
            "attitude_kp": 0.5 * tilt * DEGREE, "attitude_ki": 0.5 * tilt * DEGREE * INTEGRATES,
            "rate_kp": rate_kp, "rate_kd": (lead - 1.0) / per_roll,
            "yaw_kp": 0.5 * yaw, "yaw_rate_kp": yaw_rate_kp, "yaw_rate_ki": INTEGRATES * yaw_rate_kp,
        }  # fmt: skip

    def _accelerations_per_pwm(self) -> tuple[float, float, float]:
        """What a PWM more does at a hover: m/s² upwards, rad/s² of roll or pitch, where it does more, and of yaw."""
        frame, p = self.airframe, self.parameters
        speed = p.pwm_slope * self.hover_pwm() + p.pwm_offset
        thrusts = 2.0 * speed * p.pwm_slope * np.array([rotor.thrust_constant for rotor in frame.rotors])
        roll, pitch, yaw = np.abs(frame.allocation[1:]) @ thrusts / np.diag(frame.inertia)
        return float(thrusts.sum() / frame.mass), 0.5 * max(roll, pitch), float(yaw)

    def rates(self) -> dict[str, float]:
        p = self.parameters
        return {"rate": p.rate, "attitude_rate": p.attitude_rate, "position_rate": p.position_rate}

    def gains(self, step_ns: int) -> list[float]:
        p = SimpleNamespace(**self.in_force())
        per_acceleration = 1.0 / self._accelerations_per_pwm()[0]
        climb = p.z_speed_limit * p.z_kd / p.z_kp if p.z_kp * p.z_kd > 0 else inf
        return [
            ticks_per_period(p.position_rate, step_ns), ticks_per_period(p.attitude_rate, step_ns),
            1.0 / p.position_rate, 1.0 / p.attitude_rate, 1.0 / p.rate,
            p.xy_kp, p.xy_ki, p.tilt_limit, p.yaw_kp, p.yaw_rate_limit,
            p.z_feedforward, p.z_kp, p.z_ki, p.z_kd, p.thrust_min, p.thrust_max,
            p.attitude_kp, p.attitude_ki, p.rate_kp, p.yaw_rate_kp, p.yaw_rate_ki, p.pwm_slope, p.pwm_offset,
            p.xy_speed_limit, p.tilt_integral_limit, p.thrust_integral_limit, climb,
            p.attitude_integral_limit, p.rate_kd, p.xy_approach, per_acceleration, float(p.tilt_compensation),
        ]  # fmt: skip
