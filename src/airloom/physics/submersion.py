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
def _add_tetrahedron(sums, ox, oy, oz, a, b, c):
    """That of a point and a triangle, with the sign of the triangle's side that faces the point."""
    ax, ay, az = a[0] - ox, a[1] - oy, a[2] - oz
    bx, by, bz = b[0] - ox, b[1] - oy, b[2] - oz
    cx, cy, cz = c[0] - ox, c[1] - oy, c[2] - oz
    volume = (ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)) / 6.0
    sums[VOLUME] += volume
    sums[MIDDLE_X] += volume * (ox + 0.25 * (ax + bx + cx))
    sums[MIDDLE_Y] += volume * (oy + 0.25 * (ay + by + cy))
    sums[MIDDLE_Z] += volume * (oz + 0.25 * (az + bz + cz))


@compiled
def _cross(a, b, above_a, above_b, out):
    """Where an edge leaves the water."""
    share = above_a / (above_a - above_b)
    for k in range(3):
        out[k] = a[k] + share * (b[k] - a[k])


@compiled
def add_mesh(sums, triangles, nx, ny, nz, d, scratch):
    """The part of a closed mesh [triangle, corner, xyz] with n·r < d; `scratch` is [2, 3]."""
    ox, oy, oz = nx * d, ny * d, nz * d
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ha = nx * a[0] + ny * a[1] + nz * a[2] - d
        hb = nx * b[0] + ny * b[1] + nz * b[2] - d
        hc = nx * c[0] + ny * c[1] + nz * c[2] - d
        wet = (1 if ha < 0.0 else 0) + (1 if hb < 0.0 else 0) + (1 if hc < 0.0 else 0)
        if wet == 0:
            continue
        if wet == 3:
            _add_tetrahedron(sums, ox, oy, oz, a, b, c)
            continue
        # Turned so that `a` is the one that is alone on its side.
        alone_is_wet = wet == 1
        if (hb < 0.0) == alone_is_wet and (ha < 0.0) != alone_is_wet and (hc < 0.0) != alone_is_wet:
            a, b, c, ha, hb, hc = b, c, a, hb, hc, ha
        elif (hc < 0.0) == alone_is_wet and (ha < 0.0) != alone_is_wet and (hb < 0.0) != alone_is_wet:
            a, b, c, ha, hb, hc = c, a, b, hc, ha, hb
        _cross(a, b, ha, hb, scratch[0])
        _cross(a, c, ha, hc, scratch[1])
        if alone_is_wet:
            _add_tetrahedron(sums, ox, oy, oz, a, scratch[0], scratch[1])
        else:
            _add_tetrahedron(sums, ox, oy, oz, scratch[0], b, c)
            _add_tetrahedron(sums, ox, oy, oz, scratch[0], c, scratch[1])


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
    count = _cuts(cuts, radius, half, cap, nz, across, d, end)
    for k in range(count - 1):
        if cuts[k + 1] > cuts[k]:
            volume, axial, level = _slices(cuts[k], cuts[k + 1], radius, half, cap, nz, across, d)
            sums[VOLUME] += volume
            sums[MIDDLE_Z] += axial
            if across > 0.0:
                sums[MIDDLE_X] += level * nx / across
                sums[MIDDLE_Y] += level * ny / across
