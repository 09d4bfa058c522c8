"""From body thrust and torque to rotor speeds."""

from math import sqrt

from airloom.compiled import compiled
from airloom.physics.rows import (
    LANES, MAX_SPEED, MIX_THRUST, MIX_X, MIX_Y, MIX_Z, ROTOR_WIDTH, SCRATCH, TARGET, THRUST_CONSTANT,
)  # fmt: skip

WANT_THRUST, WANT_X, WANT_Y, WANT_Z, ROOM, OTHER_WANTS = (SCRATCH + k * LANES for k in range(6))
"""What the mixer works with, and where a controller's own wants may follow."""


@compiled
def _leave_room_for_yaw(w, rotor):
    for i in range(LANES):
        k, top = rotor[THRUST_CONSTANT + i], rotor[MAX_SPEED + i]
        level = (
            rotor[MIX_THRUST + i] * w[WANT_THRUST + i]
            + rotor[MIX_X + i] * w[WANT_X + i]
            + rotor[MIX_Y + i] * w[WANT_Y + i]
        )
        yaw = rotor[MIX_Z + i] * w[WANT_Z + i]
        free = k * top * top - level if yaw > 0.0 else level
        free = free if free > 0.0 else 0.0
        size = yaw if yaw > 0.0 else -yaw
        share = free / size if size > free else 1.0
        w[ROOM + i] = share if share < w[ROOM + i] else w[ROOM + i]


@compiled
def _set_speed(w, rotor):
    for i in range(LANES):
        k = rotor[THRUST_CONSTANT + i]
        thrust = (
            rotor[MIX_THRUST + i] * w[WANT_THRUST + i] + rotor[MIX_X + i] * w[WANT_X + i]
            + rotor[MIX_Y + i] * w[WANT_Y + i] + rotor[MIX_Z + i] * w[WANT_Z + i] * w[ROOM + i]
        )  # fmt: skip
        thrust = thrust if thrust > 0.0 else 0.0
        rotor[TARGET + i] = sqrt(thrust / k)


@compiled
def mix(w, rotors):
    """Speeds that give the wanted thrust and torque. Where rotors would saturate, yaw is given up first."""
    for i in range(LANES):
        w[ROOM + i] = 1.0
    for base in range(0, rotors.size, ROTOR_WIDTH):
        _leave_room_for_yaw(w, rotors[base : base + ROTOR_WIDTH])
    for base in range(0, rotors.size, ROTOR_WIDTH):
        _set_speed(w, rotors[base : base + ROTOR_WIDTH])
