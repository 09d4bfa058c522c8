"""The wrench on a block: the list of effects that both engines share."""

from numba import types

from airloom.compiled import Kernel, call_by_address, compiled
from airloom.physics.attitude import orient
from airloom.physics.drag import add_drag, add_drag_of_parts
from airloom.physics.external import set_external
from airloom.physics.propellers import add_propellers, note_speeds
from airloom.physics.rotor import add_rotors
from airloom.physics.thrusters import add_thrusters, look_at_thrusters
from airloom.physics.water import add_water, look_at_water
from airloom.physics.wheels import add_wheels, steer_wheels
from airloom.physics.wings import add_wings, move_wings

Row = types.Array(types.float64, 1, "C")

EFFECT = types.void(Row, Row)
"""A force function `effect(w, p)`: the block's workspace, and the parameter rows of the system that brings it."""
TICKER = types.void(Row, Row, Row, types.int64, Row)
"""A function `ticker(w, rotors, world, tick, p)` for what goes on beside the bodies: flows, sloshes, wears."""

call_effect = call_by_address(EFFECT)
call_ticker = call_by_address(TICKER)
EFFECT_KERNEL, TICKER_KERNEL = range(2)  # columns of the effect table, 0 for none


def effect(function):
    """Make a force function that both engines call at every evaluation of the wrench.

    `effect(w, p)` adds to the rows FX … TZ of `w` (body frame, about the centre of mass); `p` holds one row of
    LANES values for each parameter that its system declares, in order.
    """
    return Kernel(function, EFFECT)


def ticker(function):
    """Make a function that both engines call once a tick, before the bodies move.

    `ticker(w, rotors, world, tick, p)` may change any row of `w` and its own numbers in `p`, which it shares with the
    effect of the same system: what it leaves there acts on the bodies during the tick, and is part of the state.
    """
    return Kernel(function, TICKER)


@compiled
def call_tickers(w, rotors, world, tick, effects, parameters):
    for k in range(effects.shape[0]):
        if effects[k, TICKER_KERNEL] != 0:
            call_ticker(effects[k, TICKER_KERNEL], w, rotors, world, tick, parameters[k])


@compiled
def add_effects(w, effects, parameters):
    for k in range(effects.shape[0]):
        if effects[k, EFFECT_KERNEL] != 0:
            call_effect(effects[k, EFFECT_KERNEL], w, parameters[k])


@compiled
def gather_wrench(w, effects, parameters):
    """All forces but gravity and contact: force and torque about the centre of mass, body frame."""
    orient(w)
    set_external(w)
    add_rotors(w)
    add_drag(w)
    add_effects(w, effects, parameters)


@effect
def drag_of_parts(w, p):
    """Of vehicles whose drag is more than a number."""
    add_drag_of_parts(w, p)


@effect
def lift_of_wings(w, p):
    add_wings(w, p)


@ticker
def move_servos(w, rotors, world, tick, p):
    move_wings(w, p)


@effect
def pull_of_propellers(w, p):
    add_propellers(w, p)


@ticker
def turn_propellers(w, rotors, world, tick, p):
    note_speeds(rotors, p)


@effect
def push_of_thrusters(w, p):
    add_thrusters(w, p)


@ticker
def turn_thrusters(w, rotors, world, tick, p):
    look_at_thrusters(w, rotors, world, tick, p)


@effect
def ground_on_wheels(w, p):
    add_wheels(w, p)


@ticker
def turn_wheels(w, rotors, world, tick, p):
    orient(w)
    steer_wheels(w, world, p)


@effect
def water_around(w, p):
    add_water(w, p)


@ticker
def water_now(w, rotors, world, tick, p):
    look_at_water(w, world, tick, p)
