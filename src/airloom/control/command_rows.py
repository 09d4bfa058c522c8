"""Commands in the rows of a block: whoever commands a vehicle (itself, a group, the loom) puts them there by this.

Which row is whose, the classes in `commands.py` say. Numbers are a command's own, field by field.
"""

from __future__ import annotations

from math import cos, sin

import numpy as np

from airloom.commands import BY_MODE, EDGE, Mode, places
from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.world.ground import ground

MOST_NUMBERS = 11
TOLERATED_DEPTH = 1e-3  # m below the ground, for a setpoint
POSITION = int(Mode.POSITION_YAW)
BURIED, OTHER_MODE = 1, 2
"""What is new about a command, added up: its position is the first below the ground, another mode is in force."""

WIDTHS = np.zeros(len(Mode), np.int64)
"""Numbers of a command of each mode."""
ROWS = np.zeros((len(Mode), MOST_NUMBERS), np.int64)
"""Where each of them goes."""
ENDS_FIELD = np.zeros((len(Mode), MOST_NUMBERS + 1), np.bool_)
"""Whether so many of them are whole fields, those at the end left out."""

for _kind in BY_MODE.values():
    for _first, _place in zip(_kind.rows, places(_kind).values(), strict=True):  # type: ignore[arg-type]
        _start, _end = (_place.start, _place.stop) if isinstance(_place, slice) else (_place, _place + 1)
        ROWS[_kind.mode, _start:_end] = _first + LANES * np.arange(_end - _start)
        ENDS_FIELD[_kind.mode, _end], WIDTHS[_kind.mode] = True, _end


@compiled
def put_command(memory, place, mode, numbers):
    """Into the rows of the vehicle at `place`; numbers that are left out at the end are zero."""
    for k in range(WIDTHS[mode]):
        memory[place + ROWS[mode, k]] = numbers[k] if k < numbers.size else 0.0
    if mode == POSITION:
        yaw = memory[place + row.SYAW]
        memory[place + row.SCOS], memory[place + row.SSIN] = cos(yaw), sin(yaw)


@compiled
def take_command(memory, place, mode, numbers, world):
    """Likewise, as the last command of its mode; tells what is new about it."""
    news = 0
    if mode == POSITION and is_buried(world, numbers[0], numbers[1], numbers[2]):
        news += 0 if _was_buried(world, memory, place) else BURIED
    if memory[place + row.MODE] != mode:
        news += OTHER_MODE
    put_command(memory, place, mode, numbers)
    memory[place + row.GIVEN + LANES * mode] = 1.0
    return news


@compiled
def take_commands(memory, places, mode, numbers, world, news):
    """One for each of many; tells whether anything is new."""
    is_any = False
    for k in range(places.size):
        news[k] = take_command(memory, places[k], mode, numbers[k], world)
        is_any |= news[k] != 0
    return is_any


@compiled
def is_buried(world, x, y, z):
    """Whether a setpoint lies below the ground, where no vehicle can be."""
    return ground(world, x, y)[0] - z > TOLERATED_DEPTH


@compiled
def _was_buried(world, memory, place):
    """Whether the last position that the vehicle was told does."""
    x, y, z = memory[place + row.SPX], memory[place + row.SPY], memory[place + row.SPZ]
    return memory[place + row.GIVEN + LANES * POSITION] != 0.0 and is_buried(world, x, y, z)


@compiled
def are_fit(numbers):
    """Whether a command may hold them: finite, and none too large."""
    for number in numbers:  # noqa: SIM110 - compiled
        if not abs(number) <= EDGE:  # nor if it is no number
            return False
    return True


@compiled
def first_unfit(numbers):
    """The first of many whose numbers no command may hold; −1 if there is none."""
    for k in range(numbers.shape[0]):
        if not are_fit(numbers[k]):
            return k
    return -1
