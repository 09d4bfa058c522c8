from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from airloom.missions.formations import SHAPES, assign, formation, share_out, smallest_gap


@pytest.mark.parametrize("size", [1, 2, 5, 30])
def test_assignment_is_optimal(size):
    for seed in range(10):
        costs = np.random.default_rng(seed).uniform(-1, 5, (size, size))
        found = assign(costs)
        assert sorted(found) == list(range(size))
        assert costs[np.arange(size), found].sum() == pytest.approx(costs[linear_sum_assignment(costs)].sum())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [1, 2, 7, 20])
def test_formations_keep_their_distance(shape, count):
    places = formation(shape, count, 1.5, np.array([3.0, -2.0]), 2.0)
    assert places.shape == (count, 3)
    assert places[:, 2].min() == pytest.approx(2.0)
    assert places[:, :2].mean(axis=0) == pytest.approx([3.0, -2.0])
    assert count == 1 or smallest_gap(places) == pytest.approx(1.5)


def test_straight_ways_between_formations_never_come_close():
    places = [formation(shape, 20, 1.0, np.zeros(2), 2.0) for shape in ("grid", "circle", "helix", "sphere", "grid")]
    for start, end in pairwise(places):
        goals = end[share_out(start, end)]
        assert min(smallest_gap(start + s * (goals - start)) for s in np.linspace(0, 1, 101)) >= 1 / np.sqrt(2) - 1e-9
