# ruff: noqa: E501 — the tables of surfaces and cases read best with one a line
"""Aeroplanes without the usual three controls: elevons, a V-tail, flaps; by the file's mixer or by what is learned."""

from __future__ import annotations

import numpy as np
import pytest

import airloom as al

HEAD = """
name: mixed
engine: batch
vehicles:
  plane:
    mass: 1.6
    inertia: {xx: 0.08, yy: 0.06, zz: 0.13}
    body: {size: [0.9, 1.6, 0.2]}
    rotors:
      propeller: {position: [0.3, 0, 0], axis: [1, 0, 0], turns: ccw, thrust_constant: 1.6e-5, moment_constant: 0.018,
                  advance: {diameter: 0.3, thrust: [-0.9], torque: [-0.5], last: 0.9}, max_speed: 1000}
    sensors: {odometry: {kind: odometry}, airspeed: {kind: airspeed, rate: 50}}
    controller: {kind: plane, cruise_speed: 15}
    pose: {position: [0, 0, 60]}
    motion: {velocity: [15, 0, 0]}
"""
COMMON = "lift: 4.5, lift_stalled: -2.0, drag_0: 0.02, drag: 0.1, stall: 0.3"
FIN = "      fin: {position: [%g, 0, 0.1], up: [0, 1, 0], area: 0.04, lift: 3.0, drag_0: 0.02, servo: %s, lift_by_servo: 1.5}\n"
ELEVONS = f"""    center_of_mass: [0.03, 0, 0]
    servos: {{left: {{}}, right: {{}}, rudder: {{}}}}
    surfaces:
      left_root: {{position: [0.1, 0.2, 0], area: 0.08, alpha_0: 0.06, {COMMON}}}
      right_root: {{position: [0.1, -0.2, 0], area: 0.08, alpha_0: 0.06, {COMMON}}}
      left_wing: {{position: [-0.12, 0.55, 0], area: 0.08, alpha_0: 0.04, {COMMON}, servo: left, lift_by_servo: 1.5}}
      right_wing: {{position: [-0.12, -0.55, 0], area: 0.08, alpha_0: 0.04, {COMMON}, servo: right, lift_by_servo: 1.5}}
{FIN % (-0.4, "rudder")}"""
V_TAIL = f"""    servos: {{left_aileron: {{}}, right_aileron: {{}}, left_tail: {{}}, right_tail: {{}}, flaps: {{lowest: 0, highest: 0.6}}}}
    surfaces:
      left_wing: {{position: [-0.02, 0.4, 0], area: 0.16, alpha_0: 0.06, {COMMON}, servo: left_aileron, lift_by_servo: 0.8}}
      right_wing: {{position: [-0.02, -0.4, 0], area: 0.16, alpha_0: 0.06, {COMMON}, servo: right_aileron, lift_by_servo: 0.8}}
      inner_wing: {{position: [-0.02, 0, 0], area: 0.08, alpha_0: 0.06, {COMMON}, servo: flaps, lift_by_servo: 1.0}}
      left_tail: {{position: [-0.7, 0.1, 0.05], up: [0, -0.6, 0.8], area: 0.05, {COMMON}, servo: left_tail, lift_by_servo: 1.8}}
      right_tail: {{position: [-0.7, -0.1, 0.05], up: [0, 0.6, 0.8], area: 0.05, {COMMON}, servo: right_tail, lift_by_servo: 1.8}}
"""
MIXERS = {
    "elevons": "    mixer: {roll: {left: 1, right: -1}, pitch: {left: 1, right: 1}, yaw: {rudder: 1}}\n",
    "v_tail": """    mixer:
      roll: {left_aileron: 1, right_aileron: -1}
      pitch: {left_tail: 1, right_tail: 1}
      yaw: {left_tail: 1, right_tail: -1}
""",
}
AIRFRAMES = {"elevons": ELEVONS, "v_tail": V_TAIL}


def loaded(tmp_path, airframe, mixer=""):
    file = tmp_path / "mixed.yaml"
    file.write_text(HEAD + airframe + mixer)
    return al.Simulation.load(file)


