"""Drops in flight: they fall, drift, evaporate, and end on the ground, in leaves, on things or beyond the map.

Each simulated drop stands for many equal ones, together so many litres. A drop is a row of eight numbers, one cache
line, for it is handled alone and moves up in the table when others have landed.

A sphere of diameter d and density ρ_w in air of density ρ, viscosity μ and velocity u, moving at v:
dv/dt = (u − v)/τ + g (1 − ρ/ρ_w), τ = ρ_w d² / (18 μ (1 + 0.15 Re^0.687)), Re = ρ |u − v| d / μ (L. Schiller,
A. Naumann, Z. VDI 77, 1933; above Re = 1000 the drag coefficient is 0.44). With τ held over a step of h seconds the
solution is exact: v ← v_∞ + (v − v_∞) e^(−h/τ), so the smallest drops follow the air at any step.

Evaporation is the law of wet-bulb depression ΔT (T. S. Trayford, L. W. Welch, J. Agric. Eng. Res. 22, 1977):
d(d²)/dt = −λ ΔT (1 + 0.27 √Re), λ = 84.76 µm² / (s K).

Leaves catch what meets them. Of a leaf area a to a volume of air, of all directions, half stands across any path. Along
a path in air of speed |u| a share E of the drops in its way hits a leaf of width w, E = 0.86 / (1 + 0.442 St^−1.967),
St = τ |u| / w (measured on cylinders by K. R. May, R. Clifford, Ann. Occup. Hyg. 10, 1967; fitted by D. E. Aylor,
Agric. Meteorol. 26, 1982), and what falls through the air lands on leaves (B. J. Legg, F. A. Powell, Agric. Meteorol.
20, 1979): the share caught in a step is 1 − exp(−½ a (E |u| + |v − u|) h).

Eddies that are smaller than those of the weather: a Langevin walk with the standard deviations (2.4, 1.9, 1.25) u_* of
a neutral surface layer at a friction velocity u_* (H. A. Panofsky, J. A. Dutton, *Atmospheric Turbulence*, 1984),
memory 0.5 z / σ_w, shortened by √(1 + (v_s / σ_w)²) for drops that fall out of eddies at a speed v_s (G. T. Csanady,
J. Atmos. Sci. 20, 1963).
"""

from __future__ import annotations

from math import cos, exp, log, pi, sin, sqrt
from typing import NamedTuple

import numpy as np

from airloom.compiled import compiled
from airloom.sensors.noise import normal_pair, philox
from airloom.spray.bodies import LEAVES, body_at
from airloom.spray.downwash import add_downwash
from airloom.weather.air import wind_at
from airloom.world.ground import ground

X, Y, Z, VX, VY, VZ, DIAMETER, LITRES, DROP_WIDTH = range(9)
EDDY_X, EDDY_Y, EDDY_Z, NUMBER, EDDY_WIDTH = range(5)
# What became of the litres; sums that the report begins with.
SPRAYED, ON_GROUND, ON_CANOPY, ON_OBJECTS, EVAPORATED, OUT, SUMS = range(7)
# Of the air: numbers that do not change in a step.
(
    A_DENSITY, A_VISCOSITY, A_GRAVITY, A_WATER, A_DEPRESSION, A_LEAF_AREA, A_LEAF_WIDTH, A_FRICTION, A_CRUMB, AIR_WIDTH,
) = range(10)  # fmt: skip

SIGMA_U, SIGMA_V, SIGMA_W = 2.4, 1.9, 1.25  # of u_*
TRAYFORD, VENTILATION = 84.76e-12, 0.27  # m²/(s K)
FAST, SUBSTEPS = 3.0, 4  # above this speed through the air, m/s, drag changes within a step, which is then divided
SMALLEST = 2e-6  # m, below which a drop has evaporated
_LOW, _32 = np.uint64(0xFFFFFFFF), np.uint64(32)
_UNIT, _BIRTH = 2.0**-32, np.uint64(0xB117)  # another counter than that of the eddies


class Surroundings(NamedTuple):
    """All that drops fly through and land on, as the compiled loop sees it."""

    air: np.ndarray
    layers: np.ndarray
    """of the weather"""
    world: np.ndarray
    wakes: np.ndarray
    jets: np.ndarray
    near: np.ndarray
    """[row, column, (count, wakes …)] of a coarse grid"""
    near_grid: np.ndarray
    """its corner x and y, and the side of its cells"""
    bodies: np.ndarray
    first: np.ndarray
    members: np.ndarray
    tops: np.ndarray
    body_grid: np.ndarray
    map_grid: np.ndarray
    """corner x and y of the map, and the side of its cells"""


@compiled
def relaxation(diameter, speed, air):
    """τ, s, and Re of a drop that moves through the air at a speed."""
    reynolds = air[A_DENSITY] * speed * diameter / air[A_VISCOSITY]
    stokes = air[A_WATER] * diameter * diameter / (18.0 * air[A_VISCOSITY])
    if reynolds < 1e-9:
        return stokes, reynolds
    if reynolds > 1000.0:
        return stokes * 24.0 / (0.44 * reynolds), reynolds
    return stokes / (1.0 + 0.15 * exp(0.687 * log(reynolds))), reynolds


