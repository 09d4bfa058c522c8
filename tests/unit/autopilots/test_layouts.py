"""Which output of ArduPilot drives which rotor, found by where the rotors are."""

from __future__ import annotations

from math import cos, radians, sin

import pytest

from airloom.autopilots.layouts import LAYOUTS, outputs_of_rotors
from airloom.scenario import load
from airloom.scenario.models import Rotor

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


def rotors_like(layout, turned=0.0):
    """Where ArduPilot wants them, or a little beside."""
    angles = [(radians(-bearing + turned), turns) for bearing, turns in layout.outputs]
    return [Rotor(position=(0.3 * cos(angle), 0.3 * sin(angle), 0.0), turns=turns, **ROTOR) for angle, turns in angles]


ROTOR = {"thrust_constant": 1e-5, "moment_constant": 0.016, "max_speed": 800, "time_constant_up": 0.01,
         "time_constant_down": 0.01}  # fmt: skip


@pytest.mark.parametrize("frame", LAYOUTS)
@pytest.mark.parametrize("turned", [-10.0, 0.0, 10.0])
def test_every_frame_is_known_by_its_rotors_and_taken_for_no_other(frame, turned):
    rotors = rotors_like(LAYOUTS[frame], turned)
    found = {name: outputs for name, layout in LAYOUTS.items() if (outputs := outputs_of_rotors(layout, rotors))}
    assert found == {frame: list(range(1, len(rotors) + 1))}
