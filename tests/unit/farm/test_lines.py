"""Lines over fields of any shape: they cover it, spare what is marked, and are flown back and forth."""

from __future__ import annotations

from itertools import pairwise
from math import cos, pi, radians, sin

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fields import RECTANGLE, line, point, polygon, write

from airloom.farm import FarmError, plan_field
from airloom.farm.planning import swaths_of
from airloom.farm.routes import Routes
from airloom.missions.cruise import ACCELERATION


@pytest.fixture(scope="module")
def field(tmp_path_factory):
    file = tmp_path_factory.mktemp("field") / "field.geojson"

    def make(*features, **wishes):
        return plan_field(write(file, *features), **wishes)

    return make


def swaths(plan):
    return [swath for one in plan.job.lines for swath in swaths_of(one, plan.job.swath)]


@st.composite
def stars(draw):
    """Corners around a middle, which makes polygons with bays of all kinds."""
    count = draw(st.integers(4, 12))
    radii = draw(st.lists(st.floats(30, 150), min_size=count, max_size=count))
    shift = draw(st.floats(0, 1))
    return [(r * cos(2 * pi * (k + shift) / count), r * sin(2 * pi * (k + shift) / count)) for k, r in enumerate(radii)]


@settings(max_examples=30, deadline=None)
@given(corners=stars(), rows=st.floats(0, 180), swath=st.floats(2, 8))
def test_swaths_cover_any_field(field, corners, rows, swath):
    plan = field(polygon(corners), rows=rows, swath=swath)
    covered = shapely.union_all(swaths(plan)).intersection(plan.field.area).area
    assert covered >= 0.99 * plan.field.area.area


@settings(max_examples=15, deadline=None)
@given(corners=stars(), rows=st.floats(0, 180))
def test_no_line_is_sprayed_outside(field, corners, rows):
    by_centre = field(polygon(corners), rows=rows, edge="centre")
    grown = by_centre.field.area.buffer(0.01)
    for one in by_centre.job.lines:
        for stretch in one.spray:
            assert grown.covers(shapely.LineString([one.place(stretch.start)[:2], one.place(stretch.end)[:2]]))
    inside = field(polygon([*corners]), rows=rows, edge="inside", swath=2)
    assert all(inside.field.area.buffer(0.01).covers(swath) for swath in swaths(inside))
    assert inside.overspray < 1.0


def test_covering_goes_no_farther_than_the_field(field):
    """Both ends of each swath touch it."""
    plan = field(polygon([(-50, -20), (60, -30), (40, 35), (-30, 10)]), rows=90)
    for swath in swaths(plan):
        a, b, c, d, _ = swath.exterior.coords
        assert shapely.LineString([a, d]).distance(plan.field.area) < 0.01
        assert shapely.LineString([b, c]).distance(plan.field.area) < 0.01


def test_a_rectangle_has_the_lengths_of_its_closed_forms(field):
    plan = field(polygon(RECTANGLE), rate=25.0, swath=4.0, speed=4.0, lag=0.3)
    sums, run_up = plan.job.totals, 15 * 4.0**2 / (16 * ACCELERATION) + 4.0 * 0.3 + 0.5
    assert sums.lines == 10
    assert sums.hectares == pytest.approx(0.4, rel=3e-4)
    assert sums.sprayed_metres == pytest.approx(1000.0, rel=3e-4)
    assert sums.line_metres == pytest.approx(1000.0 + 20 * run_up, rel=3e-4)
    assert sums.turn_metres == pytest.approx(9 * 4.0, rel=1e-3)
    assert sums.litres == pytest.approx(10.0, rel=1e-3)
    assert plan.job.lines[0].spray[0].flow == pytest.approx(25 * 4 * 4 * 60 / 1e4, rel=3e-4)
    assert plan.overspray < 1.0


@pytest.mark.parametrize(("compass", "direction"), [(90, 0.0), (0, pi / 2), (30, pi / 3), (350, radians(100))])
def test_lines_run_as_the_compass_says(field, compass, direction):
    plan = field(polygon(RECTANGLE), rows=compass)
    for one in plan.job.lines:
        assert (one.direction - direction + 1e-4) % pi < 2e-4


def test_the_direction_comes_from_a_property_a_line_or_the_longest_edge(field):
    def direction(*features, **wishes):
        return field(*features, **wishes).field.rows

    assert sin(direction(polygon(RECTANGLE))) == pytest.approx(0.0, abs=1e-4)
    assert direction(polygon(RECTANGLE, rows=45)) == pytest.approx(pi / 4)
    assert direction(polygon(RECTANGLE), line((0, 0), (0, 9))) == pytest.approx(pi / 2, abs=1e-4)
    assert direction(polygon(RECTANGLE, rows=45), rows=0) == pytest.approx(pi / 2)


