"""Every file that comes with Airloom loads, is described, and satisfies the published schema."""

from __future__ import annotations

from functools import cache

import jsonschema
import pytest
from tests.multirotors import HOVERING

from airloom.scenario import describe, json_schema, known, load, vehicle_schema
from airloom.scenario.document import read
from airloom.scenario.library import FOLDERS
from airloom.scenario.schema import file_schema
from airloom.scenario.tree import plain

FILES = [(category, name) for category in FOLDERS for name in known(category)]


@cache
def validator(category: str) -> jsonschema.Draft202012Validator:
    schema = file_schema(category)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("name", known("scenario"))
def test_scenarios_load(name):
    assert load(name).name == name


@pytest.mark.parametrize("name", known("vehicle"))
def test_vehicles_fly_in_a_scenario_and_can_hover(name, tmp_path):
    (tmp_path / "s.yaml").write_text(f"name: t\nworld: {{water: {{}}}}\nvehicles: {{v: {name}}}\n")
    vehicle = load(tmp_path / "s.yaml").vehicles["v"]
    if name not in HOVERING:
        return  # what has wings or floats need not: test_plane.py, test_vtol.py, test_airship.py, test_vessels.py
    thrust = sum(rotor.thrust_constant * rotor.max_speed**2 for rotor in vehicle.rotors.values())
    turning = sum(rotor.moment_constant * (1 if rotor.turns == "ccw" else -1) for rotor in vehicle.rotors.values())
    assert thrust > 1.3 * vehicle.mass * 9.81
    assert turning == pytest.approx(0)


@pytest.mark.parametrize("name", known("world"))
def test_worlds_load(name, tmp_path):
    (tmp_path / "s.yaml").write_text(f"name: t\nworld: {name}\nvehicles: {{v: multirotor}}\n")
    assert load(tmp_path / "s.yaml").world.description


@pytest.mark.parametrize("name", known("sensor"))
def test_sensors_load(name, tmp_path):
    (tmp_path / "s.yaml").write_text(f"name: t\nvehicles: {{v: {{extends: multirotor, sensors: {{x: {name}}}}}}}\n")
    assert load(tmp_path / "s.yaml").vehicles["v"].sensors["x"].kind


@pytest.mark.parametrize(("category", "name"), FILES)
def test_every_file_has_a_one_line_description(category, name):
    assert 10 < len(describe(known(category)[name])) < 100


@pytest.mark.parametrize(("category", "name"), FILES)
def test_every_file_satisfies_the_schema(category, name):
    validator(category).validate(plain(read(known(category)[name])))


@pytest.mark.parametrize(
    ("category", "definition"),
    [
        ("scenario", {"name": "t"}),
        ("scenario", {"name": "t", "vehicles": {"cf": "crazyflie2"}, "sead": 1}),
        ("scenario", {"name": "t", "vehicles": {"cf": {"extends": "crazyflie2", "mass": -1}}}),
        ("scenario", {"name": "t", "vehicles": {"cf": 3}}),
        ("vehicle", {"mass": 1}),
        ("vehicle", {"extends": "iris", "masss": 1}),
        ("vehicle", {"extends": "iris", "controller": {"kind": "cascade", "nonsense": 1}}),
        ("sensor", {"kind": "imu", "gyroscope": {"noize": 1}}),
    ],
)
def test_the_schema_refuses(category, definition):
    assert not validator(category).is_valid(definition)


@pytest.mark.parametrize(
    ("category", "definition"),
    [
        ("scenario", {"extends": "hover", "vehicles": {"cf": {"mass": 1}}}),
        ("scenario", {"name": "t", "vehicles": {"cf": "my.yaml"}, "engine": "batch", "world": {"terrain": "plane"}}),
        ("scenario", {"extends": "hover", "vehicles": {"cf": {"sensors": {"imu": None}, "controller": None}}}),
        ("vehicle", {"extends": "iris", "controller": {"kind": "my.py:Pilot", "anything": 1}}),
        ("vehicle", {"extends": "iris", "rotor": {"max_speed": 900}, "sensors": {"imu": {"rate": 100}}}),
    ],
)
def test_the_schema_accepts(category, definition):
    validator(category).validate(definition)


MISTAKES = {
    "scenario": [
        ({"vehicles": {"cf": {"extends": "crazyflie2", "mass": -1}}}, "vehicles.cf.mass"),
        ({"vehicles": {"cf": {"extends": "crazyflie2", "copies": {"count": "many"}}}}, "vehicles.cf.copies.count"),
        ({"vehicles": {"cf": {"sensors": {"imu": {"kind": "imu", "rate": "often"}}}}}, "vehicles.cf.sensors.imu.rate"),
        ({"systems": {"w": {"kind": "waypoints", "points": 3}}}, "systems.w.points"),
        ({"systems": {"w": {"kind": "waypoint"}}}, "systems.w.kind"),
        ({"world": {"terrain": {"kind": "plane", "height": "high"}}}, "world.terrain.height"),
        ({"world": {"wind": [1, 2, "a"]}}, "world.wind.2"),
        ({"engine": {"threads": 0}}, "engine.threads"),
        ({"members": {"m": {"rate": -1}}}, "members.m.rate"),
        ({"log": {"rate": "x"}}, "log.rate"),
    ],
    "vehicle": [
        ({"rotors": {"front": {"turns": "left"}}}, "rotors.front.turns"),
        ({"rotor": {"max_speed": 0}}, "rotor.max_speed"),
        ({"controller": {"kind": "cascade", "max_tilt": 9}}, "controller.max_tilt"),
    ],
    "world": [({"obstacles": {"wall": {"size": [1, 1, -1]}}}, "obstacles.wall.size.2")],
    "sensor": [({"kind": "imu", "rate": 0}, "rate")],
}


@pytest.mark.parametrize(
    ("category", "definition", "key"),
    [(category, *mistake) for category, mistakes in MISTAKES.items() for mistake in mistakes],
)
def test_a_mistake_is_marked_at_its_key(category, definition, key):
    """As an editor does: where the error is, not where the alternatives begin."""
    found = list(validator(category).iter_errors({"extends": "x", **definition}))
    assert {".".join(map(str, error.absolute_path)) for error in found} == {key}


@pytest.mark.parametrize("category", FOLDERS)
def test_nothing_has_to_be_given_but_null_may_be(category):
    keys = file_schema(category)["$defs"][f"{category}_inline"]["properties"]
    optional = keys.keys() - {"extends", "kind"}
    validator(category).validate({"extends": "x", **dict.fromkeys(optional)})


def test_the_two_schemas_for_editors():
    assert json_schema()["title"] == "Airloom scenario"
    assert vehicle_schema()["title"] == "Airloom vehicle"
