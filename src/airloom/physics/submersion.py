"""How much of a body is under water, and where its middle is: cut by a plane, exactly.

All in the body's own axes: n points up out of the water, which is where n·r < d.

Meshes (boxes too) by the divergence theorem: with the origin of all tetrahedra on the surface, what closes the cut has
no volume, so that only the triangles below it count. Each is cut where it leaves the water.

Bodies of revolution (balls, cylinders, capsules) in slices across their axis: of each a segment is under water. They
are added up by Gauss and Legendre's rule, piece by piece between the places where the surface meets an edge.
"""

from __future__ import annotations

from math import acos, pi, sqrt

import numpy as np

from airloom.compiled import compiled

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
VOLUME, MIDDLE_X, MIDDLE_Y, MIDDLE_Z = range(4)  # of a sum: volume, and volume × middle


@compiled
def _add_tetrahedron(sums, ox, oy, oz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """That of a point and a triangle, with the sign of the triangle's side that faces the point."""
    ax, ay, az, bx, by, bz, cx, cy, cz = ax - ox, ay - oy, az - oz, bx - ox, by - oy, bz - oz, cx - ox, cy - oy, cz - oz
    volume = (ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)) / 6.0
    sums[VOLUME] += volume
    sums[MIDDLE_X] += volume * (ox + 0.25 * (ax + bx + cx))
    sums[MIDDLE_Y] += volume * (oy + 0.25 * (ay + by + cy))
    sums[MIDDLE_Z] += volume * (oz + 0.25 * (az + bz + cz))


@compiled
def _add_triangle(sums, ox, oy, oz, ax, ay, az, ha, bx, by, bz, hb, cx, cy, cz, hc):
    """What of a triangle is under water; h are the heights of its corners above it."""
    if (ha < 0.0) & (hb < 0.0) & (hc < 0.0):
        _add_tetrahedron(sums, ox, oy, oz, ax, ay, az, bx, by, bz, cx, cy, cz)
        return
    if (ha >= 0.0) & (hb >= 0.0) & (hc >= 0.0):
        return
    # Turned so that `a` is alone on its side of the surface.
    if ((hb < 0.0) != (ha < 0.0)) & ((hb < 0.0) != (hc < 0.0)):
        ax, ay, az, ha, bx, by, bz, hb, cx, cy, cz, hc = bx, by, bz, hb, cx, cy, cz, hc, ax, ay, az, ha
    elif ((hc < 0.0) != (ha < 0.0)) & ((hc < 0.0) != (hb < 0.0)):
        ax, ay, az, ha, bx, by, bz, hb, cx, cy, cz, hc = cx, cy, cz, hc, ax, ay, az, ha, bx, by, bz, hb
    s, t = ha / (ha - hb), ha / (ha - hc)
    px, py, pz = ax + s * (bx - ax), ay + s * (by - ay), az + s * (bz - az)
    qx, qy, qz = ax + t * (cx - ax), ay + t * (cy - ay), az + t * (cz - az)
    if ha < 0.0:
        _add_tetrahedron(sums, ox, oy, oz, ax, ay, az, px, py, pz, qx, qy, qz)
    else:
        _add_tetrahedron(sums, ox, oy, oz, px, py, pz, bx, by, bz, cx, cy, cz)
        _add_tetrahedron(sums, ox, oy, oz, px, py, pz, cx, cy, cz, qx, qy, qz)


@compiled
def add_mesh(sums, p, at, count, step, nx, ny, nz, d):
    """The part with n·r < d of a closed mesh of `count` triangles: nine numbers each from p[at] on, `step` apart."""
    ox, oy, oz = nx * d, ny * d, nz * d
    for t in range(count):
        k = at + 9 * t * step
        ax, ay, az = p[k], p[k + step], p[k + 2 * step]
        bx, by, bz = p[k + 3 * step], p[k + 4 * step], p[k + 5 * step]
        cx, cy, cz = p[k + 6 * step], p[k + 7 * step], p[k + 8 * step]
        ha = nx * ax + ny * ay + nz * az - d
        hb = nx * bx + ny * by + nz * bz - d
        hc = nx * cx + ny * cy + nz * cz - d
        _add_triangle(sums, ox, oy, oz, ax, ay, az, ha, bx, by, bz, hb, cx, cy, cz, hc)


