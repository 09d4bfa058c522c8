"""Ways around areas that are not to be flown over: the shortest from corner to corner (a visibility graph)."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from math import dist
from typing import Any

import numpy as np

from airloom.farm.field import CLEARANCE, Point
from airloom.farm.geojson import FarmError, shapely

CORNERS = 0.5  # m by which its outline may be simplified


class Routes:
    """Straight where that is free."""

    def __init__(self, no_fly: Any) -> None:
        self._kept_free = no_fly.buffer(CLEARANCE, join_style="mitre")
        self._inside = no_fly.buffer(CLEARANCE / 2)
        parts = shapely().get_parts(self._kept_free.simplify(CORNERS))
        self._corners: list[Point] = [
            (x, y) for part in parts if not part.is_empty for x, y in part.exterior.coords[:-1]
        ]

    def is_free(self, a: Point, b: Point) -> bool:
        return not self._inside.intersects(shapely().LineString([a, b]))

    def room(self, start: Point, direction: Point, most: float) -> float:
        """How far one can go from a place in a direction, at most so far."""
        end = start[0] + most * direction[0], start[1] + most * direction[1]
        hit = self._kept_free.intersection(shapely().LineString([start, end]))
        return most if hit.is_empty else min(most, hit.distance(shapely().Point(start)))

    def between(self, a: Point, b: Point) -> list[Point]:
        """The corners on the way, without its ends."""
        if self.is_free(a, b):
            return []
        order = count()
        queue: list[tuple[float, int, Point, tuple[Point, ...]]] = [(0.0, next(order), a, ())]
        done: set[Point] = set()
        while queue:
            length, _, here, way = heappop(queue)
            if here == b:
                return list(way[:-1])
            if here in done:
                continue
            done.add(here)
            for corner in self._seen_from(here, b):
                if corner not in done:
                    heappush(queue, (length + dist(here, corner), next(order), corner, (*way, corner)))
        raise FarmError(f"no way leads from ({a[0]:.1f}, {a[1]:.1f}) to ({b[0]:.1f}, {b[1]:.1f}) around no-fly areas")

    def _seen_from(self, here: Point, goal: Point) -> list[Point]:
        corners = [goal, *self._corners]
        lines = shapely().linestrings([[here, corner] for corner in corners])
        free = ~shapely().intersects(self._inside, lines)
        return [corners[k] for k in np.flatnonzero(free)]
