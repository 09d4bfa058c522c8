"""A fence: where a vehicle may be, seen from above.

With areas to stay in, a place must lie in one of them at least (as PX4 has it); and in none of those to keep out of. A
polygon's inside is by the even-odd rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import atan2, cos, dist, hypot, pi, sin, sqrt
from typing import Any, Protocol

import numpy as np

from airloom.missions.items import Circle, Follow, GoTo
from airloom.missions.trajectory import ARRIVED_WITHIN, through
from airloom.scenario.models import Vector3

Point = tuple[float, float]


class Area(Protocol):
    def holds(self, x: float, y: float) -> bool: ...

    def crossings(self, a: Point, b: Point) -> Iterator[float]:
        """Where a straight leg from a to b crosses its edge, as shares of the leg."""


@dataclass(frozen=True)
class Polygon:
    corners: list[Point]

    def _edges(self) -> Iterator[tuple[Point, Point]]:
        yield from pairwise([*self.corners, self.corners[0]])

    def holds(self, x: float, y: float) -> bool:
        sides = (
            (ay > y) != (by > y) and x < ax + (y - ay) * (bx - ax) / (by - ay) for (ax, ay), (bx, by) in self._edges()
        )
        return sum(sides) % 2 == 1

    def crossings(self, a: Point, b: Point) -> Iterator[float]:
        dx, dy = b[0] - a[0], b[1] - a[1]
        for (px, py), (qx, qy) in self._edges():
            ex, ey = qx - px, qy - py
            cross = dx * ey - dy * ex
            if cross != 0.0:
                yield ((px - a[0]) * ey - (py - a[1]) * ex) / cross


@dataclass(frozen=True)
class Disc:
    x: float
    y: float
    radius: float

    def holds(self, x: float, y: float) -> bool:
        return hypot(x - self.x, y - self.y) < self.radius

    def crossings(self, a: Point, b: Point) -> Iterator[float]:
        dx, dy, ox, oy = b[0] - a[0], b[1] - a[1], a[0] - self.x, a[1] - self.y
        square, along = dx * dx + dy * dy, dx * ox + dy * oy
        inside = along * along - square * (ox * ox + oy * oy - self.radius**2)
        if square > 0.0 and inside > 0.0:
            yield from ((-along - sqrt(inside)) / square, (-along + sqrt(inside)) / square)


@dataclass
class Fence:
    stay_in: list[Area] = field(default_factory=list)
    keep_out: list[Area] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.stay_in or self.keep_out)

    def allows(self, x: float, y: float) -> bool:
        is_in = not self.stay_in or any(area.holds(x, y) for area in self.stay_in)
        return is_in and not any(area.holds(x, y) for area in self.keep_out)

    def first_breach(self, points: Iterable[Point]) -> Point | None:
        """A place outside on the straight legs between points, if there is any: between two crossings all is alike."""
        for a, b in pairwise(points):
            shares = {s for area in (*self.stay_in, *self.keep_out) for s in area.crossings(a, b) if 0.0 < s < 1.0}
            ends = [0.0, *sorted(shares), 1.0]
            for s in (0.0, *((near + far) / 2 for near, far in pairwise(ends)), 1.0):
                x, y = a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])
                if not self.allows(x, y):
                    return x, y
        return None


def way_of(item: Any, here: Vector3) -> list[Point]:
    """Where an item leads, from above, beginning here."""
    if isinstance(item, GoTo):
        return [here[:2], item.goto[:2]]
    if isinstance(item, Circle):
        return [here[:2], *_around(item, here)]
    if isinstance(item, Follow):
        return list(_through(item, here))
    return [here[:2]]


def _around(item: Circle, here: Vector3) -> Iterator[Point]:
    x, y, _ = item.circle
    bearing = atan2(here[1] - y, here[0] - x)
    full = 2 * pi * (-1 if item.clockwise else 1)
    for turn in [*(min(item.turns, 1.0) * k / 72 for k in range(73)), item.turns]:
        theta = bearing + full * turn
        yield x + item.radius * cos(theta), y + item.radius * sin(theta)


def _through(item: Follow, here: Vector3) -> Iterator[Point]:
    points = [here, *item.follow] if dist(here, item.follow[0]) > ARRIVED_WITHIN else item.follow
    trajectory, count = through(np.array(points), 0.0, item.speed), 20 * len(points)
    for k in range(count + 1):
        x, y, *_ = trajectory.at(trajectory.duration * k / count).tolist()
        yield x, y
