"""PX4's simulator interface, compiled: what the sensors of a vehicle read, as MAVLink, and the outputs that come back.

A HIL_SENSOR moves PX4's clock on to the time it names, and PX4 begins to think; HIL_ACTUATOR_CONTROLS with the same
time says that it has finished.
"""

from __future__ import annotations

from math import atan2, isfinite, pi, sqrt

from airloom.autopilots.frames import frd_from_flu, ned_frd_from_enu_flu, ned_from_enu
from airloom.autopilots.lockstep import FILE, OWN, RESULT, STEP_NS, frame_kernel
from airloom.autopilots.mavlink_wire import (
    DISTANCE_SENSOR, DISTANCE_SENSOR_FIELDS, FOUND, HIL_ACTUATOR_CONTROLS, HIL_ACTUATOR_CONTROLS_FIELDS, HIL_GPS,
    HIL_GPS_FIELDS, HIL_SENSOR, HIL_SENSOR_FIELDS, HIL_STATE_QUATERNION, HIL_STATE_QUATERNION_FIELDS, LONGEST_FRAME,
    NEXT, NUMBER, SPEAKER, find, read, write,
)  # fmt: skip
from airloom.autopilots.transcript import HEARD, TOLD, note
from airloom.compiled import bytes_at, compiled, integers_at, numbers_at
from airloom.physics.rows import (
    MAX, MAX_SPEED, MAY, MAZ, PX, PY, PZ, QW, QX, QY, QZ, ROTOR_WIDTH, TARGET, VX, VY, VZ, WINDX, WINDY,
    WINDZ, WX, WY, WZ,
)  # fmt: skip
from airloom.sensors.sensor import READING_WIDTH
from airloom.system_calls import NO_SIGNAL, recv, send
from airloom.world.atmosphere import EXPONENT, LAPSE
from airloom.world.geodesy import local_to_geodetic
from airloom.world.ground import W_ALTITUDE, W_HEIGHTS, W_LATITUDE, W_LONGITUDE

ANSWERED = 0
NOT_HEARD, NOT_AWAITED, AWAKE, AHEAD, PARTED = -1, -2, -3, -4, -5
"""Results of hearing: nothing yet; nothing to wait for; the first answer, from which on each frame has one; an answer
for a time that has not been told; the connection is gone."""

# Columns of the wire: frames to send, how long they are and how much was sent; the time whose answer is awaited, and
# whether it has ever answered; the stream that comes, and which part of it is unread; room for values, for who speaks
# and for what was found; the sensors, and the range of the rangefinder in cm; the world; the rotors' outputs.
(
    DATA, SIZE, SENT, AWAITED, IS_AWAKE, STREAM, FIRST, END, VALUES, SPEAKER_AT, FOUND_AT, SENSORS, NEAREST, FARTHEST,
    WORLD, MOTORS, ROTORS,
) = range(OWN, OWN + 17)  # fmt: skip
NOBODY = -1  # is awaited

# Sensors that PX4 is told of, and of each: addresses of its reading and of its stamp, and the stamp that was told last.
IMU, MAGNETOMETER, BAROMETER, GNSS, RANGEFINDER, KINDS = range(6)
READING_AT, STAMP_AT, LAST_STAMP, SENSOR_COLUMNS = range(4)

LONGEST_DATA = 4 * LONGEST_FRAME
LONGEST_STREAM = 4096
MOST_VALUES = 24
FIRST_CONTROL = 2  # of the values of HIL_ACTUATOR_CONTROLS: after time and flags

IMU_FIELDS, MAGNETOMETER_FIELDS, BAROMETER_FIELDS = 0x03F, 0x1C0, 0x1A00
GAUSS, HECTOPASCAL, CELSIUS = 1e4, 1e-2, 273.15
DEGREES, E7 = 180.0 / pi, 1e7
STANDARD_PRESSURE, STANDARD_TEMPERATURE, STANDARD_GRAVITY = 101325.0, 288.15, 9.80665
ACCURACY, VERTICAL_ACCURACY = 30.0, 40.0  # cm, of a position by GNSS as its receiver believes
FIX_3D, SATELLITES = 3, 12
LASER, DOWN = 0, 25  # kinds of distance sensor and of its direction, by MAVLink


