"""What a vehicle can be told to do: a command for each control mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from functools import cache, cached_property
from math import fabs, inf
from typing import Any, ClassVar, Self

import numpy as np

from airloom.compiled import rows as row
from airloom.errors import Refusal

Number = float | np.ndarray
Vector = Sequence[float] | np.ndarray
ZERO = (0.0, 0.0, 0.0)
EDGE = 1e6
"""The world ends so many metres from its origin, along each axis; nor may any other number of a command be greater."""


class CommandError(Refusal):
    """A command that no vehicle can take; the message is meant for its sender."""


class Mode(IntEnum):
    """Control modes, numbered as in uav_gazebo. A vehicle starts idle."""

    IDLE = 0
    POSITION_YAW = 1
    VELOCITY_YAWRATE = 2
    THRUST_ATTITUDE = 3
    THRUST_VELOCITY = 4
    THRUST_TORQUE = 5

    @classmethod
    def named(cls, name: str | int) -> Mode:
        """A mode by number, or by name in any case, with spaces, dashes or underscores."""
        try:
            if mode := _BY_LABEL.get(name):  # type: ignore[arg-type]
                return mode
            return cls(int(name)) if not isinstance(name, str) or name.isdigit() else cls[_as_key(name)]
        except (KeyError, TypeError, ValueError):
            known = ", ".join(f"{mode.value} {mode.label}" for mode in cls)
            raise CommandError(f"no control mode is called '{name}'; known are {known}") from None

    @cached_property
    def label(self) -> str:
        return self.name.lower()


_BY_LABEL = {mode.label: mode for mode in Mode}  # as most write it: this must be quick


def _as_key(name: str) -> str:
    return name.strip().upper().replace("-", "_").replace(" ", "_").replace("YAW_RATE", "YAWRATE")


@dataclass(frozen=True)
class Command:
    """Base of all commands: three numbers for each vector, and only finite ones that are no plain mistake.

    For a group any field may be an array with a row a vehicle: [vehicle, 3] for a vector, [vehicle] for a number.
    What is in them the group checks, which knows the vehicles' names.
    """

    mode: ClassVar[Mode]
    rows: ClassVar[tuple[int, ...]]
    """Where each field goes in the workspace, a vector with three rows. Nobody else says it, see `command_rows.py`."""
    is_for_many = False
    """Whether a field has a row a vehicle: only a group takes it."""

    def __post_init__(self) -> None:
        for name, is_good, dimensions, what in _checks(type(self)):  # type: ignore[arg-type]
            value = getattr(self, name)
            if value is ZERO or is_good(value):
                continue
            if not _has_rows(value, dimensions):
                raise CommandError(f"{type(self).__name__}: {name} must be {what}, got {value!r}{_hint(value)}")
            object.__setattr__(self, "is_for_many", True)

    def numbers(self) -> tuple[float, ...]:
        """Field by field as the class lists them."""
        raise NotImplementedError

    def numbers_for(self, count: int) -> np.ndarray:
        """The same for each of so many vehicles: [vehicle, number]."""
        alike: list[float] = []
        own = []
        for name, place in places(type(self)).items():  # type: ignore[arg-type]
            value, is_vector = getattr(self, name), isinstance(place, slice)
            if isinstance(value, np.ndarray) and value.ndim > is_vector:
                self._check_length(name, value, count)
                own.append((place, value))
                value = ZERO if is_vector else 0.0
            alike.extend(value if is_vector else (value,))
        numbers = np.empty((count, len(alike)))
        numbers[:] = alike
        for place, value in own:
            numbers[:, place] = value
        return numbers

    def _check_length(self, name: str, value: np.ndarray, count: int) -> None:
        if len(value) != count:
            kind = type(self).__name__
            raise CommandError(f"{kind}: {name} has {len(value)} rows, and the group {count} vehicles")

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Self:
        """The other way round."""
        return cls(*[numbers[place] for place in places(cls).values()])  # type: ignore[arg-type]

    def check_is_for_one(self, who: str) -> None:
        """Raise a CommandError if it is for many vehicles."""
        if self.is_for_many:
            raise CommandError(
                f"{who} takes a command for one vehicle; this {type(self).__name__} has a row a vehicle, for a group"
            )


def _is_number(value: Any) -> bool:
    try:
        return not (isinstance(value, np.ndarray) and value.ndim) and fabs(value) <= EDGE
    except (TypeError, OverflowError):
        return False


def _is_vector(value: Any) -> bool:
    try:
        x, y, z = value
        return len(value) == 3 and fabs(x) <= EDGE and fabs(y) <= EDGE and fabs(z) <= EDGE
    except (TypeError, ValueError, OverflowError):
        return False


def _has_rows(value: Any, dimensions: int) -> bool:
    """Whether it is an array with a row a vehicle."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf":
        return False
    return value.ndim == dimensions and value.shape[1:] in ((), (3,))


