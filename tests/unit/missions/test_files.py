"""Missions from YAML, good and bad."""

from __future__ import annotations

import pytest

from airloom.missions.files import read_mission
from airloom.missions.items import Circle, Follow, GoTo, Land, Rest, TakeOff, Turn
from airloom.scenario import ScenarioError

GOOD = """
description: "A short round"
mission:
  - takeoff: 5
  - {goto: [1, 2, 3], yaw: 0.5, speed: 4}
  - follow: [[1, 2, 3], [4, 5, 6]]
    method: pursuit
    yaw: [0, 0, 0]
  - {circle: [0, 0, 5], radius: 4, turns: 2.5, clockwise: true}
  - {turn: 1.57, rate: 0.5}
  - {goto: [9, 9, 3], above_ground: true}
  - sleep: 2
  - land:
"""


def write(folder, text, name="m.yaml"):
    (folder / name).write_text(text)
    return folder / name


def test_yaml(tmp_path):
    takeoff, goto, follow, circle, turn, low, sleep, land = read_mission(write(tmp_path, GOOD)).items
    assert takeoff == TakeOff(takeoff=5.0)
    assert goto == GoTo(goto=(1, 2, 3), yaw=0.5, speed=4)
    assert follow == Follow(follow=[(1, 2, 3), (4, 5, 6)], method="pursuit", yaw=(0, 0, 0))
    assert circle == Circle(circle=(0, 0, 5), radius=4, turns=2.5, clockwise=True)
    assert turn == Turn(turn=1.57, rate=0.5)
    assert low == GoTo(goto=(9, 9, 3), above_ground=True)
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
        ("{sleep: .inf}", "finite"),
        ("{circle: [1, 2, 3], radius: 0}", "must be greater than 0"),
        ("{turn: left}", "must be a number"),
        ("{goto: [1, 2, 3], speed: 130}", "must be at most 100"),
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


@pytest.mark.parametrize(
    "text",
    ["mission: []", "mision: [{takeoff: 1}]", "mission: 3", "- takeoff: 1", "mission: [", "mission: " + "[" * 200_000],
)
def test_bad_files(tmp_path, text):
    with pytest.raises(ScenarioError, match=r"m\.yaml"):
        read_mission(write(tmp_path, text))


def test_a_missing_file(tmp_path):
    for name in ("no.yaml", "no.plan"):
        with pytest.raises(ScenarioError, match=r"(?i)no such file"):
            read_mission(tmp_path / name)
