"""Ways of arcs and lines, beside what can be said of them without knowing how they were made."""

from __future__ import annotations

from itertools import pairwise
from math import cos, dist, hypot, pi, sin

import numpy as np
import pytest

from airloom.missions.arcs import Pose, cut_corner, length_of, onto_line, risen, straight, to_point, to_pose

RADIUS = 30.0


def random_poses(count, seed):
    generator = np.random.default_rng(seed)
    for _ in range(count):
        x, y = generator.uniform(-300, 300, 2)
        yield Pose(x, y, generator.uniform(-pi, pi))


def assert_is_smooth(way, begin):
    """It begins where it should, without gaps and corners, and never turns more tightly than allowed."""
    here = begin
    for piece in way:
        assert dist(piece.begin[:2], here[:2]) < 1e-6
        assert abs(sin(0.5 * (piece.begin.course - here.course))) < 1e-6
        assert abs(piece.curvature) <= 1 / RADIUS + 1e-12
        for s in np.linspace(0, piece.length, 5)[1:]:
            before, after = piece.at(s - 1e-4), piece.at(s)
            assert (after.x - before.x, after.y - before.y) == pytest.approx(
                (1e-4 * cos(after.course), 1e-4 * sin(after.course)), abs=1e-8
            )
        here = piece.end


def test_a_way_to_a_point_ends_there():
    for begin, goal in zip(random_poses(200, 1), random_poses(200, 2), strict=True):
        way = to_point(begin, goal.x, goal.y, RADIUS)
        assert_is_smooth(way, begin)
        assert dist(way[-1].end[:2], goal[:2]) < 1e-6


def test_a_way_to_a_pose_ends_there_and_looks_there():
    for begin, goal in zip(random_poses(200, 3), random_poses(200, 4), strict=True):
        way = to_pose(begin, goal, RADIUS)
        assert_is_smooth(way, begin)
        end = way[-1].end
        assert dist(end[:2], goal[:2]) < 1e-6
        assert abs(sin(0.5 * (end.course - goal.course))) < 1e-6


def test_a_way_straight_ahead_is_a_line():
    assert length_of(to_pose(Pose(0, 0, 0), Pose(100, 0, 0), RADIUS)) == pytest.approx(100)
    assert length_of(to_point(Pose(0, 0, pi / 2), 0, 50, RADIUS)) == pytest.approx(50)


def test_turning_back_beside_itself_is_half_a_circle():
    assert length_of(to_pose(Pose(0, 0, 0), Pose(0, 2 * RADIUS, pi), RADIUS)) == pytest.approx(pi * RADIUS)


@pytest.mark.parametrize("goal", [(200.0, 150.0), (200.0, -100.0), (330.0, 60.0)])
def test_a_corner_is_flown_by_on_both_sides(goal):
    """It joins the next leg tangentially, and leaves out the corner by R (1/cos(Δ/2) − 1)."""
    way = cut_corner([straight(Pose(0, 0, 0), 200, 0)], *goal, RADIUS, within=20.0)
    assert_is_smooth(way, Pose(0, 0, 0))
    end = way[-1].end
    leg = np.array(goal) - [200.0, 0.0]
    off = np.array(end[:2]) - [200.0, 0.0]
    assert abs(leg[0] * off[1] - leg[1] * off[0]) / np.linalg.norm(leg) < 1e-6
    assert abs(sin(0.5 * (end.course - np.arctan2(leg[1], leg[0])))) < 1e-6
    turn = abs(way[-1].curvature) * way[-1].length
    nearest = min(dist((200, 0), way[-1].at(s)[:2]) for s in np.linspace(0, way[-1].length, 2001))
    assert nearest == pytest.approx(RADIUS * (1 / cos(turn / 2) - 1), rel=1e-3)


def test_a_corner_without_room_is_flown_to_its_point():
    way = [straight(Pose(0, 0, 0), 20, 0)]
    assert cut_corner(way, 20, 300, RADIUS, within=100.0) == way


@pytest.mark.parametrize("degrees", range(-175, 180, 10))
def test_a_corner_is_left_out_by_no_more_than_is_allowed(degrees):
    turn, way = np.radians(degrees), [straight(Pose(0, 0, 0), 400, 0)]
    cut = cut_corner(way, 400 + 900 * cos(turn), 900 * sin(turn), RADIUS, within=10.0)
    passes = RADIUS * (1 / cos(turn / 2) - 1)
    assert (cut != way) == (passes <= 10.0)


@pytest.mark.parametrize("degrees", [*range(-179, 180, 15), 90, 179])
def test_a_place_that_is_flown_over_is_left_onto_the_next_leg_soon(degrees):
    begin, leg = Pose(50, -20, np.radians(degrees)), straight(Pose(50, -20, 0.0), 50, 280)
    way = onto_line(begin, leg, RADIUS)
    assert_is_smooth(way, begin)
    assert dist(way[-1].end[:2], (50, 280)) < 1e-6
    assert abs(sin(0.5 * (way[-1].begin.course - pi / 2))) < 1e-6
    assert 300 - way[-1].length < 2.83 * RADIUS


def test_a_leg_that_is_too_short_or_too_far_is_not_joined():
    assert onto_line(Pose(0, 0, pi / 2), straight(Pose(0, 0, 0), 60, 0), RADIUS) is None
    assert onto_line(Pose(0, 200, pi / 2), straight(Pose(0, 0, 0), 600, 0), RADIUS) is None


def test_heights_change_evenly_along_a_way():
    way = risen(to_point(Pose(0, 0, 0), -100, 50, RADIUS), 10.0, 40.0)
    ends = [piece.z + piece.slope * piece.length for piece in way]
    assert ends[-1] == pytest.approx(40.0)
    assert all(end == pytest.approx(after.z) for end, (_, after) in zip(ends, pairwise(way), strict=False))
    assert hypot(way[-1].end.x + 100, way[-1].end.y - 50) < 1e-6
