"""Satellite navigation: latitude, longitude, altitude and velocity, simulated here with its own errors."""

from math import pi
from typing import Literal

from airloom.bus import messages
from airloom.sensors.sensor import OWN, READING, Mounted, Sensor, sensor_kernel, sensor_position, sensor_velocity
from airloom.sensors.sensor_errors import SensorErrors, add_errors
from airloom.world.geodesy import local_to_geodetic, sphere_to_geodetic
from airloom.world.ground import W_ALTITUDE, W_LATITUDE, W_LONGITUDE

DEGREES = 180.0 / pi


class GnssParameters(Mounted):
    axes = {"position_errors": 3, "velocity_errors": 3}
    position_errors: SensorErrors = SensorErrors()
    velocity_errors: SensorErrors = SensorErrors()
    earth: Literal["wgs84", "sphere"] = "wgs84"


@sensor_kernel
def measure_gnss(w, i, world, s, key, sample):
    """SensorErrors are in metres east, north, up, so they are added before the position becomes degrees."""
    s[READING], s[READING + 1], s[READING + 2] = sensor_position(w, i, s)
    s[READING + 3], s[READING + 4], s[READING + 5] = sensor_velocity(w, i, s)
    add_errors(s, READING, 0, 6, key, sample)
    x, y, z = s[READING], s[READING + 1], s[READING + 2]
    latitude, longitude, altitude = world[W_LATITUDE], world[W_LONGITUDE], world[W_ALTITUDE]
    if s[OWN] == 0.0:
        latitude, longitude, altitude = local_to_geodetic(x, y, z, latitude, longitude, altitude)
    else:
        latitude, longitude, altitude = sphere_to_geodetic(x, y, z, latitude, longitude, altitude)
    s[READING], s[READING + 1], s[READING + 2] = latitude * DEGREES, longitude * DEGREES, altitude


class Gnss(Sensor):
    """Latitude, longitude, altitude and velocity with errors in metres; on WGS-84 or on a sphere."""

    Parameters = GnssParameters
    parameters: GnssParameters
    kernel = measure_gnss
    width = 6

    def own_parameters(self) -> list[float]:
        return [0.0 if self.parameters.earth == "wgs84" else 1.0]

    def template(self) -> messages.Template:
        return messages.nav_sat_fix(self.frame_id, self.variances("position_errors"))
