"""Loss of a signal that ground, an obstacle or a thing is in the way of.

The way around is searched over the top and to both sides, and the one with the least loss counts. Its edge is in the
middle between the points where the straight ray enters and leaves what is in the way.
"""

from __future__ import annotations

from math import log10, sqrt

from airloom.compiled import compiled
from airloom.world.ground import ray

IGNORED, FIXED, DIFFRACTION = range(3)
KINDS = {"ignored": IGNORED, "fixed": FIXED, "diffraction": DIFFRACTION}
FARTHEST, HALVINGS = 256.0, 12
"""How far from the straight ray an edge is looked for, m, and how often the interval is halved: to 6 cm."""
DARK_DB = 60.0
"""Behind what has no edge."""
CLOSE = 1e-3


@compiled
def knife_edge(aside, near, far, wavelength):
    """Loss by diffraction, dB, at one edge that is `aside` of the ray, `near` and `far` from the ends, all in m.

    ν = h √(2 (d₁ + d₂) / (λ d₁ d₂)),  J(ν) = 6.9 + 20 log₁₀(√((ν − 0.1)² + 1) + ν − 0.1)  for ν > −0.78
    (ITU-R P.526-15, equations 26 and 31).
    """
    v = aside * sqrt(2.0 * (near + far) / (wavelength * near * far))
    if v <= -0.78:
        return 0.0
    return 6.9 + 20.0 * log10(sqrt((v - 0.1) ** 2 + 1.0) + v - 0.1)


@compiled
def _is_clear(world, ax, ay, az, bx, by, bz):
    dx, dy, dz = bx - ax, by - ay, bz - az
    length = sqrt(dx * dx + dy * dy + dz * dz)
    if length < CLOSE:
        return True
    return ray(world, ax, ay, az, dx / length, dy / length, dz / length, length) >= length - CLOSE


@compiled
def _edge(world, ax, ay, az, bx, by, bz, px, py, pz, ux, uy, uz):
    """How far from p along the unit vector u a point sees both ends; negative if none is found."""
    high = 1.0
    while not (
        _is_clear(world, px + high * ux, py + high * uy, pz + high * uz, ax, ay, az)
        and _is_clear(world, px + high * ux, py + high * uy, pz + high * uz, bx, by, bz)
    ):
        high *= 2.0
        if high > FARTHEST:
            return -1.0
    low = 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        x, y, z = px + middle * ux, py + middle * uy, pz + middle * uz
        if _is_clear(world, x, y, z, ax, ay, az) and _is_clear(world, x, y, z, bx, by, bz):
            high = middle
        else:
            low = middle
    return high


@compiled
def obstruction(world, kind, fixed_loss, wavelength, ax, ay, az, bx, by, bz):
    """dB that what is between two antennas takes; 0 if they see each other."""
    dx, dy, dz = bx - ax, by - ay, bz - az
    length = sqrt(dx * dx + dy * dy + dz * dz)
    if kind == IGNORED or length < CLOSE:
        return 0.0
    dx, dy, dz = dx / length, dy / length, dz / length
    enters = ray(world, ax, ay, az, dx, dy, dz, length)
    if enters >= length - CLOSE:
        return 0.0
    if kind == FIXED:
        return fixed_loss
    leaves = length - ray(world, bx, by, bz, -dx, -dy, -dz, length)
    near = min(max(0.5 * (enters + leaves), CLOSE), length - CLOSE)
    px, py, pz = ax + near * dx, ay + near * dy, az + near * dz
    level = sqrt(dx * dx + dy * dy)
    least = DARK_DB
    for way in range(3):
        ux, uy, uz = 0.0, 0.0, 1.0
        if way > 0:
            if level < CLOSE:
                break
            side = 1.0 if way == 1 else -1.0
            ux, uy, uz = -side * dy / level, side * dx / level, 0.0
        aside = _edge(world, ax, ay, az, bx, by, bz, px, py, pz, ux, uy, uz)
        if aside >= 0.0:
            least = min(least, knife_edge(aside, near, length - near, wavelength))
    return least
