"""Complementary filter of the Crazyflie firmware 2018.01.1: attitude from gyroscope and accelerometer.

Mahony, Hamel and Pflimlin (IEEE TAC 53-5, 2008) in the proportional-integral form of Madgwick's AHRS code. The
accelerometer corrects roll and pitch; nothing corrects yaw, which drifts with the gyroscope's bias. While the vehicle
stands unarmed the gyroscope's bias is averaged and later subtracted, as the firmware does at start-up. Position and
velocity come from the odometry sensor (in the lab, motion capture).
"""

from math import sqrt

from pydantic import Field

from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.control.flight_stack import Estimator, Rated, block_kernel
from airloom.estimation.ideal import take_position_and_velocity

TWO_KP, TWO_KI, PERIOD = (row.FILTER_GAIN + k * LANES for k in range(3))
IX, IY, IZ, BX, BY, BZ, COUNT = (row.FILTER_MEMORY + k * LANES for k in range(7))


@block_kernel
def filter_attitude(w, rotors, tick):
    take_position_and_velocity(w)
    for i in range(LANES):
        dt = w[PERIOD + i]
        n = w[COUNT + i]
        if w[row.MODE + i] != 0.0:
            w[COUNT + i] = -1.0  # calibrated for good: a vehicle that is idle again may be falling
        elif n >= 0.0:
            w[BX + i] += (w[row.GX + i] - w[BX + i]) / (n + 1.0)
            w[BY + i] += (w[row.GY + i] - w[BY + i]) / (n + 1.0)
            w[BZ + i] += (w[row.GZ + i] - w[BZ + i]) / (n + 1.0)
            w[COUNT + i] = n + 1.0
        p, q, r = w[row.GX + i] - w[BX + i], w[row.GY + i] - w[BY + i], w[row.GZ + i] - w[BZ + i]
        w[row.EWX + i] = p
        w[row.EWY + i] = q
        w[row.EWZ + i] = r
        a, b, c, d = w[row.EQW + i], w[row.EQX + i], w[row.EQY + i], w[row.EQZ + i]
        x, y, z = w[row.AX + i], w[row.AY + i], w[row.AZ + i]
        size = sqrt(x * x + y * y + z * z)
        if size > 0.0:
            x, y, z = x / size, y / size, z / size
            vx, vy, vz = b * d - a * c, a * b + c * d, a * a - 0.5 + d * d
            ex, ey, ez = y * vz - z * vy, z * vx - x * vz, x * vy - y * vx
            w[IX + i] += w[TWO_KI + i] * ex * dt
            w[IY + i] += w[TWO_KI + i] * ey * dt
            w[IZ + i] += w[TWO_KI + i] * ez * dt
            p += w[IX + i] + w[TWO_KP + i] * ex
            q += w[IY + i] + w[TWO_KP + i] * ey
            r += w[IZ + i] + w[TWO_KP + i] * ez
        p, q, r = 0.5 * dt * p, 0.5 * dt * q, 0.5 * dt * r
        a, b, c, d = (
            a - b * p - c * q - d * r,
            b + a * p + c * r - d * q,
            c + a * q - b * r + d * p,
            d + a * r + b * q - c * p,
        )
        size = 1.0 / sqrt(a * a + b * b + c * c + d * d)
        w[row.EQW + i] = a * size
        w[row.EQX + i] = b * size
        w[row.EQY + i] = c * size
        w[row.EQZ + i] = d * size


class ComplementaryParameters(Rated):
    two_kp: float = Field(0.8, ge=0, description="twice the proportional gain, 1/s")
    two_ki: float = Field(0.002, ge=0, description="twice the integral gain, 1/s²")


class Complementary(Estimator):
    """Attitude by the Crazyflie's complementary filter; yaw drifts, position comes from odometry."""

    Parameters = ComplementaryParameters
    parameters: ComplementaryParameters
    kernel = filter_attitude
    needs = ("odometry", "imu")

    def gains(self, step: float) -> list[float]:
        return [self.parameters.two_kp, self.parameters.two_ki, 1.0 / self.parameters.rate]
