"""ArduPilot's programs, one for each sort of vehicle, and which one a vehicle needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from airloom.scenario.models import Vehicle

BUILD = "ardupilot/build/sitl/bin"
UPRIGHT = 0.3  # of a rotor's axis: the part along z from which on it pushes up or down

ProgramName = Literal["copter", "plane", "sub", "rover"]


class ArduPilotProgram(NamedTuple):
    name: ProgramName
    """Of its target in ArduPilot's build."""
    defaults: str
    """File of parameters in ArduPilot's sources, seen from where they are built."""
    loop_rate: float
    """SCHED_LOOP_RATE, Hz, unless somebody has set it."""

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


def program_for(vehicle: Vehicle) -> ProgramName:
    """One with wings flies as a plane; a hull dives if something pushes it up or down, and is a boat otherwise."""
    if vehicle.surfaces or vehicle.aerodynamics:
        return "plane" if vehicle.hull is None else "rover"
    if vehicle.hull is None:
        return "copter"
    return "sub" if any(abs(rotor.axis[2]) > UPRIGHT for rotor in vehicle.rotors.values()) else "rover"
