"""Frames inside the compiled loop: all autopilots are told, then all are heard, so that they think in parallel.

Each has a wire, a row of whole numbers that its two kernels work on. A kernel that needs more than they can hold keeps
addresses there, of arrays that the autopilot keeps alive. Whatever is not plain sailing leaves a negative result in the
row; then the loop returns, and the autopilot deals with it in Python.
"""

from __future__ import annotations

import numpy as np
from numba import types

from airloom.compiled import Kernel, call_by_address, compiled

# Columns of a wire: kernels, ticks between frames, place of the vehicle, nanoseconds in a tick, file number of the
# socket, what came of hearing, and where a page of the transcript lies and how far it is filled; the rest is the
# kernels' own.
TELL, HEAR, TICKS, BLOCK, LANE, STEP_NS, FILE, RESULT, PAGE, FILLED, OWN = range(11)
WIRE_WIDTH = 48
PAGE_SIZE = 1 << 18  # bytes of a page
FULL = PAGE_SIZE // 2  # bytes after which a page is turned: the next frame fits into the other half
NO_WIRES = np.empty((0, WIRE_WIDTH), np.int64)

_Numbers = types.Array(types.float64, 1, "C")
FRAME = types.void(_Numbers, _Numbers, types.int64, types.int64, types.Array(types.int64, 1, "C"))
"""`kernel(w, rotors, i, tick, wire)`: tell, or hear, the autopilot of vehicle `i` of block `w`."""

_call_frame = call_by_address(FRAME)


def frame_kernel(function) -> Kernel:
    """Make an autopilot's kernel of `f(w, rotors, i, tick, wire)`, which tells or hears that of vehicle `i`."""
    return Kernel(function, FRAME)


def address(array: np.ndarray) -> int:
    """For a wire; the array must be kept alive."""
    return array.ctypes.data


@compiled
def tell(tick, flight, wires):
    """All whose frame it is."""
    for k in range(wires.shape[0]):
        wire = wires[k]
        if tick % wire[TICKS] == 0:
            b = wire[BLOCK]
            _call_frame(wire[TELL], flight.blocks[b], flight.rotors[b], wire[LANE], tick, wire)


@compiled
def hear(tick, flight, wires):
    """All who were told something; tells whether all have answered well, and no page is full."""
    all_is_well = True
    for k in range(wires.shape[0]):
        wire = wires[k]
        if tick % wire[TICKS] == 0:
            b = wire[BLOCK]
            _call_frame(wire[HEAR], flight.blocks[b], flight.rotors[b], wire[LANE], tick, wire)
            all_is_well &= wire[RESULT] >= 0 and wire[FILLED] < FULL
    return all_is_well


@compiled
def tell_and_hear(tick, flight, wires):
    tell(tick, flight, wires)
    return hear(tick, flight, wires)


@compiled
def next_frame(tick, end, wires):
    """The next tick with a frame, at most `end`."""
    for k in range(wires.shape[0]):
        end = min(end, (tick // wires[k, TICKS] + 1) * wires[k, TICKS])
    return end
