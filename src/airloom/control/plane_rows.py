"""Where the stack for aeroplanes keeps its numbers, and what its stages share."""

from math import cos, sqrt

from airloom.commands import Mode
from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES

(
    PERIOD, CRUISE, SLOWEST, FASTEST, ALPHA, THROTTLE, PER_THROTTLE, STATIC, MOST_BANK, CLIMB, SINK, RADIUS, L1,
    RATE_K, RATE_I, DAMP_X, DAMP_Y, DAMP_Z, SPEED_K, NO_LIFT, TRIM_X, TRIM_Y, TRIM_Z, STIFF,
) = (row.GAIN + k * LANES for k in range(24))  # fmt: skip
"""TRIM is what servos must turn it by in trimmed flight at cruise speed, rad/s², and STIFF by how much more about y for
one rad more of angle of attack."""
MIX = row.GAIN + 24 * LANES
"""[servo, axis]: command of a servo per rad/s² about x, y, z."""
SUMS = 6
SUM_X, SUM_Y, SUM_Z, SUM_ENERGY, SUM_BALANCE, LOST_THRUST = (row.MEMORY + k * LANES for k in range(SUMS))
LOST = 1.0
"""Of LOST_THRUST, which grows to it while the propellers do not follow."""
THRUST, ROLL, PITCH, YAW_RATE = (row.COMMAND + k * LANES for k in range(4))
IDLE, POSITION, VELOCITY, ATTITUDE, RATES, TORQUE = (float(mode) for mode in Mode)

LEAST_COSINE = 0.3  # of the bank


@compiled
def angle_of_attack(w, i, airspeed, bank):
    """With which it carries its weight round a turn at this airspeed."""
    lift = (w[CRUISE + i] / max(airspeed, w[SLOWEST + i])) ** 2 / max(cos(bank), LEAST_COSINE)
    return w[NO_LIFT + i] + (w[ALPHA + i] - w[NO_LIFT + i]) * lift


@compiled
def airspeed_of(w, i):
    """Indicated: what the sensor read last; without one, the speed over the ground as if there were no wind."""
    if w[row.AIRSPEED + i] > 0.0:
        return w[row.AIRSPEED + i]
    vx, vy, vz = w[row.EVX + i], w[row.EVY + i], w[row.EVZ + i]
    return sqrt(w[row.DENSITY + i] * (vx * vx + vy * vy + vz * vz))
