"""QGroundControl's plans: what their items become, and what is refused."""

from __future__ import annotations

import json
from math import pi

import numpy as np
import pytest
from tests.plans import HOME, at, content, disc, polygon, simple, structure, survey, write

from airloom.missions.files import read_mission
from airloom.missions.items import Circle, Follow, GoTo, Land, Rest, Spray, TakeOff, Turn
from airloom.missions.plans.structure_scan import widened
from airloom.scenario import ScenarioError

UP = at(22, altitude=10)


def read(folder, *items, ground=lambda x, y: 0.0, **others):
    return read_mission(write(folder, *items, **others), HOME, ground)


def places(mission):
    return np.array([item.goto for item in mission.items if isinstance(item, GoTo)])


def test_a_round(tmp_path):
    mission = read(
        tmp_path,
        at(22, altitude=15),
        simple(178, 1, 3, -1, 0),
        at(16, north=100, altitude=20, p1=4, p4=90),
        simple(206, 5),
        at(19, east=50, altitude=HOME.altitude + 12, p1=7, frame=0),
        simple(93, 2),
        simple(206, 0),
        simple(189),
        simple(20),
    )
    kinds = [type(item) for item in mission.items]
    assert kinds == [TakeOff, GoTo, GoTo, Rest, GoTo, Rest, Rest, GoTo, Land]
    takeoff, _, north, hold, east, loiter, delay, back, _ = mission.items
    assert takeoff.takeoff == pytest.approx(15)
    assert north.goto == pytest.approx((0, 100, 20), abs=0.01)
    assert north.yaw == pytest.approx(0.0)
    assert north.speed == 3
    assert (hold.sleep, loiter.sleep, delay.sleep) == (4, 7, 2)
    assert east.goto == pytest.approx((50, 0, 12), abs=0.01)
    assert east.yaw is None
    assert back.goto == pytest.approx((0, 0, 12), abs=1e-3)
    assert len(mission.warnings) == 1
    assert "item 4: command 206 (camera trigger) is left out, and 1 more of it" in mission.warnings[0]


def test_heights_count_from_home_from_the_ground_and_from_the_sea(tmp_path):
    def hill(x, y):
        return 7.0 + y / 10

    heights = {3: 10, 10: 10, 0: HOME.altitude + 30}
    mission = read(tmp_path, UP, *(at(16, 0, 100, heights[frame], frame=frame) for frame in heights), ground=hill)
    assert mission.items[0].takeoff == pytest.approx(10)
    relative, above_ground, above_sea = mission.items[-3:]
    assert relative.goto == pytest.approx((0, 100, 17), abs=0.01)
    assert above_ground.goto == pytest.approx((0, 100, 10), abs=0.01)
    assert above_ground.above_ground
    assert above_sea.goto[2] == pytest.approx(30, abs=0.01)


def test_takeoff_and_land_where_it_is(tmp_path):
    nowhere = [None, None]
    mission = read(tmp_path, simple(22, 0, 0, 0, None, *nowhere, 8, frame=3), simple(21, 0, 0, 0, None, *nowhere, 0))
    assert mission.items == [TakeOff(takeoff=8), Land(land=None)]


def test_a_second_takeoff_counts_from_where_it_landed(tmp_path):
    mission = read(
        tmp_path, UP, at(21, north=50, altitude=0), at(22, north=50, altitude=20), at(16, north=60, altitude=20),
        ground=lambda x, y: 4.0 if y > 40 else 0.0,
    )  # fmt: skip
    first, second = (item for item in mission.items if isinstance(item, TakeOff))
    assert (first.takeoff, second.takeoff) == pytest.approx((10, 16))


def test_land_goes_above_the_place_first(tmp_path):
    mission = read(tmp_path, UP, at(21, north=30, altitude=0))
    assert mission.items[-2].goto == pytest.approx((0, 30, 10), abs=0.01)


