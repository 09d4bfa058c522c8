"""What the sticks mean to an aeroplane: released ones fly it straight on at its cruise speed."""

from __future__ import annotations

from math import tan
from typing import TYPE_CHECKING

from airloom.commands import Command, Mode, PositionYaw, ThrustAttitude, ThrustVelocity, VelocityYawRate
from airloom.joystick.mapping import Scales, Sticks

if TYPE_CHECKING:
    from airloom.control.plane import Plane
    from airloom.vehicle import Vehicle

STEEPEST = 0.4  # rad, nose up or down by a full deflection
OF_BANK = 0.8  # of the greatest, in turns


def wings_command(vehicle: Vehicle, mode: Mode, sticks: Sticks, home: PositionYaw, scales: Scales) -> Command:
    """Forward is faster or nose down, up is a climb or more thrust; to the left rolls, or turns, as the yaw does."""
    plane: Plane = vehicle.controller  # type: ignore[assignment]
    x, y, z, turn = sticks
    if mode is Mode.POSITION_YAW:
        place = home.position + scales.position * sticks.ahead
        return PositionYaw(tuple(place), home.yaw, yaw_rate=home.yaw_rate)
    if mode is Mode.VELOCITY_YAWRATE:
        cruise = plane.cruise_speed
        speed = cruise + x * (plane.fastest - cruise if x > 0 else cruise - plane.slowest)
        most = plane.airframe.gravity * tan(OF_BANK * plane.parameters.max_bank) / speed
        climb = z * (plane.climb if z > 0 else plane.sink)
        return VelocityYawRate((speed, 0.0, climb), most * min(max(y + turn, -1.0), 1.0), body_frame=True)
    level = plane.holding(Mode.THRUST_ATTITUDE, vehicle)
    assert isinstance(level, ThrustAttitude)
    thrust = level.thrust + z * (0.99 * vehicle.max_thrust - level.thrust if z > 0 else level.thrust)
    if mode is Mode.THRUST_ATTITUDE:
        bank, nose = plane.parameters.max_bank * -y, level.attitude[1] + STEEPEST * x
        return ThrustAttitude(thrust, (bank, nose, 0.0), (0.0, 0.0, plane.parameters.max_bank * turn))
    return ThrustVelocity(thrust, (-scales.angular_velocity * y, scales.angular_velocity * x, turn))