@compiled
def _segment(radius, level):
    """Of a disc: the area below a line that is `level` above its middle, and the area's moment towards the line."""
    if level <= -radius or radius <= 0.0:
        return 0.0, 0.0
    if level >= radius:
        return pi * radius * radius, 0.0
    half = sqrt(radius * radius - level * level)
    return radius * radius * acos(-level / radius) + level * half, -2.0 / 3.0 * half**3


@compiled
def _radius(s, radius, half, cap):
    """Of the slice at s: a cylinder of half its length, with half balls at its ends if `cap` is not 0."""
    beyond = abs(s) - half
    if beyond <= 0.0:
        return radius
    return sqrt(max(radius * radius - beyond * beyond, 0.0)) if cap != 0.0 else 0.0


@compiled
def _slices(first, end, radius, half, cap, along, across, d):
    """Slices from `first` to `end` of the axis: volume, and its moments along the axis and towards the surface."""
    volume, axial, level = 0.0, 0.0, 0.0
    middle, reach = 0.5 * (first + end), 0.5 * (end - first)
    for k in range(NODES.size):
        # Nodes are drawn to the ends, where a slice's radius or area may begin with a root.
        u = NODES[k]
        s = middle + reach * u * (1.5 - 0.5 * u * u)
        weight = WEIGHTS[k] * reach * 1.5 * (1.0 - u * u)
        size = _radius(s, radius, half, cap)
        if across > 0.0:
            area, moment = _segment(size, (d - along * s) / across)
        else:
            area, moment = (pi * size * size if along * s < d else 0.0), 0.0
        volume += weight * area
        axial += weight * area * s
        level += weight * moment
    return volume, axial, level


@compiled
def _enter(cuts, count, cut, end):
    """Put a place of the axis among those in order."""
    cut = min(max(cut, -end), end)
    k = count
    while k > 0 and cuts[k - 1] > cut:
        cuts[k] = cuts[k - 1]
        k -= 1
    cuts[k] = cut
    return count + 1


@compiled
def _cuts(cuts, radius, half, cap, nz, across, d, end):
    """Places of the axis where the body has an edge, or the surface meets one; gives how many."""
    count = _enter(cuts, 0, -end, end)
    for edge in (-half, half, end):
        count = _enter(cuts, count, edge, end)
    if nz != 0.0:
        for level in (d - across * radius, d, d + across * radius):
            count = _enter(cuts, count, level / nz, end)
    if cap != 0.0:
        for side in (-half, half):
            away = d - nz * side  # of the surface from the middle of the round end
            if abs(away) < radius:
                reach = across * sqrt(radius * radius - away * away)
                count = _enter(cuts, count, side + nz * away - reach, end)
                count = _enter(cuts, count, side + nz * away + reach, end)
    return count


@compiled
def add_revolved(sums, radius, half, cap, nx, ny, nz, d, cuts):
    """The part with n·r < d of a cylinder about z, a capsule (`cap` 1), a ball (`half` 0); `cuts` is scratch for 12."""
    across = sqrt(nx * nx + ny * ny)
    end = half + (radius if cap != 0.0 else 0.0)
    reach = abs(nz) * half + (radius if cap != 0.0 else across * radius)
    if d <= -reach:
        return
    if d >= reach:  # all of it, which is most of the time
        sums[VOLUME] += pi * radius * radius * (2.0 * half + (4.0 / 3.0 * radius if cap != 0.0 else 0.0))
        return
    count = _cuts(cuts, radius, half, cap, nz, across, d, end)
    for k in range(count - 1):
        if cuts[k + 1] > cuts[k]:
            volume, axial, level = _slices(cuts[k], cuts[k + 1], radius, half, cap, nz, across, d)
            sums[VOLUME] += volume
            sums[MIDDLE_Z] += axial
            if across > 0.0:
                sums[MIDDLE_X] += level * nx / across
                sums[MIDDLE_Y] += level * ny / across
