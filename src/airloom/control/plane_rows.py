"""Where the stack for aeroplanes keeps its numbers, and what its stages share."""

from math import sqrt

from airloom.commands import Mode
from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES

(
    PERIOD, CRUISE, SLOWEST, FASTEST, ALPHA, THROTTLE, PER_THROTTLE, STATIC, MOST_BANK, CLIMB, SINK, RADIUS, L1,
    ROLL_K, PITCH_K, RATE_K, RATE_I, DAMP_X, DAMP_Y, DAMP_Z, HEIGHT_K, SPEED_K, TURN_DRAG, NO_LIFT,
) = (row.GAIN + k * LANES for k in range(24))  # fmt: skip
MIX = row.GAIN + 24 * LANES
"""[servo, axis]: command of a servo per rad/s² about x, y, z."""
SUM_X, SUM_Y, SUM_Z, SUM_ENERGY, SUM_BALANCE = (row.MEMORY + k * LANES for k in range(5))
SUMS = 5
THRUST, ROLL, PITCH, YAW_RATE = (row.COMMAND + k * LANES for k in range(4))
IDLE, POSITION, VELOCITY, ATTITUDE, RATES, TORQUE = (float(mode) for mode in Mode)


@compiled
def airspeed_of(w, i):
    """Indicated: what the sensor read last; without one, the speed over the ground as if there were no wind."""
    if w[row.AIRSPEED + i] > 0.0:
        return w[row.AIRSPEED + i]
    vx, vy, vz = w[row.EVX + i], w[row.EVY + i], w[row.EVZ + i]
    return sqrt(w[row.DENSITY + i] * (vx * vx + vy * vy + vz * vz))
