"""The scenario `relay`: three programs lead five vehicles, and the flight is the same at any speed."""

from __future__ import annotations

import json
import subprocess
import sys
from math import hypot

import pytest


def flown(folder, *options):
    command = [
        sys.executable,
        "-m",
        "airloom",
        "run",
        "relay",
        "--headless",
        "--no-figures",
        "--quiet",
        "--out",
        folder,
    ]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "summary.json").read_text())


def test_the_same_at_any_speed(tmp_path):
    runs = [flown(tmp_path / speed, "--until", "5", "--speed", speed) for speed in ("0.5", "1", "max")]
    assert len({run["state_hash"] for run in runs}) == 1
    assert runs[0]["wall_time"] > 9.5
    assert runs[1]["wall_time"] > 4.5


def test_they_follow_one_another(tmp_path):
    """At 40 s the chief has flown the figure twice; the others are as many seconds behind as they are places."""
    vehicles = flown(tmp_path / "run")["vehicles"]
    chief, last = vehicles["drone_0"]["position"], vehicles["drone_4"]["position"]
    assert hypot(*chief[:2]) < 1.0
    assert last[0] < -2.0, "four seconds before the middle"
    heights = [vehicles[f"drone_{k}"]["position"][2] for k in range(5)]
    assert heights == pytest.approx([2.0, 2.5, 3.0, 3.5, 4.0], abs=0.15)
