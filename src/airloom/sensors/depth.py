"""Depth: the pressure under water, as a depth in water of one density."""

from pydantic import Field

from airloom.bus import messages
from airloom.compiled import rows as row
from airloom.sensors.sensor import OWN, READING, Mounted, Sensor, sensor_kernel, sensor_position
from airloom.sensors.sensor_errors import SensorErrors, add_errors
from airloom.world.water import is_water, pressure_at


class DepthParameters(Mounted):
    axes = {"depth_errors": 1}
    depth_errors: SensorErrors = Field(SensorErrors(), description="in m")
    density: float = Field(1025.0, gt=0, description="of the water that it takes for granted, kg/m³")


@sensor_kernel
def measure_depth(w, i, world, s, key, sample):
    """`sample` counts samples, so its time follows from the sensor's period."""
    x, y, z = sensor_position(w, i, s)
    gravity, pressure = w[row.GRAVITY + i], 0.0
    if is_water(world):
        pressure = pressure_at(world, gravity, sample * s[OWN + 1], x, y, z)
    s[READING] = pressure / (s[OWN] * gravity) if gravity > 0.0 else 0.0
    add_errors(s, READING, 0, 1, key, sample)


class Depth(Sensor):
    """Depth (m) below the surface by the pressure there, waves included; 0 above it, or without water."""

    Parameters = DepthParameters
    parameters: DepthParameters
    kernel = measure_depth
    width = 1

    def own_parameters(self) -> list[float]:
        return [self.parameters.density, 1.0 / self.rate]

    def template(self) -> messages.Template:
        return messages.number()
