"""The compiled tick: rotors → engine → sensors → estimator → controller → rotors, for as many ticks as nobody looks.

Everything a scenario chooses arrives in tables: which kernels a block calls and how often, which sensors sit where.
"""

from typing import NamedTuple

import numpy as np

from airloom.compiled import compiled
from airloom.flight_stack import call_block
from airloom.physics.integrators import step_euler, step_rk4
from airloom.physics.rotor import spin_rotors, sum_rotors
from airloom.physics.rows import (
    COMMAND, COMMAND_ROWS, LANES, MAX, MLX, ROTOR_WIDTH, SPEED, SPX, START, STATE, STATE_ROWS, VX, WX,
)  # fmt: skip
from airloom.sensors.sensor import READING_WIDTH, call_sensor

# Columns of the stack table, a row a block.
(
    ESTIMATOR, ESTIMATOR_TICKS, CONTROLLER, CONTROLLER_TICKS, FIRST_SENSOR, END_SENSOR, SENSOR_TICKS,
    FIRST_EFFECT, END_EFFECT, STACK_WIDTH,
) = range(10)  # fmt: skip
# Columns of the sensor table, a row a sensor.
KERNEL, LANE, TICKS, DELAY, DESTINATION, NUMBERS, TAPE, SENSOR_WIDTH = range(8)
# A frame of a vehicle: state, setpoint, command, rotor speeds.
SETPOINT_ROWS = 11
FRAME_SETPOINT = STATE_ROWS
FRAME_COMMAND = FRAME_SETPOINT + SETPOINT_ROWS
FRAME_SPEEDS = FRAME_COMMAND + COMMAND_ROWS


class Sensing(NamedTuple):
    """All sensors of a run, a row each."""

    table: np.ndarray
    keys: np.ndarray
    parameters: np.ndarray
    errors: np.ndarray
    memory: np.ndarray
    queue: np.ndarray
    """[sensor, slot, number]: samples on their way from measurement to publication"""
    readings: np.ndarray
    stamps: np.ndarray
    """tick at which the present reading was measured, −1 before the first"""
    tape: np.ndarray
    """[track, n, (tick published, tick measured, numbers…)]: readings that somebody outside wants"""
    taped: np.ndarray


class Flight(NamedTuple):
    """Everything the compiled loop works on."""

    blocks: np.ndarray
    rotors: np.ndarray
    stacks: np.ndarray
    vehicles: np.ndarray
    """[block, lane]: the vehicle there, −1 for none"""
    world: np.ndarray
    effects: np.ndarray
    effect_parameters: np.ndarray
    frames: np.ndarray
    """[frame, vehicle, number]"""


@compiled
def sense(w, tick, world, stack, sensing):
    """Sample the block's sensors that are due, publish the samples whose delay is over."""
    if tick % stack[SENSOR_TICKS] != 0:
        return
    sensors, queue = sensing.table, sensing.queue
    for s in range(stack[FIRST_SENSOR], stack[END_SENSOR]):
        period, i = sensors[s, TICKS], sensors[s, LANE]
        if tick % period == 0:
            sample = tick // period
            call_sensor(
                sensors[s, KERNEL], w, i, world, sensing.parameters[s], sensing.errors[s], sensing.memory[s],
                queue[s, sample % queue.shape[1]], sensing.keys[s], sample,
            )  # fmt: skip
        measured = tick - sensors[s, DELAY]
        if measured >= 0 and measured % period == 0:
            publish(w, i, s, tick, measured, queue[s, (measured // period) % queue.shape[1]], sensing)


@compiled
def publish(w, i, s, tick, measured, reading, sensing):
    """Hand a reading to the flight stack, and to the tape if somebody outside wants it."""
    numbers, destination, track = sensing.table[s, NUMBERS], sensing.table[s, DESTINATION], sensing.table[s, TAPE]
    sensing.stamps[s] = measured
    for k in range(numbers):
        sensing.readings[s, k] = reading[k]
    if destination >= 0:
        for k in range(numbers):
            w[destination + k * LANES + i] = reading[k]
    if track >= 0:
        line = sensing.tape[track, sensing.taped[track]]
        line[0], line[1] = tick, measured
        for k in range(READING_WIDTH):
            line[2 + k] = reading[k]
        sensing.taped[track] += 1


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
    sense(w, tick, flight.world, stack, sensing)
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
        w, rotors = flight.blocks[b], flight.rotors[b]
        effects, parameters = effects_of(flight.stacks[b], flight)
        for t in range(tick, tick + ticks):
            spin_rotors(rotors)
            sum_rotors(w, rotors)
            if rk4:
                step_rk4(w, flight.world, effects, parameters, dt)
            else:
                step_euler(w, flight.world, effects, parameters, dt)
            keep_mean_acceleration(w, dt)
            look_and_think(b, t + 1, flight, sensing, frame_ticks, first_frame)
