"""Inertial measurement unit: angular rate and specific force where it is mounted."""

from airloom.bus import messages
from airloom.compiled import rows as row
from airloom.sensors.sensor import MOUNT_POSITION, READING, Mounted, Sensor, sensor_kernel, to_sensor, world_to_body
from airloom.sensors.sensor_errors import SensorErrors, add_errors
from airloom.world.ground import W_GRAVITY


class ImuParameters(Mounted):
    axes = {"gyroscope": 3, "accelerometer": 3}
    gyroscope: SensorErrors = SensorErrors()
    accelerometer: SensorErrors = SensorErrors()


@sensor_kernel
def measure_imu(w, i, world, s, key, sample):
    """Rates, and f = a − g at the mount: origin's mean acceleration over the tick plus the lever arm's."""
    x, y, z = s[MOUNT_POSITION], s[MOUNT_POSITION + 1], s[MOUNT_POSITION + 2]
    a, b, c = w[row.WX + i], w[row.WY + i], w[row.WZ + i]
    lx, ly, lz = w[row.MEAN_ALPHA_X + i], w[row.MEAN_ALPHA_Y + i], w[row.MEAN_ALPHA_Z + i]
    fx, fy, fz = w[row.MEAN_AX + i], w[row.MEAN_AY + i], w[row.MEAN_AZ + i] + world[W_GRAVITY]
    fx, fy, fz = fx - w[row.LEAN_X + i], fy - w[row.LEAN_Y + i], fz - w[row.LEAN_Z + i]
    fx, fy, fz = world_to_body(w, i, fx, fy, fz)
    sx, sy, sz = b * z - c * y, c * x - a * z, a * y - b * x
    fx += (ly * z - lz * y) + (b * sz - c * sy)
    fy += (lz * x - lx * z) + (c * sx - a * sz)
    fz += (lx * y - ly * x) + (a * sy - b * sx)
    s[READING], s[READING + 1], s[READING + 2] = to_sensor(s, a, b, c)
    s[READING + 3], s[READING + 4], s[READING + 5] = to_sensor(s, fx, fy, fz)
    add_errors(s, READING, 0, 6, key, sample)


class Imu(Sensor):
    """Gyroscope and accelerometer with white noise, bias random walk and turn-on bias."""

    Parameters = ImuParameters
    kernel = measure_imu
    destination = row.GX
    width = 6

    def template(self) -> messages.Template:
        return messages.imu(self.frame_id, self.variances("gyroscope"), self.variances("accelerometer"))
