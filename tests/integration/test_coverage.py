"""Areas that are covered by radio alone: all of it, without those who are lost, and the same wherever logic runs."""

from __future__ import annotations

import json

import numpy as np
import pytest

import airloom as al
from airloom.runs.figures import plot
from airloom.runs.folder import RunFolder
from airloom.runs.recorded import RecordedRun
from airloom.scenario import ScenarioError, known, load

SCENARIO = """
name: covering
duration: 40
engine: batch
world:
  obstacles:
    house: {shape: box, size: [12, 10, 20], position: [0, 4, 10]}
vehicles:
  bird:
    extends: multirotor
    pose: {position: [-20, -24, 0.05]}
    copies: {count: 4, columns: 4, spacing: 6}
    sensors: {imu: null, barometer: null, magnetometer: null}
radio:
  stations: {base: {position: [-30, -25, 3]}}
systems:
  coverage:
    kind: coverage
    law: {kind: lloyd}
    area: {size: [60, 50], cell: 2}
    radius: 22
    height: 8
    climb: 4
    clearance: 3
    apart: 4
    base: base
"""
FRONTIER = SCENARIO.replace("kind: lloyd", "kind: frontier").replace("radius: 22", "radius: 9")
FRONTIER += "    targets: {hiker: [25, 20]}\n    least_covered: 0.9\n    most_collisions: 0\n"


def made(folder, text=SCENARIO, name="covering.yaml"):
    (folder / name).write_text(text)
    return folder / name


def flown(folder, text):
    run = RecordedRun(al.Simulation.load(made(folder, text)), RunFolder.create(folder / "run"), log=False)
    run.fly()
    return run, json.loads(run.folder.summary.read_text())


def goals(sim):
    return sim.systems["coverage"]._logic._goals


def test_four_share_an_area_and_those_left_take_over_from_those_who_fall_or_sleep(tmp_path):
    text = SCENARIO + "    endurance: {bird_3: 24}\n    least_covered: 0.8\n"
    text += "  dies: {kind: rotor_fault, vehicle: bird_0, rotor: back_left, at: 18}\n"
    sim = al.Simulation.load(made(tmp_path, text))
    sim.run(until=17)
    four = sim.group("*").positions
    assert np.linalg.norm(four[:, None] - four, axis=2)[np.triu_indices(4, 1)].min() > 15
    assert np.abs(four[:, 2] - 8).max() < 1.5
    sim.run(until=40)
    dead, left, asleep = sim.vehicles["bird_0"], sim.group("bird_[12]").positions, sim.vehicles["bird_3"]
    assert dead.position[2] < 1
    assert not dead.armed
    assert asleep.position[2] < 0.5
    assert not asleep.armed
    assert np.abs(asleep.velocity).max() < 0.1
    assert np.ptp(left[:, 0]) > 20  # each has half of what four had a quarter of


def test_frontiers_lead_everywhere_and_the_base_hears_what_was_found(tmp_path):
    run, summary = flown(tmp_path, FRONTIER)
    seen = summary["swarm"]["coverage"]
    assert run.outcome.status == "finished", run.outcome.reason
    assert seen["seen"] > 0.9
    assert seen["covered_at"]["0.5"] < seen["covered_at"]["0.9"] < 40
    texts = [finding.text for finding in run.sim.verdict.findings]
    assert any("the base knows of hiker at (25, 20): found by bird_" in text for text in texts)
    (found,) = summary["systems"]["coverage"]["found"]
    assert found["known_at"] >= found["found_at"] > 8
    series = json.loads((run.folder.path / "swarm.json").read_text())["coverage"]["series"]
    assert (np.diff(series["seen"]) >= 0).all()


def test_a_base_that_knows_nothing_and_an_area_that_is_not_covered_fail_the_run(tmp_path):
    run, _ = flown(tmp_path, FRONTIER.replace("duration: 40", "duration: 9"))
    assert not run.sim.verdict.is_good
    texts = [finding.text for finding in run.sim.verdict.findings if not finding.good]
    assert any("base knows nothing of hiker" in text for text in texts)
    assert any("90.0% are wanted" in text for text in texts)


def test_who_loses_the_base_goes_home_and_others_take_its_place_until_it_is_back(tmp_path):
    """A radio of 12 m: out there nobody hears of the base; all are sent home, where they do."""
    text = SCENARIO.replace("radio:\n", "radio:\n  power: -3\n") + "    patience: 6\n"
    sim = al.Simulation.load(made(tmp_path, text))
    sim.run(until=12)
    logic, homes = sim.systems["coverage"]._logic, sim.systems["coverage"]._logic._homes
    was_returning = np.zeros(4, bool)
    went_back = np.zeros(4, bool)
    for _ in range(40):
        sim.run(until=sim.time + 1)
        returning = logic._duty == 1
        went_back |= was_returning & ~returning
        was_returning |= returning
        assert (np.linalg.norm(goals(sim) - homes, axis=1)[returning] < 3).all()
    assert was_returning.any()
    assert (went_back == was_returning).any()


