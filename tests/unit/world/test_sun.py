"""The sun against published places of it."""

from __future__ import annotations

from datetime import datetime
from math import degrees

import numpy as np
import pytest

from airloom.scenario.models import World
from airloom.world.sun import _apparent_place, sun_angles, sun_at, sun_direction


def test_meeus_example_25a():
    """1992 October 13.0 TD: α = 198.38083°, δ = −7.78507°."""
    right_ascension, declination, _ = _apparent_place(-0.072183436)
    assert degrees(right_ascension) % 360.0 == pytest.approx(198.38083, abs=1e-4)
    assert degrees(declination) == pytest.approx(-7.78507, abs=1e-4)


def test_nrel_spa_example():
    """Reda and Andreas, NREL/TP-560-34302, A.5: zenith 50.11162°, azimuth 194.34024°."""
    azimuth, elevation = sun_at(datetime.fromisoformat("2003-10-17T12:30:30-07:00"), 39.742476, -105.1786)
    assert azimuth == pytest.approx(194.34024, abs=0.01)
    assert elevation == pytest.approx(90.0 - 50.11162, abs=0.01)


@pytest.mark.parametrize(("latitude", "highest"), [(51.4779, 61.96), (-33.87, 32.70)])
def test_noon_at_the_june_solstice_is_90_degrees_less_the_latitude_plus_the_tilt(latitude, highest):
    heights = [sun_at(datetime.fromisoformat(f"2026-06-21T{h:02}:{m:02}+00:00"), latitude, 0.0)[1]
               for h in (11, 12) for m in range(60)]  # fmt: skip
    assert max(heights) == pytest.approx(highest, abs=0.05)


def test_a_time_without_an_offset_is_utc_and_angles_are_taken_as_they_are():
    there = {"origin": {"latitude": 47.0, "longitude": 8.0}}
    plain, told = (
        World.model_validate({**there, "light": {"sun": {"time": time}}})
        for time in ("2026-05-01T10:00", "2026-05-01T12:00+02:00")
    )
    assert sun_angles(plain) == sun_angles(told)
    west = World.model_validate({"light": {"sun": {"azimuth": 270.0, "elevation": 0.0}}})
    assert sun_direction(west) == pytest.approx([-1.0, 0.0, 0.0], abs=1e-9)
    assert np.linalg.norm(sun_direction(plain)) == pytest.approx(1.0)
