from __future__ import annotations

import numpy as np
import pytest

from airloom.missions.pursuit import Polyline, Pursuit, lookahead
from airloom.missions.trajectory import PathError

PATH = [(0, 0, 2), (10, 0, 2), (10, 10, 4), (0, 10, 4), (0, 0, 2)]


@pytest.mark.parametrize(("speed", "expected"), [(0, 2), (1, 3), (5, 7), (6, 8), (12, 8)])
def test_lookahead_grows_with_speed_between_limits(speed, expected):
    assert lookahead(speed) == expected


def test_nearest_agrees_with_a_dense_search():
    path, rng = Polyline(PATH), np.random.default_rng(1)
    s = np.linspace(0, path.length, 5001)
    dense = np.array([path.at(x) for x in s])
    for position in rng.uniform((-3, -3, 0), (13, 13, 6), (50, 3)):
        low, high = np.sort(rng.uniform(0, path.length, 2))
        window = (s >= low) & (s <= high)
        best = np.linalg.norm(dense[window] - position, axis=1).min() if window.any() else np.inf
        assert np.linalg.norm(path.at(path.nearest(position, low, high)) - position) <= best + 1e-6


def follow(speed):
    """A point that moves exactly as told."""
    pursuit, position, velocity = Pursuit(Polyline(PATH), speed), np.array([0.0, -1.0, 1.0]), np.zeros(3)
    progress = []
    while not pursuit.arrived:
        velocity, _ = pursuit.steer(position, velocity, 0.0)
        position = position + 0.02 * velocity
        progress.append(pursuit.progress)
        assert len(progress) < 20_000
    return np.array(progress)


@pytest.mark.parametrize("speed", [1.0, 4.0, 12.0])
def test_progress_never_goes_back_even_on_a_closed_path(speed):
    progress = follow(speed)
    assert (np.diff(progress) >= 0).all()
    assert np.diff(progress).max() < 9


def test_commands_keep_to_the_speed_and_slow_down_at_the_end():
    pursuit = Pursuit(Polyline([(0, 0, 1), (20, 0, 1)]), 3.0)
    assert np.linalg.norm(pursuit.steer(np.array([0.0, 0, 1]), np.zeros(3), 0.0)[0]) == pytest.approx(3.0)
    for x in np.arange(1.0, 19.9, 1.0):
        velocity, _ = pursuit.steer(np.array([x, 0, 1]), np.array([3.0, 0, 0]), 0.0)
    assert np.linalg.norm(velocity) < 1.0


@pytest.mark.parametrize(
    ("yaw", "heading"), [("path", 0.0), (1.0, 1.0), ((0.0, 5.0, 0.0), np.pi / 2)], ids=["path", "fixed", "point"]
)
def test_turns_the_short_way_to_where_it_should_look(yaw, heading):
    pursuit = Pursuit(Polyline([(0, 0, 1), (20, 0, 1)]), 3.0, yaw)
    for error in (-3.0, -0.5, 0.5, 3.0):
        _, rate = pursuit.steer(np.array([0.0, 0, 1]), np.zeros(3), heading - error)
        assert rate == pytest.approx(1.5 * error)


@pytest.mark.parametrize(
    "points", [[(0, 0, 1)], [], [(0, 0), (1, 1)], [(0, 0, 1), (0, 0, 1)], [(0, 0, 1), (np.inf, 0, 1)]]
)
def test_refuses_what_is_no_path(points):
    with pytest.raises(PathError):
        Polyline(points)


@pytest.mark.parametrize("speed", [0.0, -1.0, 12.1, float("nan")])
def test_refuses_speeds_out_of_range(speed):
    with pytest.raises(PathError, match="0 to 12 m/s"):
        Pursuit(Polyline(PATH), speed)
