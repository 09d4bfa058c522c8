"""Which of ArduPilot's outputs moves what, by its program and the vehicle's file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airloom.autopilots.autopilot import AutopilotFailed
from airloom.autopilots.layouts import LAYOUTS, outputs_of_rotors
from airloom.autopilots.plane_outputs import plane_outputs
from airloom.autopilots.pulses import Outputs, Pulse
from airloom.autopilots.rover_outputs import rover_outputs
from airloom.autopilots.sub_outputs import sub_outputs

if TYPE_CHECKING:
    from airloom.autopilots.ardupilot_programs import ProgramName
    from airloom.vehicles.airframe import Airframe


def outputs_of(
    program: ProgramName, airframe: Airframe, frame: str | None, motors: list[int] | None, ends: tuple[int, int]
) -> Outputs:
    """`frame`, `motors` and `ends` (at rest and at full speed) are as the scenario has them."""
    if program == "plane":
        return plane_outputs(airframe)
    if program == "sub":
        return sub_outputs(airframe, frame)
    if program == "rover":
        return rover_outputs(airframe)
    name, found = _layout(airframe, frame, motors)
    params: dict[str, float] = {"FRAME_CLASS": LAYOUTS[name].frame_class, "FRAME_TYPE": LAYOUTS[name].frame_type}
    return Outputs(params, [Pulse(motor, *ends) for motor in found], [])


def _layout(airframe: Airframe, frame: str | None, motors: list[int] | None) -> tuple[str, list[int]]:
    """The frame, and for each rotor the output that drives it."""
    if frame is not None and frame not in LAYOUTS:
        raise AutopilotFailed(f"knows no frame '{frame}': {', '.join(LAYOUTS)}")
    if frame is not None and motors is not None:
        return frame, motors
    for name in LAYOUTS if frame is None else [frame]:
        if found := outputs_of_rotors(LAYOUTS[name], airframe.rotors):
            return name, motors or found
    raise AutopilotFailed(
        f"flies {frame or ', '.join(LAYOUTS)}, but this vehicle has other rotors, by their places or the ways they "
        "turn; change them, or name both `frame` and `motors`"
    )
