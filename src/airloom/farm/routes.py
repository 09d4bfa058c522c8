"""Ways around areas that are not to be flown over: the shortest from corner to corner (a visibility graph).

Whoever flies a job needs them where its tank is used up, so there is nothing here that only planning has.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count, pairwise
from math import dist, inf, pi, sqrt

import numpy as np

from airloom.farm.geojson import FarmError

Point = tuple[float, float]

CLEARANCE = 2.0  # m around what is not to be flown over
NEAREST = CLEARANCE / 2  # m: what comes nearer is not free
AROUND = sqrt(2) * CLEARANCE  # m from a corner to where it is passed: CLEARANCE from walls at a right angle
DIRECTIONS = 8
ROUNDING = 1e-2  # m
STEP = 0.1  # m between two looks at how much room there is
STOP = 5.0  # m of a way that a stop at a corner is worth


class Routes:
    """Straight where that is free. Areas are rings of corners; one within another is a hole."""

    def __init__(self, areas: Sequence[Sequence[Point]]) -> None:
        rings = [np.array(ring, dtype=float) for ring in areas]
        self._starts = np.concatenate([np.empty((0, 2)), *rings])
        self._ends = np.concatenate([np.empty((0, 2)), *(np.roll(ring, -1, axis=0) for ring in rings)])
        angles = 2 * pi * np.arange(DIRECTIONS) / DIRECTIONS
        around = AROUND * np.column_stack([np.cos(angles), np.sin(angles)])
        places = (self._starts[:, None] + around).reshape(-1, 2)
        self._corners: list[Point] = [(x, y) for x, y in places[self._gaps(places, places) >= NEAREST].tolist()]

    def keeps_clear(self, place: Point) -> bool:
        return bool(self._gaps(np.array([place]), np.array([place]))[0] >= NEAREST)

    def is_free(self, a: Point, b: Point) -> bool:
        return bool(self._are_free(np.array([a]), np.array([b]))[0])

    def room(self, start: Point, direction: Point, most: float) -> float:
        """How far one can go from a place in a direction, at most so far, and stay CLEARANCE away."""
        along = np.linspace(0.0, most, max(int(most / STEP), 1) + 1)
        places = np.array(start) + along[:, None] * np.array(direction)
        near = np.flatnonzero(self._gaps(places, places) < CLEARANCE - ROUNDING)
        return most if not near.size else float(along[max(near[0] - 1, 0)])

    def between(self, a: Point, b: Point) -> list[Point]:
        """The corners on the way, without its ends."""
        if self.is_free(a, b):
            return []
        order = count()
        queue: list[tuple[float, int, Point, tuple[Point, ...]]] = [(0.0, next(order), a, ())]
        done: set[Point] = set()
        while queue:
            cost, _, here, way = heappop(queue)
            if here == b:
                return list(way[:-1])
            if here in done:
                continue
            done.add(here)
            for corner in self._seen_from(here, b):
                if corner not in done:
                    heappush(queue, (cost + dist(here, corner) + STOP, next(order), corner, (*way, corner)))
        raise FarmError(f"no way leads from ({a[0]:.1f}, {a[1]:.1f}) to ({b[0]:.1f}, {b[1]:.1f}) around no-fly areas")

    def length(self, a: Point, b: Point) -> float:
        """Of the whole way, m."""
        return sum(dist(p, q) for p, q in pairwise(self.whole(a, b)))

    def whole(self, a: Point, b: Point) -> list[Point]:
        return [a, *self.between(a, b), b]

    def _seen_from(self, here: Point, goal: Point) -> list[Point]:
        corners = np.array([goal, *self._corners])
        free = self._are_free(np.broadcast_to(here, corners.shape), corners)
        return [(x, y) for x, y in corners[free].tolist()]

    def _are_free(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Who is too near already, by a gust for one, may leave as long as it comes no nearer."""
        least = np.minimum(np.minimum(self._gaps(a, a), self._gaps(b, b)), NEAREST)
        return (least > 0.0) & (self._gaps(a, b) >= least - ROUNDING)

    def _gaps(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """How near ways from a to b [n, 2] come to an area: 0 for those that lead into it."""
        if not len(self._starts):
            return np.full(len(a), inf)
        starts, ends = self._starts[None], self._ends[None]
        a, b = a[:, None], b[:, None]
        gaps = np.minimum.reduce([
            _distance(a, starts, ends), _distance(b, starts, ends), _distance(starts, a, b), _distance(ends, a, b)
        ])  # fmt: skip
        crossed = (_side(a, b, starts) != _side(a, b, ends)) & (_side(starts, ends, a) != _side(starts, ends, b))
        # a ray to the east of an inner place meets an odd number of edges
        north = (starts[..., 1] > a[..., 1]) != (ends[..., 1] > a[..., 1])
        rise = np.where(north, ends[..., 1] - starts[..., 1], 1.0)
        east = starts[..., 0] + (a[..., 1] - starts[..., 1]) / rise * (ends[..., 0] - starts[..., 0])
        inside = (north & (a[..., 0] < east)).sum(axis=1) % 2 == 1
        return np.where(inside | crossed.any(axis=1), 0.0, gaps.min(axis=1))


def _side(a: np.ndarray, b: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Whether a point lies to the left of the way from a to b."""
    along, to = b - a, point - a
    return along[..., 0] * to[..., 1] - along[..., 1] * to[..., 0] > 0.0


def _distance(point: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of a point from the way between a and b."""
    along = b - a
    square = np.maximum((along**2).sum(axis=-1), 1e-12)
    share = np.clip(((point - a) * along).sum(axis=-1) / square, 0.0, 1.0)
    return np.linalg.norm(point - a - share[..., None] * along, axis=-1)
