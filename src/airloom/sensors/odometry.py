"""Odometry: pose and velocity, ideal or with errors; the stand-in for motion capture."""

from math import cos, sin, sqrt

from airloom import messages
from airloom.physics.rows import OPX, QW, QX, QY, QZ, WX, WY, WZ
from airloom.rotations import quaternion_from_euler
from airloom.sensors.errors import Errors, add_errors
from airloom.sensors.sensor import (
    OWN, Mounted, Sensor, sensor_kernel, sensor_position, sensor_velocity, to_sensor, world_to_body,
)  # fmt: skip


class OdometryParameters(Mounted):
    position_errors: Errors = Errors()
    attitude_errors: Errors = Errors()
    velocity_errors: Errors = Errors()
    rate_errors: Errors = Errors()


@sensor_kernel
def measure_odometry(w, i, world, p, errors, memory, reading, key, sample):
    """Position (world), attitude, velocity and rates (sensor axes). The attitude error is a small rotation vector."""
    reading[0], reading[1], reading[2] = sensor_position(w, i, p)
    vx, vy, vz = sensor_velocity(w, i, p)
    vx, vy, vz = world_to_body(w, i, vx, vy, vz)
    reading[7], reading[8], reading[9] = to_sensor(p, vx, vy, vz)
    reading[10], reading[11], reading[12] = to_sensor(p, w[WX + i], w[WY + i], w[WZ + i])
    reading[13], reading[14], reading[15] = 0.0, 0.0, 0.0
    add_errors(reading, 0, 0, 3, errors, memory, key, sample)
    add_errors(reading, 13, 3, 3, errors, memory, key, sample)
    add_errors(reading, 7, 6, 6, errors, memory, key, sample)
    a0, b0, c0, d0 = w[QW + i], w[QX + i], w[QY + i], w[QZ + i]
    a1, b1, c1, d1 = p[OWN], p[OWN + 1], p[OWN + 2], p[OWN + 3]
    a2 = a0 * a1 - b0 * b1 - c0 * c1 - d0 * d1
    b2 = a0 * b1 + b0 * a1 + c0 * d1 - d0 * c1
    c2 = a0 * c1 - b0 * d1 + c0 * a1 + d0 * b1
    d2 = a0 * d1 + b0 * c1 - c0 * b1 + d0 * a1
    x, y, z = reading[13], reading[14], reading[15]
    angle = sqrt(x * x + y * y + z * z)
    s = sin(0.5 * angle) / angle if angle > 0.0 else 0.0
    a1, b1, c1, d1 = cos(0.5 * angle), x * s, y * s, z * s
    reading[3] = a2 * a1 - b2 * b1 - c2 * c1 - d2 * d1
    reading[4] = a2 * b1 + b2 * a1 + c2 * d1 - d2 * c1
    reading[5] = a2 * c1 - b2 * d1 + c2 * a1 + d2 * b1
    reading[6] = a2 * d1 + b2 * c1 - c2 * b1 + d2 * a1


class Odometry(Sensor):
    """Pose and velocity of the vehicle, ideal or with errors (motion capture)."""

    Parameters = OdometryParameters
    kernel = measure_odometry
    destination = OPX
    width = 13
    error_blocks = {"position_errors": 3, "attitude_errors": 3, "velocity_errors": 3, "rate_errors": 3}

    def own_parameters(self) -> list[float]:
        mount = self.parameters
        return [*quaternion_from_euler(mount.roll, mount.pitch, mount.yaw)]

    def template(self) -> messages.Template:
        return messages.odometry("world", self.frame_id)
