"""A vehicle that knows the ground from its rangefinder alone."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.runs.folder import RunFolder
from airloom.runs.recorded import RecordedRun
from airloom.simulation import Simulation

HILLS = {
    "world": "hills", "duration": 90, "systems.follow.height": 5, "systems.follow.speed": 4,
    "systems.follow.path": [[30, 30], [-30, 20], [-30, -30], [30, -20], [0, 0]],
}  # fmt: skip


def flown(**changes):
    sim = Simulation.load("terrain", overrides={"log.rate": 10, **HILLS, **changes})
    heights = []
    (vehicle,) = sim.vehicles.values()
    while sim.time < sim.scenario.duration:
        sim.step(200)
        x, y, z = vehicle.position
        heights.append(z - sim.fleet.land.height(x, y))
    return sim, np.array(heights)


@pytest.mark.parametrize("engine", ["mujoco", "batch"])
def test_it_stays_at_its_height_over_hills(engine):
    sim, heights = flown(engine=engine)
    assert sim.verdict.is_good
    assert "250 m flown at 5.0" in sim.verdict.findings[0].text
    assert np.ptp([sim.fleet.land.height(*p) for p in sim.scenario.systems["follow"].parameters["path"]]) > 1.5
    assert heights[40:].min() > 3.0
    assert heights[40:].max() < 7.0


def test_over_mountains_corners_are_taken_calmly_and_the_height_is_kept():
    """To 2 m of 12, also where the path turns on a slope; at its end it stands still where it was told to."""
    sim = Simulation.load("terrain", overrides={"engine": "batch"})
    drone, follow, heights = sim.vehicles["drone"], sim.scenario.systems["follow"].parameters, []
    while not sim.verdict.findings:
        sim.step(100)
        x, y, z = drone.position
        heights.append(z - sim.fleet.land.height(x, y))
        assert np.abs(drone.euler[:2]).max() < 0.6
    above = np.array(heights[100:])
    assert above.min() > follow["height"] - 2.0
    assert above.max() < follow["height"] + 2.0
    sim.run(until=sim.time + 6.0)
    assert drone.position == pytest.approx(drone.setpoint.position, abs=0.1)


def test_faster_and_lower_in_wind():
    sim, heights = flown(**{"systems.follow.speed": 8, "systems.follow.height": 3, "world.wind": [6, 3, 0]})
    assert sim.verdict.is_good
    assert heights[40:].min() > 1.0


def test_a_path_that_is_not_flown_to_its_end_is_a_failed_flight(tmp_path):
    sim = Simulation.load("terrain", overrides={**HILLS, "duration": 12})
    run = RecordedRun(sim, RunFolder.create("terrain", tmp_path / "run"), log=False)
    assert run.fly().status == "failed"
    assert "the run is over after" in run.outcome.reason


def test_ground_out_of_reach_is_a_failed_flight():
    sim, _ = flown(**{"vehicles.drone.sensors.rangefinder.max_distance": 4})
    assert not sim.verdict.is_good
    assert any("no ground within the reach" in warning for warning in sim.warnings)
