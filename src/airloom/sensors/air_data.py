"""What is measured of the air that a vehicle flies through: airspeed by a pitot tube, angles by vanes."""

from math import atan2, sqrt

from pydantic import Field

from airloom.bus import messages
from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.sensors.sensor import READING, Mounted, Sensor, sensor_kernel, sensor_velocity, to_sensor, world_to_body
from airloom.sensors.sensor_errors import SensorErrors, add_errors


@compiled
def _flow(w, i, s):
    """Velocity of the sensor's place through the air, in the sensor's axes: x is where the tube points."""
    x, y, z = sensor_velocity(w, i, s)
    x, y, z = world_to_body(w, i, x - w[row.WINDX + i], y - w[row.WINDY + i], z - w[row.WINDZ + i])
    return to_sensor(s, x, y, z)


class AirspeedParameters(Mounted):
    axes = {"airspeed_errors": 1}
    airspeed_errors: SensorErrors = Field(SensorErrors(), description="in m/s")


@sensor_kernel
def measure_airspeed(w, i, world, s, key, sample):
    ahead, _, _ = _flow(w, i, s)
    s[READING] = ahead * sqrt(w[row.DENSITY + i]) if ahead > 0.0 else 0.0
    add_errors(s, READING, 0, 1, key, sample)


class Airspeed(Sensor):
    """Indicated airspeed (m/s) of a pitot tube along the sensor's x axis: true airspeed × √(density / 1.225 kg/m³)."""

    Parameters = AirspeedParameters
    kernel = measure_airspeed
    width = 1
    destination = row.AIRSPEED

    def template(self) -> messages.Template:
        return messages.number()


class VaneParameters(Mounted):
    axes = {"angle_errors": 1}
    angle_errors: SensorErrors = Field(SensorErrors(), description="in rad")


@sensor_kernel
def measure_angle_of_attack(w, i, world, s, key, sample):
    x, _, z = _flow(w, i, s)
    s[READING] = atan2(-z, x)
    add_errors(s, READING, 0, 1, key, sample)


class AngleOfAttack(Sensor):
    """Angle of attack (rad) at the sensor's place: positive if the air comes from below."""

    Parameters = VaneParameters
    kernel = measure_angle_of_attack
    width = 1

    def template(self) -> messages.Template:
        return messages.number()


@sensor_kernel
def measure_sideslip(w, i, world, s, key, sample):
    x, y, _ = _flow(w, i, s)
    s[READING] = atan2(-y, x)
    add_errors(s, READING, 0, 1, key, sample)


class Sideslip(Sensor):
    """Sideslip (rad) at the sensor's place: positive if the air comes from the right."""

    Parameters = VaneParameters
    kernel = measure_sideslip
    width = 1

    def template(self) -> messages.Template:
        return messages.number()
