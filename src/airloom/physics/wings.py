"""All that lifts a vehicle with wings: its servos, its aircraft as a whole, its surfaces one by one.

What is slower than a tick is settled once a tick: what servos do, and the air at each surface's own place, where gusts
and propellers make it another than the vehicle's.
"""

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics import aircraft, surfaces
from airloom.physics.aircraft import AIRCRAFT_ROWS, add_aircraft, settle_aircraft
from airloom.physics.attitude import rotate_back
from airloom.physics.servos import SERVO_ROWS, turn_servos
from airloom.physics.surfaces import add_surface, rows_of, settle_surface

# Numbers of a vehicle: how many surfaces it has, whether it has an aircraft as a whole, whether the air differs from
# place to place; its servos, the aircraft, its surfaces. Those of a block have equally many of each.
SURFACES, WHOLE, STIRRED, FIRST_SERVO = 0, LANES, 2 * LANES, 3 * LANES
AIRCRAFT = FIRST_SERVO + row.SERVOS * SERVO_ROWS * LANES
FIRST_SURFACE = AIRCRAFT + AIRCRAFT_ROWS * LANES


@compiled
def add_wings(w, p):
    if p[WHOLE] != 0.0:
        add_aircraft(w, p, AIRCRAFT)
    at = FIRST_SURFACE
    for _ in range(int(p[SURFACES])):
        add_surface(w, p, at)
        at += rows_of(p, at)


@compiled
def move_wings(w, p):
    turn_servos(w, p, FIRST_SERVO)
    settle_wings(p)
    if _is_stirred(p):
        feel_air(w, p)


@compiled
def _is_stirred(p):
    most = 0.0
    for i in range(LANES):
        most = max(most, p[STIRRED + i])
    return most > 0.0


@compiled
def settle_wings(p):
    """What the angles of the servos do."""
    if p[WHOLE] != 0.0:
        settle_aircraft(p, AIRCRAFT, FIRST_SERVO)
    at = FIRST_SURFACE
    for _ in range(int(p[SURFACES])):
        settle_surface(p, at, FIRST_SERVO)
        at += rows_of(p, at)


@compiled
def _turned_back(w, i, p, at):
    """A vector of three rows, from the world's axes to the body's."""
    turn = w[row.QW + i], w[row.QX + i], w[row.QY + i], w[row.QZ + i]
    return rotate_back(turn[0], turn[1], turn[2], turn[3], p[at], p[at + LANES], p[at + 2 * LANES])


@compiled
def feel_air(w, p):
    """The air at each surface against that of the vehicle, body: the weather's difference, and what propellers blow."""
    if p[WHOLE] != 0.0:
        _feel_air_of_aircraft(w, p)
    at = FIRST_SURFACE
    for _ in range(int(p[SURFACES])):
        for i in range(LANES):
            x, y, z = _turned_back(w, i, p, at + surfaces.GUST + i)
            faster = w[row.WASH + int(p[at + surfaces.BLOWN + i]) * LANES + i]
            p[at + surfaces.AIR + i] = x + faster * p[at + surfaces.BLOW + i]
            p[at + surfaces.AIR + LANES + i] = y + faster * p[at + surfaces.BLOW + LANES + i]
            p[at + surfaces.AIR + 2 * LANES + i] = z + faster * p[at + surfaces.BLOW + 2 * LANES + i]
        at += rows_of(p, at)


@compiled
def _feel_air_of_aircraft(w, p):
    """Air that rises more to the left turns about x, air that blows forwards more to the left against z."""
    for i in range(LANES):
        a = AIRCRAFT + i
        x, y, z = _turned_back(w, i, p, a + aircraft.GUST)
        p[a + aircraft.AIR], p[a + aircraft.AIR + LANES], p[a + aircraft.AIR + 2 * LANES] = x, y, z
        x, y, z = _turned_back(w, i, p, a + aircraft.SHEAR)
        p[a + aircraft.SPIN], p[a + aircraft.SPIN + 2 * LANES] = z, -x
