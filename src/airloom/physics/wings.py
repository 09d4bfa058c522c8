"""All that lifts a vehicle with wings: its servos, its aircraft as a whole, its surfaces one by one."""

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.aircraft import AIRCRAFT_ROWS, add_aircraft
from airloom.physics.servos import SERVO_ROWS, turn_servos
from airloom.physics.surfaces import SURFACE_ROWS, add_surface

# Numbers of a vehicle: how many surfaces it has, its servos, the aircraft, its surfaces.
SURFACES, FIRST_SERVO = 0, LANES
AIRCRAFT = FIRST_SERVO + row.SERVOS * SERVO_ROWS * LANES
FIRST_SURFACE = AIRCRAFT + AIRCRAFT_ROWS * LANES


@compiled
def add_wings(w, p):
    add_aircraft(w, p, AIRCRAFT, FIRST_SERVO)
    most = 0.0
    for i in range(LANES):
        most = max(most, p[SURFACES + i])
    for k in range(int(most)):
        add_surface(w, p, FIRST_SURFACE + k * SURFACE_ROWS * LANES, FIRST_SERVO)


@compiled
def move_wings(w, p):
    turn_servos(w, p, FIRST_SERVO)
