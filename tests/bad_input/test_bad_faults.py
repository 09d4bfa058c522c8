# ruff: noqa: E501 — the tables of cases read best with a case a line
"""Faults in a scenario that cannot be: the user reads where, what is wrong, and what there is."""

from __future__ import annotations

import pytest

from airloom.scenario import ScenarioError, load

HEAD = """name: t
vehicles:
  drone: {extends: multirotor, copies: {count: 3}}
  cf: crazyflie2
systems:
"""
SENSOR = {
    "vehicle: dron, sensor: gnss, fault: outage, at: 1": "systems.bad.vehicle: no vehicle matches 'dron'; did you mean 'drone_*'? Vehicles: cf, drone_*",
    "vehicle: drone, sensor: gnss, fault: outage, at: 1": "systems.bad.vehicle: no vehicle matches 'drone'; did you mean 'drone_*'? Vehicles: cf, drone_*",
    "vehicle: drone_9, sensor: gnss, fault: outage, at: 1": "systems.bad.vehicle: no vehicle matches 'drone_9'",
    "sensor: gns, fault: outage, at: 1": "systems.bad.sensor: no sensor is called 'gns'; did you mean 'gnss'? Sensors: barometer, gnss, ",
    "vehicle: cf, sensor: gnss, fault: outage, at: 1": "systems.bad.sensor: no sensor is called 'gnss'. Sensors: imu, odometry",
    "sensor: gnss, fault: jam, at: 1": "systems.bad.fault: must be 'outage', 'frozen', 'offset' or 'noise', got 'jam'",
    "sensor: gnss, fault: outage": "systems.bad.at: is missing",
    "sensor: gnss, fault: outage, at: -1": "systems.bad.at: must be at least 0, got -1",
    "sensor: gnss, fault: outage, at: 1, duration: 0": "systems.bad.duration: must be greater than 0, got 0",
    "sensor: gnss, fault: offset, at: 1": "systems.bad: the fault offset needs offset",
    "sensor: gnss, fault: outage, offset: 3, at: 1": "systems.bad: only the fault offset has offset; this one is outage",
    "sensor: gnss, fault: outage, ramp: 3, at: 1": "systems.bad: only the faults offset and noise have ramp and quantity; this one is outage",
    "sensor: gnss, fault: noise, noise: [1, -1, 1], at: 1": "systems.bad: noise must not be negative",
    "sensor: gnss, fault: noise, noise: [], at: 1": "systems.bad.noise: must be one number or a list of 3, the axes of position_errors, got 0",
    "vehicle: drone*, sensor: gnss, fault: offset, offset: [1, 2], at: 1": "systems.bad.offset: must be one number or a list of 3, the axes of position_errors, got 2",
    "sensor: imu, fault: offset, offset: 1, quantity: accelerometr, at: 1": "systems.bad.quantity: 'imu' has no 'accelerometr'; did you mean 'accelerometer'? It has: accelerometer, gyroscope",
}
ROTOR = {
    "vehicle: drone_1, rotor: front_rigth, at: 1": "systems.bad.rotor: no rotor is called 'front_rigth'; did you mean 'front_right'? Rotors: back_left, back_right, ",
    "rotor: front_right, share: 1.5, at: 1": "systems.bad.share: must be at most 1, got 1.5",
    "rotor: 2, at: 1": "systems.bad.rotor: must be text, got 2",
}
CASES = [(f"{{kind: sensor_fault, {text}}}", expected) for text, expected in SENSOR.items()]
CASES += [(f"{{kind: rotor_fault, {text}}}", expected) for text, expected in ROTOR.items()]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[text for text, _ in CASES])
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, expected):
    file = tmp_path / "bad.yaml"
    file.write_text(f"{HEAD}  bad: {text}\n")
    with pytest.raises(ScenarioError) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}, line 6: {expected}")


def test_a_fault_that_is_not_enabled_may_name_what_is_not_there(tmp_path):
    file = tmp_path / "fine.yaml"
    file.write_text(f"{HEAD}  idle: {{kind: rotor_fault, vehicle: gone, rotor: none, at: 1, enabled: false}}\n")
    assert load(file).systems["idle"].enabled is False


def test_what_an_autopilot_makes_itself_fails_by_the_name_of_its_kind(tmp_path):
    file = tmp_path / "piloted.yaml"
    text = "name: t\nvehicles:\n  d: {extends: iris, autopilot: {kind: ardupilot}, sensors: {gnss: null}}\nsystems:\n"
    file.write_text(text + "  jam: {kind: sensor_fault, sensor: gnss, fault: outage, at: 1}\n")
    assert "gnss" not in load(file).vehicles["d"].sensors
    file.write_text(
        text.replace("autopilot: {kind: ardupilot}, ", "")
        + "  jam: {kind: sensor_fault, sensor: gnss, fault: outage, at: 1}\n"
    )
    with pytest.raises(ScenarioError, match="no sensor is called 'gnss'"):
        load(file)
