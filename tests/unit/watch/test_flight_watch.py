"""Vehicles that come down unasked or cannot hold their setpoint are told, others are not."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

import airloom as al
from airloom.runs.folder import RunFolder
from airloom.runs.recorded import RecordedRun
from airloom.sensors.faults import Fault
from airloom.simulation import Simulation
from airloom.watch.estimates import LOST, Apart
from airloom.watch.flight import FlightWatch

FELL, STRAYED = "touches the ground unasked", "cannot hold its setpoint"


def drone(height: float = 3.0, world: str = "empty", **changes: Any) -> Simulation:
    """A quadrotor in the air that holds its place, watched."""
    start = {"extends": "multirotor", "pose": {"position": [0, 0, height]}, **changes}
    overrides = {"vehicles": {"cf": None, "drone": start}, "systems": {}, "engine": "batch", "world": world}
    sim = Simulation.load("hover", overrides=overrides)
    FlightWatch(sim)
    for vehicle in sim.vehicles.values():
        vehicle.command(al.PositionYaw(tuple(vehicle.position)))
    return sim


def test_a_calm_hover_is_no_trouble() -> None:
    sim = drone()
    sim.run(until=20.0)
    assert sim.warnings == []


def test_a_fall_is_told_once_for_each_fall() -> None:
    sim = drone()
    sim.run(until=2.0)
    for _ in range(2):
        sim.vehicles["drone"].push((0, 0, -30))
        sim.run(until=sim.time + 3.0)
        sim.vehicles["drone"].push()
        sim.run(until=sim.time + 12.0)
    assert len(sim.warnings) == 1
    assert f"drone: {FELL} (2 times" in sim.warnings[0]


def test_hopping_along_is_told_once() -> None:
    sim = drone()
    sim.run(until=2.0)
    for k in range(8):
        sim.vehicles["drone"].push((0, 0, 0 if k % 2 else -30))
        sim.run(until=sim.time + 1.2)
    assert len(sim.warnings) == 1
    assert sim.warnings[0].endswith(FELL)


@pytest.mark.parametrize(
    "told", [al.PositionYaw((0, 0, 0.05)), al.PositionYaw((0, 0, -1)), al.VelocityYawRate((0, 0, -1))]
)
def test_a_descent_to_the_ground_is_asked_for(told: Any) -> None:
    sim = drone(command_timeout=None)
    sim.run(until=2.0)
    sim.vehicles["drone"].command(told)
    sim.run(until=9.0)
    assert sim.vehicles["drone"].position[2] < 0.1
    assert not any(FELL in warning or STRAYED in warning for warning in sim.warnings)  # of -1 m another is told


def test_a_landing_and_a_kill_are_asked_for() -> None:
    sim = drone()
    sim.start(sim.pilot("drone").land())
    sim.run(until=10.0)
    assert not sim.vehicles["drone"].armed
    sim.vehicles["drone"].place((0, 0, 5))
    sim.vehicles["drone"].recover()
    sim.run(until=14.0)
    sim.vehicles["drone"].kill()
    sim.run(until=20.0)
    assert sim.vehicles["drone"].position[2] < 0.1
    assert sim.warnings == []


def test_a_start_from_the_ground_is_no_touch() -> None:
    sim = drone(height=0.05)
    sim.run(until=3.0)
    sim.vehicles["drone"].command(al.PositionYaw((0, 0, 2)))
    sim.run(until=10.0)
    assert sim.warnings == []


def test_the_ground_of_hills_is_where_the_hills_are() -> None:
    sim = drone(height=3.5, world="hills", pose={"position": [20, 10, 5]})
    sim.run(until=2.0)
    sim.vehicles["drone"].push((0, 0, -30))
    sim.run(until=6.0)
    assert sim.vehicles["drone"].position[2] > 2.0
    assert FELL in sim.warnings[0]


def test_who_is_blown_away_is_told_once_and_again_after_coming_back() -> None:
    sim = drone(height=20.0)
    sim.run(until=2.0)
    for _ in range(2):
        sim.vehicles["drone"].push((8, 0, 0))
        sim.run(until=sim.time + 25.0)
        sim.vehicles["drone"].push()
        sim.run(until=sim.time + 60.0)
    assert len(sim.warnings) == 1
    assert f"drone: {STRAYED}: 0.5 m off or more for 10 s, now " in sim.warnings[0]
    assert "(2 times" in sim.warnings[0]


def test_a_long_way_and_a_moving_setpoint_are_no_trouble() -> None:
    sim = drone()
    sim.vehicles["drone"].command(al.PositionYaw((80, 0, 3)))
    sim.run(until=30.0)
    for k in range(200):
        sim.vehicles["drone"].command(al.PositionYaw((80 + 0.2 * k, 0, 3)))
        sim.run(until=sim.time + 0.1)
    assert sim.warnings == []


def test_a_short_push_is_no_trouble() -> None:
    sim = drone()
    sim.run(until=2.0)
    sim.vehicles["drone"].push((8, 0, 0))
    sim.run(until=4.0)
    assert np.linalg.norm(sim.vehicles["drone"].position - [0, 0, 3]) > 0.5
    sim.vehicles["drone"].push()
    sim.run(until=30.0)
    assert sim.warnings == []


def test_many_at_once_are_one_warning() -> None:
    sim = drone(copies={"count": 20, "spacing": 2})
    sim.run(until=1.0)
    for vehicle in sim.vehicles.values():
        vehicle.push((0, 0, -30))
    sim.run(until=5.0)
    assert len(sim.warnings) == 1
    assert f"fleet: drone_0, drone_1, drone_2 and 17 more: each {FELL}" in sim.warnings[0]


def test_the_summary_of_a_run_tells_it_and_a_second_flight_is_watched_too(tmp_path: Any) -> None:
    wind = {"world.wind": [0, 40, 0], "engine": "batch", "duration": 20}
    run = RecordedRun(Simulation.load("hover", overrides=wind), RunFolder.create("hover", tmp_path / "run"))
    run.fly()
    told = json.loads((tmp_path / "run" / "summary.json").read_text())["warnings"]
    assert any(f"cf: {STRAYED}" in warning or f"cf: {FELL}" in warning for warning in told)
    run.begin_anew()
    run.sim.run()
    assert run.sim.warnings == told


def test_a_vehicle_in_the_ground_is_told_how_high_it_must_be():
    sim = drone(height=-0.5)
    (text,) = [text for text in sim.warnings if "deep in the ground" in text]
    needed = float(text.rpartition(" z = ")[2])
    assert -0.5 < needed < 0.5
    assert not any("deep in the ground" in text for text in drone(height=needed).warnings)


# -- estimate and truth ------------------------------------------------------------------------------------------------


def drifting(rate: float) -> Simulation:
    """A Crazyflie that hovers by the complementary filter, whose gyroscope comes to turn too fast about z, in rad/s."""
    overrides = {"vehicles.cf.estimator": "complementary", "systems": {}, "engine": "batch"}
    sim = Simulation.load("hover", overrides=overrides)
    FlightWatch(sim)
    sim.run(until=2.0)
    sim.vehicles["cf"].command(al.PositionYaw((0, 0, 1)))
    offset = np.zeros(12)
    offset[2] = rate
    sim.vehicles["cf"].set_fault("imu", Fault(offset=offset))
    return sim


def test_a_heading_that_drifts_is_told_before_the_vehicle_flies_away_and_fails_the_run_after() -> None:
    sim = drifting(0.02)
    while not sim.warnings:
        sim.run(until=sim.time + 0.5)
        assert sim.time < 30.0
    assert re.search(
        r"cf: its estimate is .* m and 1[789]\.?\d*° of heading from the truth: if they drift on", sim.warnings[0]
    )
    assert np.linalg.norm(sim.vehicles["cf"].position - (0, 0, 1)) < 0.1
    assert sim.verdict.is_good
    sim.run(until=60.0)
    assert "it no longer knows where it flies" in str(sim.verdict)
    assert len(sim.verdict.failures) == 1


def test_an_estimate_that_wanders_a_little_is_no_trouble() -> None:
    sim = drifting(0.002)
    sim.run(until=40.0)
    assert (sim.warnings, sim.verdict.is_good) == ([], True)


@pytest.mark.parametrize(("aside", "warns", "fails"), [(1.0, False, False), (5.0, True, False), (20.0, True, True)])
def test_a_position_far_from_the_truth_is_told(aside: float, warns: bool, fails: bool) -> None:
    sim = drone(height=30.0)
    sim.run(until=1.0)
    offset = np.zeros(12)
    offset[0] = aside
    sim.vehicles["drone"].set_fault("odometry", Fault(offset=offset))
    sim.run(until=12.0)
    assert any("from the truth" in warning for warning in sim.warnings) == warns
    assert sim.verdict.is_good != fails


def test_a_vehicle_that_flies_nose_up_has_no_heading_to_lose() -> None:
    up, turned = [np.sqrt(0.5), 0.0, -np.sqrt(0.5), 0.0], [0.5, 0.5, -0.5, 0.5]
    states, beliefs = (np.array([*np.zeros(6), *attitude]).reshape(10, 1, 1) for attitude in (up, turned))
    assert not Apart(states, beliefs).passes(LOST).any()


def test_a_parked_vehicle_that_wind_throws_over_is_told(tmp_path):
    (tmp_path / "storm.yaml").write_text(
        """
name: storm
engine: batch
world: {wind: [-22, 0, 0], weather: {layers: {eddies: {kind: dryden, intensity: severe}}}}
vehicles: {parked: {extends: vtol, pose: {position: [0, 0, 0.12]}}}
"""
    )
    sim = al.Simulation.load(tmp_path / "storm.yaml", seed=0)
    FlightWatch(sim)
    sim.run(until=25)
    assert sim.warnings[0].endswith("parked: has tipped over on the ground")
