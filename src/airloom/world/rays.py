"""Many rays that go one way, such as sunlight."""

from __future__ import annotations

import numpy as np

from airloom.compiled import compiled
from airloom.world.ground import ray


def parallel_rays(world: np.ndarray, points: np.ndarray, direction: np.ndarray, reach: float) -> np.ndarray:
    """How far it is from each point [point, xyz] along a unit vector to the world, at most `reach`."""
    distances = np.empty(len(points))
    _follow(world, np.ascontiguousarray(points, dtype=float), np.asarray(direction, dtype=float), reach, distances)
    return distances


@compiled
def _follow(world, points, way, reach, distances):
    for k in range(points.shape[0]):
        distances[k] = ray(world, points[k, 0], points[k, 1], points[k, 2], way[0], way[1], way[2], reach)
