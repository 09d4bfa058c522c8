"""The system `mission`: where missions come from, and what becomes of those that fail."""

from __future__ import annotations

import json

import numpy as np
import pytest

from airloom.commands import Mode
from airloom.scenario import ScenarioError

SCRIPT = """
async def up(pilot):
    await pilot.takeoff(2)

async def fail(pilot):
    await pilot.takeoff(2)
    await pilot.follow([(0, 0, 2), (8, 0, 2)], method="pursuit", timeout=1)

def plain(pilot):
    pass
"""


def heights(sim):
    return sim.group("drone*").positions[:, 2]


def test_items_fly_for_every_vehicle(make_sim):
    sim = make_sim("{m: {kind: mission, start: 1, items: [{takeoff: 2}]}}", copies=3)
    sim.run(until=1)
    assert not any(vehicle.armed for vehicle in sim.vehicles.values())
    sim.run(until=10)
    assert heights(sim) == pytest.approx([2.05] * 3, abs=0.1)
    assert [(it.source, it.text) for it in sim.verdict.findings] == [(f"drone_{k}", "m is done") for k in range(3)]


def test_files_are_found_beside_the_scenario(make_sim, tmp_path):
    (tmp_path / "up.yaml").write_text("mission: [{takeoff: 3}]")
    sim = make_sim("{m: {kind: mission, file: up.yaml}}")
    sim.run(until=10)
    assert heights(sim) == pytest.approx([3.05], abs=0.1)


def test_a_plan_is_flown_and_what_it_leaves_out_is_told(make_sim, tmp_path):
    origin = [47.397742, 8.545594, 488.0]
    commands = {
        22: [0, 0, 0, None, *origin[:2], 4],
        206: [5, 0, 0, 0, 0, 0, 0],
        16: [0, 0, 0, 0, 47.397832, 8.545594, 6],
    }
    items = [{"type": "SimpleItem", "command": c, "frame": 3, "params": p} for c, p in commands.items()]
    plan = {"fileType": "Plan", "mission": {"plannedHomePosition": origin, "items": items}}
    (tmp_path / "m.plan").write_text(json.dumps(plan))
    sim = make_sim("{m: {kind: mission, file: m.plan}}")
    sim.run(until=30)
    assert sim.vehicles["drone"].position == pytest.approx([0, 10, 6], abs=0.2)
    assert sim.vehicles["drone"].euler[2] == pytest.approx(np.pi / 2, abs=0.05)
    assert ["camera trigger" in text for text in sim.warnings] == [True]


def test_scripts_are_found_beside_the_scenario_and_reset_starts_them_again(make_sim, tmp_path):
    (tmp_path / "my.py").write_text(SCRIPT)
    sim = make_sim("{m: {kind: mission, script: 'my.py:up'}}")
    sim.run(until=8)
    first = sim.state_hash()
    sim.reset()
    sim.run(until=8)
    assert sim.state_hash() == first
    assert heights(sim) == pytest.approx([2.05], abs=0.1)


def test_a_mission_that_fails_leaves_the_vehicle_hovering(make_sim, tmp_path):
    (tmp_path / "my.py").write_text(SCRIPT)
    sim = make_sim("{m: {kind: mission, script: 'my.py:fail'}}")
    sim.run(until=20)
    drone = sim.vehicles["drone"]
    assert drone.mode is Mode.POSITION_YAW
    assert np.linalg.norm(drone.velocity) < 0.05
    assert drone.position[2] > 1.5
    assert ["took longer" in failure.text for failure in sim.verdict.failures] == [True]
    sim.reset()
    assert sim.verdict.is_good


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ("", "give one of items, file and script"),
        (", items: [{takeoff: 1}], file: s.yaml", "give one of items, file and script"),
        (", items: [{takof: 1}]", "no mission item is called 'takof'; did you mean 'takeoff'?"),
        (", items: [{goto: [1, 2, 3], spede: 1}]", "systems.m.items.0.spede: unknown key; did you mean 'speed'?"),
        (", file: nowhere.yaml", "there is no file 'nowhere.yaml'"),
        (", script: 'nowhere.py:fly'", "does not exist"),
        (", script: 'my.py:upp'", "has no function 'upp'; did you mean 'up'?"),
        (", script: my.py", "names a file but no function"),
        (", script: 'my.py:plain'", "must be an async function"),
        (", vehicle: dron, items: [{takeoff: 1}]", "did you mean 'drone'?"),
    ],
)
def test_what_is_wrong_is_said_before_the_flight(make_sim, tmp_path, parameters, complaint):
    (tmp_path / "my.py").write_text(SCRIPT)
    with pytest.raises(ScenarioError) as error:
        make_sim(f"{{m: {{kind: mission{parameters}}}}}")
    assert complaint in str(error.value)
