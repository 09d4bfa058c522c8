"""Doppler velocity log: velocity over the bottom by four beams of sound."""

from math import cos, nan, pi, sin

from pydantic import Field

from airloom.bus import messages
from airloom.compiled import compiled
from airloom.sensors.sensor import (
    OWN,
    READING,
    Mounted,
    Sensor,
    body_to_world,
    sensor_kernel,
    sensor_position,
    sensor_velocity_in_body,
    to_sensor,
)
from airloom.sensors.sensor_errors import SensorErrors, add_errors
from airloom.world.ground import ray
from airloom.world.water import is_water, surface_at

BEAMS, LEAST_BEAMS = 4, 3
DISTANCE, BEAMS_HEARD = READING + 3, READING + 4


class DvlParameters(Mounted):
    axes = {"velocity_errors": 3}
    velocity_errors: SensorErrors = Field(SensorErrors(), description="in m/s")
    beam_angle: float = Field(pi / 6, gt=0, lt=1.2, description="of each beam from straight down, rad")
    min_distance: float = Field(0.05, ge=0, description="along a beam, m")
    max_distance: float = Field(50.0, gt=0, description="along a beam, m")


@compiled
def _distance(w, i, world, s, x, y, z, beam):
    """Along one beam to the bottom; 0 if it is not heard."""
    turn, lean = (0.25 + 0.5 * beam) * pi, s[OWN]
    a, b, c = sin(lean) * cos(turn), sin(lean) * sin(turn), -cos(lean)
    bx, by, bz = s[0] * a + s[1] * b + s[2] * c, s[3] * a + s[4] * b + s[5] * c, s[6] * a + s[7] * b + s[8] * c
    dx, dy, dz = body_to_world(w, i, bx, by, bz)
    far = ray(world, x, y, z, dx, dy, dz, 2.0 * s[OWN + 2])
    return far if s[OWN + 1] <= far <= s[OWN + 2] else 0.0


@sensor_kernel
def measure_dvl(w, i, world, s, key, sample):
    """Velocity (sensor axes), distance straight down (m), and how many beams were heard; without three, no numbers."""
    x, y, z = sensor_position(w, i, s)
    is_wet = is_water(world) and z < surface_at(world, sample * s[OWN + 3], x, y)[0]
    heard, total = 0.0, 0.0
    for beam in range(BEAMS):
        far = _distance(w, i, world, s, x, y, z, beam) if is_wet else 0.0
        heard += 1.0 if far > 0.0 else 0.0
        total += far
    vx, vy, vz = sensor_velocity_in_body(w, i, s)
    s[READING], s[READING + 1], s[READING + 2] = to_sensor(s, vx, vy, vz)
    add_errors(s, READING, 0, 3, key, sample)
    s[DISTANCE], s[BEAMS_HEARD] = nan, heard
    if heard > 0.0:
        s[DISTANCE] = total / heard * cos(s[OWN])
    if heard < LEAST_BEAMS:
        s[READING], s[READING + 1], s[READING + 2] = nan, nan, nan


class Dvl(Sensor):
    """Velocity over the bottom (m/s, sensor axes) by four beams of sound, the distance to it, and how many heard it.

    Less than three beams, or a sensor that is out of the water, give no numbers.
    """

    Parameters = DvlParameters
    parameters: DvlParameters
    kernel = measure_dvl
    width = 5

    def own_parameters(self) -> list[float]:
        p = self.parameters
        return [p.beam_angle, p.min_distance, p.max_distance, 1.0 / self.rate]

    def template(self) -> messages.Template:
        return messages.velocity(self.frame_id)
