"""A battery in the loop: what the rotors take out of it, and what is left.

A rotor's shaft takes Q ω = k_m k |ω|³ ρ/ρ₀, as the drag moment of physics/rotor.py has it; a propeller that flies into
the air counts as one at rest. All shafts by the efficiency, and the load of all else, are a power P. With the voltage U
of all cells without a load and their resistance R it draws the current for which (U − R I) I = P,
    I = 2 P/(U + √(U² − 4 R P)),
at most U/(2 R), where the battery can give no more. A cell with a share s of its charge has, as measured on polymer
cells of lithium (Chen and Rincón-Mora, IEEE Trans. Energy Conversion 21 (2006) 504; their transients are left out),
    U = −1.031 exp(−35 s) + 3.685 + 0.2156 s − 0.1178 s² + 0.3201 s³.
"""

from math import exp, sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.wrench import ticker

# From the vehicle file: step (s), cells, resistance (Ω), 1/efficiency, load (W), capacity (A s), how many rotors.
STEP, CELLS, RESISTANCE, PER_EFFICIENCY, LOAD, CAPACITY, ROTORS = (k * LANES for k in range(7))
CHARGE = 7 * LANES  # its state, A s
FIRST = 8 * LANES  # of each rotor: shaft power per |speed|³ in standard air, and in water
IN_AIR, IN_WATER = 0, LANES
ROTOR_ROWS = 2
AMPERE_HOUR = 3600.0  # A s


@compiled
def cell_voltage(s):
    """Of a cell without a load, V, at a share s of its charge."""
    return -1.031 * exp(-35.0 * s) + 3.685 + s * (0.2156 + s * (-0.1178 + s * 0.3201))


@compiled
def current_for(power, voltage, resistance):
    """What a battery gives that is asked for so much power, A."""
    if 4.0 * resistance * power > voltage * voltage:
        return voltage / (2.0 * resistance)
    return 2.0 * power / (voltage + sqrt(voltage * voltage - 4.0 * resistance * power))


@compiled
def _shaft_power(w, rotors, p, i):
    total = 0.0
    for r in range(int(p[ROTORS + i])):
        speed, at = abs(rotors[r * row.ROTOR_WIDTH + row.SPEED + i]), FIRST + r * ROTOR_ROWS * LANES + i
        total += speed * speed * speed * (w[row.DENSITY + i] * p[at + IN_AIR] + p[at + IN_WATER])
    return total


@ticker
def drain_battery(w, rotors, world, tick, p):
    """Rotors of an empty one are told to stop; whatever else is electric has a supply of its own."""
    for i in range(LANES):
        voltage = p[CELLS + i] * cell_voltage(p[CHARGE + i] / p[CAPACITY + i])
        power = p[LOAD + i] + p[PER_EFFICIENCY + i] * _shaft_power(w, rotors, p, i)
        current = current_for(power, voltage, p[RESISTANCE + i]) if p[CHARGE + i] > 0.0 else 0.0
        p[CHARGE + i] = max(p[CHARGE + i] - current * p[STEP + i], 0.0)
        if p[CHARGE + i] == 0.0:
            for r in range(int(p[ROTORS + i])):
                rotors[r * row.ROTOR_WIDTH + row.TARGET + i] = 0.0
        w[row.BATTERY_VOLTAGE + i] = voltage - p[RESISTANCE + i] * current
        w[row.BATTERY_CURRENT + i] = current
        w[row.BATTERY_CHARGE + i] = p[CHARGE + i] / AMPERE_HOUR
