"""The estimate is what the odometry sensor reads: exact if that is ideal, noisy if not."""

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.control.flight_stack import Estimator, Rated, block_kernel
from airloom.physics.attitude import rotate


@compiled
def take_position_and_velocity(w):
    for i in range(LANES):
        a, b, c, d = w[row.OQW + i], w[row.OQX + i], w[row.OQY + i], w[row.OQZ + i]
        x, y, z = w[row.OVX + i], w[row.OVY + i], w[row.OVZ + i]
        w[row.EPX + i] = w[row.OPX + i]
        w[row.EPY + i] = w[row.OPY + i]
        w[row.EPZ + i] = w[row.OPZ + i]
        w[row.EVX + i], w[row.EVY + i], w[row.EVZ + i] = rotate(a, b, c, d, x, y, z)


@block_kernel
def estimate_from_odometry(w, rotors, tick):
    take_position_and_velocity(w)
    for i in range(LANES):
        w[row.EQW + i] = w[row.OQW + i]
        w[row.EQX + i] = w[row.OQX + i]
        w[row.EQY + i] = w[row.OQY + i]
        w[row.EQZ + i] = w[row.OQZ + i]
        w[row.EWX + i] = w[row.OWX + i]
        w[row.EWY + i] = w[row.OWY + i]
        w[row.EWZ + i] = w[row.OWZ + i]


class IdealParameters(Rated):
    rate: float = 500.0


class Ideal(Estimator):
    """State as the odometry sensor reads it."""

    Parameters = IdealParameters
    kernel = estimate_from_odometry
    needs = ("odometry",)
