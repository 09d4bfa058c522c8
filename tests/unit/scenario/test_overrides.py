# ruff: noqa: E501 — the tables of cases read best with a case a line
from __future__ import annotations

import numpy as np
import pytest

from airloom.scenario import ScenarioError, parse_override

SCENARIO = """
    name: t
    vehicles:
      cf: {extends: crazyflie2, controller: {kind: "plugins.py:Pilot", gains: {kp: 2}}}
    systems:
      help: {kind: "plugins.py:Helper", bias: [1, 2]}
"""


@pytest.mark.parametrize(
    ("text", "override"),
    [
        ("seed=3", ("seed", 3)),
        ("vehicles.cf.mass=1e-2", ("vehicles.cf.mass", 0.01)),
        ("world.wind=[1,0,0]", ("world.wind", [1, 0, 0])),
        (
            "vehicles.cf.controller={kind: cascade, rate: 500}",
            ("vehicles.cf.controller", {"kind": "cascade", "rate": 500}),
        ),
        ("engine=batch", ("engine", "batch")),
        ("systems.help.enabled=true", ("systems.help.enabled", True)),
        ("vehicles.cf.sensors.imu=null", ("vehicles.cf.sensors.imu", None)),
        (" description = a=b ", ("description", "a=b")),
    ],
)
def test_parse(text, override):
    assert parse_override(text) == override


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seed", "no '='"),
        ("=3", "part of the key is empty"),
        ("a..b=3", "part of the key is empty"),
        ("seed=", "value is missing"),
        ("world.wind=[1,0", "not valid YAML"),
        ("world.wind={a: 1, a: 2}", "given twice"),
        ("seed=\0", "U\\+0000"),
        ("seed=!!int 3", "tag"),
    ],
)
def test_parse_errors_show_what_was_typed(text, words):
    with pytest.raises(ScenarioError, match=words) as caught:
        parse_override(text)
    assert str(caught.value).startswith(f"--set {text}: ")


def test_reaches_values_that_come_from_extended_files(loaded):
    scenario = loaded(SCENARIO, {"vehicles.cf.mass": 0.03, "vehicles.cf.rotors.front_left.radius": 0.05})
    assert scenario.vehicles["cf"].mass == 0.03
    assert scenario.vehicles["cf"].rotors["front_left"].radius == 0.05


def test_a_name_is_resolved_and_can_then_be_edited(loaded):
    overrides = {"vehicles.cf.controller": "crazys", "vehicles.cf.controller.xy_ki": 2}
    controller = loaded(SCENARIO, overrides).vehicles["cf"].controller
    assert controller.parameters["xy_ki"] == 2
    assert controller.parameters["xy_kp"] == 3.59


def test_a_plugin_path_is_relative_to_the_working_directory(loaded, tmp_path):
    controller = loaded(SCENARIO, {"vehicles.cf.controller": "plugins.py:Pilot"}).vehicles["cf"].controller
    assert controller.kind == f"{tmp_path}/plugins.py:Pilot"


def test_list_entries(loaded):
    assert loaded(SCENARIO, {"systems.help.bias.1": 5}).systems["help"].parameters["bias"] == [1, 5]


def test_keys_that_are_not_written_but_exist(loaded):
    overrides = {
        "engine.threads": 2,
        "world.wind.1": 3.0,
        "log.rate": 100,
        "systems.help.gains.kp": 4,
        "vehicles.cf.copies.count": 3,
    }
    scenario = loaded(SCENARIO, overrides)
    assert scenario.engine.threads == 2
    assert scenario.world.wind == (0, 3, 0)
    assert scenario.log.rate == 100
    assert scenario.systems["help"].parameters["gains"] == {"kp": 4}
    assert scenario.vehicles["cf"].copies.count == 3


def test_new_entries(loaded):
    scenario = loaded(SCENARIO, {"vehicles.two": "iris", "vehicles.cf.sensors.height": "lidar_lite"})
    assert scenario.vehicles["two"].mass == 1.52
    assert scenario.vehicles["cf"].sensors["height"].kind == "rangefinder"


def test_null_removes(loaded):
    scenario = loaded(SCENARIO, {"vehicles.cf.sensors.imu": None, "vehicles.cf.controller": None})
    assert "imu" not in scenario.vehicles["cf"].sensors
    assert scenario.vehicles["cf"].controller is None


def test_numpy_values(loaded):
    scenario = loaded(
        SCENARIO, {"world.wind": np.array([1, 2, 3]), "vehicles.cf.mass": np.float32(0.5), "seed": np.int64(3)}
    )
    assert (scenario.world.wind, scenario.vehicles["cf"].mass, scenario.seed) == ((1, 2, 3), 0.5, 3)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("vehicles.cf.mass", -1, "--set vehicles.cf.mass=-1: vehicles.cf.mass: must be greater than 0, got -1"),
        ("vehicles.cf.masss", 1, "--set vehicles.cf.masss=1: vehicles.cf.masss: unknown key; did you mean 'mass'?"),
        ("vehicles.cff.mass", 1, "--set vehicles.cff.mass=1: vehicles.cff: there is no such key to set 'mass' in; did you mean 'cf'?"),
        ("worlt.wind", [1, 0, 0], "--set worlt.wind=[1, 0, 0]: worlt: there is no such key to set 'wind' in; did you mean 'world'?"),
        ("vehicles.cf.controller.gain.kp", 1, "did you mean 'gains'?"),
        ("vehicles.cf.controller.gains.kq", 1, "vehicles.cf.controller.gains.kq: unknown key. Known keys: kd, kp"),
        ("vehicles.cf.controller.gains.kp", -1, "--set vehicles.cf.controller.gains.kp=-1: vehicles.cf.controller.gains.kp: must be greater than 0"),
        ("vehicles.cf.controller", "crazyz", "--set vehicles.cf.controller=crazyz: vehicles.cf.controller: no controller is called 'crazyz'; did you mean 'crazys'?"),
        ("vehicles.cf.controller", "nowhere.py:Pilot", "--set vehicles.cf.controller=nowhere.py:Pilot: vehicles.cf.controller.kind: plugin file"),
        ("vehicles.cf.inertia.zz", 1, "--set vehicles.cf.inertia.zz=1: vehicles.cf.inertia: no rigid body"),
        ("systems.help.bias.2", 1, "systems.help.bias.2: no such entry; the list has 2 entries"),
        ("systems.help.bias.x", 1, "systems.help.bias.x: no such entry"),
        ("systems.help.bias.0.y", 1, "systems.help.bias.0: is 1, which has no key 'y'"),
        ("seed.x", 1, "--set seed.x=1: seed: is 0, which has no key 'x'"),
        ("vehicles", None, "--set vehicles=null: vehicles: is missing"),
        ("step", 1 / 3000, "step: 0.0003333333333333333 s is not a whole number of nanoseconds"),
        ("seed", object(), "is of type object"),
        ("a..b", 1, "--set a..b=1: a part of the key is empty"),
    ],
)  # fmt: skip
def test_errors_name_the_override(loaded, key, value, message):
    with pytest.raises(ScenarioError) as caught:
        loaded(SCENARIO, {key: value})
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"--set {key}=")


def test_a_value_that_holds_itself(loaded):
    endless: list = []
    endless.append(endless)
    with pytest.raises(ScenarioError, match="nested deeper"):
        loaded(SCENARIO, {"seed": endless})
