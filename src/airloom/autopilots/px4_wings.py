"""What PX4 must know of wings, servos and rotors that do not lift: its allocation does the mixing, and its gains are
those that the airframe asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from airloom.autopilots.plane_outputs import CRUISE, FASTEST, SLOWEST, answers_of_servos
from airloom.vehicles.aeroplane import Aeroplane, Trim

if TYPE_CHECKING:
    from airloom.vehicles.airframe import Airframe

MULTIROTOR, FIXED_WING, STANDARD_VTOL = 0, 1, 2  # CA_AIRFRAME
STARTS_FROM = {
    MULTIROTOR: "none_iris", FIXED_WING: "gazebo-classic_plane", STANDARD_VTOL: "gazebo-classic_standard_vtol",
}  # fmt: skip
"""Airframes of PX4 with its defaults for a kind of vehicle; what they say of one model is told anew."""
SERVO_1 = 201  # as the function of an output
CUSTOM = 12  # CA_SV_CSn_TYPE: torques about all axes, of either sign
LITTLE = 0.25  # of what the strongest servo does about an axis: is left to the air
TRIMMED = 0.6  # of their way, at most, that servos are away from the middle in cruise
RATE = 10.0  # 1/s in which an error of a rate is put right: fast enough to lift a nose wheel against the throttle
MOST_GAIN = 1.0  # of a rate, 1/(rad/s), for servos that can do little
MOST_TRIM = 0.5  # PX4's limit
STEEPEST = 0.35  # climb over speed: more throttle than this takes is never given
PUSHED = 0.3  # of the weight: what is left over to gain speed on the way from rotors to wings
TAKES_OVER = 0.9  # of the cruising speed, from which on a VTOL is flown on its wings
AXES = ("RR", "PR", "YR")


def kind_of(airframe: Airframe) -> int:
    if not airframe.vehicle.has_wings:
        return MULTIROTOR
    return STANDARD_VTOL if airframe.lifters.any() else FIXED_WING


def wing_params(airframe: Airframe, motors: np.ndarray, given: Mapping[str, float]) -> dict[str, float]:
    """`motors` are the outputs of the rotors, from 0; the servos have those after them. All is tuned for the cruising
    speed that is `given`, if it is.
    """
    kind = kind_of(airframe)
    if kind == MULTIROTOR:
        return {}
    aeroplane = Aeroplane(airframe.with_rotors(~airframe.lifters))
    answers = answers_of_servos(aeroplane)
    torques = _torques(answers)
    trim = aeroplane.trim(given.get("FW_AIRSPD_TRIM") or _cruise(aeroplane))
    params = {
        "CA_AIRFRAME": kind, **_axes(airframe, motors), **_surfaces(torques, len(motors)), **_speeds(aeroplane, trim),
        **_rates(aeroplane, trim, answers), **_energy(aeroplane, trim),
        "TRIM_PITCH": _pitch_trim(aeroplane, trim, torques), "RWTO_TKOFF": bool(airframe.vehicle.wheels),
    }  # fmt: skip
    if kind == STANDARD_VTOL:
        params |= _transition(aeroplane, trim)
    return {name: round(float(value), 4) for name, value in params.items()}


def _axes(airframe: Airframe, motors: np.ndarray) -> dict[str, float]:
    params: dict[str, float] = {}
    for motor, rotor in zip(motors, airframe.rotors, strict=True):
        x, y, z = np.array(rotor.axis) / np.linalg.norm(rotor.axis)
        params |= {f"CA_ROTOR{motor}_AX": x, f"CA_ROTOR{motor}_AY": -y, f"CA_ROTOR{motor}_AZ": -z}
    return params


def _surfaces(torques: np.ndarray, first: int) -> dict[str, float]:
    params: dict[str, float] = {"CA_SV_CS_COUNT": len(torques), "PWM_MAIN_REV": 0}
    for k, (roll, pitch, yaw) in enumerate(torques):
        name = f"CA_SV_CS{k}"
        params |= {f"{name}_TYPE": CUSTOM, f"{name}_TRQ_R": roll, f"{name}_TRQ_P": pitch, f"{name}_TRQ_Y": yaw}
        params[f"PWM_MAIN_FUNC{first + k + 1}"] = SERVO_1 + k
    return params


def _torques(answers: np.ndarray) -> np.ndarray:
    """[servo, axis]: the parts of what all do together; what is little beside another servo is left to the air."""
    strong = np.where(np.abs(answers) > LITTLE * np.abs(answers).max(axis=1, keepdims=True), answers, 0.0)
    return (strong / np.maximum(np.abs(strong).sum(axis=1, keepdims=True), 1e-9)).T


def _cruise(aeroplane: Aeroplane) -> float:
    """The slowest at which its servos have enough of their way left."""
    stall = aeroplane.stall_speed
    speeds = stall * np.arange(CRUISE, FASTEST / SLOWEST, 0.1)
    trimmed = (speed for speed in speeds if np.abs(_shares(aeroplane, aeroplane.trim(speed))).max() < TRIMMED)
    return float(next(trimmed, speeds[0]))


def _shares(aeroplane: Aeroplane, trim: Trim) -> np.ndarray:
    """Of their way by which servos are away from the middle."""
    return trim.angles / [max(servo.highest, -servo.lowest) for servo in aeroplane.airframe.vehicle.servos.values()]


def _pitch_trim(aeroplane: Aeroplane, trim: Trim, torques: np.ndarray) -> float:
    return float(np.clip(torques[:, 1] @ _shares(aeroplane, trim), -MOST_TRIM, MOST_TRIM))


def _speeds(aeroplane: Aeroplane, trim: Trim) -> dict[str, float]:
    stall, slower = aeroplane.stall_speed, SLOWEST / CRUISE
    return {
        "FW_AIRSPD_STALL": stall, "FW_AIRSPD_MIN": slower * trim.speed, "FW_AIRSPD_TRIM": trim.speed,
        "FW_AIRSPD_MAX": max(FASTEST * stall, trim.speed / slower),
    }  # fmt: skip


def _rates(aeroplane: Aeroplane, trim: Trim, answers: np.ndarray) -> dict[str, float]:
    """Gains as for ArduPlane, see `plane_outputs`; here a servo at its end is 1."""
    params: dict[str, float] = {}
    faster = (trim.speed / (CRUISE * aeroplane.stall_speed)) ** 2
    for name, answer, damping in zip(AXES, answers, aeroplane.damping(trim), strict=True):
        if (together := faster * np.abs(answer).sum()) > 0.0:
            params[f"FW_{name}_FF"] = min(max(damping, 0.0) / together, MOST_GAIN)
            params[f"FW_{name}_P"] = min(RATE / together, MOST_GAIN)
            params[f"FW_{name}_I"] = min(RATE**2 / 4 / together, MOST_GAIN)
    return params


def _energy(aeroplane: Aeroplane, trim: Trim) -> dict[str, float]:
    """Throttle is told as the share of the thrust at rest. Climb and sink are those with the most of it and with none.

    FW_PSP_OFF stays 0: PX4 1.17 takes it off its limits of pitch, but adds it to no pitch that it flies by itself.
    """
    frame = aeroplane.airframe
    weight, drag = frame.mass * frame.gravity, aeroplane.thrust(trim.speed, trim.speeds[0])
    fastest = min(rotor.max_speed for rotor in frame.rotors)
    speeds = np.linspace(trim.speeds[0], fastest, 100)
    climbs = np.array([(aeroplane.thrust(trim.speed, speed) - drag) / weight for speed in speeds])
    most = min(np.interp(STEEPEST, climbs, speeds) / fastest, 1.0) ** 2
    return {
        "FW_PSP_OFF": 0, "FW_THR_TRIM": (trim.speeds[0] / fastest) ** 2,
        "FW_THR_MIN": 0, "FW_THR_MAX": most, "RWTO_MAX_THR": most, "FW_THR_ASPD_MIN": 0, "FW_THR_ASPD_MAX": 0,
        "FW_T_CLMB_MAX": min(STEEPEST, climbs[-1]) * trim.speed, "FW_T_SINK_MIN": drag / weight * trim.speed,
        "FW_T_SINK_MAX": max(2 * drag / weight, 0.25) * trim.speed,
    }  # fmt: skip


def _transition(aeroplane: Aeroplane, trim: Trim) -> dict[str, float]:
    """From rotors to wings."""
    frame, most = aeroplane.airframe, min(rotor.max_speed for rotor in aeroplane.airframe.rotors)
    push = aeroplane.thrust(trim.speed, trim.speeds[0]) + PUSHED * frame.mass * frame.gravity
    return {
        "VT_ARSP_TRANS": TAKES_OVER * trim.speed, "VT_ARSP_BLEND": aeroplane.stall_speed,
        "VT_F_TRANS_THR": min(push / aeroplane.static_thrust(most), 1.0),
    }  # fmt: skip
