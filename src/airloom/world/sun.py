"""Where the sun stands over a world.

From its date and time by the low-accuracy formulas of Meeus, "Astronomical Algorithms", 2nd edition, chapters 13, 22
and 25, as NOAA's solar calculator has them; good to about 0.01° from 1950 to 2050.
"""

from __future__ import annotations

from datetime import UTC, datetime
from math import asin, atan2, cos, degrees, radians, sin, tan

import numpy as np

from airloom.scenario.light import Sun
from airloom.scenario.models import World

AZIMUTH, ELEVATION = 200.0, 49.0  # degrees, of a sun that the world file does not place


def sun_angles(world: World) -> tuple[float, float]:
    """Azimuth, clockwise from north, and elevation, degrees."""
    sun: Sun = world.light.sun
    if sun.time is not None:
        moment = datetime.fromisoformat(sun.time)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return sun_at(moment, world.origin.latitude, world.origin.longitude)
    azimuth, elevation = sun.azimuth, sun.elevation
    return AZIMUTH if azimuth is None else azimuth, ELEVATION if elevation is None else elevation


def sun_direction(world: World) -> np.ndarray:
    """A unit vector to the sun in the axes of the world."""
    azimuth, elevation = (radians(angle) for angle in sun_angles(world))
    return np.array([sin(azimuth) * cos(elevation), cos(azimuth) * cos(elevation), sin(elevation)])


def sun_at(moment: datetime, latitude: float, longitude: float) -> tuple[float, float]:
    """Azimuth, clockwise from north, and elevation with refraction, degrees."""
    days = (moment - datetime(2000, 1, 1, 12, tzinfo=UTC)).total_seconds() / 86400.0
    right_ascension, declination, nutation = _apparent_place(days / 36525.0)
    sidereal = radians(280.46061837 + 360.98564736629 * days) + nutation  # Meeus 12.4
    hour = sidereal + radians(longitude) - right_ascension
    phi = radians(latitude)
    height = asin(sin(phi) * sin(declination) + cos(phi) * cos(declination) * cos(hour))
    azimuth = atan2(sin(hour), cos(hour) * sin(phi) - tan(declination) * cos(phi))  # from the south, westwards
    return (degrees(azimuth) + 180.0) % 360.0, degrees(height) + _refraction(degrees(height))


def _apparent_place(t: float) -> tuple[float, float, float]:
    """Right ascension, declination and the nutation in right ascension, rad; t in Julian centuries from J2000."""
    mean = 280.46646 + t * (36000.76983 + t * 0.0003032)
    anomaly = radians(357.52911 + t * (35999.05029 - t * 0.0001537))
    centre = (
        (1.914602 - t * (0.004817 + t * 0.000014)) * sin(anomaly)
        + (0.019993 - t * 0.000101) * sin(2.0 * anomaly)
        + 0.000289 * sin(3.0 * anomaly)
    )
    node = radians(125.04 - 1934.136 * t)
    longitude = radians(mean + centre - 0.00569 - 0.00478 * sin(node))
    tilt = radians(23.0 + (26.0 + (21.448 - t * (46.8150 + t * (0.00059 - t * 0.001813))) / 60.0) / 60.0)
    tilt += radians(0.00256) * cos(node)
    right_ascension = atan2(cos(tilt) * sin(longitude), cos(longitude))
    return right_ascension, asin(sin(tilt) * sin(longitude)), -radians(0.00478) * sin(node) * cos(tilt)


def _refraction(height: float) -> float:
    """Of the air at sea level, degrees, for a true height in degrees (Sæmundsson; Meeus 16.4); none far below."""
    if height < -1.0:
        return 0.0
    return 1.02 / tan(radians(height + 10.3 / (height + 5.11))) / 60.0
