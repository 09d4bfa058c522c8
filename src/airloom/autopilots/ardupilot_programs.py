"""ArduPilot's programs, one for each sort of vehicle, and which one a vehicle needs."""

from __future__ import annotations

from math import hypot
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from airloom.scenario.models import Rotor, Vehicle

BUILD = "ardupilot/build/sitl/bin"
UPRIGHT = 0.3  # of a rotor's axis: the part along z from which on it pushes up or down
LIFTING = 0.7  # and from which on it lifts an aeroplane
QUADPLANE_LOOP_RATE = 300.0  # Hz

ProgramName = Literal["copter", "plane", "sub", "rover"]


class ArduPilotProgram(NamedTuple):
    name: ProgramName
    """Of its target in ArduPilot's build."""
    defaults: str
    """File of parameters in ArduPilot's sources, seen from where they are built."""
    loop_rate: float
    """SCHED_LOOP_RATE, Hz, unless somebody has set it, or rotors lift a plane."""

    def loop_rate_for(self, vehicle: Vehicle) -> float:
        is_lifted = self.name == "plane" and any(map(lifts, vehicle.rotors.values()))
        return QUADPLANE_LOOP_RATE if is_lifted else self.loop_rate

    @property
    def flies(self) -> bool:
        return self.name in ("copter", "plane")

    @property
    def binary(self) -> str:
        return f"ardu{self.name}"

    @property
    def variable(self) -> str:
        """Of the environment, that names it."""
        return f"AIRLOOM_{self.binary.upper()}"

    @property
    def usual(self) -> tuple[str, ...]:
        """Where its build leaves it."""
        return f"~/{BUILD}/{self.binary}", f"{BUILD}/{self.binary}"

    @property
    def advice(self) -> str:
        return (
            f"Build ArduPilot's target '{self.name}' for the board 'sitl', and name the program by `binary`, by the "
            f"variable {self.variable} or in the PATH"
        )


PROGRAMS: dict[ProgramName, ArduPilotProgram] = {
    "copter": ArduPilotProgram("copter", "Tools/autotest/default_params/copter.parm", 400.0),
    "plane": ArduPilotProgram("plane", "Tools/autotest/models/plane.parm", 50.0),
    "sub": ArduPilotProgram("sub", "Tools/autotest/default_params/sub.parm", 400.0),
    "rover": ArduPilotProgram("rover", "Tools/autotest/default_params/rover.parm", 50.0),
}


def lifts(rotor: Rotor) -> bool:
    return rotor.axis[2] > LIFTING * hypot(*rotor.axis)


def program_for(vehicle: Vehicle) -> ProgramName:
    """One with wings flies as a plane; a hull dives if something pushes it up or down, and is a boat otherwise."""
    if vehicle.surfaces or vehicle.aerodynamics:
        return "plane" if vehicle.hull is None else "rover"
    if vehicle.hull is None:
        return "copter"
    return "sub" if any(abs(rotor.axis[2]) > UPRIGHT for rotor in vehicle.rotors.values()) else "rover"
