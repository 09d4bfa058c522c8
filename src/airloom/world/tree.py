"""A tree of boxes around many things, so that a ray or a place need only look at those nearby.

Things are sorted along a Morton curve and four of them are a leaf; leaves fill the lower half of a heap, in which the
box k holds the boxes 2k and 2k+1. So the tree needs no links, no recursion to build it and no stack to walk it.
"""

from __future__ import annotations

from math import inf

import numpy as np

from airloom.compiled import compiled

LEAF = 4  # things
HUGE = 1e300  # in place of infinity, which times 0 is not a number
SOLID_WIDTH = 15


def tree_of(lows: np.ndarray, highs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of boxes [thing, xyz]: the order of the things in the leaves, and the heap [box, low and high xyz]."""
    order = np.argsort(_morton((lows + highs) / 2), kind="stable")
    leaves = 1 << max(-(-len(order) // LEAF) - 1, 0).bit_length()
    boxes = np.empty((2 * leaves, 6))
    boxes[:, :3], boxes[:, 3:] = inf, -inf
    each = np.tile(boxes[0], (leaves * LEAF, 1))
    each[: len(order), :3], each[: len(order), 3:] = lows[order], highs[order]
    below = each.reshape(leaves, LEAF, 6)
    while True:
        boxes[leaves : 2 * leaves, :3] = below[:, :, :3].min(axis=1)
        boxes[leaves : 2 * leaves, 3:] = below[:, :, 3:].max(axis=1)
        if leaves == 1:
            return order, boxes
        below, leaves = boxes[leaves : 2 * leaves].reshape(leaves // 2, 2, 6), leaves // 2


def _morton(points: np.ndarray) -> np.ndarray:
    """16 bits of each coordinate, interleaved."""
    low, span = points.min(axis=0), np.maximum(np.ptp(points, axis=0), 1e-9)
    whole = ((points - low) / span * 0xFFFF).astype(np.uint64)
    code = np.zeros(len(points), dtype=np.uint64)
    for bit in range(16):
        for axis in range(3):
            code |= ((whole[:, axis] >> np.uint64(bit)) & np.uint64(1)) << np.uint64(3 * bit + axis)
    return code


@compiled
def next_box(k):
    """The one to look at when nothing below box k is wanted any more; 0 after the last."""
    while k & 1:
        k >>= 1
    return k + 1 if k else 0


@compiled
def distance_to_box(boxes, k, x, y, z):
    """Squared, m²."""
    at = 6 * k
    dx = max(boxes[at] - x, x - boxes[at + 3], 0.0)
    dy = max(boxes[at + 1] - y, y - boxes[at + 4], 0.0)
    dz = max(boxes[at + 2] - z, z - boxes[at + 5], 0.0)
    return dx * dx + dy * dy + dz * dz


@compiled
def ray_to_box(boxes, k, px, py, pz, ix, iy, iz):
    """Where a ray enters a box, 0 inside, infinite if missed; ix … are 1 over the ray's direction."""
    at = 6 * k
    a, b = (boxes[at] - px) * ix, (boxes[at + 3] - px) * ix
    near, far = min(a, b), max(a, b)
    a, b = (boxes[at + 1] - py) * iy, (boxes[at + 4] - py) * iy
    near, far = max(near, min(a, b)), min(far, max(a, b))
    a, b = (boxes[at + 2] - pz) * iz, (boxes[at + 5] - pz) * iz
    near, far = max(near, min(a, b)), min(far, max(a, b))
    if far < max(near, 0.0):
        return inf
    return max(near, 0.0)


@compiled
def ray_to_triangle(triangles, at, px, py, pz, dx, dy, dz):
    """Distance to a triangle, a corner and two edges at `at`, from either side (Möller, Trumbore 1997)."""
    ax, ay, az = triangles[at + 3], triangles[at + 4], triangles[at + 5]
    bx, by, bz = triangles[at + 6], triangles[at + 7], triangles[at + 8]
    hx, hy, hz = dy * bz - dz * by, dz * bx - dx * bz, dx * by - dy * bx
    volume = ax * hx + ay * hy + az * hz
    if volume == 0.0:
        return inf
    sx, sy, sz = px - triangles[at], py - triangles[at + 1], pz - triangles[at + 2]
    u = (sx * hx + sy * hy + sz * hz) / volume
    qx, qy, qz = sy * az - sz * ay, sz * ax - sx * az, sx * ay - sy * ax
    v = (dx * qx + dy * qy + dz * qz) / volume
    if u < 0.0 or v < 0.0 or u + v > 1.0:
        return inf
    distance = (bx * qx + by * qy + bz * qz) / volume
    return distance if distance >= 0.0 else inf


@compiled
def ray_to_triangles(boxes, triangles, px, py, pz, dx, dy, dz, reach):
    """Distance along a unit ray to the nearest of some triangles in their tree's order, at most `reach`."""
    ix = 1.0 / dx if dx != 0.0 else HUGE
    iy = 1.0 / dy if dy != 0.0 else HUGE
    iz = 1.0 / dz if dz != 0.0 else HUGE
    leaves, count, best, k = boxes.shape[0] // 12, triangles.shape[0] // 9, reach, 1
    while k:
        if ray_to_box(boxes, k, px, py, pz, ix, iy, iz) < best:
            if k < leaves:
                k *= 2
                continue
            first = (k - leaves) * LEAF
            for n in range(first, min(first + LEAF, count)):
                best = min(best, ray_to_triangle(triangles, 9 * n, px, py, pz, dx, dy, dz))
        k = next_box(k)
    return best


@compiled
def distance_to_solid(solids, at, x, y, z):
    """Squared, to a box that is turned anyhow: half sizes, middle, rotation matrix at `at`."""
    x, y, z = x - solids[at + 3], y - solids[at + 4], z - solids[at + 5]
    total = 0.0
    for axis in range(3):
        along = abs(solids[at + 6 + axis] * x + solids[at + 9 + axis] * y + solids[at + 12 + axis] * z)
        beyond = max(along - solids[at + axis], 0.0)
        total += beyond * beyond
    return total


@compiled
def is_solid_near(boxes, solids, x, y, z, range_):
    """Whether one of some solids, in their tree's order, is within a distance of a place."""
    leaves, count, k = boxes.shape[0] // 12, solids.shape[0] // SOLID_WIDTH, 1
    while k:
        if distance_to_box(boxes, k, x, y, z) < range_ * range_:
            if k < leaves:
                k *= 2
                continue
            first = (k - leaves) * LEAF
            for n in range(first, min(first + LEAF, count)):
                if distance_to_solid(solids, SOLID_WIDTH * n, x, y, z) < range_ * range_:
                    return True
        k = next_box(k)
    return False
