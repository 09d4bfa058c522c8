"""The metrics of a swarm on cases that can be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.swarm.metrics import closest_approaches, measure
from airloom.swarm.surroundings import Arena

PLACES = np.array([[0, 0, 0], [8, 0, 0], [16, 0, 0], [100, 0, 0], [100, 9, 0], [0, 300, 0]], float)
VELOCITIES = np.array([[2, 0, 0], [4, 0, 0], [0, 3, 0], [0, 1, 0], [0, -1, 0], [2, 0, 0]], float)


def test_clusters_are_chains_of_neighbours():
    seen = measure(PLACES, VELOCITIES, reach=10.0, collision_radius=8.5)
    assert (seen.clusters, seen.largest, seen.smallest, seen.alone) == (2, 3, 1, 1)
    assert seen.too_near == 2
    assert seen.nearest == pytest.approx(8.0)


def test_order_is_the_mean_cosine_within_clusters():
    # Pairs of the first cluster: 1, 0, 0; of the second: −1.
    assert measure(PLACES, VELOCITIES, 10.0, 1.0).order == pytest.approx(0.0)
    assert measure(PLACES, np.tile([1.0, 2.0, 0.0], (6, 1)), 10.0, 1.0).order == pytest.approx(1.0)
    assert np.isnan(measure(PLACES, VELOCITIES, 1.0, 1.0).order)


def test_who_is_outside_and_how_far():
    square = measure(PLACES, VELOCITIES, 10.0, 1.0, Arena(radius=97))
    assert (square.outside, square.astray) == (3, pytest.approx((3 + 3 + 203) / 3))
    circle = measure(PLACES, VELOCITIES, 10.0, 1.0, Arena(shape="circle", radius=50, center=(100, 0)))
    assert circle.outside == 4


def test_speed_and_nobody():
    assert measure(PLACES, VELOCITIES, 10.0, 1.0).speed == pytest.approx(13 / 6)
    assert measure(np.empty((0, 3)), np.empty((0, 3)), 10.0, 1.0).largest == 0


def test_two_that_rush_past_each_other_between_two_looks_are_noticed():
    places, velocities = np.array([[0, 0, 0], [2, 0.5, 0]], float), np.array([[10, 0, 0], [-10, 0, 0]], float)
    assert closest_approaches(places, velocities, 0.2)[0, 1] == pytest.approx(0.5)
    assert closest_approaches(places, velocities, 0.05)[0, 1] == pytest.approx(np.hypot(1.0, 0.5))
