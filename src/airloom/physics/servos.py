"""Servos: what they are told, and where they stand. Rows that a vehicle with surfaces keeps in its numbers."""

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES

# Of each servo: its angle, how far it goes down and up, which share of its way it still has after a tick, and its
# fastest step in a tick, all in rad.
ANGLE, LOWEST, HIGHEST, STILL, FASTEST = (k * LANES for k in range(5))
SERVO_ROWS = 5


@compiled
def turn_servos(w, p, first):
    """One tick: a first-order lag, exact for a constant command, at no more than the servo's rate.

    A command of −1 … 1 asks for an angle from LOWEST over 0 to HIGHEST.
    """
    for k in range(row.SERVOS):
        at = first + k * SERVO_ROWS * LANES
        for i in range(LANES):
            told = w[row.SERVO + k * LANES + i]
            told = told if told > -1.0 else -1.0
            told = told if told < 1.0 else 1.0
            asked = told * p[at + HIGHEST + i] if told > 0.0 else -told * p[at + LOWEST + i]
            step = (1.0 - p[at + STILL + i]) * (asked - p[at + ANGLE + i])
            most = p[at + FASTEST + i]
            step = step if step < most else most
            step = step if step > -most else -most
            p[at + ANGLE + i] += step
