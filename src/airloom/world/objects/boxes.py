"""A mesh as a few boxes: it is cut into small cubes, and those within it are put together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from airloom.world.meshes import Mesh
from airloom.world.things import Solid

ACROSS = 16  # cubes along its longest side


def boxes_within(mesh: Mesh) -> Iterator[Solid]:
    """Boxes along the mesh's own axes, which together are about as it is."""
    low, high = mesh.extent
    span = np.maximum(high - low, 1e-6)
    counts = np.maximum(np.ceil(span / span.max() * ACROSS - 1e-9).astype(int), 1)
    edge = span / counts
    for first, last in _together(_filled(mesh, low, edge, counts)):
        a, b = low + first * edge, low + last * edge
        yield Solid("box", tuple(((b - a) / 2).tolist()), tuple(((a + b) / 2).tolist()))


def _filled(mesh: Mesh, low: np.ndarray, edge: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Which cubes hold some of the mesh: lines along each axis go through it, and are inside every other time."""
    filled = np.zeros(counts, dtype=bool)
    corners = mesh.vertices[mesh.faces]
    for axis in range(3):
        one, two = (axis + 1) % 3, (axis + 2) % 3
        for i in range(counts[one]):
            for j in range(counts[two]):
                at = low[[one, two]] + (np.array([i, j]) + 0.5) * edge[[one, two]]
                meets = np.sort(_meets(corners, at, axis, one, two))
                cubes = (meets - low[axis]) / edge[axis]
                for start, end in _intervals(cubes):
                    first, last = int(np.floor(start + 0.01)), int(np.ceil(end - 0.01))
                    place: list = [0, 0, 0]
                    place[axis] = slice(max(first, 0), max(min(last, counts[axis]), first + 1))
                    place[one], place[two] = i, j
                    filled[tuple(place)] = True
    return filled


def _meets(corners: np.ndarray, at: np.ndarray, axis: int, one: int, two: int) -> np.ndarray:
    """Where a line along an axis passes through triangles."""
    a, b, c = (corners[:, k][:, [one, two]] for k in range(3))
    ab, ac, ap = b - a, c - a, at - a
    area = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]
    safe = np.where(area == 0.0, 1.0, area)
    v = (ap[:, 0] * ac[:, 1] - ap[:, 1] * ac[:, 0]) / safe
    w = (ab[:, 0] * ap[:, 1] - ab[:, 1] * ap[:, 0]) / safe
    met = (area != 0.0) & (v >= 0.0) & (w >= 0.0) & (v + w <= 1.0)
    z = corners[met, :, axis]
    return z[:, 0] + v[met] * (z[:, 1] - z[:, 0]) + w[met] * (z[:, 2] - z[:, 0])


def _intervals(meets: np.ndarray) -> Iterator[tuple[float, float]]:
    """Between every first and second surface; one that is met twice at an edge counts once, a lone one is thin."""
    apart = meets[np.concatenate([[True], np.diff(meets) > 1e-6])] if len(meets) else meets
    for k in range(0, len(apart) - 1, 2):
        yield apart[k], apart[k + 1]
    if len(apart) & 1:
        yield apart[-1], apart[-1]


def _together(filled: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Blocks of cubes, each as long as can be along x, then y, then z: first and one past the last."""
    left = filled.copy()
    while left.any():
        first = np.argwhere(left)[0]
        last = first + 1
        for axis in range(3):
            while last[axis] < left.shape[axis]:
                layer = [slice(a, b) for a, b in zip(first, last, strict=True)]
                layer[axis] = slice(last[axis], last[axis] + 1)
                if not left[tuple(layer)].all():
                    break
                last[axis] += 1
        left[tuple(slice(a, b) for a, b in zip(first, last, strict=True))] = False
        yield first, last
