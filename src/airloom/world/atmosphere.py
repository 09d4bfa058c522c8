"""The International Standard Atmosphere below 11 km, from the world's own sea-level pressure and temperature."""

from airloom.compiled import compiled

LAPSE = 0.0065  # K/m
EXPONENT = 5.2558797  # g M / (R L), ISO 2533
GAS_CONSTANT = 287.05287  # J/(kg K)


@compiled
def air_temperature(altitude, sea_temperature):
    """K, at an altitude above the sea in m."""
    return sea_temperature - LAPSE * altitude


@compiled
def air_pressure(altitude, sea_pressure, sea_temperature):
    """Pa, at an altitude above the sea in m."""
    return sea_pressure * (1.0 - LAPSE * altitude / sea_temperature) ** EXPONENT


@compiled
def air_density(altitude, sea_pressure, sea_temperature):
    """kg/m³, at an altitude above the sea in m."""
    pressure = air_pressure(altitude, sea_pressure, sea_temperature)
    return pressure / (GAS_CONSTANT * air_temperature(altitude, sea_temperature))
