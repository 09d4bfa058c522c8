"""A real ArduPilot, where its program is found: it flies the scenarios and every frame, and says the same twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.programs import free_instance, needs_ardupilot

import airloom as al
from airloom.scenario import load

INSTANCE = free_instance()
FLIGHT = Path(__file__).parent / "recorded_flights/ardupilot/flight.yaml"
pytestmark = [needs_ardupilot]


def flown(scenario, folder, *options):
    command = [sys.executable, "-m", "airloom", "run", scenario, "--headless", "--no-figures", "--out", folder]
    environment = {**os.environ, "AIRLOOM_INSTANCE": str(INSTANCE)}
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=900, env=environment)
    assert done.returncode == 0, done.stderr
    said = folder / "member-station.txt"
    return json.loads((folder / "summary.json").read_text()), said.read_text() if said.exists() else ""


def test_it_takes_off_flies_a_square_and_lands_twice_the_same(tmp_path):
    summary, said = flown("ardupilot", tmp_path / "run")
    vehicles = summary["vehicles"]
    assert "landed" in said, said
    assert vehicles["drone"]["position"][:2] == pytest.approx([0, 0], abs=1.5)
    assert vehicles["drone"]["position"][2] < 0.3
    assert [finding["text"] for finding in summary["verdict"]["findings"] if finding["source"] == "drone"] == [
        "its autopilot has landed and stopped the rotors"
    ]
    again, _ = flown("ardupilot", tmp_path / "again")
    assert again["state_hash"] == summary["state_hash"]


def test_five_fly_a_formation_and_land(tmp_path):
    summary, said = flown("swarm-ardupilot", tmp_path / "run")
    assert "landed" in said, said
    for k, drone in enumerate(summary["vehicles"].values()):
        assert drone["position"][:2] == pytest.approx([4 * k - 8, 0], abs=1.5)
        assert drone["position"][2] < 0.3


def test_flown_by_remote_control_two_runs_are_equal(tmp_path):
    hashes, heights = set(), []
    for name in ("first", "second"):
        with al.Simulation(load(FLIGHT, {"vehicles.drone.autopilot.transcript": True})) as sim:
            sim.member_logs = tmp_path / name
            sim.run()
            hashes.add(sim.state_hash())
            heights.append(sim.vehicles["drone"].position[2])
    assert min(heights) > 1.0, "in the air"
    assert len(hashes) == 1
    one, other = (tmp_path / name / "autopilot-drone/transcript.gz" for name in ("first", "second"))
    assert one.read_bytes() == other.read_bytes()


FRAMES = f"""
name: frames
duration: 26
vehicles:
  drone:
    extends: VEHICLE
    pose: {{position: [0, 0, 0.06]}}
    sensors: {{imu: {{rate: 1000}}}}
    autopilot:
      kind: ardupilot
      instance: {INSTANCE}
      rc: [1500, 1500, 1000, 1500]
      sticks:
        - {{at: 7, rc: [1500, 1500, 1000, 2000]}}
        - {{at: 12, rc: [1500, 1500, 1750, 1500]}}
        - {{at: 18, rc: [1500, 1500, 1500, 1500]}}
        - {{at: 20, rc: [1500, 1400, 1500, 1500]}}
        - {{at: 22, rc: [1600, 1500, 1500, 1500]}}
        - {{at: 24, rc: [1500, 1500, 1500, 1600]}}
      params:
        {{FLTMODE_CH: 0, INITIAL_MODE: 2, ARMING_CHECK: 0, MOT_THST_EXPO: 1, MOT_THST_HOVER: 0.29,
         RC3_MIN: 1000, RC3_MAX: 2000}}
"""


@pytest.mark.parametrize("vehicle", ["multirotor", "quad_plus", "hexarotor"])
def test_every_frame_flies_the_right_way_round(tmp_path, vehicle):
    (tmp_path / "frames.yaml").write_text(FRAMES.replace("VEHICLE", vehicle))
    with al.Simulation.load(tmp_path / "frames.yaml") as sim:
        sim.member_logs = tmp_path
        drone = sim.vehicles["drone"]
        sim.run(until=19.9)
        assert 4.0 < drone.position[2] < 6.0
        assert np.abs(drone.euler[:2]).max() < 0.02, "it hovers"
        yaw = drone.euler[2]
        sim.run(until=21.9)
        assert drone.euler[1] > 0.05, "nose down"
        assert drone.velocity[0] > 0.5, "ahead"
        sim.run(until=23.9)
        assert drone.euler[0] > 0.05, "right side down"
        assert drone.velocity[1] < -0.5, "to the right"
        sim.run(until=25.9)
        assert drone.euler[2] < yaw - 0.5, "clockwise"
        assert 4.0 < drone.position[2] < 6.0


def test_rangefinder_wind_and_battery_arrive(tmp_path):
    with al.Simulation(load(FLIGHT, {"vehicles.drone.autopilot.instance": INSTANCE})) as sim:
        sim.member_logs = tmp_path
        sim.run(until=1.0)
    said = (tmp_path / "autopilot-drone/console.txt").read_text()
    for what in ("rng_1", "velocity_wind", "rc: rc_4", "battery: voltage"):
        assert f"\t{what}\n" in said
