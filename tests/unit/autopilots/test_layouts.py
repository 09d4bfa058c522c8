"""Which output of ArduPilot drives which rotor, found by where the rotors are."""

from __future__ import annotations

import pytest

from airloom.autopilots.layouts import LAYOUTS, outputs_of_rotors
from airloom.scenario import load

FITTING = {
    "iris": ("quad_x", ["front_right", "back_left", "front_left", "back_right"]),
    "x500": ("quad_x", ["front_right", "back_left", "front_left", "back_right"]),
    "crazyflie2": ("quad_x", ["front_right", "back_left", "front_left", "back_right"]),
    "multirotor": ("quad_x", ["front_right", "back_left", "front_left", "back_right"]),
    "quad_plus": ("quad_plus", ["right", "left", "front", "back"]),
    "hexarotor": ("hexa_x", ["right", "left", "front_left", "back_right", "front_right", "back_left"]),
}


def rotors_of(tmp_path, vehicle):
    (tmp_path / "one.yaml").write_text(f"name: one\nvehicles: {{drone: {vehicle}}}")
    return load(tmp_path / "one.yaml").vehicles["drone"].rotors


@pytest.mark.parametrize("vehicle", FITTING)
def test_bundled_vehicles_have_their_frame(tmp_path, vehicle):
    rotors = rotors_of(tmp_path, vehicle)
    frame, order = FITTING[vehicle]
    for name, layout in LAYOUTS.items():
        found = outputs_of_rotors(layout, list(rotors.values()))
        if name == frame:
            assert sorted(rotors, key=dict(zip(rotors, found, strict=True)).get) == order
        else:
            assert found is None


def test_rotors_that_turn_the_other_way_do_not_fit(tmp_path):
    rotors = list(rotors_of(tmp_path, "iris").values())
    reverse = {"cw": "ccw", "ccw": "cw"}
    turned = [rotor.model_copy(update={"turns": reverse[rotor.turns]}) for rotor in rotors]
    assert outputs_of_rotors(LAYOUTS["quad_x"], turned) is None
