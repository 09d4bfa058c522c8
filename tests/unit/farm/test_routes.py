"""Ways around no-fly areas, drawn anyhow."""

from __future__ import annotations

from math import cos, dist, pi, sin

import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from airloom.farm import FarmError
from airloom.farm.routes import CLEARANCE, NEAREST, Routes

WALL = [(-40.0, -2.0), (40.0, -2.0), (40.0, 2.0), (-40.0, 2.0)]
SPIKE = [(0.0, 0.0), (60.0, -1.0), (60.0, 1.0)]


def way(routes, a, b):
    return shapely.LineString(routes.whole(a, b))


def test_a_free_way_is_straight():
    assert Routes([]).between((0.0, 0.0), (9.0, 9.0)) == []
    assert Routes([WALL]).between((-50.0, 10.0), (50.0, 10.0)) == []


def test_a_wall_is_passed_at_its_nearer_end():
    found = way(Routes([WALL]), (30.0, -20.0), (30.0, 20.0))
    assert shapely.Polygon(WALL).distance(found) >= NEAREST
    assert found.bounds[2] == pytest.approx(42, abs=1.5)
    assert found.length == pytest.approx(2 * dist((30, 20), (42, 0)), rel=0.05)


def test_a_sharp_corner_is_passed_too():
    found = way(Routes([SPIKE]), (50.0, 5.0), (50.0, -5.0))
    assert shapely.Polygon(SPIKE).distance(found) >= NEAREST
    assert found.length == pytest.approx(30, abs=5), "by the far end, which is nearer"


def test_a_hole_has_no_way_out_and_says_so():
    inner = [(-5.0, -5.0), (5.0, -5.0), (5.0, 5.0), (-5.0, 5.0)]
    routes = Routes([[(3 * x, 3 * y) for x, y in inner], inner])
    assert routes.keeps_clear((0.0, 0.0))
    assert not routes.keeps_clear((10.0, 0.0))
    assert routes.is_free((-3.0, 0.0), (3.0, 0.0))
    with pytest.raises(FarmError, match=r"no way leads from \(0.0, 0.0\) to \(40.0, 0.0\) around no-fly areas"):
        routes.between((0.0, 0.0), (40.0, 0.0))


def test_who_was_blown_too_near_gets_away():
    """But not through."""
    routes, here = Routes([WALL]), (0.0, 2.4)
    assert not routes.keeps_clear(here)
    assert routes.between(here, (0.0, 20.0)) == []
    assert shapely.Polygon(WALL).distance(way(routes, here, (0.0, -20.0))) > 0.38


def test_there_is_room_up_to_the_clearance():
    routes = Routes([WALL])
    assert routes.room((0.0, 10.0), (0.0, -1.0), 20.0) == pytest.approx(8.0 - CLEARANCE, abs=0.11)
    assert routes.room((0.0, 10.0), (0.0, 1.0), 20.0) == 20.0


@st.composite
def stars(draw):
    count = draw(st.integers(3, 9))
    radii = draw(st.lists(st.floats(4, 25), min_size=count, max_size=count))
    return [(r * cos(2 * pi * k / count), r * sin(2 * pi * k / count)) for k, r in enumerate(radii)]


@settings(max_examples=40, deadline=None)
@given(corners=stars(), at=st.floats(0, 2 * pi))
def test_ways_keep_clear_of_areas_of_any_shape(corners, at):
    a, b = (80 * cos(at), 80 * sin(at)), (-80 * cos(at), -80 * sin(at))
    found = way(Routes([corners]), a, b)
    assert shapely.Polygon(corners).distance(found) >= NEAREST - 0.011
    hull = shapely.MultiPoint([a, b, *corners]).convex_hull
    assert found.length <= hull.buffer(6.0).length / 2 + 20, "the shorter way, but for a few stops"
