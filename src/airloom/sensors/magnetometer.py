"""Magnetometer: the world's magnetic field in the sensor's axes."""

from airloom.bus import messages
from airloom.sensors.sensor import READING, Mounted, Sensor, sensor_kernel, to_sensor, world_to_body
from airloom.sensors.sensor_errors import SensorErrors, add_errors
from airloom.world.ground import W_FIELD_X, W_FIELD_Y, W_FIELD_Z


class MagnetometerParameters(Mounted):
    axes = {"field_errors": 3}
    field_errors: SensorErrors = SensorErrors()


@sensor_kernel
def measure_magnetometer(w, i, world, s, key, sample):
    x, y, z = world_to_body(w, i, world[W_FIELD_X], world[W_FIELD_Y], world[W_FIELD_Z])
    s[READING], s[READING + 1], s[READING + 2] = to_sensor(s, x, y, z)
    add_errors(s, READING, 0, 3, key, sample)


class Magnetometer(Sensor):
    """The magnetic field in the sensor's axes, tesla."""

    Parameters = MagnetometerParameters
    kernel = measure_magnetometer
    width = 3

    def template(self) -> messages.Template:
        return messages.magnetic_field(self.frame_id, self.variances("field_errors"))
