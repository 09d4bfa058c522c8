"""Odometry: pose and velocity, ideal or with errors; the stand-in for motion capture."""

from math import cos, sin, sqrt

from airloom.basics.rotations import quaternion_from_euler
from airloom.bus import messages
from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.physics.attitude import multiply
from airloom.sensors.sensor import (
    OWN,
    READING,
    Mounted,
    Sensor,
    sensor_kernel,
    sensor_position,
    sensor_velocity_in_body,
    to_sensor,
)
from airloom.sensors.sensor_errors import ANY_ERRORS, SensorErrors, add_errors


class OdometryParameters(Mounted):
    axes = {"position_errors": 3, "attitude_errors": 3, "velocity_errors": 3, "rate_errors": 3}
    position_errors: SensorErrors = SensorErrors()
    attitude_errors: SensorErrors = SensorErrors()
    velocity_errors: SensorErrors = SensorErrors()
    rate_errors: SensorErrors = SensorErrors()


@compiled
def turn_by_errors(s, key, sample):
    """The attitude error is a small rotation vector, kept behind the reading."""
    s[READING + 13], s[READING + 14], s[READING + 15] = 0.0, 0.0, 0.0
    add_errors(s, READING + 13, 3, 3, key, sample)
    x, y, z = s[READING + 13], s[READING + 14], s[READING + 15]
    angle = sqrt(x * x + y * y + z * z)
    if angle > 0.0:
        share = sin(0.5 * angle) / angle
        s[READING + 3], s[READING + 4], s[READING + 5], s[READING + 6] = multiply(
            s[READING + 3], s[READING + 4], s[READING + 5], s[READING + 6],
            cos(0.5 * angle), x * share, y * share, z * share,
        )  # fmt: skip


@sensor_kernel
def measure_odometry(w, i, world, s, key, sample):
    """Position (world), attitude, velocity and rates (sensor axes)."""
    vx, vy, vz = sensor_velocity_in_body(w, i, s)
    s[READING], s[READING + 1], s[READING + 2] = sensor_position(w, i, s)
    s[READING + 3], s[READING + 4], s[READING + 5], s[READING + 6] = multiply(
        w[row.QW + i], w[row.QX + i], w[row.QY + i], w[row.QZ + i], s[OWN], s[OWN + 1], s[OWN + 2], s[OWN + 3]
    )
    s[READING + 7], s[READING + 8], s[READING + 9] = to_sensor(s, vx, vy, vz)
    s[READING + 10], s[READING + 11], s[READING + 12] = to_sensor(s, w[row.WX + i], w[row.WY + i], w[row.WZ + i])
    if s[ANY_ERRORS] != 0.0:
        add_errors(s, READING, 0, 3, key, sample)
        turn_by_errors(s, key, sample)
        add_errors(s, READING + 7, 6, 6, key, sample)


class Odometry(Sensor):
    """Pose and velocity of the vehicle, ideal or with errors (motion capture)."""

    Parameters = OdometryParameters
    parameters: OdometryParameters
    kernel = measure_odometry
    destination = row.OPX
    width = 13

    def own_parameters(self) -> list[float]:
        mount = self.parameters
        return [*quaternion_from_euler(mount.roll, mount.pitch, mount.yaw)]

    def template(self) -> messages.Template:
        """What is measured is the place of the sensor: where that is the vehicle's own, it is that of its base_link."""
        mount = self.parameters
        is_at_base = not any((*mount.position, mount.roll, mount.pitch, mount.yaw))
        pose = messages.covariance([*self.variances("position_errors"), *self.variances("attitude_errors")])
        twist = messages.covariance([*self.variances("velocity_errors"), *self.variances("rate_errors")])
        return messages.odometry("world", f"{self.vehicle}/base_link" if is_at_base else self.frame_id, pose, twist)
