"""Missions from YAML and from QGroundControl's plans, good and bad."""

from __future__ import annotations

import json
from math import pi

import pytest

from airloom.missions.files import read_mission
from airloom.missions.items import Follow, GoTo, Land, Rest, TakeOff
from airloom.scenario import ScenarioError
from airloom.scenario.models import Origin

GOOD = """
description: "A short round"
mission:
  - takeoff: 5
  - {goto: [1, 2, 3], yaw: 0.5, speed: 4}
  - follow: [[1, 2, 3], [4, 5, 6]]
    method: pursuit
    yaw: [0, 0, 0]
  - sleep: 2
  - land:
"""


def write(folder, text, name="m.yaml"):
    (folder / name).write_text(text)
    return folder / name


def test_yaml(tmp_path):
    takeoff, goto, follow, sleep, land = read_mission(write(tmp_path, GOOD)).items
    assert takeoff == TakeOff(takeoff=5.0)
    assert goto == GoTo(goto=(1, 2, 3), yaw=0.5, speed=4)
    assert follow == Follow(follow=[(1, 2, 3), (4, 5, 6)], method="pursuit", yaw=(0, 0, 0))
    assert sleep == Rest(sleep=2.0)
    assert land == Land(land=None)


@pytest.mark.parametrize(
    ("item", "complaint"),
    [
        ("{gotto: [1, 2, 3]}", "no mission item is called 'gotto'; did you mean 'goto'?"),
        ("{goto: [1, 2, 3], spede: 3}", "mission.1.spede: unknown key; did you mean 'speed'?"),
        ("{goto: [1, 2]}", "mission.1.goto: must be a list of 3"),
        ("{goto: [1, 2, x]}", "mission.1.goto.2: must be a number"),
        ("{goto: [1, 2, .nan]}", "finite"),
        ("{takeoff: -1}", "mission.1.takeoff: must be greater than 0"),
        ("{takeoff: 1, land: }", "takeoff and land must be items of their own"),
        ("{follow: [[1, 2, 3]]}", "must have at least 2 entries"),
        ("{follow: [[1, 2, 3], [1, 2, 4]], method: magic}", "must be 'smooth' or 'pursuit'"),
        ("{sleep: -1}", "must be at least 0"),
        ("{goto: [1, 2, 3], speed: 13}", "must be at most 12"),
        ("hover", "must be a mapping such as 'takeoff: 5'"),
        ("{}", "no mission item is called ''"),
    ],
)
def test_bad_items_are_named_with_file_line_and_number(tmp_path, item, complaint):
    file = write(tmp_path, f"mission:\n  - takeoff: 2\n  - {item}\n")
    with pytest.raises(ScenarioError) as error:
        read_mission(file)
    assert "m.yaml, line 3: mission.1" in str(error.value)
    assert complaint in str(error.value)


@pytest.mark.parametrize("text", ["mission: []", "mision: [{takeoff: 1}]", "mission: 3", "- takeoff: 1", "mission: ["])
def test_bad_files(tmp_path, text):
    with pytest.raises(ScenarioError, match=r"m\.yaml"):
        read_mission(write(tmp_path, text))


def test_a_missing_file(tmp_path):
    for name in ("no.yaml", "no.plan"):
        with pytest.raises(ScenarioError, match=r"(?i)no such file"):
            read_mission(tmp_path / name)


HOME = Origin()


def simple(command, *params, frame=3):
    numbers = [*params, *[0] * (7 - len(params))]
    return {"type": "SimpleItem", "command": command, "params": numbers, "frame": frame, "autoContinue": True}


def place(command, north=0.0, east=0.0, altitude=10.0, hold=0, yaw=None, frame=3):
    latitude, longitude = HOME.latitude + north / 111_178, HOME.longitude + east / 75_500
    return simple(command, hold, 0, 0, yaw, latitude, longitude, altitude, frame=frame)