def _hint(value: Any) -> str:
    numbers = value if isinstance(value, Sequence) else [value]
    if any(isinstance(number, int | float) and EDGE < abs(number) < inf for number in numbers):
        return f"; no number may be greater than {EDGE:g}"
    if any(isinstance(number, list | tuple) for number in numbers):
        return "; for a group, give a NumPy array with a row a vehicle"
    return ""


@cache
def places(kind: type[Command]) -> dict[str, int | slice]:
    """Where each field lies among the numbers of a command: a vector takes three."""
    found: dict[str, int | slice] = {}
    at = 0
    for field in fields(kind):
        is_vector = field.type == "Vector"
        found[field.name] = slice(at, at + 3) if is_vector else at
        at += 3 if is_vector else 1
    return found


@cache
def _checks(kind: type[Command]) -> list[tuple[str, Callable[[Any], bool], int, str]]:
    """For each field its name, what it must pass, the dimensions of an array for many, and what must be said."""
    return [
        (name, _is_vector, 2, "three finite numbers")
        if isinstance(place, slice)
        else (name, _is_number, 1, "a finite number")
        for name, place in places(kind).items()  # type: ignore[arg-type]
    ]


@dataclass(frozen=True)
class PositionYaw(Command):
    """Be at a position (world, m) with a yaw (rad); velocity, acceleration and yaw rate are fed forward."""

    mode = Mode.POSITION_YAW
    rows = (row.SPX, row.SYAW, row.SVX, row.SAX, row.SYAWRATE)
    position: Vector
    yaw: Number = 0.0
    velocity: Vector = ZERO
    acceleration: Vector = ZERO
    yaw_rate: Number = 0.0

    def numbers(self) -> tuple[float, ...]:
        return (*self.position, self.yaw, *self.velocity, *self.acceleration, self.yaw_rate)


@dataclass(frozen=True)
class VelocityYawRate(Command):
    """Move with a velocity (m/s, world, or along the vehicle's heading with `body_frame`) and turn with a yaw rate."""

    mode = Mode.VELOCITY_YAWRATE
    rows = (row.BVX, row.BYAWRATE, row.BAX, row.B_IN_BODY)
    velocity: Vector
    yaw_rate: Number = 0.0
    acceleration: Vector = ZERO
    body_frame: bool | np.ndarray = False

    def numbers(self) -> tuple[float, ...]:
        return (*self.velocity, self.yaw_rate, *self.acceleration, self.body_frame)


@dataclass(frozen=True)
class ThrustAttitude(Command):
    """Thrust (N) and attitude: roll, pitch, yaw turned in this order about the vehicle's own axes (rad)."""

    mode = Mode.THRUST_ATTITUDE
    rows = (row.ATHRUST, row.AROLL, row.AROLLRATE)
    thrust: Number
    attitude: Vector = ZERO
    attitude_rates: Vector = ZERO

    def numbers(self) -> tuple[float, ...]:
        return (self.thrust, *self.attitude, *self.attitude_rates)


@dataclass(frozen=True)
class ThrustVelocity(Command):
    """Thrust (N) and angular velocity (rad/s, body, or world with `world`)."""

    mode = Mode.THRUST_VELOCITY
    rows = (row.RTHRUST, row.RX, row.RAX, row.R_IN_WORLD)
    thrust: Number
    velocity: Vector = ZERO
    acceleration: Vector = ZERO
    world: bool | np.ndarray = False

    def numbers(self) -> tuple[float, ...]:
        return (self.thrust, *self.velocity, *self.acceleration, self.world)


@dataclass(frozen=True)
class ThrustTorque(Command):
    """Thrust (N) and torque (N m, body, or world with `world`)."""

    mode = Mode.THRUST_TORQUE
    rows = (row.QTHRUST, row.QTX, row.Q_IN_WORLD)
    thrust: Number
    torque: Vector = ZERO
    world: bool | np.ndarray = False

    def numbers(self) -> tuple[float, ...]:
        return (self.thrust, *self.torque, self.world)


BY_MODE: dict[Mode, type[Command]] = {
    kind.mode: kind for kind in (PositionYaw, VelocityYawRate, ThrustAttitude, ThrustVelocity, ThrustTorque)
}
