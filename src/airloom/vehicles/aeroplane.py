"""What follows from the file of a winged vehicle for whoever flies it: forces at any state, trim, how it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import cos, sin

import numpy as np

from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.propellers import add_propellers, note_speeds
from airloom.physics.servos import ANGLE, SERVO_ROWS
from airloom.physics.wings import FIRST_SERVO, STIRRED, add_wings, feel_air, settle_wings
from airloom.vehicles.airframe import Airframe
from airloom.vehicles.wings import propeller_numbers, wing_numbers

NUDGE = 1e-5
LEAST = 1e-4  # of the strongest: what turns it less does not turn it


@dataclass(frozen=True)
class Trim:
    """Steady level flight."""

    speed: float
    alpha: float
    turns: np.ndarray
    """which the servos resist, rad/s²"""
    angles: np.ndarray
    """of the servos, rad"""
    speeds: np.ndarray
    """of the rotors, rad/s"""
    remainder: float
    """Of the equations, m/s² and rad/s²: how far it is from a balance."""


class Aeroplane:
    def __init__(self, airframe: Airframe) -> None:
        self.airframe = airframe
        vehicle = airframe.vehicle
        self._wings = np.repeat(wing_numbers(vehicle, airframe.step), LANES)
        self._propellers = np.repeat(propeller_numbers(vehicle), LANES)

    def wrench(self, velocity, rates, angles, speeds, density: float = 1.0) -> np.ndarray:
        """Force and torque about the centre of mass (body) of wings and rotors in still air, without gravity."""
        w = np.zeros(row.WIDTH)
        center = self.airframe.vehicle.center_of_mass
        given = ((row.UX, velocity), (row.WX, rates), (row.CX, center), (row.DENSITY, [density]))
        for first, values in (*given, (row.VX, np.subtract(velocity, np.cross(rates, center))), (row.QW, [1.0])):
            w[first : first + len(values) * LANES] = np.repeat(values, LANES)
        for k, angle in enumerate(angles):
            at = FIRST_SERVO + k * SERVO_ROWS * LANES + ANGLE
            self._wings[at : at + LANES] = angle
        settle_wings(self._wings)
        if self._propellers.size:
            note_speeds(w, self._rotors_at(speeds), self._propellers)
            add_propellers(w, self._propellers)
        if self._wings[STIRRED]:
            feel_air(w, self._wings)
        add_wings(w, self._wings)
        total = w[row.FX : row.FX + 6 * LANES : LANES].copy()
        return total + density * self._push.T @ np.square(speeds)

    def _rotors_at(self, speeds) -> np.ndarray:
        rotors = np.zeros(len(self.airframe.rotors) * row.ROTOR_WIDTH)
        for k, speed in enumerate(speeds):
            at = k * row.ROTOR_WIDTH + row.SPEED
            rotors[at : at + LANES] = speed
        return rotors

    @cached_property
    def _push(self) -> np.ndarray:
        """[rotor, wrench] at rest per speed²."""
        return self.airframe.propeller_table[:, row.PUSH // LANES :][:, :6]

    def acceleration(self, speed: float, alpha: float, beta: float, rates, angles, speeds) -> np.ndarray:
        """Linear and angular, body, in level flight with wings level."""
        velocity = speed * np.array([cos(alpha) * cos(beta), -sin(beta), -sin(alpha) * cos(beta)])
        wrench = self.wrench(velocity, rates, angles, speeds)
        frame = self.airframe
        gravity = frame.gravity * np.array([-sin(alpha), 0.0, -cos(alpha)])
        linear = wrench[:3] / frame.mass + gravity - np.cross(rates, velocity)
        turn = wrench[3:] - np.cross(rates, frame.inertia @ np.asarray(rates))
        return np.concatenate([linear, np.linalg.solve(frame.inertia, turn)])

    def trim(self, speed: float) -> Trim:
        """Level flight at a speed through the air, by Newton's method; rotors all turn at one speed."""
        mix, rotors = self.mixer(speed), len(self.airframe.rotors)
        fastest = min(rotor.max_speed for rotor in self.airframe.rotors)

        def balance(x: np.ndarray) -> np.ndarray:
            return self.acceleration(speed, x[0], 0.0, np.zeros(3), mix @ x[1:4], np.full(rotors, fastest * x[4]))

        x = np.array([0.05, 0.0, 0.0, 0.0, 0.7])
        for _ in range(30):
            at = balance(x)
            slope = np.array([(balance(x + NUDGE * e) - at) / NUDGE for e in np.eye(x.size)]).T
            step = np.linalg.lstsq(slope, -at, rcond=1e-9)[0]
            x += step * min(1.0, 0.2 / (np.abs(step[[0, 4]]).max() + 1e-12))
        return Trim(speed, x[0], x[1:4], mix @ x[1:4], np.full(rotors, fastest * x[4]), float(np.abs(balance(x)).max()))

    def mixer(self, speed: float, axes: Sequence[int] | None = None) -> np.ndarray:
        """[servo, axis]: the smallest angles that turn about the axes with 1 rad/s² at this speed through the air.

        If the file has a mixer, with the servos that it names for each axis. Without `axes` they are x, y and z, and
        what has no rudder is not yawed.
        """
        given = self._given_mixer
        effect = self.effect(speed) @ given
        if axes is not None:
            return given @ np.linalg.pinv(effect[axes], rcond=LEAST)
        count = max(min(int(np.linalg.matrix_rank(effect, tol=1e-6)), 3), 2)
        mix = np.zeros((len(given), 3))
        mix[:, :count] = given @ np.linalg.pinv(effect[:count])
        return mix

    @cached_property
    def _given_mixer(self) -> np.ndarray:
        """[servo, what is told]: as the file says, or every servo by itself."""
        vehicle = self.airframe.vehicle
        if vehicle.mixer is None:
            return np.eye(len(vehicle.servos))
        axes = vehicle.mixer.axes.values()
        return np.array([[shares.get(servo, 0.0) for shares in axes] for servo in vehicle.servos])

    def effect(self, speed: float) -> np.ndarray:
        """[axis, servo]: rad/s² about x, y, z for 1 rad of each at this speed through the air."""
        servos, rest = len(self.airframe.vehicle.servos), np.zeros(len(self.airframe.rotors))
        if not servos or not np.isfinite(speed):  # nothing turns it, or nothing lifts it
            return np.zeros((3, servos))

        def turn(angles: np.ndarray) -> np.ndarray:
            return self.acceleration(speed, 0.0, 0.0, np.zeros(3), angles, rest)[3:]

        at = turn(np.zeros(servos))
        return np.array([(turn(NUDGE * e) - at) / NUDGE for e in np.eye(servos)]).T

    def thrust(self, speed: float, rotor_speed: float) -> float:
        """Of all rotors along x at a speed through the air, N."""
        rotors, rest = len(self.airframe.rotors), np.zeros(len(self.airframe.vehicle.servos))
        velocity = np.array([speed, 0.0, 0.0])
        with_rotors = self.wrench(velocity, np.zeros(3), rest, np.full(rotors, rotor_speed))
        return float((with_rotors - self.wrench(velocity, np.zeros(3), rest, np.zeros(rotors)))[0])

    def static_thrust(self, rotor_speed: float) -> float:
        """Of all rotors at rest, N: what a command of thrust means."""
        return sum(rotor.thrust_constant * rotor_speed**2 for rotor in self.airframe.rotors)

    def static_margin(self, trim: Trim) -> float:
        """How far behind the centre of mass more lift attacks, m: ∂M/∂α over ∂Z/∂α, with M nose down."""

        def wrench(alpha: float) -> np.ndarray:
            velocity = trim.speed * np.array([cos(alpha), 0.0, -sin(alpha)])
            return self.wrench(velocity, np.zeros(3), trim.angles, trim.speeds)

        more = wrench(trim.alpha + NUDGE) - wrench(trim.alpha - NUDGE)
        return float(more[4] / more[2])

    def damping(self, trim: Trim) -> np.ndarray:
        """How the air slows turns about x, y, z in trimmed flight, 1/s."""

        def turn(rates: np.ndarray) -> np.ndarray:
            return self.acceleration(trim.speed, trim.alpha, 0.0, rates, trim.angles, trim.speeds)[3:]

        return np.array([-(turn(NUDGE * e) - turn(-NUDGE * e))[k] / (2 * NUDGE) for k, e in enumerate(np.eye(3))])

    def stiffness(self, trim: Trim) -> float:
        """By how much servos must turn it nose up or down (about y, rad/s²) to hold one rad of angle of attack more."""

        def turn(alpha: float) -> float:
            return float(self.acceleration(trim.speed, alpha, 0.0, np.zeros(3), trim.angles, trim.speeds)[4])

        return -(turn(trim.alpha + NUDGE) - turn(trim.alpha - NUDGE)) / (2 * NUDGE)

    def lift(self, alpha: float) -> float:
        """Per (m/s)² of speed, at an angle of attack, without power, N."""
        rest, still = np.zeros(len(self.airframe.vehicle.servos)), np.zeros(len(self.airframe.rotors))
        x, _, z, *_ = self.wrench(np.array([cos(alpha), 0.0, -sin(alpha)]), np.zeros(3), rest, still)
        return float(x * sin(alpha) + z * cos(alpha))

    @cached_property
    def zero_lift(self) -> float:
        """Angle of attack without lift, rad."""
        return -self.lift(0.0) / self.lift_slope if self.lift_slope > 0.0 else 0.0

    @cached_property
    def lift_slope(self) -> float:
        """Of the lift per (m/s)², per rad of the angle of attack, N."""
        return (self.lift(NUDGE) - self.lift(-NUDGE)) / (2 * NUDGE)

    @cached_property
    def stall_speed(self) -> float:
        """At which the greatest lift is the weight, in level flight without power, m/s."""
        most = max(self.lift(alpha) for alpha in np.arange(0.0, 0.8, 0.005))
        return float(np.sqrt(self.airframe.mass * self.airframe.gravity / most)) if most > 0.0 else np.inf
