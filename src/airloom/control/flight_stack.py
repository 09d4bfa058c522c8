"""What guides, estimators and controllers share: compiled kernels over a block, or plain Python at their own rate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numba import types
from pydantic import Field

from airloom.commands import BY_MODE, Command, Mode, PositionYaw, ThrustAttitude, VelocityYawRate
from airloom.compiled import Kernel, call_by_address
from airloom.errors import UserError
from airloom.plugin import Parameters, Plugin

if TYPE_CHECKING:
    from airloom.vehicle import Vehicle
    from airloom.vehicles.airframe import Airframe

_Row = types.Array(types.float64, 1, "C")
BLOCK = types.void(_Row, _Row, types.int64)
"""`kernel(w, rotors, tick)`: estimate or control the eight vehicles of a block."""

GUIDE = types.void(_Row, types.int64, types.int64, _Row)
"""`kernel(w, lane, tick, plan)`: set the setpoint of one vehicle as its plan says, which is its memory, too."""
ARRIVED = 0
"""Where a guide notes in its plan whether the vehicle has arrived."""

call_block = call_by_address(BLOCK)
call_guide = call_by_address(GUIDE)


class StackError(UserError):
    """A vehicle and its flight stack do not fit; the message is meant for the user."""


def block_kernel(function) -> Kernel:
    """Make an estimator's or a controller's kernel of `f(w, rotors, tick)`, for the eight vehicles of a block."""
    return Kernel(function, BLOCK)


def guide_kernel(function) -> Kernel:
    """Make a guide's kernel of `f(w, i, tick, plan)`, which sets the setpoint of vehicle `i` as its plan says."""
    return Kernel(function, GUIDE)


class Rated(Parameters):
    rate: float = Field(250.0, gt=0, description="Hz")


class Estimator(Plugin):
    """Turns readings into an estimate of the state; `kernel` fills the workspace rows EPX … EWZ."""

    category = "estimator"
    Parameters: ClassVar[type[Parameters]] = Rated
    kernel: ClassVar[Kernel]
    needs: ClassVar[tuple[str, ...]] = ()
    """Kinds of sensor that the vehicle must carry."""

    def __init__(self, parameters: Rated) -> None:
        self.parameters = parameters

    def gains(self, step: float) -> list[float]:
        """Numbers for the kernel, one row each from FILTER_GAIN on."""
        return []


class Controller(Plugin):
    """Turns the estimate and the setpoint into rotor speeds.

    A compiled controller has a `kernel` and fills the TARGET row of every rotor. A plain Python one overrides
    `control` instead. Either way its parameters come from a file and can be changed at run time.
    """

    category = "controller"
    Parameters: ClassVar[type[Parameters]] = Rated
    kernel: ClassVar[Kernel | None] = None
    modes: ClassVar[tuple[int, ...]] = (1,)
    """Control modes it can fly besides idle; position and yaw unless it says otherwise."""
    flies: ClassVar[str] = "hovering"
    """How what it controls flies, which decides on the pilot of its missions: see `missions/pilots.py`."""
    faces_wind: ClassVar[bool] = False
    """Whether what it controls looks into the wind where it keeps a place."""
    alarms: ClassVar[Mapping[int, str]] = {}
    """Rows of its memory that are 1 while something is wrong, and what the run is told of it."""
    thrust_unit: ClassVar[str] = "controller's unit"
    """Of the thrust that it commands, for figures."""

    def __init__(self, parameters: Rated, airframe: Airframe) -> None:
        self.parameters, self.airframe = parameters, airframe
        self.check()

    @property
    def holds_within(self) -> float:
        """m from a setpoint at rest: who stays farther away cannot hold it."""
        return 0.5

    @property
    def top_speed(self) -> float:
        """Through what carries it, m/s."""
        return inf

    braking_frequency = 1.0
    """rad/s: it comes to a stop in as many metres as its speed, over this."""

    def check(self) -> None:
        """Raise StackError if this airframe cannot be flown."""

    def check_start(self, vehicle: Vehicle, height: float) -> None:
        """Raise StackError if a vehicle cannot begin as it does, so high above where it would stand."""

    def doubts(self) -> Iterable[str]:
        """What is odd about the airframe, which the run is told before it begins."""
        return ()

    def rates(self) -> dict[str, float]:
        """Rates that must divide the step, with the parameter each comes from."""
        return {"rate": self.parameters.rate}

    def gains(self, step_ns: int) -> list[float]:
        """Numbers for the kernel, one row each from GAIN on."""
        return []

    def wing_gains(self, step_ns: int) -> list[float]:
        """Likewise from WING_GAIN on, of a controller that flies on wings as well as on rotors."""
        return []

    def in_force(self) -> dict[str, Any]:
        """The parameters with what is left out in the file and tuned from the airframe filled in."""
        return self.parameters.model_dump()

    def holding(self, mode: Mode, vehicle: Vehicle) -> Command:
        """What a vehicle is told that shall stay where it is, as far as it can in this mode."""
        weight, yaw = vehicle.mass * self.airframe.gravity, float(vehicle.euler[2])
        if mode is Mode.POSITION_YAW:
            return PositionYaw(tuple(vehicle.position + vehicle.velocity / self.braking_frequency), yaw)
        if mode is Mode.VELOCITY_YAWRATE:
            return VelocityYawRate((0.0, 0.0, 0.0))
        if mode is Mode.THRUST_ATTITUDE:
            return ThrustAttitude(weight, (0.0, 0.0, yaw))
        return BY_MODE[mode](thrust=weight)  # type: ignore[call-arg]

    def reset(self) -> None:
        """Forget what was learned in flight; called before the first tick and at every reset."""

    def control(self, vehicle: Vehicle) -> np.ndarray:
        """Rotor speeds (rad/s) for the vehicle's present estimate and setpoint."""
        raise NotImplementedError
