"""Readings of a vehicle's sensors as the values of MAVLink's HIL_SENSOR and HIL_GPS, compiled."""

from __future__ import annotations

from math import atan2, hypot, pi
from typing import TYPE_CHECKING

import numpy as np

from airloom.autopilots.frames import frd_from_flu, ned_from_enu
from airloom.compiled import compiled
from airloom.sensors.barometer import Barometer
from airloom.sensors.gnss import Gnss
from airloom.sensors.imu import Imu
from airloom.sensors.magnetometer import Magnetometer
from airloom.sensors.sensor import DELAYED, READING
from airloom.world.atmosphere import EXPONENT, LAPSE

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle

KINDS = (Imu, Barometer, Magnetometer, Gnss)
IMU, BAROMETER, MAGNETOMETER, GNSS = range(4)
# The table of a vehicle's sensors, a row a kind: its row among all sensors (−1 for none), where its reading stands
# there, and when the one was measured that was told last.
ROW, PLACE, TOLD, TABLE_WIDTH = range(4)

ACCELERATION, RATES, FIELD, AIR = 0x7, 0x38, 0x1C0, 0x1A00
"""Bits of fields_updated."""
GAUSS, HECTOPASCAL, CELSIUS = 1e4, 0.01, -273.15
SEA_PRESSURE, SEA_TEMPERATURE = 101325.0, 288.15  # of the standard atmosphere, to which pressure altitude refers
FIX_3D, SATELLITES, DILUTION = 3, 10, 100.0  # what a receiver says that sees the sky
DEGREES = 180.0 / pi


class SensorTable:
    """Where the readings of a vehicle lie, in a fleet that may be replaced."""

    def __init__(self, sim: Simulation, vehicle: Vehicle) -> None:
        self._sim, self._vehicle = sim, vehicle
        self._fleet: object = None
        self.table = np.full((len(KINDS), TABLE_WIDTH), -1, np.int64)

    def keep_up(self) -> None:
        fleet = self._sim.fleet
        if self._fleet is fleet:
            return
        self._fleet, self.rows, self.stamps = fleet, fleet.sensing.rows, fleet.sensing.stamps
        self.table[:, ROW] = -1
        own = [(k, sensor) for k, sensor in enumerate(fleet.sensors) if sensor.vehicle == self._vehicle.name]
        for k, sensor in reversed(own):  # so that the first of each kind counts
            for row, kind in zip(self.table, KINDS, strict=True):
                if isinstance(sensor, kind):
                    row[ROW], row[PLACE] = k, READING if sensor.parameters.delay == 0 else DELAYED


@compiled
def is_new(sensor, stamps):
    """Whether there is a reading that has not been told; from now on it has."""
    if sensor[ROW] < 0 or stamps[sensor[ROW]] == sensor[TOLD]:
        return False
    sensor[TOLD] = stamps[sensor[ROW]]
    return True


@compiled
def sensor_values(time_us, table, rows, stamps, values):
    """HIL_SENSOR into `values`; gives its bits of what is new. What is not keeps its last value."""
    values[0], values[11], values[15] = time_us, 0.0, 0.0
    new = 0
    if is_new(table[IMU], stamps):
        r, at = rows[table[IMU, ROW]], table[IMU, PLACE]
        values[4], values[5], values[6] = frd_from_flu(r[at], r[at + 1], r[at + 2])
        values[1], values[2], values[3] = frd_from_flu(r[at + 3], r[at + 4], r[at + 5])
        new |= ACCELERATION | RATES
    if is_new(table[MAGNETOMETER], stamps):
        r, at = rows[table[MAGNETOMETER, ROW]], table[MAGNETOMETER, PLACE]
        values[7], values[8], values[9] = frd_from_flu(GAUSS * r[at], GAUSS * r[at + 1], GAUSS * r[at + 2])
        new |= FIELD
    if is_new(table[BAROMETER], stamps):
        r, at = rows[table[BAROMETER, ROW]], table[BAROMETER, PLACE]
        values[10] = HECTOPASCAL * r[at]
        values[12] = SEA_TEMPERATURE / LAPSE * (1.0 - (r[at] / SEA_PRESSURE) ** (1.0 / EXPONENT))
        values[13] = r[at + 1] + CELSIUS
        new |= AIR
    values[14] = new
    return new


@compiled
def place_values(time_us, table, rows, stamps, values):
    """HIL_GPS into `values`; gives whether it is new."""
    if not is_new(table[GNSS], stamps):
        return False
    r, at = rows[table[GNSS, ROW]], table[GNSS, PLACE]
    north, east, down = ned_from_enu(r[at + 3], r[at + 4], r[at + 5])
    values[0], values[1], values[2], values[3] = time_us, 1e7 * r[at], 1e7 * r[at + 1], 1e3 * r[at + 2]
    values[4], values[5], values[6] = DILUTION, DILUTION, 100.0 * hypot(north, east)
    values[7], values[8], values[9] = 100.0 * north, 100.0 * east, 100.0 * down
    values[10] = (100.0 * DEGREES * atan2(east, north)) % 36000.0
    values[11], values[12], values[13], values[14] = FIX_3D, SATELLITES, 0.0, 0.0
    return True
