"""ArduSub's outputs: thrusters are found by what each does to the vehicle, whatever way round it is mounted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from airloom.autopilots.autopilot import AutopilotFailed
from airloom.autopilots.pulses import MIDDLE, Outputs, Pulse
from airloom.physics.rotor import push_per_speed_squared

if TYPE_CHECKING:
    from airloom.vehicles.airframe import Airframe

REACH = 400  # µs that a pulse goes from the middle
ALIKE = 0.75  # of 1: how well a thruster must do what its output is for
ROLL, PITCH, YAW, UP, AHEAD, RIGHT = np.eye(6)
"""What an output above the middle does: roll right, nose up, nose right, and forces."""


class Frame(NamedTuple):
    config: int
    """FRAME_CONFIG"""
    motors: np.ndarray
    """[motor, what it does]"""


def _frame(config: int, *motors: np.ndarray) -> Frame:
    return Frame(config, np.array([motor / np.linalg.norm(motor) for motor in motors]))


_VECTORED = (YAW - AHEAD + RIGHT, -YAW - AHEAD - RIGHT, -YAW + AHEAD + RIGHT, YAW + AHEAD - RIGHT)
FRAMES = {
    "bluerov": _frame(
        0, AHEAD - YAW, AHEAD + YAW, 0.5 * (PITCH - ROLL) + 0.45 * UP, 0.5 * (PITCH + ROLL) + 0.45 * UP, UP - PITCH,
        RIGHT - 0.25 * ROLL,
    ),
    "vectored": _frame(1, *_VECTORED, ROLL - UP, -ROLL - UP),
    "vectored_6dof": _frame(
        2, *_VECTORED, ROLL - PITCH - UP, -ROLL - PITCH - UP, ROLL + PITCH - UP, -ROLL + PITCH - UP
    ),
    "vectored_6dof_90": _frame(
        3, ROLL + PITCH + UP, AHEAD + YAW, ROLL - PITCH + UP, RIGHT, RIGHT, PITCH - ROLL + UP, AHEAD - YAW,
        UP - ROLL - PITCH,
    ),
    "simple_rov_3": _frame(4, AHEAD - YAW, AHEAD + YAW, -UP),
    "simple_rov_5": _frame(6, AHEAD - YAW, AHEAD + YAW, ROLL - UP, -ROLL - UP, RIGHT),
}  # fmt: skip
"""By how ArduSub mixes: 1 front right, 2 front left, 3 back right, 4 back left of those that are vectored."""


def sub_outputs(airframe: Airframe, frame: str | None) -> Outputs:
    if frame is not None and frame not in FRAMES:
        raise AutopilotFailed(f"knows no frame '{frame}': {', '.join(FRAMES)}")
    doings = _doings(airframe)
    matches = [_matched(FRAMES[name], doings) for name in (FRAMES if frame is None else [frame])]
    best = max(matches, key=lambda match: match.worst)
    if best.worst < ALIKE:
        raise AutopilotFailed(
            f"steers {frame or ', '.join(FRAMES)}, but this vehicle has other thrusters, by their places and axes"
        )
    ends = {"MOT_PWM_MIN": MIDDLE - REACH, "MOT_PWM_MAX": MIDDLE + REACH}
    return Outputs({"FRAME_CONFIG": best.frame.config, **ends}, list(map(_pulse, best.motors, best.likeness)), [])


class Match(NamedTuple):
    frame: Frame
    motors: np.ndarray
    """Of each rotor, from 0."""
    likeness: np.ndarray
    """Of each rotor to its motor, from −1, the other way round, to 1."""

    @property
    def worst(self) -> float:
        """Of any rotor; 0 if the frame has a motor that no rotor is like."""
        found, all_ = (np.unique(motors, axis=0) for motors in (self.frame.motors[self.motors], self.frame.motors))
        return float(np.abs(self.likeness).min()) if len(found) == len(all_) else 0.0


def _matched(frame: Frame, doings: np.ndarray) -> Match:
    likeness = frame.motors @ doings.T
    motors = np.abs(likeness).argmax(axis=0)
    return Match(frame, motors, likeness[motors, np.arange(motors.size)])


def _doings(airframe: Airframe) -> np.ndarray:
    """[rotor, what it does], of length 1: torques are as large as forces at the longest arm."""
    center = airframe.vehicle.center_of_mass
    pushes = np.array([push_per_speed_squared(rotor, center) / rotor.thrust_constant for rotor in airframe.rotors])
    pushes[:, 3:] /= np.abs(pushes[:, 3:]).max() or 1.0
    doings = np.hstack([pushes[:, 3:], pushes[:, [2, 0, 1]]]) * np.array([1.0, -1.0, -1.0, 1.0, 1.0, -1.0])
    return doings / np.linalg.norm(doings, axis=1)[:, None]


def _pulse(motor: int, likeness: float) -> Pulse:
    return Pulse(int(motor) + 1, MIDDLE, MIDDLE + (REACH if likeness > 0 else -REACH), -1)
