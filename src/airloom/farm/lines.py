"""Parallel lines over a field, and the order in which they are flown.

All of this is in the axes of the rows: u along them, v across. A *stretch* of a line is sprayed from one end to the
other; a *line* holds one or several, and what is between them is flown over with the nozzles shut. A *patch* is a part
of the field whose lines follow each other without a gap, to be flown back and forth. Patches come of the boustrophedon
decomposition (Choset and Pignon, "Coverage path planning: the boustrophedon cellular decomposition", 1998), here of the
lines themselves: a patch ends where a line has no neighbour, or not exactly one, on the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, hypot
from typing import Any, Literal

import numpy as np

from airloom.farm.field import Field
from airloom.farm.geojson import FarmError, shapely
from airloom.farm.routes import NEAREST, Point
from airloom.farm.rows import Rows

Edge = Literal["cover", "centre", "inside"]
SHORTEST = 0.5  # m of a stretch that is worth the nozzles' while
TOUCHING = 1e-6  # m
MOST_LINES = 20_000

Span = tuple[float, float]


@dataclass(frozen=True)
class Line:
    v: float
    stretches: tuple[Span, ...]
    """along u, from the lower to the higher end"""

    @property
    def start(self) -> float:
        return self.stretches[0][0]

    @property
    def end(self) -> float:
        return self.stretches[-1][1]

    def is_beside(self, other: Line) -> bool:
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True)
class Pass:
    """A line in the direction in which it is flown."""

    line: Line
    forward: bool

    @property
    def start(self) -> Point:
        return (self.line.start if self.forward else self.line.end), self.line.v

    @property
    def end(self) -> Point:
        return (self.line.end if self.forward else self.line.start), self.line.v


def lay_lines(
    field: Field, swath: float, edge: Edge, hop: float, turned: Any, rows: Rows | None = None
) -> list[list[Line]]:
    """Those at each v; `turned` brings a geometry to the axes of the rows. They lie over rows that are as far apart."""
    area, outline, no_fly = turned(field.area), turned(field.outline), turned(field.no_fly.buffer(NEAREST))
    low, high = area.bounds[1], area.bounds[3]
    count = max(ceil((high - low) / swath - TOUCHING), 1)
    if count > MOST_LINES:
        raise FarmError(f"{count:,} lines are more than {MOST_LINES:,}: choose a wider swath than {swath:g} m")
    if area.area < swath * swath:
        size = f"{area.area:.1f} m²"
        raise FarmError(f"the field of {size} is smaller than a swath of {swath:g} m is long and wide")
    middles = (low + high) / 2 + swath * (np.arange(count) - (count - 1) / 2)
    if rows is not None and rows.has_a_line_each(swath):
        middles = rows.lines(low, high)
    shut = outline.difference(area)
    found = []
    for v in middles.tolist():
        spans = _sprayed(area, outline, shut, v, swath, edge)
        found.append(list(_joined(v, spans, hop, no_fly)))
    if not any(found):
        raise FarmError(f"no line of {swath:g} m fits into the field; try --edge cover, or a narrower swath")
    return found


def _sprayed(area: Any, outline: Any, shut: Any, v: float, swath: float, edge: Edge) -> list[Span]:
    """Where the nozzles are open: over the field as `edge` says, and never over a part that is not to be sprayed."""
    far = 1.0 + max(map(abs, outline.bounds))
    band = shapely().box(-far, v - swath / 2, far, v + swath / 2)
    middle = shapely().LineString([(-far, v), (far, v)])
    if edge == "cover":
        spans = _shadow(band.intersection(area))
    elif edge == "centre":
        spans = _shadow(middle.intersection(area))
    else:
        spans = _without([(-far, far)], _shadow(band.difference(outline)))
    spans = _without(spans, _shadow(band.intersection(shut)))
    return [(a, b) for a, b in spans if b - a >= SHORTEST]


def _shadow(geometry: Any) -> list[Span]:
    """What its parts cover of u, joined where they overlap."""
    parts = shapely().get_parts(geometry)
    bounds = shapely().bounds(parts[~shapely().is_empty(parts)])
    joined: list[Span] = []
    for a, b in sorted((float(a), float(b)) for a, b in bounds[:, [0, 2]]):
        if joined and a <= joined[-1][1] + TOUCHING:
            joined[-1] = joined[-1][0], max(b, joined[-1][1])
        elif b - a > TOUCHING:
            joined.append((a, b))
    return joined


def _without(spans: list[Span], taken: list[Span]) -> list[Span]:
    for c, d in taken:
        spans = [part for a, b in spans for part in ((a, min(b, c)), (max(a, d), b)) if part[1] - part[0] > TOUCHING]
    return spans


def _joined(v: float, spans: list[Span], hop: float, no_fly: Any) -> list[Line]:
    """Lines of stretches whose gaps are short enough, and free to be flown over."""
    lines: list[list[Span]] = []
    for span in spans:
        if lines and _can_hop(v, lines[-1][-1][1], span[0], hop, no_fly):
            lines[-1].append(span)
        else:
            lines.append([span])
    return [Line(v, tuple(stretches)) for stretches in lines]


def _can_hop(v: float, a: float, b: float, hop: float, no_fly: Any) -> bool:
    return b - a <= hop and not no_fly.intersects(shapely().LineString([(a, v), (b, v)]))


def patches(lines: list[list[Line]]) -> list[list[Line]]:
    """Chains of lines that lie beside each other, each with one neighbour."""
    found: list[list[Line]] = [[line] for line in lines[0]]
    open_ = {id(chain[-1]): chain for chain in found}
    for before, here in pairwise(lines):
        following = {}
        for line in here:
            neighbours = [other for other in before if other.is_beside(line)]
            alone = len(neighbours) == 1 and sum(neighbours[0].is_beside(other) for other in here) == 1
            chain = open_[id(neighbours[0])] if alone else []
            if not alone:
                found.append(chain)
            chain.append(line)
            following[id(line)] = chain
        open_ = following
    return found


def in_order(patches: list[list[Line]], start: Point) -> list[Pass]:
    """Patch after patch, the nearest first, each back and forth from the corner that is nearest."""
    left, flown, here = list(patches), [], start
    while left:
        ways = [way for patch in left for way in _ways_through(patch)]
        k = min(range(len(ways)), key=lambda k: hypot(ways[k][0].start[0] - here[0], ways[k][0].start[1] - here[1]))
        flown += ways[k]
        here = flown[-1].end
        del left[k // WAYS]
    return flown


WAYS = 4  # through a patch


def _ways_through(patch: list[Line]) -> list[list[Pass]]:
    return [
        [Pass(line, forward == (k % 2 == 0)) for k, line in enumerate(order)]
        for order in (patch, patch[::-1])
        for forward in (True, False)
    ]
