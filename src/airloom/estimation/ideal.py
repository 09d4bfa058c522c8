"""The estimate is what the odometry sensor reads: exact if that is ideal, noisy if not."""

from airloom.compiled import compiled
from airloom.flight_stack import Estimator, Rated, block_kernel
from airloom.physics.rows import (
    EPX, EPY, EPZ, EQW, EQX, EQY, EQZ, EVX, EVY, EVZ, EWX, EWY, EWZ, LANES, OPX, OPY, OPZ, OQW, OQX, OQY, OQZ, OVX, OVY,
    OVZ, OWX, OWY, OWZ,
)  # fmt: skip


@compiled
def take_position_and_velocity(w):
    for i in range(LANES):
        a, b, c, d = w[OQW + i], w[OQX + i], w[OQY + i], w[OQZ + i]
        x, y, z = w[OVX + i], w[OVY + i], w[OVZ + i]
        w[EPX + i] = w[OPX + i]
        w[EPY + i] = w[OPY + i]
        w[EPZ + i] = w[OPZ + i]
        w[EVX + i] = (1.0 - 2.0 * (c * c + d * d)) * x + 2.0 * (b * c - a * d) * y + 2.0 * (b * d + a * c) * z
        w[EVY + i] = 2.0 * (b * c + a * d) * x + (1.0 - 2.0 * (b * b + d * d)) * y + 2.0 * (c * d - a * b) * z
        w[EVZ + i] = 2.0 * (b * d - a * c) * x + 2.0 * (c * d + a * b) * y + (1.0 - 2.0 * (b * b + c * c)) * z


@block_kernel
def estimate_from_odometry(w, rotors, tick):
    take_position_and_velocity(w)
    for i in range(LANES):
        w[EQW + i] = w[OQW + i]
        w[EQX + i] = w[OQX + i]
        w[EQY + i] = w[OQY + i]
        w[EQZ + i] = w[OQZ + i]
        w[EWX + i] = w[OWX + i]
        w[EWY + i] = w[OWY + i]
        w[EWZ + i] = w[OWZ + i]


class IdealParameters(Rated):
    rate: float = 500.0


class Ideal(Estimator):
    """State as the odometry sensor reads it."""

    Parameters = IdealParameters
    kernel = estimate_from_odometry
    needs = ("odometry",)