def plan(folder, *items, home=(HOME.latitude, HOME.longitude, HOME.altitude), **others):
    mission = {"items": list(items), "plannedHomePosition": list(home), "hoverSpeed": 5, "version": 2, **others}
    return write(folder, json.dumps({"fileType": "Plan", "version": 1, "mission": mission}), "m.plan")


def test_plan(tmp_path):
    file = plan(
        tmp_path,
        place(22, altitude=15),
        simple(178, 1, 3, -1, 0),
        place(16, north=100, altitude=20, hold=4, yaw=90),
        simple(206, 5),
        place(19, east=50, altitude=HOME.altitude + 12, hold=7, frame=0),
        simple(93, 2),
        simple(20, frame=2),
    )
    mission = read_mission(file, HOME)
    kinds = [type(item) for item in mission.items]
    assert kinds == [TakeOff, GoTo, GoTo, Rest, GoTo, Rest, Rest, GoTo, Land]
    takeoff, _, north, hold, east, loiter, delay, back, _ = mission.items
    assert takeoff.takeoff == 15
    assert north.goto == pytest.approx((0, 100, 20), abs=0.2)
    assert north.yaw == pytest.approx(0.0)
    assert north.speed == 3
    assert (hold.sleep, loiter.sleep, delay.sleep) == (4, 7, 2)
    assert east.goto == pytest.approx((50, 0, 12), abs=0.2)
    assert east.yaw is None
    assert back.goto == pytest.approx((0, 0, 12), abs=1e-3)
    assert len(mission.warnings) == 1
    assert "item 4: command 206 (camera trigger) is left out" in mission.warnings[0]


def test_relative_altitudes_count_from_the_ground_at_home(tmp_path):
    mission = read_mission(plan(tmp_path, place(22), place(16, north=10)), HOME, ground=lambda x, y: 7.0)
    assert mission.items[0].takeoff == 10
    assert mission.items[-1].goto[2] == 17


def test_land_goes_above_the_place_first(tmp_path):
    mission = read_mission(plan(tmp_path, place(22), place(21, north=30, altitude=0)), HOME)
    assert mission.items[-2].goto == pytest.approx((0, 30, 10), abs=0.1)


def test_compass_turns_the_other_way(tmp_path):
    mission = read_mission(plan(tmp_path, place(16, yaw=0), place(16, yaw=180), place(16, yaw=270)), HOME)
    assert [item.yaw for item in mission.items] == pytest.approx([pi / 2, -pi / 2, -pi])


@pytest.mark.parametrize(
    ("item", "complaint"),
    [
        ({"type": "ComplexItem", "complexItemType": "survey"}, "'survey' cannot be flown; only SimpleItems can"),
        (simple(84), "command 84 cannot be flown; supported are 16, 19, 20, 21, 22, 93 and 178"),
        (place(16, frame=10), "frame 10 is not supported"),
        (simple(16, 0, 0, 0, 0, None, None, 10), "must be given"),
        (simple(93, -1), "times of day are not supported"),
        ({"type": "SimpleItem", "command": 16, "params": [1, 2]}, "seven numbers"),
        (place(22, altitude=-1), "above the ground at home"),
        (17, "cannot be flown"),
    ],
)
def test_what_cannot_be_flown_is_refused_with_its_number(tmp_path, item, complaint):
    with pytest.raises(ScenarioError) as error:
        read_mission(plan(tmp_path, place(22), item), HOME)
    assert "m.plan, item 2: " in str(error.value)
    assert complaint in str(error.value)


def test_a_plan_from_elsewhere_names_the_origin_to_set(tmp_path):
    file = plan(tmp_path, place(22), home=(-35.36, 149.16, 584.0))
    with pytest.raises(ScenarioError, match=r"km from the world's origin; set world\.origin=\{latitude: -35\.36"):
        read_mission(file, HOME)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"fileType": "Plan"}', '{"fileType": "Plan", "mission": {}}'])
def test_files_that_are_no_plans(tmp_path, text):
    with pytest.raises(ScenarioError, match=r"m\.plan"):
        read_mission(write(tmp_path, text, "m.plan"), HOME)
