"""Flocks that fly by radio alone: together, without those they lose, and the same wherever their logic runs."""

from __future__ import annotations

import json

import numpy as np
import pytest

import airloom as al
from airloom.runs.figures import plot
from airloom.runs.folder import RunFolder
from airloom.runs.recorded import RecordedRun
from airloom.scenario import ScenarioError, known, load

LAW = "{kind: vasarhelyi, r_rep: 10, p_rep: 0.3, v_rep: 4, r_frict: 30, c_frict: 0.2, p_frict: 1, a_frict: 2}"
SCENARIO = f"""
name: flocking
duration: 30
engine: batch
radio: {{}}
vehicles:
  bird:
    extends: multirotor
    pose: {{position: [0, 0, 0.05]}}
    copies: {{count: 6, spacing: 7}}
    sensors: {{imu: null, barometer: null, magnetometer: null}}
systems:
  flock:
    kind: flock
    v_flock: 3
    height: 8
    climb: 3
    law: {LAW}
    arena: {{radius: 50}}
"""


def made(folder, text=SCENARIO, name="flocking.yaml"):
    (folder / name).write_text(text)
    return folder / name


def order(sim):
    velocities = sim.group("*").velocities[:, :2]
    return float(np.linalg.norm((velocities / np.linalg.norm(velocities, axis=1)[:, None]).mean(axis=0)))


def test_they_rise_and_fly_alike_and_nobody_collides(tmp_path):
    folder = RunFolder.create(tmp_path / "run")
    sim = al.Simulation.load(made(tmp_path, SCENARIO + "    least_order: 0.7\n    most_collisions: 0\n"))
    run = RecordedRun(sim, folder)
    run.fly()
    assert run.outcome.status == "finished", run.outcome.reason
    positions = sim.group("*").positions
    assert np.abs(positions[:, 2] - 8).max() < 1.5
    assert np.abs(positions[:, :2]).max() < 50
    assert order(sim) > 0.8
    (finding,) = sim.verdict.findings
    assert finding.source == "flock"
    assert "collisions 0" in finding.text
    seen = json.loads(folder.summary.read_text())["swarm"]["flock"]
    assert seen["mean"]["order"] > 0.7
    assert seen["mean"]["largest"] > 5.5
    assert "swarm-flock.png" in {path.name for path in plot(folder)}


def test_any_swarm_with_radio_is_in_the_summary(tmp_path):
    text = SCENARIO[: SCENARIO.index("systems:")] + "systems: {up: {kind: wave, start: 0, rise: 1, height: 3}}\n"
    folder = RunFolder.create(tmp_path / "run")
    RecordedRun(
        al.Simulation.load(made(tmp_path, text.replace("duration: 30", "duration: 6"))), folder, log=False
    ).fly()
    seen = json.loads(folder.summary.read_text())["swarm"]["swarm"]
    assert seen["mean"]["largest"] == 6
    assert seen["nearest"] == pytest.approx(7.0, abs=0.6)


def test_positions_come_from_the_sensor_and_not_from_the_truth(tmp_path):
    """A receiver that is 20 m off makes its vehicle keep off others where they are not."""
    text = (
        SCENARIO
        + "  off: {kind: sensor_fault, vehicle: bird_0, sensor: gnss, fault: offset, offset: [0, 0, -4], at: 9}\n"
    )
    sim = al.Simulation.load(made(tmp_path, text))
    sim.run(until=20)
    heights = sim.group("*").positions[:, 2]
    assert heights[0] == pytest.approx(12.0, abs=1.0)
    assert heights[1:] == pytest.approx(8.0, abs=1.0)


def test_the_others_fly_on_without_those_that_fall(tmp_path):
    text = SCENARIO + "  dies: {kind: rotor_fault, vehicle: bird_1, rotor: back_left, at: 12}\n"
    sim = al.Simulation.load(made(tmp_path, text))
    sim.run(until=14)
    sim.vehicles["bird_4"].kill()
    sim.run(until=20)
    fallen = [sim.vehicles["bird_1"], sim.vehicles["bird_4"]]
    others = [sim.vehicles[f"bird_{k}"] for k in (0, 2, 3, 5)]
    assert all(vehicle.position[2] < 1 and not vehicle.armed for vehicle in fallen)
    assert all(abs(vehicle.position[2] - 8) < 1.5 and np.linalg.norm(vehicle.velocity) > 1 for vehicle in others)
    said = [sim.radio[vehicle.name].sent for vehicle in fallen]
    sim.run(until=22)
    assert [sim.radio[vehicle.name].sent for vehicle in fallen] == said


def test_they_go_their_way(tmp_path):
    text = SCENARIO + "    way: [[35, 0], [35, 35]]\n    near: 8\n    again: false\n"
    sim = al.Simulation.load(made(tmp_path, text))
    sim.run(until=40)
    assert np.linalg.norm(sim.group("*").positions[:, :2].mean(axis=0) - (35, 35)) < 8
    assert np.linalg.norm(sim.group("*").velocities, axis=1).mean() < 1.5


def test_the_same_again_after_a_reset_and_by_any_chunks(tmp_path):
    sim = al.Simulation.load(made(tmp_path))
    sim.run(until=9)
    first = sim.state_hash()
    sim.reset()
    while sim.time < 9:
        sim.step(7 if sim.tick < 8990 else 1)
    assert sim.state_hash() == first


def test_the_same_bits_in_the_process_and_in_one_process_each(tmp_path):
    text = SCENARIO.replace("count: 6", "count: 3")
    sim = al.Simulation.load(made(tmp_path, text))
    sim.run(until=8)
    inside = sim.state_hash(), sim.radio.summary()
    program = known("scenario")["flock"].with_suffix("") / "fly.py"
    text = text.replace("kind: flock\n", "kind: flock\n    enabled: false\n") + "members:\n"
    for k in range(3):
        command = f"[python, {program}, flocking.yaml]"
        text += f"  bird_{k}: {{command: {command}, vehicles: bird_{k}, sensors: gnss, rate: 20}}\n"
    with al.Simulation(load(made(tmp_path, text))) as sim:
        sim.member_logs = tmp_path
        sim.run(until=8)
        assert (sim.state_hash(), sim.radio.summary()) == inside
    assert max(node["heard"] for node in inside[1]["nodes"].values()) > 50


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("radio: {}", "", "a flock talks by radio.*radio: {}"),
        ("radio: {}", "radio: {vehicles: bird_0}", "bird_1.* has no radio: see radio.vehicles"),
        ("v_flock: 3", "v_flock: 30", "v_max .8 m/s. must not be less than v_flock"),
        ("v_flock: 3", "sensor: gns", "no GNSS or odometry sensor is called 'gns'.*gnss"),
        ("kind: vasarhelyi, r_rep", "kind: vasarhelyi, r_repp", "r_repp"),
        ("radius: 50", "radius: -1", "arena.radius.*greater than 0"),
    ],
)
def test_what_no_flock_can_be_is_told(tmp_path, old, new, words):
    with pytest.raises(ScenarioError, match=words):
        al.Simulation.load(made(tmp_path, SCENARIO.replace(old, new)))
