"""The standard atmosphere: its differential equation, and other sea levels."""

from __future__ import annotations

import pytest

from airloom.world.atmosphere import GAS_CONSTANT, air_density, air_pressure, air_temperature


@pytest.mark.parametrize("altitude", [-200.0, 0.0, 300.0, 5000.0, 10_900.0])
def test_pressure_is_the_weight_of_the_air_above(altitude: float) -> None:
    """dp/dh = −ρ g."""
    slope = (air_pressure(altitude + 0.5, 101325.0, 288.15) - air_pressure(altitude - 0.5, 101325.0, 288.15)) / 1.0
    assert slope == pytest.approx(-9.80665 * air_density(altitude, 101325.0, 288.15), rel=1e-6)


def test_it_starts_from_the_worlds_sea_level() -> None:
    assert air_pressure(0.0, 99_000.0, 300.0) == 99_000.0
    assert air_temperature(0.0, 300.0) == 300.0
    assert air_density(0.0, 99_000.0, 300.0) == pytest.approx(99_000.0 / (GAS_CONSTANT * 300.0))
    assert air_temperature(1000.0, 300.0) == pytest.approx(293.5)
