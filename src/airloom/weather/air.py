"""The wind at a time and place: the layers of the weather, one after the other.

A layer is a law, which is a kernel, and its numbers. It finds the wind of the layers before it and adds to it, or takes
from it as a hedge does. Vehicles, drops and whoever else is in the air ask the same function.
"""

from __future__ import annotations

from numba import types

from airloom.compiled import Kernel, call_by_address, compiled, numbers_at
from airloom.scenario.values import FASTEST_WIND
from airloom.world.ground import ground

Row = types.Array(types.float64, 1, "C")
LAW = types.void(types.float64, types.float64, types.float64, types.float64, types.float64, Row, Row)
"""A wind law `law(t, x, y, z, h, p, v)`: time (s), place (world, m), height above the ground (m), its numbers, and the
wind so far (world, m/s), to which it adds."""
LAW_KERNEL, LAW_NUMBERS, LAW_LENGTH, LAYER_WIDTH = range(4)  # columns of the table of layers, a row a layer

call_law = call_by_address(LAW)


def wind_law(function):
    """Make a wind law, `law(t, x, y, z, h, p, v)`, that vehicles and drops meet at their own place."""
    return Kernel(function, LAW)


@compiled
def is_wind(x, y, z):
    """Whether these are numbers, and such that a wind may have."""
    return abs(x) <= FASTEST_WIND and abs(y) <= FASTEST_WIND and abs(z) <= FASTEST_WIND


@compiled
def wind_at(layers, world, t, x, y, z, v):
    """Put the wind at a time (s) and a place (world, m) into `v`, m/s."""
    v[0] = v[1] = v[2] = 0.0
    if layers.shape[0] == 0:
        return
    h = z - ground(world, x, y)[0]
    for k in range(layers.shape[0]):
        numbers = numbers_at(layers[k, LAW_NUMBERS], layers[k, LAW_LENGTH])
        call_law(layers[k, LAW_KERNEL], t, x, y, z, h, numbers, v)