def test_compass_turns_the_other_way(tmp_path):
    mission = read(tmp_path, *(at(16, p4=yaw) for yaw in (0, 180, 270)))
    assert [item.yaw for item in mission.items] == pytest.approx([pi / 2, -pi / 2, -pi])


def test_circles(tmp_path):
    mission = read(tmp_path, UP, at(18, east=40, altitude=12, p1=2.5, p3=-15), at(18, east=40, altitude=12, p1=1))
    left, usual = mission.items[-2:]
    assert isinstance(left, Circle)
    assert left.circle == pytest.approx((40, 0, 12), abs=0.01)
    assert (left.radius, left.turns, left.clockwise, left.speed) == (15, 2.5, False, 5)
    assert (usual.radius, usual.clockwise) == (10, True)


def test_turns(tmp_path):
    mission = read(
        tmp_path,
        UP,
        simple(115, 90, 20, 1, 0),
        simple(115, 90, 0, 0, 0),
        simple(115, 30, 0, -1, 1),
        simple(115, 30, 0, 1, 1),
    )
    right, short, left, by_right = mission.items[-4:]
    assert isinstance(right, Turn)
    assert (right.turn, right.clockwise, right.rate) == (pytest.approx(0), True, pytest.approx(np.radians(20)))
    assert short.clockwise is None
    assert (left.turn, left.relative) == (pytest.approx(pi / 6), True)
    assert by_right.turn == pytest.approx(-pi / 6)


def test_sprayers_are_switched_and_pumps_set(tmp_path):
    items = [simple(216, 1, 2.5), simple(216, 1), simple(216, 0), simple(183, 9, 1250), simple(187, -1, None, None)]
    mission = read(tmp_path, UP, *items)
    found = [(item.spray, item.of_pump, item.speed) for item in mission.items if isinstance(item, Spray)]
    assert found == [(2.5, False, 5), (1, True, 5), (0, False, 0), (0.25, True, 0), (0, True, 0)]
    (told,) = mission.warnings
    assert "item 5: servo 9 is taken for the pump of the sprayer" in told


def test_loiter_without_end_is_the_end(tmp_path):
    mission = read(tmp_path, UP, at(17, north=20), at(16, north=40), simple(20))
    assert [type(item) for item in mission.items] == [TakeOff, GoTo, GoTo]
    assert "item 3: is never reached, nor 1 others" in mission.warnings[0]


def test_jumps_repeat_and_carry_the_speed_on(tmp_path):
    jump = simple(177, 2, 2)
    mission = read(tmp_path, UP, at(16, north=20), at(16, north=40), simple(178, 1, 3), jump, simple(20))
    norths = [round(place[1]) for place in places(mission)]
    assert norths == [0, 20, 40, 20, 40, 20, 40, 0]
    assert [item.speed for item in mission.items if isinstance(item, GoTo)] == [5, 5, 5, 3, 3, 3, 3, 3]
    assert mission.again_from is None


def test_an_endless_jump_begins_again_where_nothing_changes_any_more(tmp_path):
    inner = simple(177, 2, 1)
    items = [UP, at(16, north=20), at(16, north=40), inner, at(16, north=60), simple(177, 2, -1), simple(20)]
    mission = read(tmp_path, *items)
    again = [round(item.goto[1]) for item in mission.items[mission.again_from :]]
    assert again == [20, 40, 60]
    assert "item 7: is never reached" in mission.warnings[0]


def test_splines_become_one_path(tmp_path):
    points = [at(82, east=20 * k, north=10 * (k % 2), altitude=10) for k in range(1, 4)]
    mission = read(tmp_path, UP, *points, at(16, north=30), at(82, north=10))
    follow = next(item for item in mission.items if isinstance(item, Follow))
    assert np.array(follow.follow) == pytest.approx(np.array([[20, 10, 10], [40, 0, 10], [60, 10, 10]]), abs=0.02)
    assert [type(item) for item in mission.items[-2:]] == [GoTo, GoTo]