def test_lines_are_flown_back_and_forth_from_the_corner_next_to_the_tank(field):
    plan = field(polygon(RECTANGLE), point(60, 30))
    ends = [(one.start, one.end) for one in plan.job.lines]
    assert ends[0][0][0] > 50
    assert ends[0][0][1] == pytest.approx(18, abs=0.02)
    for (_, here), (there, _) in pairwise(ends):
        assert np.hypot(here[0] - there[0], here[1] - there[1]) == pytest.approx(4.0, abs=0.02)


def test_holes_are_hopped_over_or_divide_the_field(field):
    hole = [(-10, -8), (10, -8), (10, 8), (-10, 8)]
    hopped, divided = (field(polygon(RECTANGLE, hole), hop=hop) for hop in (30, 5))
    assert hopped.job.totals.lines == 10
    assert max(len(one.spray) for one in hopped.job.lines) == 2
    assert divided.job.totals.lines == 14
    for plan in (hopped, divided):
        dry = shapely.Polygon(hole).buffer(-0.01)
        assert not any(swath.intersects(dry) for swath in swaths(plan))
        assert plan.job.totals.sprayed_metres == pytest.approx(1000 - 4 * 20, abs=0.5)


def test_no_fly_areas_are_flown_around(field):
    shut = [(-10, -30), (10, -30), (10, 30), (-10, 30)]
    plan = field(polygon(RECTANGLE), polygon(shut, no_fly=True), hop=100)
    here, barn, routes = plan.job.lines[0].start, shapely.Polygon(shut), Routes(plan.job.no_fly)
    ways = []
    for one in plan.job.lines:
        way = routes.whole(here, one.start)
        assert barn.distance(shapely.LineString([*way, one.end])) > 0.9
        ways.append(len(way) - 2)
        here = one.end
    assert sorted(ways)[-2:] == [0, 2]


def test_a_place_of_refilling_keeps_clear_of_no_fly_areas(field):
    shut = polygon([(-60, -40), (-50, -40), (-50, -30), (-60, -30)], no_fly=True)
    with pytest.raises(FarmError, match=r"place of refilling, at \(-5\d.\d, -35.0\) m, lies in a no-fly area"):
        field(polygon(RECTANGLE), shut, point(-55, -35))


def test_shortfalls_have_the_numbers_of_the_lines_that_are_left(field, tmp_path):
    """Nothing is asked for on the first lines, which are no lines of the job then."""
    map_ = write(tmp_path / "map.geojson", polygon([(-60, 0), (60, 0), (60, 30), (-60, 30)], rate=90.0))
    plan = field(polygon(RECTANGLE), prescription=map_, elsewhere="none", flow=(0.0, 5.0))
    assert plan.job.totals.lines == 5
    assert {one.line for one in plan.shortfalls} == {1, 2, 3, 4, 5}


def test_a_narrow_headland_leaves_less_room_to_get_up_to_speed(field):
    plan = field(polygon(RECTANGLE), headland=2.0)
    assert plan.job.headland == 2.0
    assert plan.job.totals.line_metres == pytest.approx(1000 + 20 * 2, abs=0.5)


def test_thousands_of_corners_and_large_fields_take_a_moment(field):
    angles = np.linspace(0, 2 * pi, 5000, endpoint=False)
    radii = 1500 + 40 * np.sin(40 * angles)
    plan = field(polygon(list(zip(radii * np.cos(angles), radii * np.sin(angles), strict=True))), swath=8)
    assert plan.job.totals.hectares == pytest.approx(pi * 15**2, rel=0.01)
    assert plan.overspray / plan.field.area.area < 0.01


def test_ten_square_kilometres_are_planned(field):
    plan = field(polygon([(-1600, -1560), (1600, -1560), (1600, 1560), (-1600, 1560)]), swath=6, tank=200)
    assert plan.job.totals.sprayed_metres == pytest.approx(520 * 3200, rel=1e-3)
    assert plan.job.totals.refills == pytest.approx(998 * 20 / 200, abs=1)


def test_lines_lie_over_the_rows_of_a_world(tmp_path):
    """Whose field is drawn a little askew of them, so that lines spread evenly over it would miss."""
    world = tmp_path / "vines.yaml"
    vines = "{kind: vine_row, path: [[0, -10], [60, -10]]}", "{kind: vine_row, path: [[60, -7.5], [0, -7.5]]}"
    across = "{kind: vine_row, path: [[70, -20], [70, 20]]}"
    world.write_text(f"objects: {{a: {vines[0]}, b: {vines[1]}, c: {across}}}\n")
    file = write(tmp_path / "field.geojson", polygon([(0, -11), (80, -11), (80, -0.8), (0, -0.8)]))
    plan = plan_field(file, world=str(world), swath=2.5)
    assert sorted(one.start[1] for one in plan.job.lines) == pytest.approx([-10, -7.5, -5, -2.5], abs=0.01)
    assert not plan.rows.are_skipped(plan.job.swath)
    wide = plan_field(file, world=str(world), swath=5.0)
    assert wide.rows.are_skipped(wide.job.swath)
    assert wide.rows.spacing == pytest.approx(2.5)
