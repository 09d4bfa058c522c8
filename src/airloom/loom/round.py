"""A round with the members of one coordinator, compiled: tell each what it sees, hear each, obey.

Between its turns on a processor a process's data grow cold, so that every line of Python after a wait costs several
times what it costs in a loop of its own. Here the usual round needs none; whatever is unusual is left to Python.
The layout of the messages is that of `protocol.py`; orders get into the rows as any command does (`command_rows.py`).
"""

from __future__ import annotations

import numpy as np

from airloom.commands import Mode
from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.libc import NO_SIGNAL, recv, send
from airloom.control.command_rows import ENDS_FIELD, MOST_NUMBERS, are_fit, is_buried, take_command
from airloom.loom.protocol import HEAD, STATE_NUMBERS, TIME_AND_COUNT, Kind

ROOM = 8192  # bytes for an answer; a longer one is read on in Python
HEAD_SIZE, COUNT_AT = HEAD.size, HEAD.size + 8
LIST_AT = HEAD.size + TIME_AND_COUNT.size
"""Where the states of a BEGIN and the orders of an END begin."""
NOT_READ, NOT_SENT = -1, -2
BEGIN, END = int(Kind.BEGIN), int(Kind.END)
POSITION, VELOCITY = int(Mode.POSITION_YAW), int(Mode.VELOCITY_YAWRATE)


@compiled
def play_round(lines, time_ns, memory, stride, places, counts, tails, tail_sizes, outgoing, answers, sizes):
    """Send every line its BEGIN and read what comes back: sizes[k] bytes, in answers[k].

    Line k is told of counts[k] vehicles, whose numbers lie in `memory` from the next places on, `stride` apart; its
    letters are the next tail_sizes[k] bytes of `tails`. A size of NOT_READ has still to be read, by whoever handles
    signals, timeouts and errors; 0 is a closed line, NOT_SENT one on which nothing could be sent.
    """
    vehicle, tail = 0, 0
    for k in range(lines.size):
        size = LIST_AT + 8 * STATE_NUMBERS * counts[k] + tail_sizes[k]
        _put(outgoing, 0, size - 4, 4)
        outgoing[4] = BEGIN
        _put(outgoing, HEAD_SIZE, time_ns, 8)
        _put(outgoing, COUNT_AT, counts[k], 2)
        states = outgoing[LIST_AT : LIST_AT + 8 * STATE_NUMBERS * counts[k]].view(np.float64)
        for v in range(counts[k]):
            for i in range(STATE_NUMBERS):
                states[STATE_NUMBERS * v + i] = memory[places[vehicle] + i * stride]
            vehicle += 1
        for i in range(tail_sizes[k]):
            outgoing[size - tail_sizes[k] + i] = tails[tail + i]
        tail += tail_sizes[k]
        sent = send(lines[k], outgoing.ctypes.data, size, NO_SIGNAL)
        sizes[k] = 0 if sent == size else NOT_SENT
    interrupted = False
    for k in range(lines.size):
        if interrupted:
            sizes[k] = min(sizes[k], NOT_READ)
        elif sizes[k] == 0:
            sizes[k] = recv(lines[k], answers.ctypes.data + k * answers.shape[1], answers.shape[1], 0)
            interrupted = sizes[k] < 0


@compiled
def _put(data, at, value, size):
    for i in range(size):
        data[at + i] = (value >> (8 * i)) & 255


@compiled
def _got(data, at, size):
    value = np.int64(0)
    for i in range(size):
        value |= np.int64(data[at + i]) << (8 * i)
    return value


@compiled
def obey(time_ns, memory, world, places, counts, answers, sizes, heard):
    """Carry out what all have said, line by line; heard[v] tells whether vehicle v was told a velocity.

    Only if everything is plain: whole messages without letters, and velocities, or positions above the ground, for
    vehicles that are in that mode already, so that there is nothing to tell of. Otherwise nothing happens. Gives the
    number of velocities told, −1 if not all is plain.
    """
    first = 0
    for k in range(sizes.size):
        if not _is_plain(time_ns, memory, world, places[first : first + counts[k]], answers[k, : max(sizes[k], 0)]):
            return -1
        first += counts[k]
    first, velocities = 0, 0
    for k in range(sizes.size):
        at = LIST_AT
        for _ in range(_got(answers[k], COUNT_AT, 2)):
            vehicle, mode, width = first + _got(answers[k], at, 2), answers[k, at + 2], answers[k, at + 3]
            numbers = answers[k, at + 4 : at + 4 + 8 * width].view(np.float64)
            take_command(memory, places[vehicle], mode, numbers, world)
            if mode == VELOCITY:
                heard[vehicle] = True
                velocities += 1
            at += 4 + 8 * width
        first += counts[k]
    return velocities


@compiled
def _is_plain(time_ns, memory, world, places, answer):
    size = answer.size
    if size < LIST_AT + 2 or _got(answer, 0, 4) + 4 != size or answer[4] != END:
        return False
    if _got(answer, HEAD_SIZE, 8) != time_ns:
        return False
    at = LIST_AT
    for _ in range(_got(answer, COUNT_AT, 2)):
        if at + 6 > size:
            return False
        vehicle, mode, width = _got(answer, at, 2), answer[at + 2], answer[at + 3]
        at += 4
        if at + 8 * width + 2 > size or vehicle >= places.size or places[vehicle] < 0:
            return False
        if memory[places[vehicle] + row.MODE] != mode:
            return False
        if not _is_plain_command(mode, answer[at : at + 8 * width].view(np.float64), world):
            return False
        at += 8 * width
    return at + 2 == size and _got(answer, at, 2) == 0


@compiled
def _is_plain_command(mode, numbers, world):
    if mode != POSITION and mode != VELOCITY:
        return False
    if numbers.size > MOST_NUMBERS or not ENDS_FIELD[mode, numbers.size] or not are_fit(numbers):
        return False
    return mode == VELOCITY or not is_buried(world, numbers[0], numbers[1], numbers[2])
