"""PX4's simulator interface, compiled: what the sensors of a vehicle read, as MAVLink, and the outputs that come back.

A HIL_SENSOR moves PX4's clock on to the time it names, and PX4 begins to think; HIL_ACTUATOR_CONTROLS with the same
time says that it has finished.
"""

from __future__ import annotations

from airloom.autopilots.mavlink_wire import (
    DISTANCE_SENSOR,
    DISTANCE_SENSOR_FIELDS,
    FOUND,
    HIL_ACTUATOR_CONTROLS,
    HIL_ACTUATOR_CONTROLS_FIELDS,
    HIL_GPS,
    HIL_GPS_FIELDS,
    HIL_SENSOR,
    HIL_SENSOR_FIELDS,
    HIL_STATE_QUATERNION,
    HIL_STATE_QUATERNION_FIELDS,
    LONGEST_FRAME,
    NEXT,
    NUMBER,
    SPEAKER,
    find,
    keep_unread,
    read,
    write,
)
from airloom.autopilots.sensor_messages import (
    GNSS,
    IMU_FIELDS,
    KINDS,
    MOST_VALUES,
    RANGEFINDER,
    SENSOR_COLUMNS,
    fill_distance,
    fill_gps,
    fill_sensors,
    fill_truth,
    move_servos,
    new_reading,
    turn_rotors,
)
from airloom.autopilots.transcript import HEARD, TOLD, note
from airloom.compiled import bytes_at, integers_at, numbers_at
from airloom.compiled.libc import NO_SIGNAL, recv, send
from airloom.engines.lockstep import FILE, OWN, RESULT, STEP_NS, frame_kernel
from airloom.sensors.sensor import READING_WIDTH
from airloom.world.ground import W_HEADER

ANSWERED = 0
NOT_HEARD, NOT_AWAITED, AWAKE, AHEAD, PARTED = -1, -2, -3, -4, -5
"""Results of hearing: nothing yet; nothing to wait for; the first answer, from which on each frame has one; an answer
for a time that has not been told; the connection is gone."""

# Columns of the wire: frames to send, how long they are and how much was sent; the time whose answer is awaited, and
# whether it has ever answered; the stream that comes, and which part of it is unread; room for values, for who speaks
# and for what was found; the sensors, and the range of the rangefinder in cm; the world; the rotors' outputs,
# and how many servos have those after them.
(
    DATA, SIZE, SENT, AWAITED, IS_AWAKE, STREAM, FIRST, END, VALUES, SPEAKER_AT, FOUND_AT, SENSORS, NEAREST, FARTHEST,
    WORLD, MOTORS, ROTORS, SERVOS,
) = range(OWN, OWN + 18)  # fmt: skip
NOBODY = -1  # is awaited

LONGEST_DATA = 4 * LONGEST_FRAME
LONGEST_STREAM = 4096


@frame_kernel
def tell(w, rotors, i, tick, wire):
    """What else is new goes ahead of HIL_SENSOR, so that PX4 has it before it thinks; a time of 0 is none to PX4."""
    time, end = tick * wire[STEP_NS] // 1000, 0
    wire[AWAITED] = NOBODY
    if time > 0:
        data, speaker = bytes_at(wire[DATA], LONGEST_DATA), integers_at(wire[SPEAKER_AT], SPEAKER)
        values, world = numbers_at(wire[VALUES], MOST_VALUES), numbers_at(wire[WORLD], W_HEADER)
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
                move_servos(values, wire[ROTORS], wire[SERVOS], w, i)
                wire[RESULT] = ANSWERED
                return
        wire[FIRST], wire[END] = 0, keep_unread(stream, found[NEXT], wire[END])
        size = recv(wire[FILE], wire[STREAM] + wire[END], LONGEST_STREAM - wire[END], 0)
        if size <= 0:
            wire[RESULT] = PARTED if size == 0 else NOT_HEARD
            return
        note(wire, tick, HEARD, wire[STREAM] + wire[END], size)
        wire[END] += size
