"""What the sensors of a vehicle read as values of MAVLink's messages to autopilots, and outputs as speeds of rotors
and angles of servos.

HIL_SENSOR, HIL_GPS, DISTANCE_SENSOR, HIL_STATE_QUATERNION; HIL_ACTUATOR_CONTROLS.
"""

from __future__ import annotations

from math import atan2, isfinite, pi, sqrt

from airloom.autopilots.axes import frd_from_flu, ned_frd_from_enu_flu, ned_from_enu
from airloom.compiled import compiled, integers_at, numbers_at
from airloom.compiled import rows as row
from airloom.sensors.sensor import READING_WIDTH
from airloom.world.atmosphere import EXPONENT, LAPSE, STANDARD_DENSITY
from airloom.world.geodesy import local_to_geodetic
from airloom.world.ground import W_ALTITUDE, W_LATITUDE, W_LONGITUDE

# Sensors that autopilots are told of, and of each: addresses of its reading and of its stamp, and the last stamp that
# was told.
IMU, MAGNETOMETER, BAROMETER, GNSS, RANGEFINDER, AIRSPEED, KINDS = range(7)
READING_AT, STAMP_AT, LAST_STAMP, SENSOR_COLUMNS = range(4)

MOST_VALUES = 24
FIRST_CONTROL = 2  # of the values of HIL_ACTUATOR_CONTROLS: after time and flags

IMU_FIELDS, MAGNETOMETER_FIELDS, BAROMETER_FIELDS, AIRSPEED_FIELDS = 0x03F, 0x1C0, 0x1A00, 0x400
GAUSS, HECTOPASCAL, CELSIUS = 1e4, 1e-2, 273.15
DEGREES, E7 = 180.0 / pi, 1e7
STANDARD_PRESSURE, STANDARD_TEMPERATURE, STANDARD_GRAVITY = 101325.0, 288.15, 9.80665
ACCURACY, VERTICAL_ACCURACY = 30.0, 40.0  # cm, of a position by GNSS as its receiver believes
FIX_3D, SATELLITES = 3, 12
LASER, DOWN = 0, 25  # kinds of distance sensor and of its direction, by MAVLink


@compiled
def turn_rotors(values, motors, rotors, i):
    """The share of its most speed that output motors[k] gives rotor k."""
    for k in range(motors.size):
        rotor = k * row.ROTOR_WIDTH + i
        share = values[FIRST_CONTROL + motors[k]]
        rotors[rotor + row.TARGET] = rotors[rotor + row.MAX_SPEED] * (
            min(max(share, 0.0), 1.0) if isfinite(share) else 0.0
        )


@compiled
def move_servos(values, first, count, w, i):
    """Outputs from `first` on, −1 … 1, are those of the servos in their order."""
    for k in range(count):
        told = values[FIRST_CONTROL + first + k]
        w[row.SERVO + k * row.LANES + i] = min(max(told, -1.0), 1.0) if isfinite(told) else 0.0


@compiled
def new_reading(sensors, kind):
    """Where the reading is that a sensor has published since this was last asked; 0 if there is none."""
    at = kind * SENSOR_COLUMNS
    if sensors[at + STAMP_AT] == 0:
        return 0
    stamp = integers_at(sensors[at + STAMP_AT], 1)[0]
    if stamp == sensors[at + LAST_STAMP]:
        return 0
    sensors[at + LAST_STAMP] = stamp
    return sensors[at + READING_AT]


@compiled
def fill_sensors(sensors, values):
    """HIL_SENSOR, whose fields that are not new are zeros; gives which are new."""
    for k in range(1, 16):
        values[k] = 0.0
    fields = 0
    at = new_reading(sensors, IMU)
    if at != 0:
        r = numbers_at(at, READING_WIDTH)
        values[1], values[2], values[3] = frd_from_flu(r[3], r[4], r[5])
        values[4], values[5], values[6] = frd_from_flu(r[0], r[1], r[2])
        fields |= IMU_FIELDS
    at = new_reading(sensors, MAGNETOMETER)
    if at != 0:
        r = numbers_at(at, READING_WIDTH)
        values[7], values[8], values[9] = frd_from_flu(r[0] * GAUSS, r[1] * GAUSS, r[2] * GAUSS)
        fields |= MAGNETOMETER_FIELDS
    at = new_reading(sensors, BAROMETER)
    if at != 0:
        r = numbers_at(at, READING_WIDTH)
        values[10], values[13] = r[0] * HECTOPASCAL, r[1] - CELSIUS
        values[12] = STANDARD_TEMPERATURE / LAPSE * (1.0 - (r[0] / STANDARD_PRESSURE) ** (1.0 / EXPONENT))
        fields |= BAROMETER_FIELDS
    at = new_reading(sensors, AIRSPEED)
    if at != 0:
        airspeed = numbers_at(at, READING_WIDTH)[0]
        values[11] = 0.5 * STANDARD_DENSITY * airspeed * airspeed * HECTOPASCAL
        fields |= AIRSPEED_FIELDS
    values[14] = fields
    return fields


@compiled
def fill_gps(r, values):
    east, north, up = r[3], r[4], r[5]
    values[1], values[2], values[3] = r[0] * E7, r[1] * E7, r[2] * 1e3
    values[4], values[5] = ACCURACY, VERTICAL_ACCURACY
    values[6] = 100.0 * sqrt(east * east + north * north)
    values[7], values[8], values[9] = 100.0 * north, 100.0 * east, -100.0 * up
    values[10] = 100.0 * (atan2(east, north) * DEGREES % 360.0)
    values[11], values[12], values[13], values[14] = FIX_3D, SATELLITES, 0.0, 0.0


@compiled
def fill_distance(distance, nearest, farthest, time, values):
    """What is out of range is said as just beyond."""
    values[0], values[1], values[2] = time // 1000, nearest, farthest
    values[3] = min(max(100.0 * distance, nearest - 1.0), farthest + 1.0)
    values[4], values[5], values[6], values[7] = LASER, 0.0, DOWN, 0.0
    for k in range(8, 15):
        values[k] = 0.0


@compiled
def fill_truth(w, i, world, values):
    """HIL_STATE_QUATERNION, which PX4 only writes to its log, beside its estimate."""
    values[1], values[2], values[3], values[4] = ned_frd_from_enu_flu(
        w[row.QW + i], w[row.QX + i], w[row.QY + i], w[row.QZ + i]
    )
    values[5], values[6], values[7] = frd_from_flu(w[row.WX + i], w[row.WY + i], w[row.WZ + i])
    latitude, longitude, altitude = local_to_geodetic(
        w[row.PX + i], w[row.PY + i], w[row.PZ + i], world[W_LATITUDE], world[W_LONGITUDE], world[W_ALTITUDE]
    )
    values[8], values[9], values[10] = latitude * DEGREES * E7, longitude * DEGREES * E7, altitude * 1e3
    values[11], values[12], values[13] = ned_from_enu(
        100.0 * w[row.VX + i], 100.0 * w[row.VY + i], 100.0 * w[row.VZ + i]
    )
    x, y, z = w[row.VX + i] - w[row.WINDX + i], w[row.VY + i] - w[row.WINDY + i], w[row.VZ + i] - w[row.WINDZ + i]
    values[14] = values[15] = 100.0 * sqrt(x * x + y * y + z * z)
    milli = 1e3 / STANDARD_GRAVITY
    values[16], values[17], values[18] = ned_from_enu(
        milli * w[row.MEAN_AX + i], milli * w[row.MEAN_AY + i], milli * w[row.MEAN_AZ + i]
    )
