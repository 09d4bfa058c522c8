"""The example in C that talks by radio: who hears the leader follows it, who does not stays where it is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import airloom as al

EXAMPLE = Path(__file__).parents[2] / "examples/loom/radio.c"
SCENARIO = """
name: led
duration: 12
engine: batch
radio: {}
vehicles:
  leader: {extends: multirotor, pose: {position: [3, 0, 0.05]}}
  near: {extends: multirotor, pose: {position: [6, 0, 0.05]}}
  far: {extends: multirotor, pose: {position: [900, 0, 0.05]}}
members:
  ahead: {command: [./radio], vehicles: leader, rate: 20}
  behind: {command: [./radio], vehicles: "near", rate: 20}
  alone: {command: [./radio], vehicles: "far", rate: 20}
"""


def test_who_hears_the_leader_flies_above_it(tmp_path):
    subprocess.run(["gcc", "-O2", "-Wall", "-Werror", "-o", tmp_path / "radio", EXAMPLE, "-lm"], check=True)
    (tmp_path / "led.yaml").write_text(SCENARIO)
    with al.Simulation.load(tmp_path / "led.yaml") as sim:
        sim.member_logs = tmp_path
        sim.run()
        leader, near, far = (sim.vehicles[name] for name in ("leader", "near", "far"))
        assert leader.position[2] == pytest.approx(2, abs=0.1)
        assert near.position == pytest.approx(np.add(leader.position, [0, 0, 2]), abs=1.2), "a second behind"
        assert far.position == pytest.approx([900, 0, 0.05], abs=0.02)
        assert not far.armed
        radio = sim.radio
        assert radio["leader"].sent == 241, "20 times a second"
        assert radio["near"].heard > 230
        assert radio["far"].heard == 0
