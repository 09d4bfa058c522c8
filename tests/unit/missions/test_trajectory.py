"""Minimum-snap trajectories: through the waypoints, at rest at the ends, smooth in between, and optimal."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from airloom.commands import PositionYaw
from airloom.missions.trajectory import PathError, PiecewisePolynomial, leg_durations, minimum_snap, through

POINTS = np.array([[0, 0, 1, 0], [4, 1, 2, 0.5], [5, 5, 3, 1], [0, 6, 2, 2], [-2, 1, 1, 3]], dtype=float)
DURATIONS = np.array([2.0, 1.5, 3.0, 2.5])


@pytest.fixture(scope="module")
def trajectory():
    return minimum_snap(POINTS, DURATIONS)


def test_passes_through_the_waypoints(trajectory):
    times = np.concatenate([[0.0], np.cumsum(DURATIONS)])
    assert np.array([trajectory.at(t) for t in times]) == pytest.approx(POINTS, abs=1e-8)


@pytest.mark.parametrize("derivative", [1, 2, 3])
def test_rests_at_the_ends(trajectory, derivative):
    assert trajectory.at(0.0, derivative) == pytest.approx(np.zeros(4), abs=1e-8)
    assert trajectory.at(trajectory.duration, derivative) == pytest.approx(np.zeros(4), abs=1e-7)


@pytest.mark.parametrize("derivative", range(7))
def test_derivatives_up_to_the_sixth_are_continuous(trajectory, derivative):
    for piece in range(len(DURATIONS) - 1):
        before = PiecewisePolynomial(DURATIONS[piece : piece + 1], trajectory.coefficients[piece : piece + 1])
        after = PiecewisePolynomial(DURATIONS[piece + 1 : piece + 2], trajectory.coefficients[piece + 1 : piece + 2])
        end, start = before.at(before.duration, derivative), after.at(0.0, derivative)
        assert end == pytest.approx(start, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("duration", [0.5, 1.0, 7.0])
def test_one_leg_is_the_closed_form(duration):
    leg = minimum_snap(np.array([[1.0, 0, 0, 0], [4.0, 0, 0, 0]]), np.array([duration]))
    for s in np.linspace(0, 1, 21):
        exact = 1 + 3 * (35 * s**4 - 84 * s**5 + 70 * s**6 - 20 * s**7)
        assert leg.at(s * duration)[0] == pytest.approx(exact, abs=1e-9)


def snap(trajectory):
    times = np.linspace(0, trajectory.duration, 4001)
    squares = np.array([(trajectory.at(t, 4) ** 2).sum() for t in times])
    return np.trapezoid(squares, times)


def test_stopping_at_each_waypoint_takes_more_snap(trajectory):
    legs = [minimum_snap(POINTS[k : k + 2], DURATIONS[k : k + 1]) for k in range(len(DURATIONS))]
    stopping = PiecewisePolynomial(DURATIONS, np.concatenate([leg.coefficients for leg in legs]))
    assert snap(trajectory) < snap(stopping)


def test_a_leg_keeps_to_speed_and_acceleration():
    for length in (0.1, 1.0, 30.0):
        trajectory = through(np.array([[0, 0, 1], [length, 0, 1]]), 0.0, speed=3.0, acceleration=2.0)
        times = np.linspace(0, trajectory.duration, 500)
        assert max(trajectory.at(t, 1)[0] for t in times) <= 3.0 * 1.001
        assert max(trajectory.at(t, 2)[0] for t in times) <= 2.0 * 1.001


def test_yaw_takes_the_short_way_round():
    trajectory = through(np.array([[0, 0, 1], [1, 0, 1]]), np.array([3.0, -3.0]), 1.0)
    assert trajectory.at(trajectory.duration)[3] == pytest.approx(2 * np.pi - 3.0)


def test_durations_grow_with_length():
    durations = leg_durations(np.array([[0, 0, 0], [1, 0, 0], [10, 0, 0]], dtype=float), 2.0, 2.0)
    assert durations[0] < durations[1]


@pytest.mark.parametrize("points", [[[0, 0, 1]], [[0, 0], [1, 1]], [[0, 0, 1], [np.nan, 0, 1]]])
def test_refuses_what_is_no_path(points):
    with pytest.raises(PathError):
        through(np.array(points), 0.0, 1.0)


def test_refuses_legs_without_time():
    with pytest.raises(PathError, match="duration above 0"):
        minimum_snap(POINTS[:2], np.array([0.0]))


def test_a_piece_that_ends_at_a_turn_of_the_guide_is_not_the_last(sim):
    """Turns come every 20 ms: the first piece lasts exactly fifty of them."""
    goal = np.array([[0, 0, 2, 0], [0, 0, 4, 0], [0, 0, 8, 0]], dtype=float)
    drone = sim.vehicles["drone"]
    drone.command(PositionYaw((0, 0, 2)))
    sim.guides.begin(drone, minimum_snap(goal, np.array([1.0, 2.0])))
    sim.run(until=6)
    assert drone.setpoint.position == pytest.approx((0, 0, 8))


@pytest.mark.parametrize(
    ("waypoints", "speed", "near"),
    [
        ([[0, 3, -18], [60, 3, -18], [60, -3, -18], [0, -3, -18]], 0.5, 3.0),
        ([[0, 0, 2], [0.25, 0, 2], [10, 0, 2], [10, 10, 2]], 2.0, 2.5),
        ([[0, 0, 2], [40, 0, 2], [40, 0, 2], [40, 5, 2], [0, 5, 2]], 5.0, 2.5),
    ],
    ids=["lanes", "a point at hand", "the same point twice"],
)
def test_short_legs_do_not_swing_it_off_the_lines(waypoints, speed, near):
    smooth = through(np.array(waypoints, float), 0.0, speed)
    flown = smooth.samples(40).reshape(-1, 3)
    lines = [shapely.LineString(waypoints).distance(shapely.Point(*place)) for place in flown]
    assert max(lines) < near
    passed = [np.linalg.norm(flown - waypoint, axis=1).min() for waypoint in waypoints]
    assert max(passed) < 1e-6


def test_legs_of_like_length_are_left_as_they_are():
    points = np.array([[0, 0, 2], [10, 0, 2], [10, 10, 2], [0, 10, 2]], float)
    assert len(through(points, 0.0, 2.0).durations) == 3
