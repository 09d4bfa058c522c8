"""Servos: what they are told, and where they stand. Rows that a vehicle with surfaces keeps in its numbers."""

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES

# Of each servo: its angle, how far it goes down and up, which share of its way it still has after a tick, and its
# fastest step in a tick, all in rad.
ANGLE, LOWEST, HIGHEST, STILL, FASTEST = (k * LANES for k in range(5))
SERVO_ROWS = 5


@compiled
def follow(p, at, told):
    """One tick of one servo: a first-order lag, exact for a constant command, at no more than the servo's rate.

    A command of −1 … 1 asks for an angle from LOWEST over 0 to HIGHEST.
    """
    told = told if told > -1.0 else -1.0
    told = told if told < 1.0 else 1.0
    asked = told * p[at + HIGHEST] if told > 0.0 else -told * p[at + LOWEST]
    step = (1.0 - p[at + STILL]) * (asked - p[at + ANGLE])
    most = p[at + FASTEST]
    step = step if step < most else most
    step = step if step > -most else -most
    p[at + ANGLE] += step


@compiled
def turn_servos(w, p, first):
    for k in range(row.SERVOS):
        for i in range(LANES):
            follow(p, first + k * SERVO_ROWS * LANES + i, w[row.SERVO + k * LANES + i])
