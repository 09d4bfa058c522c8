"""What a studio is told of an eye, of a run that flies and of one that was recorded."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.eyes.shown import depth_picture, eyes_of, picture_in, points_in
from airloom.net.json_lines import RequestError
from airloom.runs.folder import RunFolder
from airloom.runs.link.client import Refused
from airloom.runs.link.context import RequestContext
from airloom.runs.link.looking import Look
from airloom.runs.recorded import RecordedRun
from airloom.simulation import Simulation
from airloom.studio.sources.playback import Playback
from airloom.studio.sources.recorded import RecordedSource

pytest.importorskip("embreex")

EYE = {"kind": "depth_camera", "rate": 10, "width": 64, "height": 48, "max_distance": 30.0, "pitch": 0.6}


def flight(tmp_path, **log) -> RecordedRun:
    changes = {
        "duration": 0.5,
        "engine": "batch",
        "vehicles.cf.sensors.eye": EYE,
        "vehicles.cf.pose.position": [0, 0, 3],
    }
    sim = Simulation.load("hover", overrides={**changes, **log})
    return RecordedRun(sim, RunFolder.create("hover", tmp_path / "run"))


def test_a_look_from_outside_has_picture_and_points_and_leaves_the_eye_alone(tmp_path):
    run = flight(tmp_path)
    run.sim.step()
    reply = Look(vehicle="cf", eye="eye").carry_out(RequestContext(run))
    assert picture_in(reply).shape == (48, 64, 3)
    points = points_in(reply)
    assert len(points) > 100
    assert np.abs(points[:, 2]).max() < 0.01
    assert not run.sim.vehicles["cf"].eyes[0].is_wanted
    with pytest.raises(RequestError, match="cf has no eye called 'ey'; did you mean 'eye'"):
        Look(vehicle="cf", eye="ey").carry_out(RequestContext(run))


def test_of_a_recorded_run_the_logged_pictures_are_shown(tmp_path):
    run = flight(tmp_path, **{"log.topics": ["/clock", "/*/state", "/cf/eye/image"]})
    run.fly()
    clock = Playback()
    source = RecordedSource(run.folder, clock)
    clock.seek(0.25)
    reply = source.ask("look", vehicle="cf", eye="eye")
    assert reply["time"] == pytest.approx(0.2)
    assert picture_in(reply).shape == (48, 64, 3)
    with pytest.raises(Refused, match=r"name /cf/imu/image in log\.topics"):
        source.ask("look", vehicle="cf", eye="imu")
    source.close()


def test_near_is_bright_far_is_dark_and_nothing_is_grey():
    picture = depth_picture(np.array([[1.0, 5.0, np.inf, np.nan]], dtype=np.float32)).astype(int)
    near, far, beyond, unknown = picture[0]
    assert near.sum() > 2 * far.sum()
    assert np.array_equal(beyond, unknown)
    assert np.ptp(beyond) < 20


def test_eyes_are_told_from_other_sensors():
    vehicle = Simulation.load("lidar").scenario.vehicles["drone"]
    assert eyes_of(vehicle) == ["lidar"]
