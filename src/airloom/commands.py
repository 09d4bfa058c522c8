"""What a vehicle can be told to do."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

Vector = tuple[float, float, float]


class CommandError(ValueError):
    """A command that no vehicle can take; the message is meant for its sender."""


@dataclass(frozen=True)
class PositionYaw:
    """Be at a position (world, m) with a yaw (rad); velocity, acceleration and yaw rate are fed forward."""

    position: Vector
    yaw: float = 0.0
    velocity: Vector = (0.0, 0.0, 0.0)
    acceleration: Vector = (0.0, 0.0, 0.0)
    yaw_rate: float = 0.0

    def __post_init__(self) -> None:
        for name in ("position", "velocity", "acceleration"):
            value = getattr(self, name)
            if len(value) != 3:
                raise CommandError(f"{name} must have 3 numbers, got {len(value)}")
        numbers = (*self.position, *self.velocity, *self.acceleration, self.yaw, self.yaw_rate)
        if not all(isfinite(x) for x in numbers):
            raise CommandError(f"a command must hold finite numbers only, got {self}")
