"""Local position ↔ latitude, longitude, altitude. Angles in radians, local axes east, north, up.

`sphere_to_geodetic` is the formula of many hardware-in-the-loop plugins (inverse azimuthal equidistant projection on
a sphere); `local_to_geodetic` is exact on the WGS-84 ellipsoid. Altitude above the ellipsoid and above the sea are not
told apart: the world's origin gives one altitude, and differences are small over a flight.
"""

from math import asin, atan2, cos, sin, sqrt

from airloom.compiled import compiled

EARTH_RADIUS = 6371008.8  # mean radius R1 of the ellipsoid, m
SEMI_MAJOR = 6378137.0  # WGS-84
FLATTENING = 1.0 / 298.257223563
ECCENTRICITY2 = FLATTENING * (2.0 - FLATTENING)


@compiled
def sphere_to_geodetic(x, y, z, latitude, longitude, altitude):
    """Latitude, longitude and altitude of a local place, on a sphere."""
    c = sqrt(x * x + y * y) / EARTH_RADIUS
    if c == 0.0:
        return latitude, longitude, altitude + z
    east, north = x / EARTH_RADIUS, y / EARTH_RADIUS
    new_latitude = asin(cos(c) * sin(latitude) + north * sin(c) * cos(latitude) / c)
    new_longitude = longitude + atan2(east * sin(c), c * cos(latitude) * cos(c) - north * sin(latitude) * sin(c))
    return new_latitude, new_longitude, altitude + z


@compiled
def _earth_centred(latitude, longitude, altitude):
    n = SEMI_MAJOR / sqrt(1.0 - ECCENTRICITY2 * sin(latitude) ** 2)
    level = (n + altitude) * cos(latitude)
    return level * cos(longitude), level * sin(longitude), (n * (1.0 - ECCENTRICITY2) + altitude) * sin(latitude)


@compiled
def local_to_geodetic(x, y, z, latitude, longitude, altitude):
    """Of east, north, up from a tangent plane at the origin, through earth-centred axes (Bowring's iteration)."""
    sl, cl, so, co = sin(latitude), cos(latitude), sin(longitude), cos(longitude)
    ex, ey, ez = _earth_centred(latitude, longitude, altitude)
    ex += -so * x - sl * co * y + cl * co * z
    ey += co * x - sl * so * y + cl * so * z
    ez += cl * y + sl * z
    level = sqrt(ex * ex + ey * ey)
    new = atan2(ez, level * (1.0 - ECCENTRICITY2))
    for _ in range(4):
        n = SEMI_MAJOR / sqrt(1.0 - ECCENTRICITY2 * sin(new) ** 2)
        new = atan2(ez + ECCENTRICITY2 * n * sin(new), level)
    n = SEMI_MAJOR / sqrt(1.0 - ECCENTRICITY2 * sin(new) ** 2)
    height = level * cos(new) + ez * sin(new) - n * (1.0 - ECCENTRICITY2 * sin(new) ** 2)
    return new, atan2(ey, ex), height


@compiled
def geodetic_to_local(latitude, longitude, altitude, latitude0, longitude0, altitude0):
    """The opposite of `local_to_geodetic`: east, north, up of a place on Earth."""
    x, y, z = _earth_centred(latitude, longitude, altitude)
    x0, y0, z0 = _earth_centred(latitude0, longitude0, altitude0)
    x, y, z = x - x0, y - y0, z - z0
    sl, cl, so, co = sin(latitude0), cos(latitude0), sin(longitude0), cos(longitude0)
    return -so * x + co * y, -sl * co * x - sl * so * y + cl * z, cl * co * x + cl * so * y + sl * z
