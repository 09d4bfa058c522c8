"""What the pulses of an autopilot's outputs mean to the rotors and servos of a vehicle."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

MIDDLE, HALF_WAY = 1500, 500
"""Of a pulse that goes both ways: its width in the middle, and how much farther it goes, µs."""


class Pulse(NamedTuple):
    """Of an output, for one rotor or servo: as a share of the way from `rest` to `full`, at most 1."""

    output: int
    """From 1."""
    rest: int
    """µs"""
    full: int
    least: int = 0
    """The least share: −1 if it goes both ways."""


class Outputs(NamedTuple):
    params: dict[str, float]
    """What the autopilot must know of them."""
    rotors: list[Pulse]
    servos: list[Pulse]
    """In the order of the vehicle's file."""


class Function(NamedTuple):
    """What one of ArduPilot's outputs is for."""

    number: int
    """As SERVOn_FUNCTION."""
    output: int
    """On which we put it."""
    rest: int = MIDDLE

    @property
    def params(self) -> dict[str, float]:
        name = f"SERVO{self.output}"
        return {
            f"{name}_FUNCTION": self.number, f"{name}_REVERSED": 0, f"{name}_TRIM": self.rest,
            f"{name}_MIN": MIDDLE - HALF_WAY, f"{name}_MAX": MIDDLE + HALF_WAY,
        }  # fmt: skip

    def both_ways(self, sign: float = 1.0) -> Pulse:
        """For who goes the way of the function if `sign` is positive, and the opposite way if not."""
        return Pulse(self.output, self.rest, self.rest + (HALF_WAY if sign > 0 else -HALF_WAY), -1)

    def one_way(self) -> Pulse:
        return Pulse(self.output, self.rest, MIDDLE + HALF_WAY)


def params_of(functions: Iterable[Function]) -> dict[str, float]:
    return {name: value for function in functions for name, value in function.params.items()}


def table_of(pulses: Iterable[Pulse]) -> np.ndarray:
    """Four numbers a pulse, outputs from 0, for the loop."""
    rows = [(pulse.output - 1, *pulse[1:]) for pulse in pulses]
    return np.array(rows, dtype=np.int64).reshape(-1)
