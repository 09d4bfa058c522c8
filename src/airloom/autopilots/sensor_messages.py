"""Readings of a vehicle's sensors as the values of MAVLink's HIL_SENSOR and HIL_GPS, compiled."""

from __future__ import annotations

from math import atan2, hypot, pi
from typing import TYPE_CHECKING

import numpy as np

from airloom.autopilots.frames import frd_from_flu, ned_from_enu
from airloom.autopilots.lockstep import address
from airloom.compiled import compiled, integers_at, numbers_at
from airloom.sensors.barometer import Barometer
from airloom.sensors.gnss import Gnss
from airloom.sensors.imu import Imu
from airloom.sensors.magnetometer import Magnetometer
from airloom.sensors.sensor import DELAYED, READING, READING_WIDTH
from airloom.world.atmosphere import EXPONENT, LAPSE

if TYPE_CHECKING:
    from airloom.fleet import Fleet

KINDS = (Imu, Barometer, Magnetometer, Gnss)
IMU, BAROMETER, MAGNETOMETER, GNSS = range(len(KINDS))
# The table of a vehicle's sensors, so many columns for each kind: addresses of its reading (0 for none) and of the tick
# when that was measured, and the tick of the reading that was told last.
READING_AT, MEASURED_AT, TOLD, COLUMNS = range(4)
TABLE = len(KINDS) * COLUMNS

ACCELERATION, RATES, FIELD, AIR = 0x7, 0x38, 0x1C0, 0x1A00
"""Bits of fields_updated."""
GAUSS, HECTOPASCAL, CELSIUS = 1e4, 0.01, -273.15
SEA_PRESSURE, SEA_TEMPERATURE = 101325.0, 288.15  # of the standard atmosphere, to which pressure altitude refers
FIX_3D, SATELLITES, DILUTION = 3, 10, 100.0  # what a receiver says that sees the sky
DEGREES = 180.0 / pi


def fill_sensor_table(table: np.ndarray, fleet: Fleet, vehicle: str) -> None:
    """Find the readings of a vehicle in a fleet; the first sensor of each kind counts."""
    found = table.reshape(-1, COLUMNS)
    found[:, READING_AT] = 0
    for k, sensor in enumerate(fleet.sensors):
        if sensor.vehicle != vehicle:
            continue
        place = READING if sensor.parameters.delay == 0 else DELAYED
        for row, kind in zip(found, KINDS, strict=True):
            if isinstance(sensor, kind) and row[READING_AT] == 0:
                row[READING_AT] = address(fleet.sensing.rows[k, place:])
                row[MEASURED_AT] = address(fleet.sensing.stamps[k:])


@compiled
def _has_news(table, kind):
    """Whether there is a reading that has not been told; from now on it has."""
    row = table[kind * COLUMNS :]
    if row[READING_AT] == 0:
        return False
    measured = integers_at(row[MEASURED_AT], 1)[0]
    is_new = measured >= 0 and measured != row[TOLD]
    row[TOLD] = measured
    return is_new


@compiled
def sensor_values(time_us, table, values):
    """HIL_SENSOR into `values`; gives its bits of what is new. What is not keeps its last value."""
    values[0], values[11], values[15] = time_us, 0.0, 0.0
    new = 0
    if _has_news(table, IMU):
        r = numbers_at(table[IMU * COLUMNS + READING_AT], READING_WIDTH)
        values[4], values[5], values[6] = frd_from_flu(r[0], r[1], r[2])
        values[1], values[2], values[3] = frd_from_flu(r[3], r[4], r[5])
        new |= ACCELERATION | RATES
    if _has_news(table, MAGNETOMETER):
        r = numbers_at(table[MAGNETOMETER * COLUMNS + READING_AT], READING_WIDTH)
        values[7], values[8], values[9] = frd_from_flu(GAUSS * r[0], GAUSS * r[1], GAUSS * r[2])
        new |= FIELD
    if _has_news(table, BAROMETER):
        r = numbers_at(table[BAROMETER * COLUMNS + READING_AT], READING_WIDTH)
        values[10] = HECTOPASCAL * r[0]
        values[12] = SEA_TEMPERATURE / LAPSE * (1.0 - (r[0] / SEA_PRESSURE) ** (1.0 / EXPONENT))
        values[13] = r[1] + CELSIUS
        new |= AIR
    values[14] = new
    return new


@compiled
def place_values(time_us, table, values):
    """HIL_GPS into `values`; gives whether it is new."""
    if not _has_news(table, GNSS):
        return False
    r = numbers_at(table[GNSS * COLUMNS + READING_AT], READING_WIDTH)
    north, east, down = ned_from_enu(r[3], r[4], r[5])
    values[0], values[1], values[2], values[3] = time_us, 1e7 * r[0], 1e7 * r[1], 1e3 * r[2]
    values[4], values[5], values[6] = DILUTION, DILUTION, 100.0 * hypot(north, east)
    values[7], values[8], values[9] = 100.0 * north, 100.0 * east, 100.0 * down
    values[10] = (100.0 * DEGREES * atan2(east, north)) % 36000.0
    values[11], values[12], values[13], values[14] = FIX_3D, SATELLITES, 0.0, 0.0
    return True
