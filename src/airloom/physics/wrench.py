"""The wrench on a block: the list of effects that both engines share."""

from numba import types

from airloom.compiled import Kernel, call_by_address, compiled
from airloom.physics.attitude import orient
from airloom.physics.drag import add_drag
from airloom.physics.external import set_external
from airloom.physics.rotor import add_rotors

Row = types.Array(types.float64, 1, "C")

EFFECT = types.void(Row, Row)
"""A force function `effect(w, p)`: the block's workspace, and the parameter rows of the system that brings it."""

call_effect = call_by_address(EFFECT)


def effect(function):
    """Make a force function that both engines call at every evaluation of the wrench.

    `effect(w, p)` adds to the rows FX … TZ of `w` (body frame, about the centre of mass); `p` holds one row of
    LANES values for each parameter that its system declares, in order.
    """
    return Kernel(function, EFFECT)


@compiled
def add_effects(w, effects, parameters):
    for k in range(effects.size):
        call_effect(effects[k], w, parameters[k])


@compiled
def gather_wrench(w, effects, parameters):
    """All forces but gravity and contact: force and torque about the centre of mass, body frame."""
    orient(w)
    set_external(w)
    add_rotors(w)
    add_drag(w)
    add_effects(w, effects, parameters)
