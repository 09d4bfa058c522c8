"""ArduPilot's other programs, where they are found: they fly, dive and steer vehicles of ours."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from tests.programs import free_instance, needs_arduplane, needs_ardurover, needs_ardusub

from airloom.runs import LogReader

pytestmark = pytest.mark.slow
STATION = Path(__file__).parent / "craft_station.py"
SEA = {"terrain": {"kind": "plane", "height": -100}, "water": {"density": 1000}, "origin": {"altitude": 0}}


def flown(folder, kind, duration, vehicle, **params):
    """Times, track and what the station said of a run in which it leads the vehicle."""
    instance = free_instance(50)
    autopilot = {"kind": "ardupilot", "instance": instance, "rate": 500, "params": params}
    station = {"command": ["python", str(STATION), kind], "rate": 10}
    vehicle = {**vehicle, "autopilot": {**autopilot, **vehicle.get("autopilot", {})}}
    content = {"name": kind, "duration": duration, "vehicles": {"craft": vehicle}, "members": {"station": station}}
    content["world"] = vehicle.pop("world", "empty")
    (folder / "run.yaml").write_text(yaml.safe_dump(content))
    command = [sys.executable, "-m", "airloom", "run", "run.yaml", "--headless", "--no-figures", "--out", "run"]
    environment = {**os.environ, "AIRLOOM_INSTANCE": str(instance)}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900, env=environment)
    said = (folder / "run/member-station.txt").read_text() if (folder / "run/member-station.txt").exists() else ""
    assert done.returncode == 0, done.stdout + done.stderr + said
    with LogReader(folder / "run/log.mcap") as log:
        times, track = log.series("/craft/state", "pose.pose.position")
    return times, track, said


def since(said, what):
    return float(re.search(rf"([\d.]+) s  {what}", said)[1])


@needs_arduplane
def test_a_plane_takes_off_circles_where_it_is_told_and_comes_home(tmp_path):
    plane = {"extends": "plane", "pose": {"position": [0, 0, 0.14]}}
    plane["sensors"] = {"imu": {"kind": "imu", "rate": 500}}
    plane["world"] = {"extends": "empty", "wind": [2, 1, 0]}
    params = {"TKOFF_ALT": 50, "RTL_ALTITUDE": 60, "WP_LOITER_RAD": 40}
    times, track, said = flown(tmp_path, "plane", 175, plane, **params)
    assert "done" in said, said
    assert "\tairspeed\n" in (tmp_path / "run/autopilot-craft/console.txt").read_text(), "told as ArduPilot reads it"
    circling = (times > since(said, "circling") + 5) & (times < since(said, "on its way home"))
    radii = np.hypot(track[circling, 0], track[circling, 1] - 200.0)
    assert np.abs(radii - 40.0).max() < 12.0, "a circle around the place"
    assert np.abs(track[circling, 2] - 60.0).max() < 5.0, "at its height"
    last = times > times[-1] - 5.0
    assert np.hypot(*track[last, :2].T).max() < 60.0, "at home"
    assert np.abs(track[last, 2] - 60.0).max() < 8.0, "in the air"


def thrusters(most, **places):
    """Each is a rotor ahead and one back, so that it pushes both ways."""
    rotors = {}
    for name, (position, axis) in places.items():
        for sense, sign in (("ahead", 1), ("back", -1)):
            rotors[f"{name}_{sense}"] = {
                "position": position, "axis": [sign * part for part in axis], "turns": "ccw",
                "thrust_constant": most / 300**2, "moment_constant": 0.0, "max_speed": 300,
                "time_constant_up": 0.05, "time_constant_down": 0.05,
            }  # fmt: skip
    return rotors


def hull(size, **waters):
    return {"shapes": {"box": {"kind": "box", "size": size}}, **waters}


@needs_ardusub
def test_a_sub_dives_and_holds_where_it_is_told(tmp_path):
    size, x, y = [0.45, 0.35, 0.25], 0.16, 0.12
    sub = {"mass": 39.0, "center_of_mass": [0, 0, -0.03], "inertia": {"xx": 0.6, "yy": 0.9, "zz": 1.0}}
    sub |= {"body": {"size": size}, "controller": None, "pose": {"position": [0, 0, -0.12]}, "world": SEA}
    sub["hull"] = hull(
        size, added_mass=[10, 20, 30, 0.3, 0.4, 0.4], damping=[6, 8, 10, 1, 1, 1],
        quadratic_damping=[40, 60, 80, 2, 2, 2],
    )  # fmt: skip
    sub["rotors"] = thrusters(
        50.0, front_right=([x, -y, 0], [1, 1, 0]), front_left=([x, y, 0], [1, -1, 0]),
        back_right=([-x, -y, 0], [1, -1, 0]), back_left=([-x, y, 0], [1, 1, 0]),
        right=([0, -0.15, 0], [0, 0, 1]), left=([0, 0.15, 0], [0, 0, 1]),
    )  # fmt: skip
    sub |= {
        "sensors": {"odometry": {"kind": "odometry"}, "imu": {"kind": "imu", "rate": 1000}},
        "autopilot": {"rate": 1000},
    }
    times, track, said = flown(tmp_path, "sub", 150, sub, FS_PILOT_INPUT=0, BTN4_FUNCTION=4)
    assert "done" in said, said
    holding = (times > since(said, "holding") + 10.0) & (times < since(said, "holding") + 20.0)
    assert np.abs(track[holding] - [6, 8, -4]).max() < 0.4


@needs_ardurover
def test_a_boat_with_two_thrusters_goes_where_it_is_told(tmp_path):
    size = [1.0, 0.4, 0.3]
    boat = {"mass": 40.0, "center_of_mass": [0, 0, -0.1], "inertia": {"xx": 0.9, "yy": 3.5, "zz": 4.0}}
    boat |= {"body": {"size": size}, "controller": None, "pose": {"position": [0, 0, 0.05]}, "world": SEA}
    boat["hull"] = hull(
        size, added_mass=[5, 30, 40, 0.5, 4, 4], damping=[5, 50, 60, 8, 15, 8],
        quadratic_damping=[15, 100, 100, 5, 10, 10],
    )  # fmt: skip
    boat["rotors"] = thrusters(60.0, left=([-0.4, 0.17, -0.1], [1, 0, 0]), right=([-0.4, -0.17, -0.1], [1, 0, 0]))
    boat["sensors"] = {"odometry": {"kind": "odometry"}, "imu": {"kind": "imu", "rate": 500}}
    params = {"WP_SPEED": 1.5, "CRUISE_SPEED": 1.5, "CRUISE_THROTTLE": 70, "WP_RADIUS": 1}
    _, track, said = flown(tmp_path, "rover", 130, boat, **params)
    assert "done" in said, said
    assert np.hypot(track[:, 0] - 30, track[:, 1]).min() < 2.5
    assert np.hypot(*(track[-1, :2] - [30, 20])) < 3.0