def test_surveys_are_their_transects(tmp_path):
    lines = [at(16, 0, 0, 30), simple(206, 25), at(16, 60, 0, 30), at(16, 60, 20, 30), simple(206), at(16, 0, 20, 30)]
    for kind in ("survey", "CorridorScan"):
        mission = read(tmp_path, UP, survey(lines, kind), simple(20))
        assert places(mission)[1:5, :2] == pytest.approx(np.array([[0, 0], [60, 0], [60, 20], [0, 20]]), abs=0.02)
        assert f"item 2 ({kind}), its item 2: command 206 (camera trigger) is left out" in mission.warnings[0]


def test_lines_of_a_survey_are_flown_from_end_to_end_and_its_places_are_flown_over(tmp_path):
    lines = [at(16, 0, 0, 30), simple(206, 25), at(16, 60, 0, 30), at(16, 60, 20, 30), simple(206), at(16, 0, 20, 30)]
    found = {
        kind: read(tmp_path, UP, survey(lines, kind), at(16, 9, 9, 30)).items[2:] for kind in ("survey", "CorridorScan")
    }
    assert [(it.acceptance, it.line) for it in found["survey"]] == [
        (0, False),
        (0, True),
        (0, False),
        (0, True),
        (None, False),
    ]
    assert [(it.acceptance, it.line) for it in found["CorridorScan"]] == [(0, False)] * 4 + [(None, False)]


def test_a_waypoint_has_its_acceptance_radius(tmp_path):
    mission = read(tmp_path, UP, at(16, north=30, p2=25), at(16, north=60))
    assert [item.acceptance for item in mission.items[2:]] == [25.0, None]
    with pytest.raises(ScenarioError, match="an acceptance radius is 0 to"):
        read(tmp_path, UP, at(16, north=30, p2=-25))


def test_structure_scans_go_around_layer_by_layer(tmp_path):
    mission = read(tmp_path, UP, structure([(20, 0), (30, 0), (30, 10), (20, 10)]))
    flown = places(mission)[1:]
    corners = [[15, -5], [35, -5], [35, 15], [15, 15], [15, -5]]
    assert flown[:, :2] == pytest.approx(np.array([corners[0], *corners, *corners, corners[0]]), abs=0.02)
    assert flown[:, 2] == pytest.approx([15, *[2] * 5, *[6] * 5, 15], abs=0.01)
    downwards = places(read(tmp_path, UP, structure([(20, 0), (30, 0), (30, 10)], from_top=True)))
    assert downwards[2, 2] == pytest.approx(6)


def test_widened_either_way_round():
    square = [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0)]
    wide = [(-1.0, -1.0), (5.0, -1.0), (5.0, 5.0), (-1.0, 5.0)]
    assert np.array(widened(square, 1.0)) == pytest.approx(np.array(wide))
    assert np.array(widened(square[::-1], 1.0)) == pytest.approx(np.array(wide[::-1]))


# -- fence -----------------------------------------------------------------------------------------------------------

FIELD = polygon((-20, -20), (60, -20), (60, 60), (-20, 60))


def test_a_plan_within_its_fence_is_read(tmp_path):
    mission = read(tmp_path, UP, at(16, north=50), simple(20), polygons=[FIELD], circles=[disc(40, 40, 5, False)])
    assert len(mission.fence.stay_in) == len(mission.fence.keep_out) == 1
    assert mission.fence.allows(0, 50)
    assert not mission.fence.allows(40, 42)


