"""The compiled tick: rotors → engine → sensors → guide → estimator → controller → rotors.

It runs for as many ticks as nobody looks. Everything a scenario chooses arrives in tables: which kernels a block calls
and how often, which sensors sit where.
"""

from typing import NamedTuple

import numpy as np

from airloom.compiled import compiled, numbers_at
from airloom.divergence import keep_sane
from airloom.flight_stack import call_block, call_guide
from airloom.physics.integrators import step_euler, step_rk4
from airloom.physics.rotor import spin_rotors, sum_rotors
from airloom.physics.rows import (
    COMMAND, COMMAND_ROWS, LANES, MAX, MLX, ROTOR_WIDTH, SPEED, SPX, START, STATE, STATE_ROWS, VX, WX,
)  # fmt: skip
from airloom.sensors.sensor import DELAYED, READING, READING_WIDTH, call_sensor

# Columns of the stack table, a row a block.
(
    ESTIMATOR, ESTIMATOR_TICKS, CONTROLLER, CONTROLLER_TICKS, FIRST_SENSOR, END_SENSOR, SENSOR_TICKS,
    FIRST_EFFECT, END_EFFECT, PROPELLERS, GUIDED_LANES, GUIDE_TICKS, STACK_WIDTH,
) = range(13)  # fmt: skip
# Columns of the sensor table, a row a sensor.
KERNEL, LANE, TICKS, DELAY, DESTINATION, NUMBERS, TAPE, FROZEN, FIRST, SENSOR_WIDTH = range(10)
# The first tick that counts, which a sensor in an outage will not see.
NEVER = 2**62
# Columns of the guide table, a row a lane.
GUIDE_KERNEL, PLAN, PLAN_LENGTH, GUIDE_WIDTH = range(4)
# A frame of a vehicle: state, setpoint, command, rotor speeds.
SETPOINT_ROWS = 11
FRAME_SETPOINT = STATE_ROWS
FRAME_COMMAND = FRAME_SETPOINT + SETPOINT_ROWS
FRAME_SPEEDS = FRAME_COMMAND + COMMAND_ROWS


class Sensing(NamedTuple):
    """All sensors of a run, a row each."""

    table: np.ndarray
    keys: np.ndarray
    rows: np.ndarray
    """[sensor, number]: mounting, errors, memory and readings, laid out in sensors/sensor.py"""
    queue: np.ndarray
    """[sensor, slot, number]: samples on their way from measurement to publication, of sensors with a delay"""
    stamps: np.ndarray
    """tick at which the present reading was measured, −1 before the first"""
    tape: np.ndarray
    """[track, n, (tick published, tick measured, numbers…)]: readings that somebody outside wants"""
    taped: np.ndarray


class Flight(NamedTuple):
    """Everything the compiled loop works on."""

    blocks: np.ndarray
    rotors: np.ndarray
    propellers: np.ndarray
    """[kind, number]: what rotor speeds become in blocks of one kind; the stack table says which"""
    stacks: np.ndarray
    vehicles: np.ndarray
    """[block, lane]: the vehicle there, −1 for none"""
    guides: np.ndarray
    """[block, lane, column]: what steers the vehicle there, all 0 for nothing"""
    world: np.ndarray
    effects: np.ndarray
    effect_parameters: np.ndarray
    frames: np.ndarray
    """[frame, vehicle, number]"""
    sane: np.ndarray
    """[block, number]: the last states that were sane, and their tick"""


@compiled
def sense(w, tick, world, stack, sensing):
    """Sample the block's sensors that are due, then publish the samples whose delay is over.

    One after the other, because a reading that was written just now is slow to read back.
    """
    if tick % stack[SENSOR_TICKS] != 0:
        return
    sensors, first, end = sensing.table, stack[FIRST_SENSOR], stack[END_SENSOR]
    for k in range(first, end):
        sample = tick // sensors[k, TICKS]
        if sample * sensors[k, TICKS] == tick and is_measuring(sensing, k, tick):
            call_sensor(sensors[k, KERNEL], w, sensors[k, LANE], world, sensing.rows[k], sensing.keys[k], sample)
    for k in range(first, end):
        delay, row = sensors[k, DELAY], sensing.rows[k]
        if delay > 0:
            if wait_in_queue(row, sensing.queue[k], tick, sensors[k, TICKS], delay, sensors[k, FIRST]):
                publish(w, k, tick, tick - delay, row, DELAYED, sensing)
        elif tick % sensors[k, TICKS] == 0 and tick >= sensors[k, FIRST]:
            publish(w, k, tick, tick, row, READING, sensing)


@compiled
def is_measuring(sensing, k, tick):
    """Not in an outage, nor once it is frozen: that needs a reading to be frozen at."""
    return tick >= sensing.table[k, FIRST] and (sensing.table[k, FROZEN] == 0 or sensing.stamps[k] < 0)


