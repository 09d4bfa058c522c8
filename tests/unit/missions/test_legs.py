"""How aeroplanes pass places: near enough, or over them, and lines from end to end."""

from __future__ import annotations

from math import cos, dist, pi, sin

import numpy as np
import pytest

from airloom.missions.arcs import Pose, Way
from airloom.missions.legs import Leg, Turns, past_places

TURNS = Turns(radius=40.0, lead=50.0)
HERE = Pose(-400.0, 0.0, 0.0)


def nearest(way: Way, x: float, y: float) -> float:
    return min(dist((x, y), piece.at(s)[:2]) for piece in way for s in np.linspace(0.0, piece.length, 600))


def stays_on(way: Way, begin: tuple[float, float], end: tuple[float, float]) -> float:
    """How far the way ever is from a point of a line."""
    return max(nearest(way, *np.add(begin, share * np.subtract(end, begin))) for share in np.linspace(0.0, 1.0, 41))


@pytest.mark.parametrize(
    "degrees", [-179, -150, -120, -90, -60, -30, 10, 30, 45, 60, 75, 90, 105, 120, 135, 150, 165, 179]
)
def test_no_place_is_passed_farther_off_than_it_may_be(degrees):
    turn = pi * degrees / 180
    after = (600 * cos(turn), 600 * sin(turn), 50.0)
    for acceptance in (0.0, 5.0, 10.0, 50.0):
        way = past_places(HERE, 50.0, None, [Leg((0.0, 0.0, 50.0), acceptance), Leg(after)], None, TURNS)
        assert nearest(way, 0.0, 0.0) <= acceptance + 0.5
        assert nearest(way, *after[:2]) < 0.5
        assert stays_on(way, (0.2 * after[0], 0.2 * after[1]), after[:2]) < 1.0, "it comes back onto its leg"


def test_a_turn_that_is_near_enough_is_flown_before_the_place():
    way = past_places(HERE, 50.0, None, [Leg((0.0, 0.0, 50.0), 20.0)], Leg((0.0, 300.0, 50.0)), TURNS)
    assert way[-1].curvature == pytest.approx(1 / 40.0)
    assert max(piece.end.x for piece in way) < 1e-6


def test_lines_are_flown_from_end_to_end_whatever_lies_between_them():
    lines = [((0.0, 0.0), (300.0, 0.0)), ((300.0, 20.0), (0.0, 20.0)), ((0.0, 200.0), (200.0, 260.0))]
    legs = [leg for a, b in lines for leg in (Leg((*a, 50.0)), Leg((*b, 50.0), is_line=True))]
    way = past_places(Pose(-50.0, -300.0, 2.0), 50.0, None, legs, None, TURNS)
    for begin, end in lines:
        assert stays_on(way, begin, end) < 1.0
    course = [piece for piece in way if piece.passes == (300.0, 20.0)][-1].begin.course
    assert abs(sin(course)) < 1e-6
    assert cos(course) == pytest.approx(-1.0)


def test_lines_that_share_a_corner_are_both_flown_whole():
    legs = [Leg((0.0, 0.0, 50.0)), Leg((200.0, 0.0, 50.0), is_line=True), Leg((200.0, 200.0, 50.0), is_line=True)]
    way = past_places(HERE, 50.0, None, legs, None, TURNS)
    assert stays_on(way, (0.0, 0.0), (200.0, 0.0)) < 1.0
    assert stays_on(way, (200.0, 0.0), (200.0, 200.0)) < 1.0


def test_each_place_is_told_by_the_piece_that_passes_it():
    legs = [Leg((0.0, 0.0, 50.0)), Leg((100.0, 300.0, 50.0), is_told=False), Leg((0.0, 600.0, 50.0), acceptance=0.0)]
    way = past_places(HERE, 50.0, None, legs, None, TURNS)
    assert [piece.passes for piece in way if piece.passes] == [(0.0, 0.0), (0.0, 600.0)]
