"""What PX4 must know of wings, servos and rotors that do not lift; its allocation does the mixing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from airloom.autopilots.ardupilot_programs import lifts
from airloom.autopilots.plane_outputs import CRUISE, FASTEST, MUCH, SLOWEST, answers_of_servos
from airloom.vehicles.aeroplane import Aeroplane

if TYPE_CHECKING:
    from airloom.vehicles.airframe import Airframe

FIXED_WING, STANDARD_VTOL = 1, 2  # CA_AIRFRAME
SERVO_1 = 201  # as the function of an output
CUSTOM = 12  # CA_SV_CSn_TYPE: torques about all axes, of either sign


def wing_params(airframe: Airframe, motors: np.ndarray) -> dict[str, float]:
    """`motors` are the outputs of the rotors, from 0; the servos have those after them."""
    vehicle = airframe.vehicle
    if not (vehicle.surfaces or vehicle.aerodynamics):
        return {}
    aeroplane = Aeroplane(airframe)
    params: dict[str, float] = {}
    axes = [np.array(rotor.axis) / np.linalg.norm(rotor.axis) for rotor in airframe.rotors]
    for motor, (x, y, z) in zip(motors, axes, strict=True):
        params |= {f"CA_ROTOR{motor}_AX": x, f"CA_ROTOR{motor}_AY": -y, f"CA_ROTOR{motor}_AZ": -z}
    stall = aeroplane.stall_speed
    torques = _torques(answers_of_servos(aeroplane))
    params |= {
        "CA_AIRFRAME": STANDARD_VTOL if any(map(lifts, airframe.rotors)) else FIXED_WING,
        "CA_SV_CS_COUNT": len(torques), "FW_AIRSPD_STALL": stall, "FW_AIRSPD_MIN": SLOWEST * stall,
        "FW_AIRSPD_TRIM": CRUISE * stall, "FW_AIRSPD_MAX": FASTEST * stall,
    }  # fmt: skip
    for k, (roll, pitch, yaw) in enumerate(torques):
        name = f"CA_SV_CS{k}"
        params |= {f"{name}_TYPE": CUSTOM, f"{name}_TRQ_R": roll, f"{name}_TRQ_P": pitch, f"{name}_TRQ_Y": yaw}
        params[f"PWM_MAIN_FUNC{len(motors) + k + 1}"] = SERVO_1 + k
    return {name: round(float(value), 4) for name, value in params.items()}


def _torques(answers: np.ndarray) -> np.ndarray:
    """[servo, axis]: the parts of what all do together; what is little beside another servo is left to the air."""
    strong = np.where(np.abs(answers) > MUCH * np.abs(answers).max(axis=1, keepdims=True), answers, 0.0)
    return (strong / np.maximum(np.abs(strong).sum(axis=1, keepdims=True), 1e-9)).T
