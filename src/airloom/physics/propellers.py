"""Propellers that meet the air they fly into: thrust and torque by the advance ratio.

J = V/(n D) of the speed V along the axis, the turns a second n and the diameter D. With the thrust at rest T₀ = k ω²
it is T = T₀ f(J) and Q = k_m T₀ g(J), two polynomials with f(0) = g(0) = 1 (McCormick, Aerodynamics, Aeronautics
and Flight Mechanics, chapter 6). Rotors give T₀ and k_m T₀ (physics/rotor.py); here is what is to be added. Beyond
`LAST`, where the data end, f and g stay as they are there.
"""

from math import pi

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES

TERMS = 6
# Of a vehicle: how many propellers it has. Of each: its rotor, its speed in this tick, thrust and torque per speed²,
# its place and its axis, diameter, last J, and the polynomials from J on.
PROPELLERS, FIRST = 0, LANES
ROTOR, SPEED, THRUST, TORQUE, X, Y, Z, AXIS_X, AXIS_Y, AXIS_Z, DIAMETER, LAST = (k * LANES for k in range(12))
F, G = 12 * LANES, (12 + TERMS) * LANES
PROPELLER_ROWS = 12 + 2 * TERMS
LEAST_SPEED = 1.0  # rad/s, below which a propeller stands


@compiled
def _change(p, at, j):
    """f(J) − 1, or g(J) − 1."""
    total = 0.0
    for k in range(TERMS - 1, -1, -1):
        total = (total + p[at + k * LANES]) * j
    return total


@compiled
def count_of(p):
    most = 0.0
    for i in range(LANES):
        most = max(most, p[PROPELLERS + i])
    return int(most)


@compiled
def note_speeds(rotors, p):
    for n in range(count_of(p)):
        at = FIRST + n * PROPELLER_ROWS * LANES
        for i in range(LANES):
            p[at + SPEED + i] = rotors[int(p[at + ROTOR + i]) * row.ROTOR_WIDTH + row.SPEED + i]


@compiled
def add_propellers(w, p):
    for n in range(count_of(p)):
        at = FIRST + n * PROPELLER_ROWS * LANES
        for i in range(LANES):
            a = at + i
            omega = p[a + SPEED]
            x, y, z = p[a + X] - w[row.CX + i], p[a + Y] - w[row.CY + i], p[a + Z] - w[row.CZ + i]
            ax, ay, az = p[a + AXIS_X], p[a + AXIS_Y], p[a + AXIS_Z]
            vx = w[row.UX + i] + w[row.WY + i] * z - w[row.WZ + i] * y
            vy = w[row.UY + i] + w[row.WZ + i] * x - w[row.WX + i] * z
            vz = w[row.UZ + i] + w[row.WX + i] * y - w[row.WY + i] * x
            along = vx * ax + vy * ay + vz * az
            turns = (omega if omega > LEAST_SPEED else LEAST_SPEED) / (2.0 * pi)
            j = along / (turns * (p[a + DIAMETER] if p[a + DIAMETER] > 0.0 else 1.0))
            j = j if j > 0.0 else 0.0
            j = j if j < p[a + LAST] else p[a + LAST]
            push = w[row.DENSITY + i] * omega * omega
            thrust = push * p[a + THRUST] * _change(p, a + F, j)
            torque = push * p[a + TORQUE] * _change(p, a + G, j)
            fx, fy, fz = thrust * ax, thrust * ay, thrust * az
            w[row.FX + i] += fx
            w[row.FY + i] += fy
            w[row.FZ + i] += fz
            w[row.TX + i] += y * fz - z * fy + torque * ax
            w[row.TY + i] += z * fx - x * fz + torque * ay
            w[row.TZ + i] += x * fy - y * fx + torque * az
