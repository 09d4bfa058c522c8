"""Real ArduPilots that are spoken to by radio: one that hears nobody any more comes home by its own failsafe."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from tests.programs import free_instance, led_by_station, needs_ardupilot

from airloom.runs import LogReader

pytestmark = [needs_ardupilot]


def test_one_out_of_reach_comes_home_and_is_heard_again(tmp_path):
    said = led_by_station(tmp_path, "swarm-ardupilot-radio", free_instance())
    assert "drone_1 is home" in said
    with LogReader(tmp_path / "run/log.mcap") as log:
        times, track = log.series("/drone_1/state", "pose.pose.position")
        events = [(time_ns / 1e9, event) for _, time_ns, event in log.messages("/events")]
    texts = {event.text: time for time, event in events if event.source == "drone_1"}
    lost, heard = (float(re.search(rf"([\d.]+) s  drone_1 is {what}", said)[1]) for what in ("lost", "heard again"))
    failsafe, cleared = texts["ArduPilot says: GCS Failsafe"], texts["ArduPilot says: GCS Failsafe Cleared"]
    assert lost < heard
    assert cleared == pytest.approx(heard, abs=1.5), "both hear each other again at the same time"
    north = np.interp([failsafe - 2.0, failsafe + 10.0], times, track[:, 1])
    assert north[0] > 60.0, "far away"
    assert north[1] < np.max(track[:, 1]) - 5.0, "on its way home, though nobody could tell it"
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    nodes = summary["radio"]["bands"]["first"]["nodes"]
    assert nodes["drone_1"]["given_up"] > 20, "packets were lost"
    assert nodes["drone_0"]["given_up"] == nodes["drone_2"]["given_up"] == 0
    assert summary["vehicles"]["drone_1"]["position"] == pytest.approx([0, 0, 0.05], abs=1.5)