@pytest.mark.parametrize("by_file", [False, True])
@pytest.mark.parametrize("name", AIRFRAMES)
def test_it_circles_where_it_is_told(tmp_path, name, by_file):
    sim = loaded(tmp_path, AIRFRAMES[name], MIXERS[name] if by_file else "")
    plane = sim.vehicles["plane"]
    plane.command(al.PositionYaw([80, 0, 65]))
    sim.run(until=45)
    far, height = [], []
    for _ in range(10):
        sim.run(until=sim.time + 1)
        far.append(np.hypot(*(plane.position[:2] - [80, 0])))
        height.append(plane.position[2])
    assert np.ptp(far) < 2
    assert np.mean(far) < 60
    assert np.abs(np.array(height) - 65).max() < 0.5


PLAIN = """
name: mixed
engine: batch
vehicles: {plane: {extends: plane, pose: {position: [0, 0, 60]}, motion: {velocity: [14, 0, 0]}}}
"""
GUSTS = """
world: {weather: {layers: {mean: {kind: constant, velocity: [-3, 2, 0]}, eddies: {kind: dryden, wind_at_20_feet: 6}}}}
systems: {m: {kind: mission, items: [{goto: [250, 0, 60]}, {goto: [250, 200, 60]}, {goto: [0, 200, 60]}, {goto: [0, 0, 60]}]}}
"""


@pytest.mark.parametrize("text", [PLAIN, HEAD + ELEVONS, HEAD + V_TAIL], ids=["plain", "elevons", "v_tail"])
def test_a_circuit_in_gusts_is_flown_within_two_metres_of_its_height(tmp_path, text):
    file = tmp_path / "mixed.yaml"
    file.write_text(text + GUSTS)
    sim = al.Simulation.load(file)
    plane, heights = sim.vehicles["plane"], []
    while not sim.verdict.findings and sim.time < 120:
        sim.run(until=sim.time + 0.2)
        heights.append(plane.position[2])
    assert [finding.text.partition(";")[0] for finding in sim.verdict.findings] == ["m is done"]
    assert np.abs(np.array(heights) - 60).max() < 2.0


def test_a_servo_that_the_mixer_does_not_name_is_left_to_whoever_commands_it(tmp_path):
    sim = loaded(tmp_path, V_TAIL, MIXERS["v_tail"])
    plane = sim.vehicles["plane"]
    plane.command(al.PositionYaw([80, 0, 65]))
    sim.run(until=30)
    nose = plane.euler[1]
    plane.servos.command(flaps=1.0)
    sim.run(until=50)
    assert plane.servos["flaps"] == pytest.approx(0.6)
    assert abs(plane.position[2] - 65) < 1.5
    assert plane.euler[1] > nose + 0.02  # y points to the left: with flaps it flies with its nose lower


@pytest.mark.parametrize(
    ("airframe", "mixer", "told"),
    [
        (ELEVONS, "    mixer: {roll: {lfet: 1}}\n", "mixer.roll: there is no servo 'lfet' under servos; did you mean 'left'?"),
        (ELEVONS, "    mixer: {rol: {left: 1}}\n", "mixer.rol: unknown key; did you mean 'roll'?"),
        (ELEVONS, "    mixer: {pitch: {left: 1, right: 1}}\n", "servos that roll it and pitch it"),
        (ELEVONS.replace("servo: left,", "servo: lfet,"), "", "surfaces.left_wing: there is no servo 'lfet'"),
        (ELEVONS.replace("area: 0.04", "area: 0"), "", "surfaces.fin.area: must be greater than 0, got 0"),
        (ELEVONS.replace("up: [0, 1, 0]", "up: [2, 0, 0]"), "", "forward (1.0, 0.0, 0.0) and up (2.0, 0.0, 0.0) must be two directions"),
        (ELEVONS.replace("stall: 0.3", "stall: 0.03"), "", "surfaces.left_wing: it stalls at 0.03 rad before its lift is zero"),
        (ELEVONS.replace("rudder: {}", "rudder: {lowest: 0, highest: 0}"), "", "servos.rudder: it does not move"),
        (ELEVONS.replace("rudder: {}", "rudder: {rate: 0}"), "", "servos.rudder.rate: must be greater than 0, got 0"),
        (ELEVONS.replace("lift: 3.0", "polar: gone.csv"), "", "surfaces.fin.polar: there is no file 'gone.csv'"),
    ],
)  # fmt: skip
def test_whatever_is_wrong_is_one_sentence_with_file_and_key(tmp_path, airframe, mixer, told):
    with pytest.raises(al.ScenarioError) as caught:
        loaded(tmp_path, airframe, mixer)
    assert told in str(caught.value)
    assert "mixed" in str(caught.value)