def test_nobody_flies_through_a_house(tmp_path):
    sim = al.Simulation.load(made(tmp_path))
    while sim.time < 25:
        sim.run(until=sim.time + 0.2)
        x, y, _ = sim.group("*").positions.T
        assert not ((np.abs(x) < 6) & (np.abs(y - 4) < 5)).any()


def test_the_same_again_after_a_reset_and_by_any_chunks(tmp_path):
    sim = al.Simulation.load(made(tmp_path, FRONTIER))
    sim.run(until=10)
    first = sim.state_hash(), sim.radio.summary()
    sim.reset()
    while sim.time < 10:
        sim.step(7 if sim.tick < 9990 else 1)
    assert (sim.state_hash(), sim.radio.summary()) == first


def test_the_same_bits_in_the_process_and_in_one_process_each(tmp_path):
    text = FRONTIER.replace("count: 4", "count: 2")
    sim = al.Simulation.load(made(tmp_path, text))
    sim.run(until=11)
    inside = sim.state_hash(), sim.radio.summary()
    program = known("scenario")["coverage"].with_suffix("") / "fly.py"
    text = text.replace("kind: coverage\n", "kind: coverage\n    enabled: false\n") + "members:\n"
    command = f"[python, {program}, covering.yaml]"
    text += f"  base: {{command: {command}, vehicles: nobody, stations: base, rate: 20}}\n"
    for k in range(2):
        text += f"  bird_{k}: {{command: {command}, vehicles: bird_{k}, sensors: gnss, rate: 20}}\n"
    with al.Simulation(load(made(tmp_path, text))) as sim:
        sim.member_logs = tmp_path
        sim.run(until=11)
        assert (sim.state_hash(), sim.radio.summary()) == inside
    assert min(node["heard"] for node in inside[1]["nodes"].values()) > 50


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("base: base", "base: bas", "no station is called 'bas'.*base"),
        ("    base: base\n", "    targets: {hiker: [1, 2]}\n", "name the base, a station of radio.stations"),
        ("base: base", "base: base\n    targets: {hiker: [99, 2]}", "targets.hiker.*outside the area"),
        ("base: base", "base: base\n    targets: {hiker: [0, 4]}", "targets.hiker.*inside an obstacle"),
        ("cell: 2", "cell: 0.1", "600 × 500 cells|500 × 600 cells are more than"),
        ("clearance: 3", "clearance: 50", "leave nothing of it to fly in"),
        ("kind: lloyd", "kind: loyd", "loyd"),
        ("size: [60, 50], ", "", "size"),
    ],
)
def test_what_no_coverage_can_be_is_told(tmp_path, old, new, words):
    with pytest.raises(ScenarioError, match=words):
        al.Simulation.load(made(tmp_path, SCENARIO.replace(old, new)))


FORMATION = """
name: forming
duration: 32
engine: batch
radio: {channel: {fading: {kind: nakagami, m: [0.75, 0.75, 0.75]}}, power: %s}
vehicles:
  bird:
    extends: multirotor
    pose: {position: [0, 0, 0.05]}
    copies: {count: 5, columns: 5, spacing: 6}
    sensors: {imu: null, barometer: null, magnetometer: null}
systems:
  formation:
    kind: formation
    height: 8
    climb: 4
    places: [[0, 0], [-6, 6], [-6, -6], [-12, 12], [-12, -12]]
    way: [[60, 0], [60, 60], [0, 60]]
    most_error: 1.5
  dies: {kind: rotor_fault, vehicle: bird_0, rotor: back_left, at: 18}
"""


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_followers_keep_their_places_with_half_of_the_words_and_the_next_one_leads(tmp_path, seed):
    sim = al.Simulation(load(made(tmp_path, FORMATION % -1)), seed=seed)
    run = RecordedRun(sim, RunFolder.create(tmp_path / "run"))
    run.fly()
    assert run.outcome.status == "finished", run.outcome.reason
    nodes = sim.radio.summary()["nodes"]
    share = sum(node["heard"] for node in nodes.values()) / sum(4 * node["sent"] for node in nodes.values())
    assert 0.35 < share < 0.65
    led = sim.systems["formation"]._logic.leaders[1:]
    assert led[0] == 1
    assert (led > 0).all()
    told = json.loads((run.folder.path / "swarm.json").read_text())["formation"]
    assert told["summary"]["formation_error"] < 1.5
    assert np.linalg.norm(sim.vehicles["bird_1"].velocity) > 1.5  # it goes the way
    if seed == 0:
        assert "swarm-formation.png" in {path.name for path in plot(run.folder)}


def test_a_formation_has_a_place_for_each(tmp_path):
    with pytest.raises(ScenarioError, match="5 vehicles need as many places, not 2"):
        al.Simulation.load(made(tmp_path, (FORMATION % 3).replace(", [-6, -6], [-12, 12], [-12, -12]", "")))