@compiled
def _move(drop, v, h, air):
    """Advance one drop over h seconds in air that moves at v; returns τ and Re at the end."""
    pull = air[A_GRAVITY] * (1.0 - air[A_DENSITY] / air[A_WATER])
    rx, ry, rz = drop[VX] - v[0], drop[VY] - v[1], drop[VZ] - v[2]
    speed = sqrt(rx * rx + ry * ry + rz * rz)
    parts = SUBSTEPS if speed > FAST else 1
    part = h / parts
    tau, reynolds = relaxation(drop[DIAMETER], speed, air)
    for n in range(parts):
        if n > 0:
            speed = sqrt(rx * rx + ry * ry + rz * rz)
            tau, reynolds = relaxation(drop[DIAMETER], speed, air)
        ratio = part / tau
        decay = exp(-ratio)
        lag = tau * (1.0 - decay) if ratio > 1e-5 else part
        fall = -pull * tau
        drop[X] += v[0] * part + rx * lag
        drop[Y] += v[1] * part + ry * lag
        drop[Z] += (v[2] + fall) * part + (rz - fall) * lag
        rx, ry, rz = rx * decay, ry * decay, fall + (rz - fall) * decay
    drop[VX], drop[VY], drop[VZ] = v[0] + rx, v[1] + ry, v[2] + rz
    return tau, reynolds


@compiled
def _evaporate(drop, reynolds, h, air, sums):
    """Whether anything is left."""
    square = drop[DIAMETER] ** 2 - TRAYFORD * air[A_DEPRESSION] * (1.0 + VENTILATION * sqrt(reynolds)) * h
    if square < SMALLEST * SMALLEST:
        sums[EVAPORATED] += drop[LITRES]
        return False
    diameter = sqrt(square)
    left = drop[LITRES] * (diameter / drop[DIAMETER]) ** 3
    sums[EVAPORATED] += drop[LITRES] - left
    drop[DIAMETER], drop[LITRES] = diameter, left
    return True


@compiled
def share_caught(tau, wind, through, h, leaf_area, leaf_width):
    """Of drops in leaves for h seconds, in a wind and with a speed through it, m/s."""
    stokes = tau * wind / leaf_width
    efficiency = 0.86 / (1.0 + 0.442 * stokes**-1.967) if stokes > 1e-3 else 0.0
    return 1.0 - exp(-0.5 * leaf_area * (efficiency * wind + through) * h)


@compiled
def _stir(drop, eddy, tau, height, h, tick, key, air, v):
    """Advance the eddy that a drop is in, and add it to the wind v."""
    friction = air[A_FRICTION]
    sigma, settling = SIGMA_W * friction, tau * air[A_GRAVITY]
    memory = 0.5 * max(height, 0.05) / sigma / sqrt(1.0 + (settling / sigma) ** 2)
    keep = exp(-h / memory)
    fresh = friction * sqrt(1.0 - keep * keep)
    a, b = normal_pair(key, int(eddy[NUMBER]), 2 * tick)
    c, _ = normal_pair(key, int(eddy[NUMBER]), 2 * tick + 1)
    eddy[EDDY_X] = keep * eddy[EDDY_X] + fresh * SIGMA_U * a
    eddy[EDDY_Y] = keep * eddy[EDDY_Y] + fresh * SIGMA_V * b
    eddy[EDDY_Z] = keep * eddy[EDDY_Z] + fresh * SIGMA_W * c
    v[0] += eddy[EDDY_X]
    v[1] += eddy[EDDY_Y]
    v[2] += eddy[EDDY_Z]


