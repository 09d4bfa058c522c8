"""Real PX4s that are spoken to by radio: one that hears nobody any more comes home by its own failsafe."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from tests.programs import free_instance, led_by_station, needs_px4

from airloom.runs import LogReader

pytestmark = [needs_px4]


def test_one_out_of_reach_comes_home_and_is_heard_again(tmp_path):
    said = led_by_station(tmp_path, "swarm-px4-radio", free_instance())
    assert "drone_1 is home" in said
    with LogReader(tmp_path / "run/log.mcap") as log:
        times, track = log.series("/drone_1/state", "pose.pose.position")
    lost, heard = (float(re.search(rf"([\d.]+) s  drone_1 is {what}", said)[1]) for what in ("lost", "heard again"))
    assert lost < heard
    north = np.interp([lost, heard], times, track[:, 1])
    assert north[0] > 60.0, "far away"
    assert north[1] < np.max(track[:, 1]) - 5.0, "on its way home, though nobody could tell it"
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    nodes = summary["radio"]["bands"]["first"]["nodes"]
    assert nodes["drone_1"]["given_up"] > 20, "packets were lost"
    assert summary["vehicles"]["drone_1"]["position"] == pytest.approx([0, 0, 0.05], abs=1.5)