@pytest.mark.parametrize(
    ("items", "fence", "number"),
    [
        ([at(16, north=70)], {"polygons": [FIELD]}, 2),
        ([at(16, 50, 50)], {"polygons": [FIELD], "circles": [disc(25, 25, 5, False)]}, 2),
        ([at(16, 50, 50)], {"circles": [disc(0, 0, 60)]}, 2),
        ([at(18, 45, 0, p1=1, p3=20)], {"polygons": [FIELD]}, 2),
        (
            [at(16, 0, 40), at(16, 40, 40), at(16, 40, 0), simple(177, 2, -1)],
            {"circles": [disc(20, 20, 5, False)]},
            2,
        ),
        ([at(16, 0, -10), at(16, -10, 30)], {"polygons": [polygon((-40, -20), (60, -20), (60, 80))]}, 3),
        ([survey([at(16, 50, 0), at(16, 50, 90)])], {"polygons": [FIELD]}, "2 (survey), its item 2"),
        ([at(82, 50, 50), at(82, 50, -15), at(82, -15, -15)], {"polygons": [FIELD]}, 2),
        ([], {"circles": [disc(500, 0, 60)]}, None),
    ],
)
def test_what_leads_out_of_the_fence_is_refused_with_its_number(tmp_path, items, fence, number):
    with pytest.raises(ScenarioError, match="leads out of the plan's fence") as error:
        read(tmp_path, UP, *items, **fence)
    assert (f"m.plan, item {number}: " if number else "plannedHomePosition") in str(error.value)


def test_fences_of_before_are_obeyed_and_rally_points_told(tmp_path):
    data = content(UP, at(16, north=70), rally=[[*FIELD["polygon"][0], 50]])
    data["geoFence"] = {"polygon": FIELD["polygon"], "breachReturn": FIELD["polygon"][0], "version": 1}
    file = tmp_path / "m.plan"
    file.write_text(json.dumps(data))
    with pytest.raises(ScenarioError, match="item 2: leads out"):
        read_mission(file, HOME)
    data["mission"]["items"].pop()
    file.write_text(json.dumps(data))
    told = " ".join(read_mission(file, HOME).warnings)
    assert "rallyPoints: 1 rally point is left out" in told
    assert "return to after a breach is left out" in told


@pytest.mark.parametrize(
    ("fence", "complaint"),
    [
        ({"polygons": [{"polygon": [[0, 0]], "inclusion": True}]}, 'geoFence, polygons 1: "polygon" must be three'),
        ({"polygons": [{"polygon": [[0, 0]] * 3}]}, 'geoFence, polygons 1: "inclusion" must be true or false'),
        ({"polygons": [polygon((0, 0), (1, 1), (1, 0)), 7]}, "geoFence, polygons 2: must be an object"),
        ({"circles": [{"circle": {"center": [0, 0], "radius": -1}, "inclusion": True}]}, "a radius above 0"),
        ({"circles": [{"circle": {"center": [91, 0], "radius": 9}, "inclusion": True}]}, "a latitude lies between"),
        ({"circles": [{"circle": {"radius": 9}, "inclusion": True}]}, "a point is latitude and longitude"),
    ],
)
def test_bad_fences(tmp_path, fence, complaint):
    with pytest.raises(ScenarioError) as error:
        read(tmp_path, UP, **fence)
    assert complaint in str(error.value)


