"""Thrusters: rotors that turn in water, both ways.

T = k ω |ω| ρ/1000 along the axis, k for water of 1000 kg/m³, a share of it backwards (Fossen 2011, 9.1, bollard pull),
and the moment −dir k_m T about the axis. What of the disc is above the surface throws air, and so does next to nothing.
"""

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.attitude import rotate
from airloom.physics.pushing import push_and_turn_at
from airloom.world.atmosphere import STANDARD_DENSITY
from airloom.world.ground import W_STEP
from airloom.world.water import density_at, is_water, surface_at

FRESH = 1000.0  # kg/m³
HIGHEST = 0.5 * row.PARKED  # m, above which a lane has no vehicle
# Of a vehicle: how many thrusters it has. Of each: its rotor, its speed in this tick, the density around it as a part
# of fresh water's, thrust and torque per speed², the share backwards, its radius, its place and its axis.
THRUSTERS, FIRST = 0, LANES
ROTOR, SPEED, AROUND, THRUST, TORQUE, BACKWARDS, RADIUS, X, Y, Z, AXIS_X, AXIS_Y, AXIS_Z = (
    k * LANES for k in range(13)
)
THRUSTER_ROWS = 13


@compiled
def look_at_thrusters(w, rotors, world, tick, p):
    """Once a tick: how fast they turn, and in what."""
    t = tick * world[W_STEP]
    for i in range(LANES):
        if w[row.PZ + i] > HIGHEST:
            continue
        for n in range(int(p[THRUSTERS + i])):
            a = FIRST + n * THRUSTER_ROWS * LANES + i
            p[a + SPEED] = rotors[int(p[a + ROTOR]) * row.ROTOR_WIDTH + row.SPEED + i]
            p[a + AROUND] = _density(w, i, world, t, p, a) / FRESH


@compiled
def _density(w, i, world, t, p, a):
    air = STANDARD_DENSITY * w[row.DENSITY + i]
    if not is_water(world):
        return air
    qw, qx, qy, qz = w[row.QW + i], w[row.QX + i], w[row.QY + i], w[row.QZ + i]
    x, y, z = rotate(qw, qx, qy, qz, p[a + X], p[a + Y], p[a + Z])
    x, y, z = w[row.PX + i] + x, w[row.PY + i] + y, w[row.PZ + i] + z
    surface, _, _ = surface_at(world, t, x, y)
    wet = min(max(0.5 + 0.5 * (surface - z) / p[a + RADIUS], 0.0), 1.0)
    return wet * density_at(world, z) + (1.0 - wet) * air


@compiled
def add_thrusters(w, p):
    for i in range(LANES):
        if w[row.PZ + i] > HIGHEST:
            continue
        for n in range(int(p[THRUSTERS + i])):
            a = FIRST + n * THRUSTER_ROWS * LANES + i
            speed = p[a + SPEED]
            push = p[a + AROUND] * speed * abs(speed) * (1.0 if speed > 0.0 else p[a + BACKWARDS])
            thrust, torque = push * p[a + THRUST], push * p[a + TORQUE]
            ax, ay, az = p[a + AXIS_X], p[a + AXIS_Y], p[a + AXIS_Z]
            x, y, z = p[a + X] - w[row.CX + i], p[a + Y] - w[row.CY + i], p[a + Z] - w[row.CZ + i]
            push_and_turn_at(
                w, i, x, y, z, thrust * ax, thrust * ay, thrust * az, torque * ax, torque * ay, torque * az
            )  # fmt: skip
