"""A log can be drawn in RViz: readers of ROS 2 bags find frames and descriptions, which say what the states do."""

from __future__ import annotations

from xml.etree import ElementTree as xml

import numpy as np
import pytest
from rosbags.highlevel import AnyReader
from rosbags.interfaces import QosDurability, QosReliability
from tests.ros2_peers import own_domain

import airloom as al
from airloom.bus import messages
from airloom.runs import LogReader, RecordedRun, RunFolder
from airloom.runs import bag as bags
from airloom.scenario import load

DURATION, RATE = 0.5, 20
COUNT = round(DURATION * RATE) + 1


def flown(path, **overrides):
    """A log of two Crazyflies; where keys have a point they are written with two underscores."""
    short = {"engine": "batch", "duration": DURATION, "log.rate": RATE, "vehicles.cf.copies": {"count": 2}}
    short["systems.waypoints.enabled"] = False
    changes = {key.replace("__", "."): value for key, value in overrides.items()}
    sim = al.Simulation.load("hover", overrides={**short, **changes})
    run = RecordedRun(sim, RunFolder.create("hover", out=path))
    assert run.fly().status == "finished"
    return sim, run.folder.log


def seen(log, topic):
    with AnyReader([log]) as bag:
        (connection,) = [it for it in bag.connections if it.topic == topic]
        found = [
            (time_ns, bag.deserialize(data, connection.msgtype)) for _, time_ns, data in bag.messages([connection])
        ]
    return connection, found


def test_a_reader_of_bags_finds_the_frames_of_every_state(tmp_path):
    _, log = flown(tmp_path / "run")
    _, moving = seen(log, "/tf")
    _, states = seen(log, "/cf_1/state")
    assert len(moving) == len(states) == COUNT
    for (time_ns, frames), (at, state) in zip(moving, states, strict=True):
        assert time_ns == at
        mine = {it.child_frame_id: it for it in frames.transforms}["cf_1/base_link"]
        assert (mine.header.frame_id, mine.header.stamp) == ("cf_1/odom", state.header.stamp)
        place, turn, pose = mine.transform.translation, mine.transform.rotation, state.pose.pose
        assert (place.x, place.y, place.z) == (pose.position.x, pose.position.y, pose.position.z)
        assert (turn.x, turn.y, turn.z, turn.w) == (
            pose.orientation.x, pose.orientation.y, pose.orientation.z, pose.orientation.w
        )  # fmt: skip


def test_what_stays_is_told_once_to_whoever_comes(tmp_path):
    _, log = flown(tmp_path / "run")
    for topic in ("/tf_static", "/cf_0/robot_description", "/cf_1/robot_description"):
        connection, ((time_ns, message),) = seen(log, topic)
        assert time_ns == 0
        (quality,) = connection.ext.offered_qos_profiles
        assert quality.durability == QosDurability.TRANSIENT_LOCAL
        assert quality.reliability == QosReliability.RELIABLE
        if topic == "/tf_static":
            parents = {it.child_frame_id: it.header.frame_id for it in message.transforms}
            assert parents["cf_1/odom"] == "map"
            assert parents["cf_1/imu"] == "cf_1/base_link"
        else:
            assert xml.fromstring(message.data).find("link[@name]") is not None


def test_the_tree_of_aerospace_is_that_of_the_bridge(tmp_path):
    sim, log = flown(tmp_path / "run", ros2={"frames": "ned", "topics": [], "domain": own_domain()})
    _, moving = seen(log, "/tf")
    told = moving[-1][1].transforms
    assert [it.header.frame_id for it in told] == ["ned", "ned"]
    x, y, z = sim.vehicles["cf_1"].position
    place = told[1].transform.translation
    assert (place.x, place.y, place.z) == pytest.approx((y, x, -z))


def test_who_chooses_topics_gets_those(tmp_path):
    _, log = flown(tmp_path / "run", log__topics=["/tf"], log__rates={"/tf": 10})
    assert LogReader(log).topics == {"/tf": (messages.TF_MESSAGE, round(DURATION * 10) + 1)}


def test_a_fleet_that_nobody_would_draw_has_none_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(bags, "MOST_DRAWN", 1)
    _, log = flown(tmp_path / "run")
    assert not {"/tf", "/tf_static", "/cf_0/robot_description"} & LogReader(log).topics.keys()


def test_a_flight_that_begins_anew_is_drawn_from_its_start(tmp_path):
    sim = al.Simulation.load("hover", overrides={"engine": "batch", "duration": DURATION, "log.rate": RATE})
    run = RecordedRun(sim, RunFolder.create("hover", out=tmp_path / "run"))
    with run.recorded():
        run.step(200)
        run.begin_anew()
        run.step(1000)
    log = LogReader(run.folder.log)
    assert [it.time_ns for it in log.messages("/tf_static")] == [0]
    assert log.topics["/tf"].message_count == COUNT
    assert np.all(np.diff([it.time_ns for it in log.messages("/tf")]) > 0)


def test_equal_runs_leave_equal_logs(tmp_path):
    first, second = (flown(tmp_path / name)[1].read_bytes() for name in ("one", "two"))
    assert first == second


def test_a_vehicle_that_comes_later_is_drawn_too(tmp_path):
    changes = {"engine": "batch", "duration": DURATION, "log.rate": RATE}
    sim = al.Simulation.load("hover", overrides=changes)
    run = RecordedRun(sim, RunFolder.create("hover", out=tmp_path / "run"))
    with run.recorded():
        run.step(200)
        sim.change(load("hover", {**changes, "vehicles.late": {"extends": "crazyflie2"}}))
        run.step(300)
    assert run.outcome.error is None
    _, moving = seen(run.folder.log, "/tf")
    assert len(moving) == COUNT
    assert [it.child_frame_id for it in moving[0][1].transforms] == ["cf/base_link"]
    assert [it.child_frame_id for it in moving[-1][1].transforms] == ["cf/base_link", "late/base_link"]
    _, fixed = seen(run.folder.log, "/tf_static")
    assert "late/odom" in {it.child_frame_id for it in fixed[-1][1].transforms}
    assert len(seen(run.folder.log, "/cf/robot_description")[1]) == 1
    assert len(seen(run.folder.log, "/late/robot_description")[1]) == 1
