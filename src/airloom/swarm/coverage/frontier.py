"""Frontier exploration: each member goes to where what it knows ends (Yamauchi 1997), and members part.

A frontier is a cell where a member can fly and that lies beside one that it knows nothing of. It costs the way there;
`detour` more if another is nearer to it; and up to `detour` more the nearer it is to the goal of another that has less
far to go than this one (the discount of Burgard et al. 2005, as a way). The nearer it is to the goal that a member has,
the less it costs, up to a radius of sight, so that nobody wavers. The cheapest is the goal.
"""

from __future__ import annotations

from math import ceil, inf, sqrt

from airloom.compiled import compiled
from airloom.swarm.coverage.sight import FREE, OPAQUE, UNKNOWN


@compiled
def _lies_beside_unknown(known, row, column):
    rows, columns = known.shape
    return (
        (row > 0 and known[row - 1, column] == UNKNOWN)
        or (row + 1 < rows and known[row + 1, column] == UNKNOWN)
        or (column > 0 and known[row, column - 1] == UNKNOWN)
        or (column + 1 < columns and known[row, column + 1] == UNKNOWN)
    )


@compiled
def close(known, clearance, closed):
    """Where not to fly, by what is known: what is not known to be free, or nearer to an obstacle than a clearance.

    known, closed [row, column]; clearance in cells
    """
    rows, columns = known.shape
    for row in range(rows):
        for column in range(columns):
            closed[row, column] = known[row, column] != FREE
    reach = ceil(clearance)
    for row in range(rows):
        for column in range(columns):
            if known[row, column] != OPAQUE:
                continue
            for r in range(max(row - reach, 0), min(row + reach + 1, rows)):
                for c in range(max(column - reach, 0), min(column + reach + 1, columns)):
                    if (r - row) ** 2 + (c - column) ** 2 <= clearance * clearance:
                        closed[r, c] = True


@compiled
def cheapest(known, closed, lengths, owners, me, goals, binding, detour, before_x, before_y, radius):
    """Row and column of the cheapest frontier, -1 if there is none.

    lengths  [row, column]   of my way to each cell
    owners   [row, column]   who is nearest to it
    goals    [other, 2]      where others go
    binding  [other]         whether one has less far to go there than I
    detour, radius           see above; all lengths in cells
    before_x, before_y       the goal until now
    """
    best, found_row, found_column = inf, -1, -1
    for row in range(known.shape[0]):
        for column in range(known.shape[1]):
            if closed[row, column] or not lengths[row, column] < inf or not _lies_beside_unknown(known, row, column):
                continue
            cost = lengths[row, column] + (0.0 if owners[row, column] == me else detour)
            cost -= max(radius - sqrt((before_x - column - 0.5) ** 2 + (before_y - row - 0.5) ** 2), 0.0)
            for k in range(goals.shape[0]):
                if binding[k]:
                    away = sqrt((goals[k, 0] - column - 0.5) ** 2 + (goals[k, 1] - row - 0.5) ** 2)
                    cost += max(detour - away, 0.0)
            if cost < best:
                best, found_row, found_column = cost, row, column
    return found_row, found_column
