"""Odometry: pose and velocity, ideal or with errors; the stand-in for motion capture."""

from math import cos, sin, sqrt

from airloom import messages
from airloom.physics.attitude import multiply
from airloom.physics.rows import OPX, QW, QX, QY, QZ, WX, WY, WZ
from airloom.rotations import quaternion_from_euler
from airloom.sensors.errors import Errors, add_errors
from airloom.sensors.sensor import (
    OWN, READING, Mounted, Sensor, sensor_kernel, sensor_position, sensor_velocity, to_sensor, world_to_body,
)  # fmt: skip


class OdometryParameters(Mounted):
    axes = {"position_errors": 3, "attitude_errors": 3, "velocity_errors": 3, "rate_errors": 3}
    position_errors: Errors = Errors()
    attitude_errors: Errors = Errors()
    velocity_errors: Errors = Errors()
    rate_errors: Errors = Errors()


@sensor_kernel
def measure_odometry(w, i, world, s, key, sample):
    """Position (world), attitude, velocity and rates (sensor axes). The attitude error is a small rotation vector."""
    s[READING], s[READING + 1], s[READING + 2] = sensor_position(w, i, s)
    vx, vy, vz = sensor_velocity(w, i, s)
    vx, vy, vz = world_to_body(w, i, vx, vy, vz)
    s[READING + 7], s[READING + 8], s[READING + 9] = to_sensor(s, vx, vy, vz)
    s[READING + 10], s[READING + 11], s[READING + 12] = to_sensor(s, w[WX + i], w[WY + i], w[WZ + i])
    s[READING + 13], s[READING + 14], s[READING + 15] = 0.0, 0.0, 0.0
    add_errors(s, READING, 0, 3, key, sample)
    add_errors(s, READING + 13, 3, 3, key, sample)
    add_errors(s, READING + 7, 6, 6, key, sample)
    a2, b2, c2, d2 = multiply(w[QW + i], w[QX + i], w[QY + i], w[QZ + i], s[OWN], s[OWN + 1], s[OWN + 2], s[OWN + 3])
    x, y, z = s[READING + 13], s[READING + 14], s[READING + 15]
    angle = sqrt(x * x + y * y + z * z)
    if angle > 0.0:
        share = sin(0.5 * angle) / angle
        a2, b2, c2, d2 = multiply(a2, b2, c2, d2, cos(0.5 * angle), x * share, y * share, z * share)
    s[READING + 3], s[READING + 4], s[READING + 5], s[READING + 6] = a2, b2, c2, d2


class Odometry(Sensor):
    """Pose and velocity of the vehicle, ideal or with errors (motion capture)."""

    Parameters = OdometryParameters
    kernel = measure_odometry
    destination = OPX
    width = 13

    def own_parameters(self) -> list[float]:
        mount = self.parameters
        return [*quaternion_from_euler(mount.roll, mount.pitch, mount.yaw)]

    def template(self) -> messages.Template:
        return messages.odometry("world", self.frame_id)
