"""Drag of the body, and of parts that the air pushes each at its place."""

from math import sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.pushing import push_at

# Rows of a vehicle with parts: how many there are, then for each part whether it acts at the centre of mass, its place
# from the origin, and its coefficients along x, y, z of the body.
PARTS, FIRST_PART = 0, LANES
AT_CENTRE, X, Y, Z, C_X, C_Y, C_Z = (k * LANES for k in range(7))
PART_ROWS = 7


@compiled
def add_drag(w):
    """F = −c |u| u at the centre of mass, u the centre's velocity through the air."""
    for i in range(LANES):
        x, y, z = w[row.UX + i], w[row.UY + i], w[row.UZ + i]
        s = -(w[row.DRAG + i] * w[row.DENSITY + i]) * sqrt(x * x + y * y + z * z)
        w[row.FX + i] += s * x
        w[row.FY + i] += s * y
        w[row.FZ + i] += s * z


@compiled
def part_drag(w, i, p, at):
    """F_k = −c_k |u| u_k along each axis k of the body, u the part's velocity through the air; and where it acts."""
    away = 1.0 - p[at + AT_CENTRE + i]
    x = away * (p[at + X + i] - w[row.CX + i])
    y = away * (p[at + Y + i] - w[row.CY + i])
    z = away * (p[at + Z + i] - w[row.CZ + i])
    u = w[row.UX + i] + w[row.WY + i] * z - w[row.WZ + i] * y
    v = w[row.UY + i] + w[row.WZ + i] * x - w[row.WX + i] * z
    s = w[row.UZ + i] + w[row.WX + i] * y - w[row.WY + i] * x
    speed = -w[row.DENSITY + i] * sqrt(u * u + v * v + s * s)
    return speed * p[at + C_X + i] * u, speed * p[at + C_Y + i] * v, speed * p[at + C_Z + i] * s, x, y, z


@compiled
def add_drag_of_parts(w, p):
    """Forces and torques of all parts, see `part_drag`."""
    parts = 0.0
    for i in range(LANES):
        parts = max(parts, p[PARTS + i])
    for part in range(int(parts)):
        at = FIRST_PART + part * PART_ROWS * LANES
        for i in range(LANES):
            fx, fy, fz, x, y, z = part_drag(w, i, p, at)
            push_at(w, i, x, y, z, fx, fy, fz)