@compiled
def fly(drops, eddies, count, tick, t, h, key, around, ground_map, canopy_map, sums, v):
    """Advance all drops from t over h seconds; returns how many are left, which then stand first in the table.

    `v` is scratch, three numbers. Drops keep their order.
    """
    air, left = around.air, 0
    corner_x, corner_y, cell = around.map_grid[0], around.map_grid[1], around.map_grid[2]
    rows, columns = ground_map.shape
    for k in range(count):
        drop = drops[k]
        x, y, z = drop[X], drop[Y], drop[Z]
        wind_at(around.layers, around.world, t, x, y, z, v)
        c = int((x - around.near_grid[0]) / around.near_grid[2])
        r = int((y - around.near_grid[1]) / around.near_grid[2])
        if 0 <= c < around.near.shape[1] and 0 <= r < around.near.shape[0]:
            for n in range(around.near[r, c, 0]):
                wake = around.near[r, c, 1 + n]
                add_downwash(around.wakes[wake], around.jets[wake], x, y, z, v)
        if air[A_FRICTION] > 0.0:
            settled, _ = relaxation(drop[DIAMETER], abs(drop[VZ]), air)
            height = z - ground(around.world, x, y)[0]
            _stir(drop, eddies[k], settled, height, h, tick, key, air, v)
        tau, reynolds = _move(drop, v, h, air)
        if air[A_DEPRESSION] > 0.0 and not _evaporate(drop, reynolds, h, air, sums):
            continue
        x, y, z = drop[X], drop[Y], drop[Z]
        u, w = (x - corner_x) / cell, (y - corner_y) / cell
        if not (u >= 0.0 and w >= 0.0 and u < columns and w < rows):
            sums[OUT] += drop[LITRES]
            continue
        c, r = int(u), int(w)
        if z <= ground(around.world, x, y)[0]:
            ground_map[r, c] += drop[LITRES]
            sums[ON_GROUND] += drop[LITRES]
            continue
        body = body_at(around.bodies, around.first, around.members, around.tops, around.body_grid, x, y, z)
        if body >= 0:
            if around.bodies[body, LEAVES] == 0.0:
                sums[ON_OBJECTS] += drop[LITRES]
                continue
            wind = sqrt(v[0] ** 2 + v[1] ** 2 + v[2] ** 2)
            through = sqrt((drop[VX] - v[0]) ** 2 + (drop[VY] - v[1]) ** 2 + (drop[VZ] - v[2]) ** 2)
            caught = drop[LITRES] * share_caught(tau, wind, through, h, air[A_LEAF_AREA], air[A_LEAF_WIDTH])
            if drop[LITRES] - caught < air[A_CRUMB]:
                caught = drop[LITRES]
            canopy_map[r, c] += caught
            sums[ON_CANOPY] += caught
            drop[LITRES] -= caught
            if drop[LITRES] <= 0.0:
                continue
        if left < k:
            for column in range(DROP_WIDTH):
                drops[left, column] = drops[k, column]
            if air[A_FRICTION] > 0.0:
                for column in range(EDDY_WIDTH):
                    eddies[left, column] = eddies[k, column]
        left += 1
    return left


# Of a nozzle in the world: place, velocity, axis of its cone, cosine of half its angle, speed of the liquid.
N_PLACE, N_VELOCITY, N_AXIS, N_COSINE, N_SPEED, NOZZLE_WIDTH = 0, 3, 6, 9, 10, 11


@compiled
def emit(drops, eddies, count, new, first_number, key, nozzle, diameters, litres, h, friction):
    """Put `new` drops of a nozzle behind the first `count`, spread over its way in the last h seconds.

    A drop's number decides its size, direction and place. It is as old as the step, whenever it came out.
    """
    ax, ay, az = nozzle[N_AXIS], nozzle[N_AXIS + 1], nozzle[N_AXIS + 2]
    if abs(az) < 0.9:  # across the axis: east if that is not along it
        bx, by, bz = ay, -ax, 0.0
    else:
        bx, by, bz = 0.0, az, -ay
    size = sqrt(bx * bx + by * by + bz * bz)
    bx, by, bz = bx / size, by / size, bz / size
    cx, cy, cz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    for k in range(new):
        number = np.uint64(first_number + k)
        one, two, three, four = philox(number & _LOW, number >> _32, _BIRTH, _BIRTH, key)
        share = (np.float64(one) + 0.5) * _UNIT * diameters.shape[0]
        cosine = 1.0 - (np.float64(two) + 0.5) * _UNIT * (1.0 - nozzle[N_COSINE])
        turn, ago = 2.0 * pi * np.float64(three) * _UNIT, h * np.float64(four) * _UNIT
        sine = sqrt(max(1.0 - cosine * cosine, 0.0))
        b, c = sine * cos(turn), sine * sin(turn)
        drop = drops[count + k]
        speed = nozzle[N_SPEED]
        drop[X] = nozzle[N_PLACE] - ago * nozzle[N_VELOCITY]
        drop[Y] = nozzle[N_PLACE + 1] - ago * nozzle[N_VELOCITY + 1]
        drop[Z] = nozzle[N_PLACE + 2] - ago * nozzle[N_VELOCITY + 2]
        drop[VX] = nozzle[N_VELOCITY] + speed * (cosine * ax + b * bx + c * cx)
        drop[VY] = nozzle[N_VELOCITY + 1] + speed * (cosine * ay + b * by + c * cy)
        drop[VZ] = nozzle[N_VELOCITY + 2] + speed * (cosine * az + b * bz + c * cz)
        drop[DIAMETER], drop[LITRES] = diameters[int(share)], litres
        if friction > 0.0:
            eddy = eddies[count + k]
            u, w = normal_pair(key, int(first_number + k), 0)
            s, _ = normal_pair(key, int(first_number + k), 1)
            eddy[EDDY_X], eddy[EDDY_Y] = friction * SIGMA_U * u, friction * SIGMA_V * w
            eddy[EDDY_Z] = friction * SIGMA_W * s
            eddy[NUMBER] = np.float64(first_number + k)
    return count + new
