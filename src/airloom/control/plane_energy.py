"""How high and how fast an aeroplane flies, by its total energy (Lambregts, AIAA 83-2239).

The throttle answers to what is lacking in γ + V̇/g, the pitch to what is wrong in γ − V̇/g, with γ = climb/V wanted from
the height and V̇ from the speed. Below the slowest speed the pitch gives up the height for the speed.

An aeroplane that has lost its thrust (plane_thrust.py) glides at its cruise speed, wherever that leads, until it has it
again.
"""

from math import cos, sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.lanes import limit
from airloom.control import plane_rows as own

ENERGY_I, BALANCE_I, BALANCE_P = 0.2, 0.15, 0.8
MOST_FASTER = 0.3  # of V̇/g
MOST_LACKING = 0.05  # of γ ± V̇/g that is integrated: more is no matter of trim
NEAR_STALL = 0.85  # of the slowest speed: what carries it then is the greatest angle of attack that is asked for
SLOW = 0.13  # of the slowest speed, by which less it stalls: then only the speed counts
TURN_DRAG = 0.1  # of the weight, for each that the wing carries more


@compiled
def _greatest_angle(w, i):
    lift = (w[own.CRUISE + i] / (NEAR_STALL * w[own.SLOWEST + i])) ** 2
    return w[own.NO_LIFT + i] + (w[own.ALPHA + i] - w[own.NO_LIFT + i]) * lift


@compiled
def manage_energy(w, i, airspeed, wanted_speed, wanted_climb, bank):
    """Pitch and throttle."""
    g, dt, true_speed = w[row.GRAVITY + i], w[own.PERIOD + i], airspeed / sqrt(w[row.DENSITY + i])
    wanted_speed = limit(wanted_speed, w[own.SLOWEST + i], w[own.FASTEST + i])
    slope = limit(wanted_climb, -w[own.SINK + i], w[own.CLIMB + i]) / true_speed
    lost = w[own.LOST_THRUST + i] >= own.LOST
    if lost:
        wanted_speed = w[own.CRUISE + i]
    faster = limit(w[own.SPEED_K + i] * (wanted_speed - airspeed) / g, -MOST_FASTER, MOST_FASTER)
    flown = limit(w[row.EVZ + i] / true_speed, -1.0, 1.0)
    error = slope - flown
    slow = limit((w[own.SLOWEST + i] - airspeed) / (SLOW * w[own.SLOWEST + i]), 1.0 if lost else 0.0, 1.0)
    energy = error + faster
    balance = (1.0 - slow) * error - (1.0 + slow) * faster
    drag_of_turn = TURN_DRAG * (1.0 / max(cos(bank), own.LEAST_COSINE) - 1.0)
    throttle = w[own.THROTTLE + i] + w[own.SUM_ENERGY + i] + (slope + faster + drag_of_turn) / w[own.PER_THROTTLE + i]
    given = 1.0 if lost else limit(throttle, 0.0, 1.0)
    grows = (throttle < 1.0) | (energy < 0.0)
    shrinks = (throttle > 0.0) | (energy > 0.0)
    lacking = limit(energy, -MOST_LACKING, MOST_LACKING)
    w[own.SUM_ENERGY + i] += ENERGY_I * dt * lacking / w[own.PER_THROTTLE + i] if grows & shrinks else 0.0
    wrong = limit(balance, -MOST_LACKING, MOST_LACKING)
    w[own.SUM_BALANCE + i] = limit(w[own.SUM_BALANCE + i] + BALANCE_I * dt * wrong, -0.2, 0.2)
    path = (1.0 - slow) * slope + slow * min(slope, flown)
    pitch = own.angle_of_attack(w, i, airspeed, bank) + path + BALANCE_P * balance + w[own.SUM_BALANCE + i]
    return limit(min(pitch, flown + _greatest_angle(w, i)), -0.5, 0.5), given
