"""ArduPilot's other programs, where they are found: they fly, dive and steer vehicles of ours."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path

import numpy as np
import yaml
from tests.programs import free_instance, led_by_station, needs_arduplane, needs_ardurover, needs_ardusub

from airloom.runs import LogReader

STATION = Path(__file__).parent / "craft_station.py"
COMES_LATE = [[0, 0, 0, 0], [42, 0, 0, 0], [50, 0.2, 0.1, 0]]  # when ArduSub knows where it began, and can hold


def sea(**current):
    return {
        "terrain": {"kind": "plane", "height": -30}, "origin": {"altitude": 0},
        "water": {"current": current},
    }  # fmt: skip


def flown(folder, kind, duration, vehicle, rate=500, **params):
    """Times, track and what the station said of a run in which it leads the vehicle, and the state's hash."""
    instance = free_instance()
    autopilot = {"kind": "ardupilot", "instance": instance, "rate": rate, "params": params}
    station = {"command": ["python", str(STATION), kind], "rate": 10}
    world, craft = vehicle.pop("world", "empty"), vehicle | {"autopilot": autopilot}
    content = {"name": kind, "duration": duration, "vehicles": {"craft": craft}, "members": {"station": station}}
    content["world"] = world
    folder.mkdir(exist_ok=True)
    (folder / "run.yaml").write_text(yaml.safe_dump(content))
    said = led_by_station(folder, "run.yaml", instance)
    assert "done" in said, said
    with LogReader(folder / "run/log.mcap") as log:
        times, track = log.series("/craft/state", "pose.pose.position")
    return times, track, said, json.loads((folder / "run/summary.json").read_text())["state_hash"]


def twice(folder, *flight, **params):
    """The first of two flights, which are equal to the bit."""
    first, second = (flown(folder / name, *map(deepcopy, flight), **params) for name in ("first", "second"))
    assert first[3] == second[3]
    return first[:3]


def since(said, what):
    return float(re.search(rf"([\d.]+) s  {what}", said)[1])


@needs_arduplane
def test_a_plane_takes_off_circles_where_it_is_told_and_comes_home(tmp_path):
    plane = {"extends": "plane", "pose": {"position": [0, 0, 0.14]}}
    plane["sensors"] = {"imu": {"kind": "imu", "rate": 500}}
    plane["world"] = {"extends": "empty", "wind": [2, 1, 0]}
    params = {"TKOFF_ALT": 50, "RTL_ALTITUDE": 60, "WP_LOITER_RAD": 40}
    times, track, said, _ = flown(tmp_path, "plane", 175, plane, **params)
    assert "\tairspeed\n" in (tmp_path / "run/autopilot-craft/console.txt").read_text(), "told as ArduPilot reads it"
    circling = (times > since(said, "circling") + 5) & (times < since(said, "on its way home"))
    radii = np.hypot(track[circling, 0], track[circling, 1] - 200.0)
    assert np.abs(radii - 40.0).max() < 12.0, "a circle around the place"
    assert np.abs(track[circling, 2] - 60.0).max() < 5.0, "at its height"
    last = times > times[-1] - 5.0
    assert np.hypot(*track[last, :2].T).max() < 60.0, "at home"
    assert np.abs(track[last, 2] - 60.0).max() < 8.0, "in the air"


@needs_ardusub
def test_the_bundled_rov_dives_holds_its_place_in_a_current_and_its_depth_under_way(tmp_path):
    rov = {"extends": "rov", "pose": {"position": [0, 0, -0.08]}, "world": sea(by_time=COMES_LATE)}
    rov["sensors"] = {"imu": {"rate": 1000}}
    times, track, said = twice(tmp_path, "sub", 130, rov, rate=1000, FS_PILOT_INPUT=0)
    holding = (times > since(said, "holding") + 10.0) & (times < since(said, "holding") + 20.0)
    assert np.abs(track[holding] - [6, 8, -4]).max() < 0.5
    steering = (times > since(said, "steering ahead")) & (times < since(said, "steering to the left") + 10.0)
    assert np.ptp(track[steering], axis=0)[:2].min() > 3.0, "it goes where sticks send it"
    assert np.abs(track[steering, 2] - np.mean(track[steering, 2])).max() < 0.4, "at one depth"


@needs_ardurover
def test_the_bundled_boat_drives_a_mission_in_waves(tmp_path):
    boat = {"extends": "boat", "sensors": {"imu": {"rate": 500}}}
    boat["world"] = sea(velocity=[0.2, -0.1, 0]) | {"wind": [3, 1, 0]}
    boat["world"]["water"]["sea"] = {"significant_height": 0.35, "peak_period": 3, "direction": 0.9}
    params = {"WP_SPEED": 1.5, "CRUISE_SPEED": 1.5, "CRUISE_THROTTLE": 70, "WP_RADIUS": 2, "MIS_DONE_BEHAVE": 1}
    times, track, said = twice(tmp_path, "rover", 160, boat, **params)
    for place in ((30, 0), (30, 20), (0, 20)):
        assert np.hypot(*(track[:, :2] - place).T).min() < 2.5
    staying = times > since(said, "staying") + 10.0
    assert np.hypot(*(track[staying, :2] - [0, 20]).T).max() < 8.0


@needs_arduplane
def test_the_bundled_quadplane_rises_flies_a_mission_on_its_wings_and_lands_where_it_began(tmp_path):
    vtol = {"extends": "vtol", "pose": {"position": [0, 0, 0.12]}, "world": {"extends": "empty", "wind": [2, 1, 0]}}
    vtol["sensors"] = {"imu": {"kind": "imu", "rate": 1000}}
    times, track, said = twice(tmp_path, "quadplane", 190, vtol, rate=1000)
    rising = times < since(said, "on its wings")
    assert np.hypot(*track[rising, :2].T).max() < 10.0, "straight up"
    cruising = (times > since(said, "on its wings") + 20.0) & (times < since(said, "coming home"))
    velocity = np.diff(track[cruising], axis=0) / np.diff(times[cruising])[:, None]
    assert np.median(np.linalg.norm(velocity - [2, 1, 0], axis=1)) > 9.0, "on its wings, through the air"
    assert np.hypot(*track[-1, :2]) < 5.0
    assert track[-1, 2] < 0.2
