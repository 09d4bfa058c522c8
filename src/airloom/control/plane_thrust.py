"""Whether the propellers of an aeroplane turn as they are told to, by the speeds that their electronics report.

Gusts change the energy of an aeroplane faster and for longer than a lost propeller does, but never how fast that turns.
"""

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.control import plane_rows as own

LEAST_PULL = 0.5  # of the thrust at rest that they are told to give
PATIENCE = 2.0  # s, many times as long as any takes to follow


@compiled
def _share_of_static(rotors, i):
    """Thrust at rest at the speeds now, over that at the highest."""
    now, most = 0.0, 0.0
    for base in range(0, rotors.size, row.ROTOR_WIDTH):
        constant = rotors[base + row.THRUST_CONSTANT + i]
        now += constant * rotors[base + row.SPEED + i] ** 2
        most += constant * rotors[base + row.MAX_SPEED + i] ** 2
    return now / most if most > 0.0 else 0.0


@compiled
def notice_lost_thrust(w, rotors, i):
    """A propeller that is told to stand may be well or dead: then the patience stays what it was."""
    told = w[own.THRUST + i] / w[own.STATIC + i]
    if told > 0.0:
        is_lacking = _share_of_static(rotors, i) < LEAST_PULL * told
        waited = min(w[own.LOST_THRUST + i] + w[own.PERIOD + i] / PATIENCE, own.LOST)
        w[own.LOST_THRUST + i] = waited if is_lacking else 0.0
