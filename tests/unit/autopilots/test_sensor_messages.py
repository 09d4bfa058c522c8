"""What PX4 is told: units, axes, and only what is new."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as pymavlink

from airloom.autopilots import mavlink_wire as mavlink
from airloom.autopilots import sensor_messages as messages
from airloom.compiled import rows
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.sensors.sensor import READING_WIDTH
from airloom.world.ground import W_ALTITUDE, W_HEADER, W_LATITUDE, W_LONGITUDE


def heard(number, fields, values):
    """What pymavlink makes of it."""
    data = np.zeros(mavlink.LONGEST_FRAME, np.uint8)
    end = mavlink.write(np.array([1, 1, 0]), number, fields, values, data, 0)
    return pymavlink.MAVLink(None).parse_buffer(data[:end].tobytes())[0]


class Sensors:
    def __init__(self):
        self.readings, self.stamps = np.zeros((messages.KINDS, READING_WIDTH)), np.full(messages.KINDS, -1)
        self.table = np.zeros((messages.KINDS, messages.SENSOR_COLUMNS), np.int64)
        for kind, first in enumerate(self.table):
            first[:] = self.readings[kind:].ctypes.data, self.stamps[kind:].ctypes.data, -1

    def publish(self, kind, *reading):
        self.readings[kind, : len(reading)] = reading
        self.stamps[kind] += 1

    def told(self):
        values = np.full(messages.MOST_VALUES, 7.0)
        values[0] = 4000
        messages.fill_sensors(self.table.reshape(-1), values)
        return heard(mavlink.HIL_SENSOR, mavlink.HIL_SENSOR_FIELDS, values)


def test_sensors_have_px4s_units_and_axes():
    sensors = Sensors()
    sensors.publish(messages.IMU, 0.1, 0.2, 0.3, 1.0, 2.0, 9.8)
    sensors.publish(messages.MAGNETOMETER, 21e-6, 1e-6, -43e-6)
    sensors.publish(messages.BAROMETER, 95_461.0, 284.9)
    told = sensors.told()
    assert (told.time_usec, told.id, told.fields_updated) == (4000, 0, 0x1BFF)
    assert (told.xgyro, told.ygyro, told.zgyro) == pytest.approx((0.1, -0.2, -0.3))
    assert (told.xacc, told.yacc, told.zacc) == pytest.approx((1.0, -2.0, -9.8))
    assert (told.xmag, told.ymag, told.zmag) == pytest.approx((0.21, -0.01, 0.43))
    assert told.abs_pressure == pytest.approx(954.61)
    assert told.pressure_alt == pytest.approx(500.0, abs=1.0), "954.61 hPa is 500 m in the standard atmosphere"
    assert told.temperature == pytest.approx(11.75)
    sensors.publish(messages.AIRSPEED, 20.0)
    told = sensors.told()
    assert (told.fields_updated, told.diff_pressure) == (messages.AIRSPEED_FIELDS, pytest.approx(2.45)), "½ ρ v², hPa"


def test_only_what_is_new_is_told():
    sensors = Sensors()
    assert sensors.told().fields_updated == 0, "nothing has been measured yet"
    sensors.publish(messages.MAGNETOMETER, 21e-6, 1e-6, -43e-6)
    assert sensors.told().fields_updated == messages.MAGNETOMETER_FIELDS
    told = sensors.told()
    assert (told.fields_updated, told.xmag) == (0, 0.0)
    sensors.table[messages.IMU] = 0
    sensors.publish(messages.IMU, 0.1, 0.2, 0.3)
    assert sensors.told().fields_updated == 0, "a sensor that the vehicle does not have"


def test_a_fix():
    values = np.full(messages.MOST_VALUES, 7.0)
    messages.fill_gps(np.array([47.397742, -8.545594, 488.1234, -3.0, 4.0, 0.5]), values)
    told = heard(mavlink.HIL_GPS, mavlink.HIL_GPS_FIELDS, values)
    assert (told.lat, told.lon, told.alt) == (473_977_420, -85_455_940, 488_123)
    assert (told.vn, told.ve, told.vd, told.vel) == (400, -300, -50, 500)
    assert told.cog == pytest.approx(36_000 - 3687, abs=1)
    assert (told.fix_type, told.eph, told.epv) == (3, 30, 40)


@pytest.mark.parametrize(("distance", "expected"), [(1.234, 123), (-np.inf, 9), (np.inf, 4001)])
def test_a_distance(distance, expected):
    values = np.full(messages.MOST_VALUES, 7.0)
    messages.fill_distance(distance, 10, 4000, 8_000_000, values)
    told = heard(mavlink.DISTANCE_SENSOR, mavlink.DISTANCE_SENSOR_FIELDS, values)
    assert (told.time_boot_ms, told.min_distance, told.max_distance) == (8000, 10, 4000)
    assert (told.current_distance, told.orientation) == (expected, pymavlink.MAV_SENSOR_ROTATION_PITCH_270)


def test_the_truth():
    w, world, values, lane = np.zeros(rows.WIDTH), np.zeros(W_HEADER), np.full(messages.MOST_VALUES, 7.0), 3
    world[W_LATITUDE], world[W_LONGITUDE], world[W_ALTITUDE] = np.radians(47.0), np.radians(8.0), 488.0
    for first, numbers in {
        rows.PX: (0, 0, 12), rows.QW: (1, 0, 0, 0), rows.VX: (1, 2, 3), rows.WX: (0.1, 0.2, 0.3),
        rows.MEAN_AX: (0, 0, 9.80665), rows.WINDX: (1, 0, 3),
    }.items():  # fmt: skip
        w[first + lane : first + lane + len(numbers) * LANES : LANES] = numbers
    messages.fill_truth(w, lane, world, values)
    told = heard(mavlink.HIL_STATE_QUATERNION, mavlink.HIL_STATE_QUATERNION_FIELDS, values)
    assert told.attitude_quaternion == pytest.approx([sqrt(0.5), 0, 0, sqrt(0.5)]), "a nose to the east"
    assert (told.rollspeed, told.pitchspeed, told.yawspeed) == pytest.approx((0.1, -0.2, -0.3))
    assert (told.lat, told.lon, told.alt) == (470_000_000, 80_000_000, 500_000)
    assert (told.vx, told.vy, told.vz, told.true_airspeed) == (200, 100, -300, 200)
    assert (told.xacc, told.yacc, told.zacc) == (0, 0, -1000)


def test_outputs_turn_rotors():
    rotors, lane = np.zeros(4 * row.ROTOR_WIDTH), 2
    rotors[row.MAX_SPEED + lane :: row.ROTOR_WIDTH] = 100.0
    values = np.zeros(messages.MOST_VALUES)
    values[messages.FIRST_CONTROL :][:4] = 0.5, np.nan, 2.0, -1.0
    messages.turn_rotors(values, np.array([2, 0, 1, 3]), rotors, lane)
    assert rotors[row.TARGET + lane :: row.ROTOR_WIDTH].tolist() == [100.0, 50.0, 0.0, 0.0]


def test_outputs_after_those_of_the_rotors_move_servos():
    w, lane, values = np.zeros(row.WIDTH), 2, np.zeros(messages.MOST_VALUES)
    values[messages.FIRST_CONTROL :][:5] = 0.7, -0.5, np.nan, 2.0, 0.25
    messages.move_servos(values, 1, 4, w, lane)
    assert w[row.SERVO + lane :: row.LANES][:4].tolist() == [-0.5, 0.0, 1.0, 0.25]
