"""A wind of your own: a thermal that drifts along and repeats. Copy this file to begin yours.

Use it in a scenario as `world: {weather: {layers: {thermal: {kind: function, function: my_wind.py:thermal}}}}`.
"""

from __future__ import annotations

from math import exp, hypot

DRIFT, RADIUS, STRENGTH = 2.0, 8.0, 3.0  # m/s eastward, m, m/s


def thermal(t, position):
    """Velocity of the air at a time (s) and place (x, y, z in the world, m): east, north and up, m/s."""
    x, y, z = position
    distance = hypot((x + 20.0 - DRIFT * t) % 80.0 - 20.0, y)
    rising = STRENGTH * exp(-((distance / RADIUS) ** 2)) * min(z / 10.0, 1.0)
    return 0.0, 0.0, rising