# -- what is wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "complaint"),
    [
        (
            simple(92),
            "command 92 cannot be flown; supported are 16, 17, 18, 19, 20, 21, 22, 31, 82, 84, 85, 93, 115, 177, 178,",
        ),
        (simple([16]), '"command" must be a whole number, got [16]'),
        (simple("16"), '"command" must be a whole number'),
        (simple(True), '"command" must be a whole number'),
        (at(16, frame=1), "frame 1 is not supported"),
        (at(16, frame=[3]), "frame [3] is not supported"),
        (simple(16, 0, 0, 0, 0, None, None, 10, frame=3), "must be given"),
        (simple(16, 0, 0, 0, 0, 95, 8, 10, frame=3), "a latitude lies between −90° and 90°, got 95"),
        (simple(16, 0, 0, 0, 0, 47, -181, 10, frame=3), "a longitude lies between −180° and 180°, got -181"),
        (simple(16, 0, 0, 0, 0, 48.5, 8.5, 10, frame=3), "km from the world's origin, and only 20 km are in reach"),
        (simple(16, 0, 0, 0, 0, float("nan"), 8, 10, frame=3), "seven numbers or null"),
        (at(16, altitude=-3), "does not lie above the ground"),
        (at(16, p1=-1), "a delay takes a number of seconds, got -1"),
        (simple(93, -1), "times of day are not supported"),
        (simple(115, 400), "an angle of −360 to 360 degrees, got 400"),
        (simple(115, 90, 0, 5), "a side of −1, 0 or 1"),
        (simple(177, 99, 1), "jumps to doJumpId 99, which no item"),
        (simple(177, 1.5, 1), "a jump takes an item's doJumpId and how often"),
        (simple(177, 2, -1), "the jump leads back to itself"),
        (simple(177, 2, 1e8), "more than 100000 steps"),
        (at(18, p1=-2), "a circle has up to 1000 turns"),
        ({"type": "SimpleItem", "command": 16, "params": [1, 2]}, "seven numbers"),
        (at(22, altitude=-1), "does not lie above the ground"),
        ({"type": "ComplexItem", "complexItemType": "fwLandingPattern"}, "a point is latitude and longitude, got None"),
        ({"type": "ComplexItem", "complexItemType": "survey"}, "the survey holds no transects"),
        ({"type": "ComplexItem", "complexItemType": ["survey"]}, "cannot be flown"),
        ({"type": "ComplexItem", "complexItemType": "StructureScan"}, 'has a "polygon"'),
        ({**structure([(0, 0), (9, 0), (9, 9)]), "Layers": "two"}, '"Layers" must be a number, got two'),
        (simple(216, 2), "a sprayer is switched off (0) or on (1)"),
        (simple(183, 9, 90), "a pulse of 500 to 2500 µs, got 90"),
        (simple(187, 3), "actuator 1 takes a value of −1 to 1, got 3"),
        ({"type": "Other"}, '"type" is SimpleItem or ComplexItem'),
    ],
)
def test_what_cannot_be_flown_is_refused_with_its_number(tmp_path, item, complaint):
    with pytest.raises(ScenarioError) as error:
        read(tmp_path, UP, item)
    assert "m.plan, item 2" in str(error.value)
    assert complaint in str(error.value)


def test_speeds_are_cut_aloud(tmp_path):
    mission = read(tmp_path, UP, simple(178, 1, 30), at(16, north=50), simple(178, 2, 3), simple(178, 1, -2), at(16, 9))
    assert [item.speed for item in mission.items[-2:]] == [12, 5]
    assert "item 2: 30 m/s is too fast for missions here, which fly 12 m/s instead" in mission.warnings[0]
    assert "item 4: a change of the speed to climb" in mission.warnings[1]
    assert read(tmp_path, UP, simple(178, 1, 30), at(16, north=50), vehicleType=22).items[-1].speed == 30
    with pytest.raises(ScenarioError, match="a speed is a number, got fast"):
        read(tmp_path, UP, hoverSpeed="fast")


def test_a_plan_from_elsewhere_names_the_origin_to_set(tmp_path):
    with pytest.raises(ScenarioError, match=r"km from the world's origin; set world\.origin=\{latitude: -35\.36"):
        read(tmp_path, UP, plannedHomePosition=[-35.36, 149.16, 584.0])


@pytest.mark.parametrize(
    "text",
    [
        "{", "[]", "{}", '{"fileType": "Plan"}', '{"fileType": "Plan", "mission": {}}', "[" * 200_000,
        '{"fileType": "Plan", "mission": ' + '{"a": ' * 200_000, "\udcff", "",
        '{"fileType": "Plan", "mission": {"plannedHomePosition": [95, 8, 0], "items": []}}',
    ],
)  # fmt: skip
def test_files_that_are_no_plans(tmp_path, text):
    (tmp_path / "m.plan").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ScenarioError) as error:
        read_mission(tmp_path / "m.plan", HOME)
    assert f"{tmp_path / 'm.plan'}" in str(error.value)
    assert len(str(error.value)) < 300
