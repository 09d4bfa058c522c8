"""A real ArduPilot, where its program is found: it flies the bundled scenario, and says the same twice."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from airloom.autopilots.ardupilot import USUAL

PROGRAM = os.environ.get("AIRLOOM_ARDUCOPTER") or shutil.which("arducopter")
FOUND = PROGRAM or next((place for place in USUAL if Path(place).expanduser().exists()), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(FOUND is None, reason="no arducopter: build ArduPilot's SITL and set AIRLOOM_ARDUCOPTER"),
]


def flown(folder, *options):
    command = [sys.executable, "-m", "airloom", "run", "ardupilot", "--headless", "--no-figures", "--out", folder]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "summary.json").read_text())


def test_it_takes_off_flies_a_square_and_lands(tmp_path):
    drone = flown(tmp_path / "run")["vehicles"]["drone"]
    said = (tmp_path / "run/member-station.txt").read_text()
    assert "landed" in said, said
    assert drone["position"][:2] == pytest.approx([0, 0], abs=1.5)
    assert drone["position"][2] < 0.3


def test_without_a_ground_station_two_runs_are_equal(tmp_path):
    hashes = {
        flown(tmp_path / name, "--until", "20", "--set", "members={}")["state_hash"] for name in ("first", "second")
    }
    assert len(hashes) == 1
