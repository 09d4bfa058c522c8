"""Depth and velocity under water."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.scenario.models import Scenario
from airloom.simulation import Simulation


def dived(bottom=-20.0, sensors=None, **changes):
    vehicle = {
        "mass": 4.2937, "inertia": {"xx": 0.02, "yy": 0.02, "zz": 0.02}, "body": {"size": [0.1, 0.1, 0.1]},
        "hull": {"shapes": {"ball": {"kind": "ball", "radius": 0.1}}}, "pose": {"position": [0, 0, -6], "yaw": 1.5708},
        "motion": {"velocity": [0.5, 0, 0]}, "sensors": sensors or {"depth": {"kind": "depth"}, "dvl": {"kind": "dvl"}},
    }  # fmt: skip
    world = {"terrain": {"kind": "plane", "height": bottom}, "water": {}}
    given = {"name": "sea", "engine": {"kind": "batch"}, "world": world, "vehicles": {"v": vehicle | changes}}
    return Simulation(Scenario.model_validate(given))


def test_depth_is_that_of_the_sensor():
    sim = dived(
        sensors={"depth": {"kind": "depth", "position": [0, 0, -0.5]}, "fresh": {"kind": "depth", "density": 1000}}
    )
    sim.run(until=0.1)
    readings = sim.vehicles["v"].readings
    assert readings["depth"][0] == pytest.approx(6.5, abs=1e-3)
    assert readings["fresh"][0] == pytest.approx(6.0 * 1.025, abs=1e-3)


def test_a_velocity_log_hears_the_bottom():
    sim = dived()
    sim.run(until=0.1)
    x, y, z, distance, beams = sim.vehicles["v"].readings["dvl"]
    assert [x, y, z] == pytest.approx([0, -0.5, 0], abs=1e-3)
    assert distance == pytest.approx(14.0, abs=1e-3)
    assert beams == 4


@pytest.mark.parametrize("changes", [{"bottom": -80.0}, {"pose": {"position": [0, 0, 2]}}])
def test_too_far_away_or_out_of_the_water_it_hears_nothing(changes):
    sim = dived(**changes)
    sim.run(until=0.1)
    reading = sim.vehicles["v"].readings["dvl"]
    assert np.isnan(reading[:3]).all()
    assert reading[4] == 0


def test_noise_is_that_of_the_seed_alone():
    sensors = {"dvl": {"kind": "dvl", "velocity_errors": {"noise": 0.01}}}
    alone, together = dived(sensors=sensors), dived(sensors={"depth": {"kind": "depth"}} | sensors)
    for sim in (alone, together):
        sim.run(until=0.5)
    readings = [sim.vehicles["v"].readings["dvl"][:3] for sim in (alone, together)]
    assert (readings[0] == readings[1]).all()
    assert not np.allclose(readings[0], [0, -0.5, 0], atol=1e-4)
