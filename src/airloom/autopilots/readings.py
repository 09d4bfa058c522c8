"""Where the kernels of an autopilot find what the sensors of its vehicle read."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from airloom.autopilots import sensor_messages as told
from airloom.engines.lockstep import address
from airloom.sensors.air_data import Airspeed
from airloom.sensors.barometer import Barometer
from airloom.sensors.gnss import Gnss
from airloom.sensors.imu import Imu
from airloom.sensors.magnetometer import Magnetometer
from airloom.sensors.rangefinder import Rangefinder
from airloom.sensors.sensor import Sensor

if TYPE_CHECKING:
    from airloom.engines.fleet import Fleet
    from airloom.vehicle import Vehicle

SomeSensor = TypeVar("SomeSensor", bound=Sensor)
SENSORS: dict[type[Sensor], int] = {
    Imu: told.IMU, Magnetometer: told.MAGNETOMETER, Barometer: told.BAROMETER, Gnss: told.GNSS,
    Rangefinder: told.RANGEFINDER, Airspeed: told.AIRSPEED,
}  # fmt: skip
"""Rows of those that autopilots are told of."""


def sensors_of(vehicle: Vehicle, kind: type[SomeSensor]) -> list[SomeSensor]:
    """Those that are of use to an autopilot."""
    return [sensor for sensor in vehicle.sensors if isinstance(sensor, kind) and not _looks_aside(sensor)]


def _looks_aside(sensor: Sensor) -> bool:
    return isinstance(sensor, Rangefinder) and abs(sensor.parameters.pitch - pi / 2) > pi / 4


def table_of_readings() -> np.ndarray:
    """Of which nothing has been told yet."""
    table = np.zeros((len(SENSORS), told.SENSOR_COLUMNS), np.int64)
    table[:, told.LAST_STAMP] = -1
    return table


def find_readings(table: np.ndarray, fleet: Fleet, vehicle: Vehicle) -> None:
    """In a fleet that is new or was replaced; the first sensor of each kind counts."""
    for kind, k in SENSORS.items():
        row = table[k]
        row[[told.READING_AT, told.STAMP_AT]] = 0
        for sensor in sensors_of(vehicle, kind)[:1]:
            s = fleet.sensor_index[vehicle.name, sensor.name]
            row[told.READING_AT], row[told.STAMP_AT] = address(fleet.reading(sensor)), address(fleet.sensing.stamps[s:])
