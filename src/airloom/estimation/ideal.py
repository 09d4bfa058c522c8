"""The estimate is what the odometry sensor reads: exact if that is ideal, noisy if not."""

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.control.flight_stack import Estimator, Rated, block_kernel


@compiled
def take_position_and_velocity(w):
    for i in range(LANES):
        a, b, c, d = w[row.OQW + i], w[row.OQX + i], w[row.OQY + i], w[row.OQZ + i]
        x, y, z = w[row.OVX + i], w[row.OVY + i], w[row.OVZ + i]
        w[row.EPX + i] = w[row.OPX + i]
        w[row.EPY + i] = w[row.OPY + i]
        w[row.EPZ + i] = w[row.OPZ + i]
        w[row.EVX + i] = (1.0 - 2.0 * (c * c + d * d)) * x + 2.0 * (b * c - a * d) * y + 2.0 * (b * d + a * c) * z
        w[row.EVY + i] = 2.0 * (b * c + a * d) * x + (1.0 - 2.0 * (b * b + d * d)) * y + 2.0 * (c * d - a * b) * z
        w[row.EVZ + i] = 2.0 * (b * d - a * c) * x + 2.0 * (c * d + a * b) * y + (1.0 - 2.0 * (b * b + c * c)) * z


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
