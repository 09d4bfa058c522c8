"""ArduPlane's outputs: by what each servo does to the aeroplane, its function and its sign are found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from airloom.autopilots.ardupilot_programs import lifts
from airloom.autopilots.autopilot import AutopilotFailed
from airloom.autopilots.layouts import LAYOUTS, outputs_of_rotors
from airloom.autopilots.pulses import HALF_WAY, MIDDLE, Function, Outputs, Pulse, params_of
from airloom.vehicles.aeroplane import Aeroplane, Trim

if TYPE_CHECKING:
    from airloom.vehicles.airframe import Airframe

AILERON, ELEVATOR, RUDDER = Function(4, 1), Function(19, 2), Function(21, 4)
THROTTLE = Function(70, 3, MIDDLE - HALF_WAY)
ELEVON_LEFT, ELEVON_RIGHT = Function(77, 1), Function(78, 2)
V_TAIL_LEFT, V_TAIL_RIGHT = Function(79, 2), Function(80, 4)
IDLE = Function(0, 16)  # on which nothing comes
LIFTS, MOTOR_1 = 5, 33  # the first output of rotors that lift a VTOL, and its function
MUCH = 0.5  # of what the strongest servo does about an axis
FLU_TO_FRD = np.array([1.0, -1.0, -1.0])  # roll right, pitch up, yaw right
FULL_OUTPUT = np.radians(45.0)
"""What ArduPlane's controllers give for a servo at its end."""
CRUISE, SLOWEST, FASTEST = 1.4, 1.15, 2.2  # × stall speed, as in control/plane.py
RATE = 5.0  # 1/s in which an error of a rate is put right


def plane_outputs(airframe: Airframe) -> Outputs:
    aeroplane = Aeroplane(airframe)
    answers = answers_of_servos(aeroplane)
    roles = [_role(answer, np.abs(answers).max(axis=1)) for answer in answers.T]
    used = {function for function, _ in filter(None, roles)} | {THROTTLE}
    rotors, lifting = _rotors(airframe)
    if lifting:
        lifting["Q_ASSIST_SPEED"] = round(SLOWEST * aeroplane.stall_speed)  # below which they help the wings
    servos = [IDLE.one_way() if role is None else role[0].both_ways(role[1]) for role in roles]
    return Outputs({**params_of(used), **lifting, **_tuning(aeroplane, answers)}, rotors, servos)


def answers_of_servos(aeroplane: Aeroplane) -> np.ndarray:
    """[axis, servo]: how an aeroplane at its cruising speed rolls right, pitches up and yaws right by each servo at its
    end, rad/s².
    """
    if not np.isfinite(aeroplane.stall_speed):
        raise AutopilotFailed("flies aeroplanes, but the surfaces of this vehicle do not lift it")
    way = np.array([max(servo.highest, -servo.lowest) for servo in aeroplane.airframe.vehicle.servos.values()])
    return FLU_TO_FRD[:, None] * aeroplane.effect(CRUISE * aeroplane.stall_speed) * way


def _role(answer: np.ndarray, most: np.ndarray) -> tuple[Function, float] | None:
    """Of a servo that rolls right, pitches up and yaws right so much; and whether it does as ArduPlane expects.

    ArduPlane's mixed outputs go up: the right elevon rolls right, and the left side of a V-tail yaws right.
    """
    rolls, pitches, yaws = np.abs(answer) > MUCH * np.maximum(most, 1e-9)
    roll, pitch, yaw = answer
    if rolls and pitches:
        return (ELEVON_RIGHT if roll * pitch > 0 else ELEVON_LEFT), pitch
    if rolls:
        return AILERON, roll
    if pitches and yaws:
        return (V_TAIL_LEFT if yaw * pitch > 0 else V_TAIL_RIGHT), pitch
    if pitches:
        return ELEVATOR, pitch
    return (RUDDER, yaw) if yaws else None


def _rotors(airframe: Airframe) -> tuple[list[Pulse], dict[str, float]]:
    """Those that pull are the throttle; those that lift are a frame of a multicopter, of which ArduPlane must know."""
    lifting = [rotor for rotor in airframe.rotors if lifts(rotor)]
    if not lifting:
        return [THROTTLE.one_way() for _ in airframe.rotors], {}
    for layout in LAYOUTS.values():
        if motors := outputs_of_rotors(layout, lifting):
            break
    else:
        raise AutopilotFailed(f"knows no frame for the rotors that lift this vehicle: {', '.join(LAYOUTS)}")
    functions = [Function(MOTOR_1 + motor - 1, LIFTS + motor - 1, MIDDLE - HALF_WAY) for motor in motors]
    of_lifting = iter(functions)
    pulses = [(next(of_lifting) if rotor in lifting else THROTTLE).one_way() for rotor in airframe.rotors]
    frame = {"Q_ENABLE": 1, "Q_FRAME_CLASS": layout.frame_class, "Q_FRAME_TYPE": layout.frame_type}
    return pulses, {**frame, "Q_M_PWM_MIN": MIDDLE - HALF_WAY, "Q_M_PWM_MAX": MIDDLE + HALF_WAY, **params_of(functions)}


def _tuning(aeroplane: Aeroplane, answers: np.ndarray) -> dict[str, float]:
    """Speeds, and gains of the rates: what ArduPlane's own tuning flight would find out.

    All servos together answer with a; the air damps by d. To hold a rate takes the share d/a of their way for each
    rad/s, and k/a puts an error of it right with k.
    """
    stall = aeroplane.stall_speed
    cruise, (servos, rotors) = CRUISE * stall, (answers.shape[1], len(aeroplane.airframe.rotors))
    damping = aeroplane.damping(Trim(cruise, 0.0, np.zeros(3), np.zeros(servos), np.zeros(rotors), 0.0))
    params = {
        "AIRSPEED_CRUISE": cruise, "AIRSPEED_MIN": round(SLOWEST * stall), "AIRSPEED_MAX": round(FASTEST * stall),
        "SCALING_SPEED": cruise,
    }  # fmt: skip
    for axis, name in enumerate(("RLL", "PTCH")):
        answer = np.abs(answers[axis]).sum()
        if answer > 0.0:
            gain = FULL_OUTPUT / answer
            params[f"{name}_RATE_FF"] = gain * max(damping[axis], 0.0)
            params[f"{name}_RATE_P"], params[f"{name}_RATE_I"] = gain * RATE, gain * RATE**2 / 4
            params[f"{name}_RATE_D"] = 0.0
    return {name: round(float(value), 4) for name, value in params.items()}
