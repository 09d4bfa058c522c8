"""Barometer: static pressure of the standard atmosphere."""

from airloom.bus import messages
from airloom.sensors.sensor import READING, Mounted, Sensor, sensor_kernel, sensor_position
from airloom.sensors.sensor_errors import SensorErrors, add_errors
from airloom.world.atmosphere import air_pressure, air_temperature, geopotential
from airloom.world.ground import W_ALTITUDE, W_CURVATURE, W_PRESSURE, W_TEMPERATURE


class BarometerParameters(Mounted):
    axes = {"pressure_errors": 1, "temperature_errors": 1}
    pressure_errors: SensorErrors = SensorErrors()
    temperature_errors: SensorErrors = SensorErrors()


@sensor_kernel
def measure_barometer(w, i, world, s, key, sample):
    altitude = geopotential(world[W_ALTITUDE] + sensor_position(w, i, s)[2], world[W_CURVATURE])
    s[READING] = air_pressure(altitude, world[W_PRESSURE], world[W_TEMPERATURE])
    s[READING + 1] = air_temperature(altitude, world[W_TEMPERATURE])
    add_errors(s, READING, 0, 2, key, sample)


class Barometer(Sensor):
    """Static pressure (Pa) and temperature (K) of the standard atmosphere."""

    Parameters = BarometerParameters
    kernel = measure_barometer
    width = 2

    def template(self) -> messages.Template:
        (variance,) = self.variances("pressure_errors")
        return messages.fluid_pressure(self.frame_id, variance)
