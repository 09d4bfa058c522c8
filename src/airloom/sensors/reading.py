"""A sensor's reading as logic gets it, and as it travels between the loom and its members.

To a member a reading is a letter from `sensor:VEHICLE/SENSOR`, a name that no member can have: the time it was measured
in ns, then its numbers, all little-endian in eight bytes each.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

PREFIX = "sensor:"
_TIME = struct.Struct("<q")


class Reading(NamedTuple):
    """Something measured."""

    time_ns: int
    """When."""
    numbers: np.ndarray
    """In the order and the units of the sensor's message."""


def letter_of(vehicle: str, sensor: str, reading: Reading) -> tuple[str, bytes]:
    """Name and content of the letter that brings a reading to a member."""
    return f"{PREFIX}{vehicle}/{sensor}", _TIME.pack(reading.time_ns) + reading.numbers.astype("<f8").tobytes()


def reading_from(address: str, content: bytes) -> tuple[tuple[str, str], Reading]:
    """Vehicle and sensor, and the reading: the opposite of `letter_of`."""
    vehicle, _, sensor = address.removeprefix(PREFIX).partition("/")
    numbers = np.frombuffer(content, "<f8", offset=_TIME.size).astype(float)
    (time_ns,) = _TIME.unpack_from(content)
    return (vehicle, sensor), Reading(time_ns, numbers)
