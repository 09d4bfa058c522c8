"""The vertical axis of a plot: an offset and a power of ten that keep its numbers readable.

The chart writes at most three digits after the decimal point, and it fails on a curve that hardly differs from a
constant. Curves are therefore drawn as (value - offset) / 10^exponent, and the label of the axis says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np

FINEST = {"T": 1e-10, "°": 1e-9}
"""Differences below these are rounding, by unit; below 1e-6 for others."""
LEAST_PART = 0.003
"""A curve whose span is a smaller part of its largest number is drawn from an offset."""
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Axis:
    offset: float = 0.0
    exponent: int = 0

    @classmethod
    def of(cls, low: float, high: float) -> Axis:
        offset = 0.0
        if 0.0 < high - low < LEAST_PART * max(abs(low), abs(high)):
            step = 10.0 ** ceil(log10(high - low) + 1.0)
            offset = round(0.5 * (low + high) / step) * step
        largest = max(abs(low - offset), abs(high - offset))
        small = 0.0 < largest < 0.01
        return cls(offset, 3 * floor(log10(largest) / 3.0) if small else 0)

    def suits(self, low: float, high: float) -> bool:
        """Whether numbers in this range can be read on it. It stays while they can, so that it does not flicker."""
        largest = max(abs(low - self.offset), abs(high - self.offset)) / 10.0**self.exponent
        flat = high == low and self.offset == 0.0
        distinct = (high - low) / 10.0**self.exponent > LEAST_PART * largest
        return (flat or distinct) and (0.01 <= largest < 1e4 or (self.exponent == 0 and not 0.0 < largest < 0.01))

    def draw(self, column: np.ndarray) -> np.ndarray:
        return (column - self.offset) / 10.0**self.exponent

    def label(self, unit: str) -> str:
        power = f" × 10{str(self.exponent).translate(_SUPERSCRIPTS)}" if self.exponent else ""
        start = f", from {self.offset:.12g}" if self.offset else ""
        return f"{unit}{power}{start}"


def without_rounding(columns: list[np.ndarray], unit: str) -> tuple[list[np.ndarray], float, float]:
    """The columns and their range, NaN if they hold no number; what differs by rounding alone becomes a constant."""
    numbers = np.concatenate([column[np.isfinite(column)] for column in columns])
    if not len(numbers):
        return columns, np.nan, np.nan
    low, high = float(numbers.min()), float(numbers.max())
    finest = max(FINEST.get(unit, 1e-6), 1e-9 * max(abs(low), abs(high)))
    if high - low >= finest:
        return columns, low, high
    middle = round(0.5 * (low + high) / finest) * finest
    return [np.where(np.isfinite(column), middle, np.nan) for column in columns], middle, middle
