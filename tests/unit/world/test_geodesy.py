"""Places on Earth: there and back, at the poles, across the date line."""

from __future__ import annotations

from math import cos, pi, radians, sin

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airloom.world.geodesy import EARTH_RADIUS, geodetic_to_local, local_to_geodetic, sphere_to_geodetic

metres = st.floats(-1e5, 1e5)


@settings(max_examples=300, deadline=None)
@given(metres, metres, st.floats(-500, 9000), st.floats(-89.9, 89.9), st.floats(-180, 180), st.floats(-100, 5000))
def test_there_and_back(x: float, y: float, z: float, latitude: float, longitude: float, altitude: float) -> None:
    origin = radians(latitude), radians(longitude), altitude
    assert geodetic_to_local(*local_to_geodetic(x, y, z, *origin), *origin) == pytest.approx((x, y, z), abs=1e-6)


def test_the_origin_is_itself() -> None:
    origin = (0.8, 0.15, 488.0)
    assert local_to_geodetic(0.0, 0.0, 0.0, *origin) == pytest.approx(origin, abs=1e-9)
    assert sphere_to_geodetic(0.0, 0.0, 7.0, *origin) == (0.8, 0.15, 495.0)


@pytest.mark.parametrize("convert", [local_to_geodetic, sphere_to_geodetic])
def test_directions(convert) -> None:
    origin = (0.8, 0.15, 0.0)
    assert convert(0.0, 100.0, 0.0, *origin)[0] > 0.8  # north
    assert convert(100.0, 0.0, 0.0, *origin)[1] > 0.15  # east
    assert convert(0.0, 0.0, 50.0, *origin)[2] == pytest.approx(50.0)


def test_across_the_date_line() -> None:
    _, longitude, _ = local_to_geodetic(1000.0, 0.0, 0.0, 0.0, radians(179.999), 0.0)
    assert longitude == pytest.approx(radians(-179.999) + 1000.0 / 6378137.0 - radians(0.002), abs=1e-9)


def test_over_the_pole() -> None:
    latitude, longitude, _ = local_to_geodetic(0.0, 2000.0, 0.0, radians(89.99), 0.0, 0.0)
    assert latitude < pi / 2
    assert abs(longitude) == pytest.approx(pi)


@pytest.mark.parametrize("heading", np.linspace(0, 2 * pi, 9))
def test_the_sphere_keeps_distances_and_headings(heading: float) -> None:
    """An azimuthal equidistant projection: the great circle to the place is as long and as wide as the plane's."""
    latitude0, longitude0, d = 0.8, 0.15, 5000.0
    latitude, longitude, _ = sphere_to_geodetic(d * sin(heading), d * cos(heading), 0.0, latitude0, longitude0, 0.0)
    cosine = sin(latitude0) * sin(latitude) + cos(latitude0) * cos(latitude) * cos(longitude - longitude0)
    assert EARTH_RADIUS * np.arccos(cosine) == pytest.approx(d, rel=1e-6)
    east = cos(latitude) * sin(longitude - longitude0)
    north = cos(latitude0) * sin(latitude) - sin(latitude0) * cos(latitude) * cos(longitude - longitude0)
    assert np.exp(1j * np.arctan2(east, north)) == pytest.approx(np.exp(1j * heading), abs=1e-9)
