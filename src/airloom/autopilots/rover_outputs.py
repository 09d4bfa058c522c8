"""ArduPilot Rover's outputs, of a boat: throttle and rudder, or a thruster on each side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from airloom.autopilots.autopilot import AutopilotFailed
from airloom.autopilots.pulses import Function, Outputs, params_of
from airloom.vehicles.aeroplane import Aeroplane

if TYPE_CHECKING:
    from airloom.vehicles.airframe import Airframe

STEERING, THROTTLE = Function(26, 1), Function(70, 3)
THROTTLE_LEFT, THROTTLE_RIGHT, IDLE = Function(73, 1), Function(74, 3), Function(0, 16)
BOAT = 2  # FRAME_CLASS
BESIDE = 0.02  # m from the middle at which a thruster steers
AHEAD = 0.7  # the part along x of an axis that pushes ahead or back
TRIED_AT = 5.0  # m/s at which servos are tried


def rover_outputs(airframe: Airframe) -> Outputs:
    rotors = [_thruster(airframe, k) for k in range(len(airframe.rotors))]
    servos = [(STEERING, -yaw) if abs(yaw) > 0.0 else (IDLE, 1.0) for yaw in _yaws(airframe)]
    used = {function for function, _ in rotors + servos}
    if not used & {STEERING, THROTTLE_LEFT}:
        raise AutopilotFailed("steers boats, but nothing turns this one: it needs a rudder, or thrusters on both sides")
    params = {"FRAME_CLASS": BOAT, **params_of(used - {IDLE})}
    return Outputs(params, *([function.both_ways(sign) for function, sign in each] for each in (rotors, servos)))


def _thruster(airframe: Airframe, number: int) -> tuple[Function, float]:
    rotor, center = airframe.rotors[number], airframe.vehicle.center_of_mass
    axis = np.array(rotor.axis) / np.linalg.norm(rotor.axis)
    if abs(axis[0]) < AHEAD:
        raise AutopilotFailed(f"steers boats whose thrusters push ahead; rotor {number + 1} of this one does not")
    aside = rotor.position[1] - center[1]
    function = THROTTLE if abs(aside) < BESIDE else THROTTLE_LEFT if aside > 0 else THROTTLE_RIGHT
    return function, axis[0]


def _yaws(airframe: Airframe) -> np.ndarray:
    """What each servo does about z."""
    if not airframe.vehicle.servos:
        return np.zeros(0)
    return Aeroplane(airframe).effect(TRIED_AT)[2]
