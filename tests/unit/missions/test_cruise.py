"""Ways over the ground: with it where it is smooth, over what juts out of it."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.missions.cruise import over_ground


def flown(height, lowest, start=5.0, goal=5.0):
    """Places every 0.1 s of 100 m to the east at 4 m/s, from a height above the ground at either end to another."""
    ends = [np.array([x, 0.0, height(x, 0.0) + above]) for x, above in ((0.0, start), (100.0, goal))]
    trajectory = over_ground(*ends, 0.0, 0.0, 4.0, height, lowest)
    return np.array([trajectory.at(time)[:3] for time in np.arange(0.0, trajectory.duration, 0.1)])


@pytest.mark.parametrize("trees", [[(30.0, 2.0)], [(30.0, 0.6), (33.0, 0.6)], [(20.0, 9.0), (60.0, 1.0), (61.0, 15.0)]])
def test_trees_are_flown_over(trees):
    """Of 20 m, however thin they are."""
    height = lambda x, y: 20.0 * any(abs(x - at) < wide for at, wide in trees)  # noqa: E731
    places = flown(height, 2.5)
    gaps = [z - height(x, y) for x, y, z in places]
    assert min(gaps) > 2.4
    assert places[0, 2] == pytest.approx(5.0)
    assert places[-1, 2] == pytest.approx(5.0, abs=0.1)


def test_it_climbs_no_faster_for_them():
    places = flown(lambda x, y: 20.0 * (40 < x < 45), 2.5)
    assert np.abs(np.diff(places[:, 2]) / 0.1).max() < 3.3


def test_rolling_ground_is_followed():
    height = lambda x, y: 2.0 * np.sin(x / 15.0)  # noqa: E731
    gaps = [z - height(x, y) for x, y, z in flown(height, 2.5)]
    assert gaps == pytest.approx(np.full(len(gaps), 5.0), abs=0.2)
