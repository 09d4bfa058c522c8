"""A field treated by a real ArduPilot, by the plan that we export: it keeps to the lines, and works its pump."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import yaml
from tests.fields import HERE, point, polygon, write
from tests.programs import free_instance, needs_ardupilot

from airloom.farm import plan_field, plans_of
from airloom.runs import LogReader
from airloom.scenario import load

pytestmark = [needs_ardupilot]
STATION = Path(__file__).parent / "plan_station.py"
FIELD = [(-25, -4), (25, -4), (25, 4), (-25, 4)]
SHUT = [(-12, -9), (12, -9), (12, -7), (-12, -7)]
HOME = (0.0, -14.0)


def test_it_flies_the_exported_plan_along_the_lines(tmp_path):
    field = write(tmp_path / "f.geojson", polygon(FIELD), point(*HOME), polygon(SHUT, no_fly=True))
    job = plan_field(field, rate=20.0, height=5.0, speed=3.0).job.seen_from(HERE)
    (plan,) = plans_of(job, "servo", servo=8, most=5.0)
    (tmp_path / "tank-1.plan").write_text(plan)
    instance = free_instance()
    drone = {"extends": "iris", "pose": {"position": [*HOME, 0.055]}, "sensors": {"imu": {"rate": 1000}}}
    params = {**load("ardupilot").vehicles["drone"].autopilot.params, "AUTO_OPTIONS": 3, "SERVO8_FUNCTION": 0}
    drone["autopilot"] = {"kind": "ardupilot", "instance": instance, "params": params}
    station = {"command": ["python", str(STATION), str(tmp_path / "tank-1.plan")], "rate": 10}
    content = {"name": "work", "duration": 320, "vehicles": {"drone": drone}, "members": {"station": station}}
    (tmp_path / "work.yaml").write_text(yaml.safe_dump(content))
    command = [sys.executable, "-m", "airloom", "run", "work.yaml", "--headless", "--no-figures", "--out", "run"]
    environment = {**os.environ, "AIRLOOM_INSTANCE": str(instance)}
    subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=900, env=environment)
    said = (tmp_path / "run/member-station.txt").read_text()
    assert "landed" in said, said
    with LogReader(tmp_path / "run/log.mcap") as log:
        _, track = log.series("/drone/state", "pose.pose.position")
    for line in job.lines:
        for stretch in line.spray:
            places = np.array([line.place(s) for s in np.arange(stretch.start, stretch.end, 1.0)])
            gaps = np.linalg.norm(track[None, :, :2] - places[:, None, :2], axis=2)
            nearest = gaps.argmin(axis=1)
            assert gaps.min(axis=1).max() < 1.0, "beside the line"
            assert np.abs(track[nearest, 2] - places[:, 2]).max() < 1.0, "above or below it"
    assert not ((np.abs(track[:, 0]) < 12) & (np.abs(track[:, 1] + 8) < 1)).any(), "over what is not flown over"
    pump = [list(map(float, text.split()[1:])) for text in said.splitlines() if text.startswith("pump")]
    opened = [x for pulse, x, _, _ in pump if pulse > 1000]
    shut = [x for pulse, x, _, _ in pump[1:] if pulse <= 1000]
    assert len(opened) == len(shut) == len(job.lines)
    assert np.abs(np.abs(opened) - 25).max() < 4.0, (
        "at the edge, but for the lag and where a waypoint counts as reached"
    )
    assert np.abs(np.abs(shut) - 25).max() < 4.0
