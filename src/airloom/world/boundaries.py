"""What vehicles keep off although nothing solid stands there, such as the walls that a flock knows of: to be drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from airloom.world.meshes import ngon

SIDES = 64
"""Of a circle."""


@dataclass(frozen=True)
class Boundary:
    """An upright wall around an area, or a pillar; seen from above it is convex."""

    corners: np.ndarray
    """East and north, counterclockwise, m: [corner, 2]."""
    top: float
    """z that it is drawn up to, m; what it keeps off has no top."""
    encloses: bool
    """Whether vehicles stay within it, and not out of it."""


def widened(corners: np.ndarray, radius: float) -> np.ndarray:
    """The outline of all that is within a distance of a convex polygon."""
    if radius == 0.0 and len(corners) > 2:
        return convex_outline(corners)
    around = [corner + ngon(radius, SIDES) for corner in np.asarray(corners, dtype=float)]
    return convex_outline(np.concatenate(around))


def convex_outline(points: np.ndarray) -> np.ndarray:
    """Of points in a plane, counterclockwise (Andrew's monotone chain)."""
    ordered = sorted(set(map(tuple, points.round(9).tolist())))

    def half(way: list) -> list:
        chain: list = []
        for p in way:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0.0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return np.array(half(ordered) + half(ordered[::-1]))


def _turn(a: tuple, b: tuple, c: tuple) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
