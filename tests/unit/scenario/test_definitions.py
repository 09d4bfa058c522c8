from __future__ import annotations

import pytest

from airloom.scenario import ScenarioError, known, load

CF = "name: t\nvehicles:\n  cf: crazyflie2\n"


def test_a_bundled_name_and_its_path_give_the_same():
    assert load("hover") == load(known("scenario")["hover"]) == load(str(known("scenario")["hover"]))


def test_a_vehicle_by_name(loaded):
    assert loaded(CF).vehicles["cf"].mass == 0.027


def test_a_vehicle_by_path_relative_to_its_file(write):
    write("fleet/mine.yaml", "extends: crazyflie2\nmass: 0.03\n")
    file = write("fleet/scenario.yaml", "name: t\nvehicles:\n  cf: mine.yaml\n")
    assert load(file).vehicles["cf"].mass == 0.03
    assert load("fleet/scenario.yaml") == load(file)


def test_mappings_merge_lists_replace_null_removes(loaded):
    vehicle = loaded("""
        name: t
        vehicles:
          cf:
            extends: crazyflie2
            pose: {yaw: 1}
            body: {position: [0, 0, 0.01]}
            sensors: {imu: null}
    """).vehicles["cf"]
    assert vehicle.pose.yaw == 1
    assert vehicle.body.size == (0.09, 0.09, 0.03)
    assert vehicle.body.position == (0, 0, 0.01)
    assert list(vehicle.sensors) == ["odometry"]


def test_extends_may_be_several_long(write):
    write("a.yaml", "extends: crazyflie2\nmass: 1\ndrag: 1\n")
    write("b.yaml", "extends: a.yaml\nmass: 2\n")
    vehicle = load(write("s.yaml", "name: t\nvehicles:\n  cf: {extends: b.yaml, pose: {yaw: 3}}\n")).vehicles["cf"]
    assert (vehicle.mass, vehicle.drag, vehicle.pose.yaw) == (2, 1, 3)


def test_a_scenario_extends_a_scenario(write):
    write("base.yaml", CF + "  other: iris\nduration: 7\n")
    scenario = load(write("s.yaml", "extends: base.yaml\nname: u\nvehicles:\n  other: null\n  cf: {mass: 1}\n"))
    assert (scenario.name, scenario.duration, list(scenario.vehicles)) == ("u", 7, ["cf"])
    assert scenario.vehicles["cf"].mass == 1


def test_a_shared_definition_is_not_changed_by_who_extends_it(loaded):
    vehicles = loaded(CF + "  heavy: {extends: crazyflie2, mass: 1, rotor: {max_speed: 9}}\n").vehicles
    assert vehicles["cf"].mass == 0.027
    assert vehicles["cf"].rotors["front_left"].max_speed == 2892


def test_a_plugin_by_name_or_by_definition(loaded):
    vehicle = loaded(CF.replace("crazyflie2", "{extends: crazyflie2, estimator: complementary, controller: crazys}"))
    assert vehicle.vehicles["cf"].estimator.kind == "complementary"
    assert vehicle.vehicles["cf"].controller.kind == "crazyflie"
    assert vehicle.vehicles["cf"].controller.parameters["xy_ki"] == 5.73


def test_another_kind_starts_afresh(loaded):
    vehicle = loaded(CF.replace("crazyflie2", "{extends: crazyflie2, controller: {kind: cascade}}")).vehicles["cf"]
    assert vehicle.controller.parameters == {}


def test_own_extends_replaces_what_lies_below(loaded):
    text = "{extends: crazyflie2, sensors: {odometry: {extends: mocap, delay: 0.02}}}"
    sensor = loaded(CF.replace("crazyflie2", text)).vehicles["cf"].sensors["odometry"]
    assert (sensor.rate, sensor.parameters["delay"]) == (100, 0.02)


def test_no_controller(loaded):
    assert loaded(CF.replace("crazyflie2", "{extends: crazyflie2, controller: null}")).vehicles["cf"].controller is None


def test_kinds_by_a_single_word(loaded):
    scenario = loaded(CF + "engine: batch\nworld: {terrain: plane}\n")
    assert scenario.engine.kind == "batch"
    assert scenario.world.terrain.kind == "plane"


def test_a_plugin_by_path_is_relative_to_the_file_it_stands_in(write, tmp_path):
    write("parts/pilot.yaml", "kind: ../plugins.py:Pilot\ngains: {kp: 2}\n")
    scenario = load(write("s.yaml", CF.replace("crazyflie2", "{extends: crazyflie2, controller: parts/pilot.yaml}")))
    assert scenario.vehicles["cf"].controller.kind == f"{tmp_path}/plugins.py:Pilot"


def test_a_plugin_by_path_needs_no_mapping(loaded, tmp_path):
    scenario = loaded(CF + "systems:\n  help: plugins.py:Helper\n")
    assert scenario.systems["help"].kind == f"{tmp_path}/plugins.py:Helper"


def test_a_height_file_becomes_absolute(write, tmp_path):
    write("ground/heights.csv", "0,0\n0,0\n")
    write("ground/world.yaml", "terrain: {kind: heightfield, size: [1, 1], file: heights.csv}\n")
    scenario = load(write("s.yaml", CF + "world: ground/world.yaml\n"))
    assert scenario.world.terrain.file == str(tmp_path / "ground/heights.csv")


def test_a_loop_is_shown(write):
    write("a.yaml", "extends: b.yaml\n")
    write("b.yaml", "mass: 1\nextends: a.yaml\n")
    with pytest.raises(ScenarioError, match=r"b\.yaml, line 2: vehicles\.cf: .*loop: a → b → a"):
        load(write("s.yaml", "name: t\nvehicles:\n  cf: a.yaml\n"))


def test_a_file_that_extends_itself(write):
    with pytest.raises(ScenarioError, match=r"s\.yaml, line 1: .*loop: s → s"):
        load(write("s.yaml", "extends: ./s.yaml\n"))


def test_an_endless_chain_ends(write):
    for i in range(40):
        write(f"v{i}.yaml", f"extends: v{i + 1}.yaml\n")
    with pytest.raises(ScenarioError, match="more than 16 definitions"):
        load(write("s.yaml", "name: t\nvehicles:\n  cf: v0.yaml\n"))


def test_symbolic_links_in_a_circle_end(write, tmp_path):
    (tmp_path / "here").symlink_to(tmp_path)
    write("v.yaml", "extends: here/v.yaml\n")
    with pytest.raises(ScenarioError, match="more than 16 definitions"):
        load(write("s.yaml", "name: t\nvehicles:\n  cf: v.yaml\n"))


def test_a_file_that_is_not_there_is_told_once(loaded):
    """Its key is not told to be missing, too, beside other mistakes."""
    with pytest.raises(ScenarioError) as caught:
        loaded("""
            name: t
            vehicles: {cf: {extends: crazyflie2, mass: -1}}
            world: {objects: {house: {kind: mesh, file: nowhere.stl, position: [3, 0]}}}
            systems: {fly: {kind: mission, vehicle: cf, file: nowhere.yaml}}
        """)
    lines = [line.partition("line ")[2].partition(": ")[2] for line in str(caught.value).splitlines()]
    assert sorted(line.partition(": ")[0] for line in lines) == [
        "systems.fly.file", "vehicles.cf.mass", "world.objects.house.file",
    ]  # fmt: skip
