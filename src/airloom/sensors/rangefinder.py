"""Rangefinder: distance along its x axis to the ground or an obstacle. It does not see other vehicles."""

from math import inf, pi

from pydantic import Field, model_validator

from airloom.bus import messages
from airloom.sensors.sensor import OWN, READING, Mounted, Sensor, body_to_world, sensor_kernel, sensor_position
from airloom.sensors.sensor_errors import SensorErrors, add_errors
from airloom.world.ground import ray


class RangefinderParameters(Mounted):
    axes = {"distance_errors": 1}
    pitch: float = Field(pi / 2, description="π/2 looks down")
    distance_errors: SensorErrors = SensorErrors()
    min_distance: float = Field(0.05, ge=0)
    max_distance: float = Field(40.0, gt=0)

    @model_validator(mode="after")
    def _has_a_range(self) -> "RangefinderParameters":
        if self.min_distance >= self.max_distance:
            raise ValueError("min_distance must be below max_distance")
        return self


@sensor_kernel
def measure_range(w, i, world, s, key, sample):
    """Out of range is −∞ when too near and +∞ when too far, as REP 117 of ROS has it."""
    x, y, z = sensor_position(w, i, s)
    dx, dy, dz = body_to_world(w, i, s[0], s[3], s[6])
    nearest, farthest = s[OWN], s[OWN + 1]
    s[READING] = ray(world, x, y, z, dx, dy, dz, 2.0 * farthest)
    add_errors(s, READING, 0, 1, key, sample)
    if s[READING] < nearest:
        s[READING] = -inf
    elif s[READING] > farthest:
        s[READING] = inf


class Rangefinder(Sensor):
    """Distance to the ground or an obstacle along a ray, downwards unless mounted otherwise."""

    Parameters = RangefinderParameters
    parameters: RangefinderParameters
    kernel = measure_range
    width = 1

    def own_parameters(self) -> list[float]:
        return [self.parameters.min_distance, self.parameters.max_distance]

    def template(self) -> messages.Template:
        (variance,) = self.variances("distance_errors")
        nearest, farthest = self.parameters.min_distance, self.parameters.max_distance
        return messages.range_(self.frame_id, nearest, farthest, variance=variance)