@compiled
def wait_in_queue(row, queue, tick, period, delay, first):
    """Put the sample that was just taken into the queue, take out the one whose delay is over, if there is one that
    was measured at the tick `first` or later.
    """
    if tick % period == 0:
        slot = (tick // period) % queue.shape[0]
        for n in range(READING_WIDTH):
            queue[slot, n] = row[READING + n]
    measured = tick - delay
    if measured < first or measured % period != 0:
        return False
    slot = (measured // period) % queue.shape[0]
    for n in range(READING_WIDTH):
        row[DELAYED + n] = queue[slot, n]
    return True


@compiled
def publish(w, k, tick, measured, row, at, sensing):
    """Hand the reading that stands in the row at `at` to the flight stack, and to the tape if somebody wants it."""
    i, destination, track = sensing.table[k, LANE], sensing.table[k, DESTINATION], sensing.table[k, TAPE]
    sensing.stamps[k] = measured
    if destination >= 0:
        for n in range(sensing.table[k, NUMBERS]):
            w[destination + n * LANES + i] = row[at + n]
    if track >= 0:
        line = sensing.tape[track, sensing.taped[track]]
        line[0], line[1] = tick, measured
        for n in range(READING_WIDTH):
            line[2 + n] = row[at + n]
        sensing.taped[track] += 1


@compiled
def guide(w, tick, stack, guides):
    """Move the setpoints of the block's vehicles that fly along something."""
    if stack[GUIDED_LANES] == 0 or tick % stack[GUIDE_TICKS] != 0:
        return
    for i in range(LANES):
        if guides[i, GUIDE_KERNEL] != 0:
            plan = numbers_at(guides[i, PLAN], guides[i, PLAN_LENGTH])
            call_guide(guides[i, GUIDE_KERNEL], w, i, tick, plan)


@compiled
def think(w, rotors, tick, stack):
    if stack[ESTIMATOR] != 0 and tick % stack[ESTIMATOR_TICKS] == 0:
        call_block(stack[ESTIMATOR], w, rotors, tick)
    if stack[CONTROLLER] != 0 and tick % stack[CONTROLLER_TICKS] == 0:
        call_block(stack[CONTROLLER], w, rotors, tick)


@compiled
def record(w, rotors, vehicles, frame):
    """Keep what the log wants of each vehicle of the block in its row of the frame."""
    for i in range(LANES):
        v = vehicles[i]
        if v < 0:
            continue
        for k in range(STATE_ROWS):
            frame[v, k] = w[STATE + k * LANES + i]
        for k in range(SETPOINT_ROWS):
            frame[v, FRAME_SETPOINT + k] = w[SPX + k * LANES + i]
        for k in range(COMMAND_ROWS):
            frame[v, FRAME_COMMAND + k] = w[COMMAND + k * LANES + i]
        for k in range(frame.shape[1] - FRAME_SPEEDS):
            frame[v, FRAME_SPEEDS + k] = rotors[k * ROTOR_WIDTH + SPEED + i]


@compiled
def keep_start_velocity(w):
    """Velocity and rates before a tick, where the batch engine keeps its whole state."""
    for j in range(6 * LANES):
        w[START + VX - STATE + j] = w[VX + j]


@compiled
def keep_mean_acceleration(w, dt):
    """What an IMU sees of a tick: the change of velocity and of rates over it."""
    start_velocity, start_rates = START + VX - STATE, START + WX - STATE
    for j in range(3 * LANES):
        w[MAX + j] = (w[VX + j] - w[start_velocity + j]) / dt
        w[MLX + j] = (w[WX + j] - w[start_rates + j]) / dt


@compiled
def look_and_think(b, tick, flight, sensing, frame_ticks, first_frame):
    """All that follows the engine in a tick."""
    w, rotors, stack = flight.blocks[b], flight.rotors[b], flight.stacks[b]
    keep_sane(w, tick, flight.sane[b])
    sense(w, tick, flight.world, stack, sensing)
    guide(w, tick, stack, flight.guides[b])
    think(w, rotors, tick, stack)
    if frame_ticks > 0 and tick % frame_ticks == 0:
        record(w, rotors, flight.vehicles[b], flight.frames[tick // frame_ticks - first_frame])


@compiled
def look_once(tick, flight, sensing, frame_ticks, first_frame):
    """The first look, before anything has moved."""
    for b in range(flight.blocks.shape[0]):
        look_and_think(b, tick, flight, sensing, frame_ticks, first_frame)


@compiled
def effects_of(stack, flight):
    first, end = stack[FIRST_EFFECT], stack[END_EFFECT]
    return flight.effects[first:end], flight.effect_parameters[first:end]


@compiled
def advance_batch(first_block, end_block, tick, ticks, dt, rk4, flight, sensing, frame_ticks, first_frame):
    """Fly each block for `ticks` before the next: vehicles do not touch one another in this engine."""
    for b in range(first_block, end_block):
        w, rotors, stack = flight.blocks[b], flight.rotors[b], flight.stacks[b]
        propellers = flight.propellers[stack[PROPELLERS]]
        effects, parameters = effects_of(stack, flight)
        for t in range(tick, tick + ticks):
            spin_rotors(rotors)
            sum_rotors(w, rotors, propellers)
            if rk4:
                step_rk4(w, flight.world, effects, parameters, dt)
            else:
                step_euler(w, flight.world, effects, parameters, dt)
            keep_mean_acceleration(w, dt)
            look_and_think(b, t + 1, flight, sensing, frame_ticks, first_frame)
