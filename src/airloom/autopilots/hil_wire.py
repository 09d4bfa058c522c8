"""Hardware in the loop over MAVLink, compiled: a board is told what its sensors read, and heard for its rotors.

A board lives on the wall clock. It is told each frame when that is due, and what has come from it by then counts:
nothing here waits for an answer.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from airloom.autopilots import mavlink_wire as mav
from airloom.autopilots.beat import wait_for
from airloom.autopilots.sensor_messages import place_values, sensor_values
from airloom.compiled import compiled
from airloom.system_calls import BROKEN, READABLE, poll, read, write

if TYPE_CHECKING:
    from airloom.vehicles.airframe import Airframe

HEARTBEAT = np.array([0.0, 0.0, 8.0, 0.0, 4.0, 3.0])  # of something that is no autopilot, and active
VALUES = 19
"""Of the longest message."""
LONGEST_FRAME = 4 * mav.LONGEST_FRAME
BUFFER = 8192
MOST_READS = 16  # in a frame, so that a board that floods the line does not hold up the run
REBOOT = 1_000_000  # µs that a board's clock goes back if it starts again; a message that is less old came late

# What is known of the line: its file number, whether it can hang up, a place for questions to the kernel, bytes of a
# frame that is still on its way, the board's clock in its last output, and what was counted: frames told and dropped,
# bytes, messages and outputs that came.
FILE, HANGS_UP, QUESTION, WAITING, STAMP, TOLD, DROPPED, CAME, MESSAGES, OUTPUTS, LINE = range(11)
# What is known of the board: the tick of its last output, how many it may be silent before the first and after it,
# whether it was for longer, and the longest silence between two outputs.
SPOKE, START_PATIENCE, PATIENCE, IS_SILENT, LONGEST, BOARD = range(6)
CALM, LOST, SILENT, BACK = range(4)
"""What `hear` gives."""


@compiled
def tell(tick, second, line, schedule, sums, histogram, table, rows, stamps, speaker, sensors, place, data):
    """At its time: whatever reading is new, and each second a heartbeat. `sensors` and `place` hold the last values."""
    wait_for(tick, schedule, sums, histogram)
    time_us = tick * 1e6 / second
    end = 0
    if sensor_values(time_us, table, rows, stamps, sensors):
        end = mav.write(speaker, mav.HIL_SENSOR, mav.HIL_SENSOR_FIELDS, sensors, data, end)
    if place_values(time_us, table, rows, stamps, place):
        end = mav.write(speaker, mav.HIL_GPS, mav.HIL_GPS_FIELDS, place, data, end)
    if tick % second == 0:
        end = mav.write(speaker, mav.HEARTBEAT, mav.HEARTBEAT_FIELDS, HEARTBEAT, data, end)
    if end > 0 and line[FILE] >= 0:
        line[TOLD] += 1
        line[DROPPED] += write(line[FILE], data.ctypes.data, end) != end


@compiled
def hear(tick, line, board, data, found, values, motors, most, mix, speeds):
    """Turn the newest output that has come into the speeds of rotors; tells what has become of the board."""
    before = line[OUTPUTS]
    is_there = listen(line, data, found, values, motors, most, mix, speeds)
    quiet = tick - board[SPOKE]
    if line[OUTPUTS] > before:
        board[LONGEST] = max(board[LONGEST], quiet) if before > 0 else 0
        board[SPOKE] = tick
        if board[IS_SILENT]:
            board[IS_SILENT] = 0
            return BACK
    elif not board[IS_SILENT] and quiet > board[PATIENCE if before > 0 else START_PATIENCE]:
        board[IS_SILENT] = 1
        return SILENT
    return CALM if is_there else LOST


@compiled
def listen(line, data, found, values, motors, most, mix, speeds):
    """Take all that has come; tells whether the line is there."""
    for _ in range(MOST_READS):
        answer = _asked(line)
        if answer & READABLE == 0:
            return line[HANGS_UP] == 0 or answer & BROKEN == 0
        size = read(line[FILE], data[line[WAITING] :].ctypes.data, data.size - line[WAITING])
        if size <= 0:
            return line[HANGS_UP] == 0
        line[CAME] += size
        _understand(line, data, line[WAITING] + size, found, values, motors, most, mix, speeds)
    return True


@compiled
def _asked(line):
    """Whether there is something to read, or nobody there."""
    if line[FILE] < 0:
        return BROKEN
    line[QUESTION] = line[FILE] | READABLE << 32
    poll(line[QUESTION:].ctypes.data, 1, 0)
    return line[QUESTION] >> 48


@compiled
def _understand(line, data, end, found, values, motors, most, mix, speeds):
    """All frames in data[:end]; the beginning of one that is on its way stays at the front."""
    at = 0
    while mav.find(data, at, end, found):
        at = found[mav.NEXT]
        line[MESSAGES] += 1
        if found[mav.NUMBER] == mav.HIL_ACTUATOR_CONTROLS:
            mav.read(data, found, mav.HIL_ACTUATOR_CONTROLS_FIELDS, values)
            if _is_newer(line, values):
                speeds_of_outputs(values[2:], motors, most, speeds)
        elif found[mav.NUMBER] == mav.HIL_CONTROLS:
            mav.read(data, found, mav.HIL_CONTROLS_FIELDS, values)
            if _is_newer(line, values):
                speeds_of_controls(values[1:], mix, most, speeds)
    for k in range(end - found[mav.NEXT]):
        data[k] = data[found[mav.NEXT] + k]
    line[WAITING] = end - found[mav.NEXT]


@compiled
def _is_newer(line, values):
    """Whether an output was not overtaken by another, nor came before; a board without a clock says 0."""
    stamp, last = np.int64(values[0]), line[STAMP]
    if stamp != 0 and last - REBOOT <= stamp <= last:
        return False
    line[STAMP] = stamp
    line[OUTPUTS] += 1
    return True


@compiled
def speeds_of_outputs(outputs, motors, most, speeds):
    """Output motors[k] from 0 to 1 → the speed of rotor k; what is no number stops it."""
    for k in range(motors.size):
        share = outputs[motors[k]]
        speeds[k] = most[k] * min(share, 1.0) if share > 0.0 else 0.0


@compiled
def speeds_of_controls(controls, mix, most, speeds):
    """Roll, pitch, yaw and throttle → thrusts by `mix`, as shares of the greatest → speeds, within what rotors can."""
    for k in range(most.size):
        share = 0.0
        for j in range(4):
            share += mix[k, j] * controls[j]
        speeds[k] = most[k] * sqrt(min(share, 1.0)) if share > 0.0 else 0.0


def mix_of_controls(airframe: Airframe) -> np.ndarray:
    """n × 4: each rotor's thrust, as a share of its greatest, for a full roll, pitch and yaw to the right, nose up and
    right, and for full throttle.

    Full throttle is the thrust of all rotors at their greatest speed; a full torque is what they can give about an axis
    while they carry half of that.
    """
    torques = 0.5 * abs(airframe.allocation[1:]) @ airframe.max_thrusts
    full = np.array([torques[0], -torques[1], -torques[2], airframe.max_thrusts.sum()])
    return airframe.mixer[:, [1, 2, 3, 0]] * full / airframe.max_thrusts[:, None]
