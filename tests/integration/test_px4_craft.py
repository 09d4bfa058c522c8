"""A real PX4, where its program is found, flies an aeroplane and a VTOL of ours on its wings."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import yaml
from tests.programs import free_instance, led_by_station, needs_px4

from airloom.runs import LogReader

pytestmark = [needs_px4]
STATION = Path(__file__).parent / "px4_craft_station.py"
SENSORS = {
    "imu": "hil_imu",
    "gnss": "hil_gnss",
    "barometer": {"kind": "barometer", "rate": 50, "pressure_errors": {"noise": 3.0}},
    "magnetometer": {"kind": "magnetometer", "rate": 100, "field_errors": {"noise": 1.0e-7}},
}
RADIUS, HEIGHT = 60.0, 50.0  # m, of the circle that the station asks for


def flown(folder, kind, duration, start, **params):
    """Times, track and what the station said of a run in which it leads the vehicle in wind."""
    instance = free_instance()
    params = {"NAV_LOITER_RAD": RADIUS, **params}
    craft = {"extends": kind, "pose": {"position": start}, "sensors": SENSORS}
    craft["autopilot"] = {"kind": "px4", "instance": instance, "params": params}
    station = {"command": ["python", str(STATION), kind], "rate": 10}
    content = {"name": kind, "duration": duration, "vehicles": {"craft": craft}, "members": {"station": station}}
    content["world"] = {"extends": "empty", "wind": [2, 1, 0]}
    (folder / "run.yaml").write_text(yaml.safe_dump(content))
    said = led_by_station(folder, "run.yaml", instance)
    assert "done" in said, said
    with LogReader(folder / "run/log.mcap") as log:
        times, track = log.series("/craft/state", "pose.pose.position")
    return times, track, said


def between(times, said, first, last):
    begin, end = (float(re.search(rf"([\d.]+) s  {what}", said)[1]) for what in (first, last))
    return (times > begin) & (times < end)


def assert_circles(times, track, said, until):
    circling = between(times, said, "circling", until)
    circling &= times > times[circling][0] + 20.0
    radii = np.hypot(track[circling, 0], track[circling, 1] - 200.0)
    assert np.abs(radii - RADIUS).max() < 5.0, "a circle around the place"
    assert np.abs(track[circling, 2] - HEIGHT).max() < 3.0, "at its height"


def test_a_plane_takes_off_circles_where_it_is_told_and_comes_home(tmp_path):
    home = {"RTL_TYPE": 0, "RTL_RETURN_ALT": HEIGHT, "RTL_DESCEND_ALT": HEIGHT, "RTL_LOITER_RAD": RADIUS}
    times, track, said = flown(tmp_path, "plane", 150, [0, 0, 0.21], **home)
    assert_circles(times, track, said, "on its way home")
    last = times > times[-1] - 5.0
    assert np.hypot(*track[last, :2].T).max() < RADIUS + 25.0, "at home"
    assert np.abs(track[last, 2] - HEIGHT).max() < 15.0, "in the air"


def test_a_vtol_rises_on_its_rotors_circles_on_its_wings_and_lands(tmp_path):
    times, track, said = flown(tmp_path, "vtol", 200, [0, 0, 0.12])
    assert_circles(times, track, said, "to its rotors")
    assert track[-1, 2] < 0.5, "on the ground"
