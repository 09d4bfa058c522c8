"""From body thrust and torque to rotor speeds.

Rotors turn one way only and not faster than they can. Where that does not allow all that is wanted, it is given up in
this order: first yaw torque; then thrust, which becomes as much more or less as roll and pitch torque need; and
last those, both by the same share, which happens only if no thrust at all would allow them. So a vehicle keeps
its balance as long as it can, even if it must rise or sink for that.

With a_i the part of rotor i in roll and pitch torque over its part in the thrust, and c_i likewise of its greatest
thrust, a thrust T goes with a share s of the torques if −s a_i ≤ T ≤ c_i − s a_i for all rotors. Some T does
while s (a_j − a_i) ≤ c_j for any two, that is s ≤ c_j/(a_j − min a).
"""

from math import inf, sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.lanes import limit
from airloom.compiled.rows import LANES

WANT_THRUST, WANT_X, WANT_Y, WANT_Z, LEAST, MOST, GIVEN_THRUST, TILT_SHARE, YAW_SHARE, OTHER_WANTS = (
    row.SCRATCH + k * LANES for k in range(10)
)
"""What the mixer works with, and where a controller's own wants may follow."""
LEAST_PART = 1e-3  # of the thrust, below which a rotor does not lift


@compiled
def _constant(w, rotor, i):
    """Thrust over the square of the speed in the air that is there: as ArduPilot does, by what a barometer knows."""
    return rotor[row.THRUST_CONSTANT + i] * w[row.DENSITY + i]


@compiled
def _tilt(w, rotor, i):
    """This rotor's part of the wanted roll and pitch torque, N."""
    return rotor[row.MIX_X + i] * w[WANT_X + i] + rotor[row.MIX_Y + i] * w[WANT_Y + i]


@compiled
def _find_room(w, rotor):
    """Between which thrusts this rotor can give its part of roll and pitch torque."""
    for i in range(LANES):
        k, top, part = _constant(w, rotor, i), rotor[row.MAX_SPEED + i], rotor[row.MIX_THRUST + i]
        tilt = _tilt(w, rotor, i)
        lifts = part > LEAST_PART
        part = part if lifts else 1.0
        least = -tilt / part if lifts else -inf
        most = (k * top * top - tilt) / part if lifts else inf
        w[LEAST + i] = least if least > w[LEAST + i] else w[LEAST + i]
        w[MOST + i] = most if most < w[MOST + i] else w[MOST + i]


@compiled
def _choose_thrust(w):
    """Tells whether no thrust goes with the wanted torques, for any vehicle of the block."""
    too_much = 0
    for i in range(LANES):
        too_much += 1 if w[LEAST + i] > w[MOST + i] else 0
        w[GIVEN_THRUST + i] = limit(w[WANT_THRUST + i], w[LEAST + i], w[MOST + i])
    return too_much > 0


@compiled
def _share_tilt(w, rotor):
    for i in range(LANES):
        k, top, part = _constant(w, rotor, i), rotor[row.MAX_SPEED + i], rotor[row.MIX_THRUST + i]
        tilt = _tilt(w, rotor, i)
        spread, full = tilt + part * w[LEAST + i], k * top * top
        share = full / spread if (part > LEAST_PART) & (spread > full) else 1.0
        w[TILT_SHARE + i] = share if share < w[TILT_SHARE + i] else w[TILT_SHARE + i]


@compiled
def _give_up_tilt(w):
    for i in range(LANES):
        w[GIVEN_THRUST + i] = w[TILT_SHARE + i] * w[LEAST + i] if w[LEAST + i] > w[MOST + i] else w[GIVEN_THRUST + i]


@compiled
def _without_yaw(w, rotor, i):
    share = w[TILT_SHARE + i]
    return (
        rotor[row.MIX_THRUST + i] * w[GIVEN_THRUST + i]
        + rotor[row.MIX_X + i] * w[WANT_X + i] * share + rotor[row.MIX_Y + i] * w[WANT_Y + i] * share
    )  # fmt: skip


@compiled
def _share_yaw(w, rotor):
    for i in range(LANES):
        k, top = _constant(w, rotor, i), rotor[row.MAX_SPEED + i]
        level, yaw = _without_yaw(w, rotor, i), rotor[row.MIX_Z + i] * w[WANT_Z + i]
        free = k * top * top - level if yaw > 0.0 else level
        free = free if free > 0.0 else 0.0
        size = yaw if yaw > 0.0 else -yaw
        share = free / size if size > free else 1.0
        w[YAW_SHARE + i] = share if share < w[YAW_SHARE + i] else w[YAW_SHARE + i]


@compiled
def _set_speed(w, rotor):
    for i in range(LANES):
        thrust = _without_yaw(w, rotor, i) + rotor[row.MIX_Z + i] * w[WANT_Z + i] * w[YAW_SHARE + i]
        thrust = thrust if thrust > 0.0 else 0.0
        rotor[row.TARGET + i] = sqrt(thrust / _constant(w, rotor, i))


@compiled
def mix(w, rotors):
    """Speeds that give the wanted thrust and torque, or what comes first of it where rotors would saturate."""
    for i in range(LANES):
        w[LEAST + i], w[MOST + i], w[TILT_SHARE + i], w[YAW_SHARE + i] = -inf, inf, 1.0, 1.0
    for base in range(0, rotors.size, row.ROTOR_WIDTH):
        _find_room(w, rotors[base : base + row.ROTOR_WIDTH])
    if _choose_thrust(w):
        for base in range(0, rotors.size, row.ROTOR_WIDTH):
            _share_tilt(w, rotors[base : base + row.ROTOR_WIDTH])
        _give_up_tilt(w)
    for base in range(0, rotors.size, row.ROTOR_WIDTH):
        _share_yaw(w, rotors[base : base + row.ROTOR_WIDTH])
    for base in range(0, rotors.size, row.ROTOR_WIDTH):
        _set_speed(w, rotors[base : base + row.ROTOR_WIDTH])
