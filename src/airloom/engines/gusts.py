"""The wind at each surface's own place, which is another than the vehicle's in shear, turbulence and lee."""

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics import aircraft, surfaces
from airloom.physics.attitude import rotate
from airloom.physics.wings import AIRCRAFT, FIRST_SURFACE, STIRRED, SURFACES, WHOLE
from airloom.weather.air import is_wind, wind_at

HALF_REACH = 0.425
"""Of the span, to each side: where the wind of half a wing is felt (Etkin, J. Aircraft 18, 1981: 85 % of the span)."""


@compiled
def _wind_beside(layers, world, t, w, i, x, y, z, wind):
    """The wind at a place of the body, less that at its origin; none where it is no number."""
    dx, dy, dz = rotate(w[row.QW + i], w[row.QX + i], w[row.QY + i], w[row.QZ + i], x, y, z)
    wind_at(layers, world, t, w[row.PX + i] + dx, w[row.PY + i] + dy, w[row.PZ + i] + dz, wind)
    if not is_wind(wind[0], wind[1], wind[2]):
        return 0.0, 0.0, 0.0
    return wind[0] - w[row.WINDX + i], wind[1] - w[row.WINDY + i], wind[2] - w[row.WINDZ + i]


@compiled
def feel_gusts(layers, world, t, w, i, p, wind):
    """Leave the wind at all surfaces of a vehicle where its wings look for it, `wind` being room for three numbers."""
    p[STIRRED + i] = 1.0
    if p[WHOLE] != 0.0:
        _feel_gust_of_aircraft(layers, world, t, w, i, p, wind)
    at = FIRST_SURFACE
    for _ in range(int(p[SURFACES])):
        a = at + i
        place = p[a + surfaces.X], p[a + surfaces.Y], p[a + surfaces.Z]
        x, y, z = _wind_beside(layers, world, t, w, i, place[0], place[1], place[2], wind)
        p[a + surfaces.GUST], p[a + surfaces.GUST + LANES], p[a + surfaces.GUST + 2 * LANES] = x, y, z
        at += surfaces.rows_of(p, at)


@compiled
def _feel_gust_of_aircraft(layers, world, t, w, i, p, wind):
    """At its reference point, and how it changes from the right to the left half of the wing: air that turns."""
    a = AIRCRAFT + i
    x, y, z = p[a + aircraft.X], p[a + aircraft.Y], p[a + aircraft.Z]
    reach = HALF_REACH * p[a + aircraft.SPAN]
    gx, gy, gz = _wind_beside(layers, world, t, w, i, x, y, z, wind)
    p[a + aircraft.GUST], p[a + aircraft.GUST + LANES], p[a + aircraft.GUST + 2 * LANES] = gx, gy, gz
    lx, ly, lz = _wind_beside(layers, world, t, w, i, x, y + reach, z, wind)
    rx, ry, rz = _wind_beside(layers, world, t, w, i, x, y - reach, z, wind)
    p[a + aircraft.SHEAR] = (lx - rx) / (2.0 * reach)
    p[a + aircraft.SHEAR + LANES] = (ly - ry) / (2.0 * reach)
    p[a + aircraft.SHEAR + 2 * LANES] = (lz - rz) / (2.0 * reach)


@compiled
def forget_gusts(i, p):
    """Of a vehicle that somebody has given a wind of its own."""
    for k in range(6):
        p[AIRCRAFT + aircraft.GUST + k * LANES + i] = 0.0
    at = FIRST_SURFACE
    for _ in range(int(p[SURFACES])):
        for k in range(3):
            p[at + surfaces.GUST + k * LANES + i] = 0.0
        at += surfaces.rows_of(p, at)
