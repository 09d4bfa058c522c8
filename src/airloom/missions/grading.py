"""Long legs beside short ones: points between, so that a smooth path keeps near the lines that were drawn.

Minimum snap knows points only. Where a short leg joins long ones it swings out as far as the long ones let it. A point
on the line holds it there: Richter, Bry and Roy (ISRR 2013) add such points where a path meets an obstacle.
"""

from __future__ import annotations

from itertools import pairwise
from math import inf

import numpy as np

STEEPEST = 1.5  # from the length of a piece to that of the next
LEAST = 1 / 16  # of a leg: neighbours that are shorter count as if they were so long
NEAR_SHORT, NEAR_LONG = 0.5, 0.1
"""Of the shortest and of the longest among a leg and its neighbours: a path so far from the leg has left it."""


def strays(points: np.ndarray, flown: np.ndarray) -> bool:
    """Whether what is flown on some leg (`flown[leg, sample]`) leaves it far behind; all n × 3."""
    lengths = _lengths(points)
    for leg, places in enumerate(flown):
        around = lengths[max(leg - 1, 0) : leg + 2]
        if _distances(points[leg], points[leg + 1], places).max() > max(
            NEAR_SHORT * around.min(), NEAR_LONG * around.max()
        ):
            return True
    return False


def graded(points: np.ndarray) -> np.ndarray:
    """With more points on long legs, the closer to each other the shorter the leg beside; n × x, y, z and others."""
    lengths = [inf, *_lengths(points[:, :3]).tolist(), inf]
    parts = [points[:1]]
    for leg, (start, end) in enumerate(pairwise(points)):
        shares = [*_cuts(lengths[leg], lengths[leg + 1], lengths[leg + 2]), 1.0]
        parts.append(start + np.array(shares)[:, None] * (end - start))
    return np.concatenate(parts)


def _cuts(before: float, length: float, after: float) -> list[float]:
    """Where a leg is cut, as shares of it: from the side of its shorter neighbour, piece after piece growing."""
    before, after = (max(neighbour, LEAST * length) for neighbour in (before, after))
    low, high, cuts = 0.0, length, []
    while high - low > STEEPEST * min(before, after):
        piece = min(STEEPEST * min(before, after), (high - low) / 2)
        if before <= after:
            low, before = low + piece, piece
            cuts.append(low / length)
        else:
            high, after = high - piece, piece
            cuts.append(high / length)
    return sorted(cuts)


def _lengths(points: np.ndarray) -> np.ndarray:
    return np.linalg.norm(np.diff(points, axis=0), axis=1)


def _distances(a: np.ndarray, b: np.ndarray, places: np.ndarray) -> np.ndarray:
    """From the straight line between two points."""
    along = b - a
    share = np.clip((places - a) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
    return np.linalg.norm(places - a - share[:, None] * along, axis=1)
