"""Missions as users fly them: the bundled scenarios, and a hundred at once."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.missions.formations import smallest_gap
from airloom.missions.pilots import start_all
from airloom.missions.pursuit import Polyline
from airloom.simulation import Simulation


def test_pursuit_follows_its_path_and_lands():
    sim = Simulation.load("pursuit", overrides={"engine": "batch"})
    path = Polyline(sim.scenario.systems["mission"].parameters["items"][1]["follow"])
    targets, gaps = [], []

    def note(topic, message, time):
        targets.append(message.pose.position)
        position = sim.vehicles["drone"].position
        gaps.append(np.linalg.norm(path.at(path.nearest(position, 0.0, path.length)) - position))

    sim.bus.subscribe("/drone/pursuit_target", note)
    sim.run()
    assert len(targets) > 1000
    assert max(gaps) < 1.6
    assert not sim.vehicles["drone"].armed
    assert sim.vehicles["drone"].position == pytest.approx([0, 0, 0.05], abs=0.1)
    assert not sim.warnings


def test_choreography_comes_never_close_and_lands_on_the_pads():
    sim = Simulation.load("choreography", overrides={"engine": "batch"})
    fleet = sim.group("drone*")
    pads, highest, closest = fleet.positions, 0.0, np.inf
    while sim.time < sim.scenario.duration:
        sim.step(20)
        highest, closest = max(highest, fleet.positions[:, 2].max()), min(closest, smallest_gap(fleet.positions))
    assert closest > 1.0
    assert highest > 4.0
    gaps = np.linalg.norm(fleet.positions[:, None] - pads[None], axis=2)
    assert gaps.min(axis=1) == pytest.approx(np.zeros(20), abs=0.1)
    assert sorted(gaps.argmin(axis=1)) == list(range(20))
    assert not any(vehicle.armed for vehicle in fleet)


async def there_and_back(pilot):
    def place(x, y, z):
        return home + np.array([x, y, z])

    home = pilot.vehicle.position
    await pilot.takeoff(3)
    await pilot.goto(place(1, 1, 4))
    await pilot.follow([place(1, 1, 4), place(2, 0, 3), place(0, 0, 3)])
    await pilot.sleep(0.5)
    await pilot.land()


def test_a_hundred_missions_at_once_complete(tmp_path):
    (tmp_path / "s.yaml").write_text(
        "name: t\nengine: batch\nvehicles: {d: {extends: multirotor, controller: modes, pose: {position: [0, 0, 0.05]},"
        " sensors: {imu: null, gnss: null, barometer: null, magnetometer: null},"
        " copies: {count: 100, spacing: 5}}}\n"
    )
    sim = Simulation.load(tmp_path / "s.yaml")
    tasks = start_all(sim, there_and_back, sim.vehicles.values())
    sim.run(until=45)
    assert [task.error for task in tasks] == [None] * 100
    assert all(task.done for task in tasks)
    assert not any(vehicle.armed for vehicle in sim.vehicles.values())
