"""The tables that tell the compiled loop what to do, and all the arrays that it works on."""

from typing import NamedTuple

import numpy as np

from airloom.compiled.rows import COMMAND_ROWS, STATE_ROWS

# Columns of the stack table, a row a block. WINGS is the effect of its surfaces, −1 without any.
(
    ESTIMATOR, ESTIMATOR_TICKS, CONTROLLER, CONTROLLER_TICKS, FIRST_SENSOR, END_SENSOR, SENSOR_TICKS,
    FIRST_EFFECT, END_EFFECT, WINGS, PROPELLERS, GUIDED_LANES, GUIDE_TICKS, STACK_WIDTH,
) = range(14)  # fmt: skip
# Columns of the sensor table, a row a sensor.
KERNEL, LANE, TICKS, DELAY, DESTINATION, NUMBERS, TAPE, FROZEN, FIRST, SENSOR_WIDTH = range(10)
# The weather: ticks from one look at it to the next, 0 if there is none; whether the density of the air acts.
WEATHER_TICKS, WEATHER_DENSITY, WEATHER_WIDTH = range(3)
# The first tick that counts, which a sensor in an outage will not see.
NEVER = 2**62
# Columns of the guide table, a row a lane.
GUIDE_KERNEL, PLAN, PLAN_LENGTH, GUIDE_WIDTH = range(4)
# A record of a vehicle, for the bus: state, setpoint, command, rotor speeds.
SETPOINT_ROWS = 11
RECORD_SETPOINT = STATE_ROWS
RECORD_COMMAND = RECORD_SETPOINT + SETPOINT_ROWS
RECORD_SPEEDS = RECORD_COMMAND + COMMAND_ROWS


# How many samples of a reading, and records of all vehicles, have room before they must be published.
TAPE_LENGTH = 64
RECORD_COUNT = 64


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
    """[effect, column]: addresses of its force function and of its ticker, 0 for none"""
    effect_parameters: np.ndarray
    records: np.ndarray
    """[record, vehicle, number]"""
    sane: np.ndarray
    """[block, number]: the last states that were sane, and their tick"""
    weather: np.ndarray
    """how often the weather is looked at, and what of it acts"""
    layers: np.ndarray
    """[layer, column]: wind laws and their numbers, see weather/air.py"""
    blown: np.ndarray
    """[block, lane]: 1 for vehicles in the weather's wind, 0 for those that somebody has given a wind of their own"""
    foul: np.ndarray
    """[block, (tick, x, y, z)]: when and where the wind was no number for the first time, a tick of −1 for never"""
