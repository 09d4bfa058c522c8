"""What a member sees of an area: cells within a radius that no obstacle hides."""

from __future__ import annotations

from math import ceil, floor

from airloom.compiled import compiled
from airloom.swarm.coverage.ways import in_sight

UNKNOWN, FREE, OPAQUE = range(3)
SIDE = 8
"""Cells of a block, by which maps are told: so many rows and columns."""


@compiled
def look(opaque, x, y, radius, known, fresh):
    """Note in a map what is seen from (x, y), all in cells, and the blocks in which something is new.

    opaque  [row, column]   the world
    known   [row, column]   the map: UNKNOWN, FREE or OPAQUE
    fresh   [block]
    """
    rows, columns = known.shape
    across = (columns + SIDE - 1) // SIDE
    for row in range(max(floor(y - radius), 0), min(ceil(y + radius), rows)):
        for column in range(max(floor(x - radius), 0), min(ceil(x + radius), columns)):
            cx, cy = column + 0.5, row + 0.5
            if known[row, column] != UNKNOWN or (cx - x) * (cx - x) + (cy - y) * (cy - y) > radius * radius:
                continue
            if in_sight(opaque, x, y, cx, cy):
                known[row, column] = OPAQUE if opaque[row, column] else FREE
                fresh[row // SIDE * across + column // SIDE] = True
