"""What a vehicle can be told to do: a command for each control mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from functools import cache, cached_property
from math import cos, fabs, inf, sin
from typing import Any, ClassVar

from airloom.compiled import rows as row
from airloom.errors import Refusal

Vector = Sequence[float]
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
    """Base of all commands: three numbers for each vector, and only finite ones that are no plain mistake."""

    mode: ClassVar[Mode]
    first_row: ClassVar[int]
    """Where the numbers go in the workspace."""

    def __post_init__(self) -> None:
        for name, is_good, what in _checks(type(self)):  # type: ignore[arg-type]
            value = getattr(self, name)
            if value is not ZERO and not is_good(value):
                most = f"; no number may be greater than {EDGE:g}" if _is_too_large(value) else ""
                raise CommandError(f"{type(self).__name__}: {name} must be {what}, got {value!r}{most}")

    def numbers(self) -> tuple[float, ...]:
        raise NotImplementedError


def _is_number(value: Any) -> bool:
    try:
        return fabs(value) <= EDGE
    except (TypeError, OverflowError):
        return False


def _is_vector(value: Any) -> bool:
    try:
        x, y, z = value
        return len(value) == 3 and fabs(x) <= EDGE and fabs(y) <= EDGE and fabs(z) <= EDGE
    except (TypeError, ValueError, OverflowError):
        return False


def _is_too_large(value: Any) -> bool:
    numbers = value if isinstance(value, Sequence) else [value]
    return any(isinstance(number, int | float) and EDGE < abs(number) < inf for number in numbers)


@cache
def _checks(kind: type[Command]) -> list[tuple[str, Callable[[Any], bool], str]]:
    """For each field its name, what it must pass, and what that means."""
    names = {field.name: isinstance(field.default, tuple) for field in fields(kind)}
    vectors = {"position", "velocity", "torque", "attitude"} | {name for name, is_vector in names.items() if is_vector}
    return [
        (name, _is_vector, "three finite numbers") if name in vectors else (name, _is_number, "a finite number")
        for name in names
    ]


@dataclass(frozen=True)
class PositionYaw(Command):
    """Be at a position (world, m) with a yaw (rad); velocity, acceleration and yaw rate are fed forward."""

    mode = Mode.POSITION_YAW
    first_row = row.SPX
    position: Vector
    yaw: float = 0.0
    velocity: Vector = ZERO
    acceleration: Vector = ZERO
    yaw_rate: float = 0.0

    def numbers(self) -> tuple[float, ...]:
        yaw = (self.yaw, self.yaw_rate, cos(self.yaw), sin(self.yaw))
        return (*self.position, *self.velocity, *self.acceleration, *yaw)


@dataclass(frozen=True)
class VelocityYawRate(Command):
    """Move with a velocity (m/s, world, or along the vehicle's heading with `body_frame`) and turn with a yaw rate."""

    mode = Mode.VELOCITY_YAWRATE
    first_row = row.BVX
    velocity: Vector
    yaw_rate: float = 0.0
    acceleration: Vector = ZERO
    body_frame: bool = False

    def numbers(self) -> tuple[float, ...]:
        return (*self.velocity, *self.acceleration, self.yaw_rate, float(self.body_frame))


@dataclass(frozen=True)
class ThrustAttitude(Command):
    """Thrust (N) and attitude: roll, pitch, yaw turned in this order about the vehicle's own axes (rad)."""

    mode = Mode.THRUST_ATTITUDE
    first_row = row.ATHRUST
    thrust: float
    attitude: Vector = ZERO
    attitude_rates: Vector = ZERO

    def numbers(self) -> tuple[float, ...]:
        return (self.thrust, *self.attitude, *self.attitude_rates)


@dataclass(frozen=True)
class ThrustVelocity(Command):
    """Thrust (N) and angular velocity (rad/s, body, or world with `world`)."""

    mode = Mode.THRUST_VELOCITY
    first_row = row.RTHRUST
    thrust: float
    velocity: Vector = ZERO
    acceleration: Vector = ZERO
    world: bool = False

    def numbers(self) -> tuple[float, ...]:
        return (self.thrust, *self.velocity, *self.acceleration, float(self.world))


@dataclass(frozen=True)
class ThrustTorque(Command):
    """Thrust (N) and torque (N m, body, or world with `world`)."""

    mode = Mode.THRUST_TORQUE
    first_row = row.QTHRUST
    thrust: float
    torque: Vector = ZERO
    world: bool = False

    def numbers(self) -> tuple[float, ...]:
        return (self.thrust, *self.torque, float(self.world))


BY_MODE: dict[Mode, type[Command]] = {
    kind.mode: kind for kind in (PositionYaw, VelocityYawRate, ThrustAttitude, ThrustVelocity, ThrustTorque)
}