@frame_kernel
def tell(w, rotors, i, tick, wire):
    """What else is new goes ahead of HIL_SENSOR, so that PX4 has it before it thinks; a time of 0 is none to PX4."""
    time, end = tick * wire[STEP_NS] // 1000, 0
    wire[AWAITED] = NOBODY
    if time > 0:
        data, speaker = bytes_at(wire[DATA], LONGEST_DATA), integers_at(wire[SPEAKER_AT], SPEAKER)
        values, world = numbers_at(wire[VALUES], MOST_VALUES), numbers_at(wire[WORLD], W_HEIGHTS)
        sensors = integers_at(wire[SENSORS], KINDS * SENSOR_COLUMNS)
        values[0] = time
        at = new_reading(sensors, GNSS)
        if at != 0:
            fill_gps(numbers_at(at, READING_WIDTH), values)
            end = write(speaker, HIL_GPS, HIL_GPS_FIELDS, values, data, end)
        at = new_reading(sensors, RANGEFINDER)
        if at != 0:
            fill_distance(numbers_at(at, READING_WIDTH)[0], wire[NEAREST], wire[FARTHEST], time, values)
            end = write(speaker, DISTANCE_SENSOR, DISTANCE_SENSOR_FIELDS, values, data, end)
            values[0] = time
        fill_truth(w, i, world, values)
        end = write(speaker, HIL_STATE_QUATERNION, HIL_STATE_QUATERNION_FIELDS, values, data, end)
        fields = fill_sensors(sensors, values)
        end = write(speaker, HIL_SENSOR, HIL_SENSOR_FIELDS, values, data, end)
        if fields & IMU_FIELDS:
            wire[AWAITED] = time
    wire[SIZE] = end
    wire[SENT] = send(wire[FILE], wire[DATA], end, NO_SIGNAL)
    note(wire, tick, TOLD, wire[DATA], end)


@frame_kernel
def hear(w, rotors, i, tick, wire):
    """PX4 answers whenever its IMU has felt something. Answers for earlier times come late, from when it booted."""
    if wire[SENT] < wire[SIZE]:
        wire[RESULT] = PARTED
        return
    if wire[AWAITED] == NOBODY:
        wire[RESULT] = NOT_AWAITED
        return
    stream, found = bytes_at(wire[STREAM], LONGEST_STREAM), integers_at(wire[FOUND_AT], FOUND)
    values = numbers_at(wire[VALUES], MOST_VALUES)
    while True:
        while find(stream, wire[FIRST], wire[END], found):
            wire[FIRST] = found[NEXT]
            if found[NUMBER] != HIL_ACTUATOR_CONTROLS:
                continue
            read(stream, found, HIL_ACTUATOR_CONTROLS_FIELDS, values)
            if values[0] > wire[AWAITED]:
                wire[RESULT] = AHEAD
                return
            if wire[IS_AWAKE] == 0:
                wire[RESULT] = AWAKE
                return
            if values[0] == wire[AWAITED]:
                turn_rotors(values, integers_at(wire[MOTORS], wire[ROTORS]), rotors, i)
                wire[RESULT] = ANSWERED
                return
        wire[FIRST] = found[NEXT]
        keep_unread(stream, wire)
        size = recv(wire[FILE], wire[STREAM] + wire[END], LONGEST_STREAM - wire[END], 0)
        if size <= 0:
            wire[RESULT] = PARTED if size == 0 else NOT_HEARD
            return
        note(wire, tick, HEARD, wire[STREAM] + wire[END], size)
        wire[END] += size


@compiled
def keep_unread(stream, wire):
    """At the beginning of the stream's room; it is less than the longest frame."""
    for k in range(wire[FIRST], wire[END]):
        stream[k - wire[FIRST]] = stream[k]
    wire[END] -= wire[FIRST]
    wire[FIRST] = 0


@compiled
def turn_rotors(values, motors, rotors, i):
    """The share of its most speed that output motors[k] gives rotor k."""
    for k in range(motors.size):
        rotor = k * ROTOR_WIDTH + i
        share = values[FIRST_CONTROL + motors[k]]
        rotors[rotor + TARGET] = rotors[rotor + MAX_SPEED] * (min(max(share, 0.0), 1.0) if isfinite(share) else 0.0)


# -- sensors ---------------------------------------------------------------------------------------------------------


@compiled
def new_reading(sensors, kind):
    """Where the reading is that a sensor has published since this was last asked; 0 if there is none."""
    row = kind * SENSOR_COLUMNS
    if sensors[row + STAMP_AT] == 0:
        return 0
    stamp = integers_at(sensors[row + STAMP_AT], 1)[0]
    if stamp == sensors[row + LAST_STAMP]:
        return 0
    sensors[row + LAST_STAMP] = stamp
    return sensors[row + READING_AT]


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
    values[1], values[2], values[3], values[4] = ned_frd_from_enu_flu(w[QW + i], w[QX + i], w[QY + i], w[QZ + i])
    values[5], values[6], values[7] = frd_from_flu(w[WX + i], w[WY + i], w[WZ + i])
    latitude, longitude, altitude = local_to_geodetic(
        w[PX + i], w[PY + i], w[PZ + i], world[W_LATITUDE], world[W_LONGITUDE], world[W_ALTITUDE]
    )
    values[8], values[9], values[10] = latitude * DEGREES * E7, longitude * DEGREES * E7, altitude * 1e3
    values[11], values[12], values[13] = ned_from_enu(100.0 * w[VX + i], 100.0 * w[VY + i], 100.0 * w[VZ + i])
    x, y, z = w[VX + i] - w[WINDX + i], w[VY + i] - w[WINDY + i], w[VZ + i] - w[WINDZ + i]
    values[14] = values[15] = 100.0 * sqrt(x * x + y * y + z * z)
    milli = 1e3 / STANDARD_GRAVITY
    values[16], values[17], values[18] = ned_from_enu(milli * w[MAX + i], milli * w[MAY + i], milli * w[MAZ + i])
