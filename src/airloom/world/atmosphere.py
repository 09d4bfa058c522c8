"""The International Standard Atmosphere below 11 km, from the world's own sea-level pressure and temperature."""

from math import exp

from airloom.compiled import compiled

LAPSE = 0.0065  # K/m
EXPONENT = 5.2558797  # g M / (R L), ISO 2533
GAS_CONSTANT = 287.05287  # J/(kg K)
STANDARD_DENSITY = 1.225  # kg/m³, at the sea in the standard atmosphere
LIGHTER = 0.378  # 1 − M_water/M_air


@compiled
def geopotential(altitude, curvature):
    """The height that the standard counts in: less than the altitude where gravity becomes less, `curvature` being 1/R.

    With an even gravity, of curvature 0, they are the same.
    """
    return altitude / (1.0 + altitude * curvature)


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


@compiled
def saturation_pressure(temperature):
    """Pa, of water vapour over water at a temperature in K: CIPM-2007, A1.1 (Picard et al., Metrologia 45, 2008)."""
    return exp(
        1.2378847e-5 * temperature * temperature - 1.9121316e-2 * temperature + 33.93711047 - 6.3431645e3 / temperature
    )


@compiled
def humid_air_density(altitude, sea_pressure, sea_temperature, humidity):
    """kg/m³, at an altitude above the sea in m: ρ = (p − 0.378 e)/(R T), e = relative humidity × saturation pressure.

    A mixture of ideal gases, within 0.1 % of CIPM-2007 between −10 and 40 °C. The relative humidity is the same at all
    altitudes.
    """
    pressure = air_pressure(altitude, sea_pressure, sea_temperature)
    temperature = air_temperature(altitude, sea_temperature)
    return (pressure - LIGHTER * humidity * saturation_pressure(temperature)) / (GAS_CONSTANT * temperature)
