"""Hardware in the loop over MAVLink, compiled: a board is told what its sensors read, and heard for its rotors.

A board lives on the wall clock. It is told each frame when that is due, and what has come from it by then counts:
nothing here waits for an answer.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from airloom.autopilots import mavlink_wire as mav
from airloom.autopilots.sensor_messages import (
    GNSS,
    KINDS,
    MOST_VALUES,
    SENSOR_COLUMNS,
    fill_gps,
    fill_sensors,
    new_reading,
    turn_rotors,
)
from airloom.autopilots.transcript import HEARD, TOLD, note
from airloom.autopilots.wall_clock import BEAT, wait_for
from airloom.basics.clock import NS_PER_SECOND
from airloom.compiled import bytes_at, compiled, integers_at, numbers_at
from airloom.compiled import rows as row
from airloom.compiled.libc import BROKEN, READABLE, poll, read, write
from airloom.engines.lockstep import FILE, OWN, RESULT, STEP_NS, frame_kernel
from airloom.sensors.sensor import READING_WIDTH

if TYPE_CHECKING:
    from airloom.vehicles.airframe import Airframe

# Columns of the wire. The line: whether it can hang up, a place for questions to the kernel, bytes of a frame that is
# still on its way, when to look for a lost one again, and what was counted: frames sent and dropped, bytes, messages
# and outputs that came.
HANGS_UP, QUESTION, WAITING, RETRY, SENT, DROPPED, CAME, MESSAGES, OUTPUTS = range(OWN, OWN + 9)
# The board: its own clock and the tick at its last output, ticks that it may be silent before the first and after it,
# whether it was for longer, and the longest silence between two outputs.
STAMP, SPOKE, START_PATIENCE, PATIENCE, IS_SILENT, LONGEST = range(OWN + 9, OWN + 15)
# Addresses of arrays, and the number of rotors.
BEAT_AT, SENSORS, SPEAKER_AT, VALUES, FOUND_AT, DATA, STREAM, MOTORS, MIX, ROTORS = range(OWN + 15, OWN + 25)

CALM, LOST, SILENT, BACK = 0, -1, -2, -3
"""What `hear` gives."""
LONGEST_DATA = 3 * mav.LONGEST_FRAME
LONGEST_STREAM = 8192
MOST_READS = 8  # in a frame, so that a board that floods the line does not hold up the run
REBOOT = 1_000_000  # µs that a board's clock goes back if it starts again; a message that is less old came late
HEARTBEAT = np.array([0.0, 0.0, 8.0, 0.0, 4.0, 3.0])  # of something that is no autopilot, and active


@frame_kernel
def tell(w, rotors, i, tick, wire):
    """At its time: whatever reading is new, and each second a heartbeat."""
    wait_for(tick, wire[STEP_NS], integers_at(wire[BEAT_AT], BEAT))
    sensors, speaker = integers_at(wire[SENSORS], KINDS * SENSOR_COLUMNS), integers_at(wire[SPEAKER_AT], mav.SPEAKER)
    values, data = numbers_at(wire[VALUES], MOST_VALUES), bytes_at(wire[DATA], LONGEST_DATA)
    time_ns, end = tick * wire[STEP_NS], 0
    values[0] = time_ns // 1000
    if fill_sensors(sensors, values):
        end = mav.write(speaker, mav.HIL_SENSOR, mav.HIL_SENSOR_FIELDS, values, data, end)
    at = new_reading(sensors, GNSS)
    if at != 0:
        fill_gps(numbers_at(at, READING_WIDTH), values)
        end = mav.write(speaker, mav.HIL_GPS, mav.HIL_GPS_FIELDS, values, data, end)
    if time_ns % NS_PER_SECOND == 0:
        end = mav.write(speaker, mav.HEARTBEAT, mav.HEARTBEAT_FIELDS, HEARTBEAT, data, end)
    if end > 0 and wire[FILE] >= 0:
        wire[SENT] += 1
        wire[DROPPED] += write(wire[FILE], wire[DATA], end) != end
        note(wire, tick, TOLD, wire[DATA], end)


@frame_kernel
def hear(w, rotors, i, tick, wire):
    """Let the newest output that has come turn the rotors."""
    before = wire[OUTPUTS]
    is_there = listen(rotors, i, tick, wire)
    quiet = tick - wire[SPOKE]
    wire[RESULT] = CALM if is_there or tick < wire[RETRY] else LOST
    if wire[OUTPUTS] > before:
        wire[LONGEST] = max(wire[LONGEST], quiet) if before > 0 else 0
        wire[SPOKE] = tick
        if wire[IS_SILENT]:
            wire[IS_SILENT], wire[RESULT] = 0, BACK
    elif not wire[IS_SILENT] and quiet > wire[PATIENCE if before > 0 else START_PATIENCE]:
        wire[IS_SILENT], wire[RESULT] = 1, SILENT


@compiled
def listen(rotors, i, tick, wire):
    """Take all that has come; tells whether the line is there."""
    for _ in range(MOST_READS):
        answer = _asked(wire)
        if answer & READABLE == 0:
            return wire[HANGS_UP] == 0 or answer & BROKEN == 0
        size = read(wire[FILE], wire[STREAM] + wire[WAITING], LONGEST_STREAM - wire[WAITING])
        if size <= 0:
            return wire[HANGS_UP] == 0
        wire[CAME] += size
        note(wire, tick, HEARD, wire[STREAM] + wire[WAITING], size)
        _understand(wire[WAITING] + size, rotors, i, wire)
    return True


@compiled
def _asked(wire):
    """Whether there is something to read, or nobody there."""
    if wire[FILE] < 0:
        return BROKEN
    wire[QUESTION] = wire[FILE] | READABLE << 32
    poll(wire[QUESTION:].ctypes.data, 1, 0)
    return wire[QUESTION] >> 48


@compiled
def _understand(end, rotors, i, wire):
    """All frames up to `end` in the stream; the beginning of one that is on its way stays at the front."""
    stream, found = bytes_at(wire[STREAM], LONGEST_STREAM), integers_at(wire[FOUND_AT], mav.FOUND)
    values = numbers_at(wire[VALUES], MOST_VALUES)
    at = 0
    while mav.find(stream, at, end, found):
        at = found[mav.NEXT]
        wire[MESSAGES] += 1
        if found[mav.NUMBER] == mav.HIL_ACTUATOR_CONTROLS:
            mav.read(stream, found, mav.HIL_ACTUATOR_CONTROLS_FIELDS, values)
            if _is_newer(wire, values):
                turn_rotors(values, integers_at(wire[MOTORS], wire[ROTORS]), rotors, i)
        elif found[mav.NUMBER] == mav.HIL_CONTROLS:
            mav.read(stream, found, mav.HIL_CONTROLS_FIELDS, values)
            if _is_newer(wire, values):
                turn_by_controls(values[1:], numbers_at(wire[MIX], 4 * wire[ROTORS]), rotors, i)
    wire[WAITING] = mav.keep_unread(stream, found[mav.NEXT], end)


@compiled
def _is_newer(wire, values):
    """Whether an output was not overtaken by another, nor came before; a board without a clock says 0."""
    stamp, last = np.int64(values[0]), wire[STAMP]
    if stamp != 0 and last - REBOOT <= stamp <= last:
        return False
    wire[STAMP] = stamp
    wire[OUTPUTS] += 1
    return True


@compiled
def turn_by_controls(controls, mix, rotors, i):
    """Roll, pitch, yaw and throttle → thrusts by `mix` → speeds, within what rotors can."""
    for k in range(mix.size // 4):
        rotor, share = k * row.ROTOR_WIDTH + i, 0.0
        for j in range(4):
            share += mix[4 * k + j] * controls[j]
        rotors[rotor + row.TARGET] = rotors[rotor + row.MAX_SPEED] * sqrt(min(share, 1.0)) if share > 0.0 else 0.0


def mix_of_controls(airframe: Airframe) -> np.ndarray:
    """n × 4: the thrust of each rotor, as a share of its greatest, for full roll (right), pitch (up), yaw (right) and
    throttle.

    Full throttle is the thrust of all rotors at their greatest speed; a full torque is what they can give about an axis
    while they carry half of that.
    """
    torques = 0.5 * abs(airframe.allocation[1:]) @ airframe.max_thrusts
    full = np.array([torques[0], -torques[1], -torques[2], airframe.max_thrusts.sum()])
    return np.ascontiguousarray(airframe.mixer[:, [1, 2, 3, 0]] * full / airframe.max_thrusts[:, None])
