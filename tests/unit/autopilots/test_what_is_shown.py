"""What is shown of a vehicle that an autopilot flies: nothing that means nothing."""

from __future__ import annotations

import numpy as np
import pytest

import airloom as al
from airloom.scenario import load
from airloom.studio.panels.vehicle import _of_vehicle
from airloom.studio.scene.overlays import Fleet
from airloom.studio.sources.source import ROTOR_SPEEDS

SCENARIO = """
name: mixed
vehicles:
  ours: {extends: iris}
  theirs: {extends: iris, pose: {position: [3, 0, 0.06]}, sensors: {imu: {rate: 1000}}, autopilot: ardupilot}
"""


@pytest.fixture
def scenario(tmp_path):
    (tmp_path / "mixed.yaml").write_text(SCENARIO)
    return load(tmp_path / "mixed.yaml")


def test_topics(scenario):
    topics = {topic.name for topic in al.Simulation(scenario).bus.topics()}
    assert {"/ours/state", "/ours/setpoint", "/ours/command", "/theirs/state", "/theirs/rotors"} <= topics
    assert not {"/theirs/setpoint", "/theirs/command"} & topics


def test_the_studio_shows_no_setpoint(scenario):
    assert Fleet(scenario, ["ours", "theirs"]).told_where.tolist() == [True, False]
    state = np.zeros(ROTOR_SPEEDS.start + 4)
    state[3] = 1.0
    ours, theirs = (_of_vehicle(state, scenario.vehicles[name], []) for name in ("ours", "theirs"))
    assert "to its setpoint" in ours
    assert "flown by" not in ours
    assert "to its setpoint" not in theirs
    assert "its autopilot, ardupilot" in theirs
