"""A vehicle's wheels: what follows from its file for the loop."""

from __future__ import annotations

from math import sqrt

from airloom.physics.servos import SERVO_ROWS
from airloom.physics.wheels import DAMPING_RATIO, WHEEL_ROWS
from airloom.scenario.models import Vehicle
from airloom.vehicles.wings import servo_numbers

MOST_TURN = 0.3
"""rad by which a step may turn the oscillator that wheels are: long steps have stiffness lowered."""


def wheel_numbers(vehicle: Vehicle, gravity: float, step: float) -> list[float]:
    wheels, servos = vehicle.wheels.values(), list(vehicle.servos)
    numbers = [float(len(wheels)), 0.0]
    for wheel in wheels:
        frequency = min(sqrt(max(gravity, 0.1) / wheel.sinks), MOST_TURN / step)
        steered = -1.0 if wheel.servo is None else float(servos.index(wheel.servo))
        servo = [0.0] * SERVO_ROWS if wheel.servo is None else servo_numbers(vehicle.servos[wheel.servo], step)
        each = [
            *wheel.position, frequency**2 / len(wheels), 2.0 * DAMPING_RATIO * frequency / len(wheels),
            wheel.rolling, wheel.grip, steered, wheel.steering, *servo, -1e9, 0.0, 0.0,
        ]  # fmt: skip
        assert len(each) == WHEEL_ROWS
        numbers += each
    return numbers
