"""Where a vehicle is by its own sensor: a GNSS receiver, or odometry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import radians
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from airloom.basics.rotations import matrix_from_quaternion
from airloom.scenario import load
from airloom.scenario.errors import hint
from airloom.swarm.parameters import FlockParameters
from airloom.systems.selection import described
from airloom.world.geodesy import geodetic_to_local

if TYPE_CHECKING:
    from airloom.scenario.models import Origin, Vehicle

ToState = Callable[[np.ndarray], np.ndarray]
"""From a reading's numbers to position, m, and velocity, m/s, in the world's axes."""
KINDS = ("gnss", "odometry")


def to_state(kind: str, origin: Origin) -> ToState:
    """For a kind of sensor, in a world with this origin."""
    if kind == "odometry":
        return lambda numbers: np.concatenate([numbers[:3], matrix_from_quaternion(numbers[3:7]) @ numbers[7:10]])
    at = radians(origin.latitude), radians(origin.longitude), origin.altitude

    def from_gnss(numbers: np.ndarray) -> np.ndarray:
        place = geodetic_to_local(radians(numbers[0]), radians(numbers[1]), float(numbers[2]), *at)
        return np.array([*place, *numbers[3:6]])

    return from_gnss


def flock_in(scenario: str | Path, system: str = "flock") -> tuple[FlockParameters, ToState]:
    """How a scenario's flock flies, enabled or not, and how its members know by their sensors where they are.

    `scenario` is a file, or the name of a bundled scenario.
    """
    found = load(scenario)
    flock = FlockParameters.model_validate(found.systems[system].parameters)
    vehicle = described(found, flock.vehicles)[0]
    return flock, to_state(vehicle.sensors[flock.sensor].kind, found.world.origin)


def unfit(vehicle: Vehicle, sensor: str) -> Iterator[str]:
    """Why a vehicle cannot know by this sensor where it is."""
    able = [name for name, choice in vehicle.sensors.items() if choice.kind in KINDS]
    if sensor not in able:
        yield f"no GNSS or odometry sensor is called '{sensor}'{hint(sensor, able, 'It has')}"
    elif vehicle.sensors[sensor].parameters.get("earth") == "sphere":
        yield f"'{sensor}' tells places on a sphere, which do not fit the world: choose earth: wgs84"
