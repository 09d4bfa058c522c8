"""A survey from beginning to end: a flight, a file of points, and what it is worth; and what a log keeps of eyes."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.runs import LogReader, RecordedRun, RunFolder, plot
from airloom.simulation import Simulation

pytest.importorskip("embreex")
laspy = pytest.importorskip("laspy")

FLIGHT = {
    "duration": 4.0, "engine": "batch", "systems.mapping.start": 0.5, "vehicles.drone.pose.position": [0, 0, 8],
    "vehicles.drone.sensors.lidar.pattern.columns": 180, "systems.mapping.every": 2,
    "systems.mission": {"kind": "waypoints", "vehicle": "drone", "points": [{"at": 0, "position": [3, 0, 8]}]},
}  # fmt: skip


def test_the_points_lie_on_the_ground_and_the_verdict_says_how_well(tmp_path):
    run = RecordedRun(Simulation.load("lidar", overrides=FLIGHT), RunFolder.create("lidar", tmp_path / "run"))
    run.fly()
    (finding,) = [one for one in run.sim.verdict.findings if one.source == "mapping"]
    assert finding.good
    assert "points.laz" in finding.text
    cloud = laspy.read(tmp_path / "run" / "points.laz")
    points = np.column_stack([cloud.x, cloud.y, cloud.z])
    assert finding.text.startswith(f"{len(points)} points")
    errors = points[:, 2] - [run.sim.fleet.land.height(x, y) for x, y, _ in points]
    errors = errors[np.abs(points[:, :2]).max(axis=1) < 38.0]  # the edge of the hills is a cliff
    assert len(errors) > 1000
    assert np.abs(errors).max() < 0.2
    assert 0.005 < errors.std() < 0.03
    # The folder is a run's, so another may take its place.
    assert RunFolder.create("lidar", tmp_path / "run", replace=True).path == tmp_path / "run"


def test_a_survey_that_is_not_good_enough_fails(tmp_path):
    sim = Simulation.load("lidar", overrides={**FLIGHT, "duration": 1.0, "systems.mapping.allowed": 0.001})
    outcome = RecordedRun(sim, RunFolder.create("lidar", tmp_path / "run")).fly()
    assert outcome.status == "failed"
    assert "0.001 m are allowed" in str(sim.verdict)


def test_a_survey_that_is_stopped_keeps_what_it_has_seen(tmp_path):
    run = RecordedRun(Simulation.load("lidar", overrides=FLIGHT), RunFolder.create("lidar", tmp_path / "run"))
    outcome = run.fly(lambda: run.stop() if run.sim.time > 1.0 else None)
    assert outcome.status == "stopped"
    seen = run.sim.systems["mapping"].points
    assert len(seen) > 100
    assert len(laspy.read(tmp_path / "run" / "points.laz").points) == len(seen)


def test_a_log_keeps_what_eyes_saw_and_a_figure_shows_it(tmp_path):
    eye = {"kind": "depth_camera", "rate": 10, "width": 64, "height": 48, "max_distance": 30.0, "pitch": 0.5}
    changes = {
        "duration": 0.5, "engine": "batch", "vehicles.cf.sensors.eye": eye,
        "log.topics": ["/clock", "/*/state", "/cf/eye/*"],
    }  # fmt: skip
    sim = Simulation.load("hover", overrides=changes)
    frames = []
    sim.bus.subscribe("/cf/eye/image", lambda *_: frames.append(sim.vehicles["cf"].eye("eye").frame.depth))
    run = RecordedRun(sim, RunFolder.create("hover", tmp_path / "run"))
    run.fly()
    with LogReader(run.folder.log) as log:
        kept = [m.message.data.view("<f4").reshape(48, 64) for m in log.messages("/cf/eye/image")]
        kinds = {topic: info.msgtype for topic, info in log.topics.items() if "/eye/" in topic}
    assert len(kept) == len(frames) == 6
    assert all(np.array_equal(a, b) for a, b in zip(kept, frames, strict=True))
    assert kinds == {
        "/cf/eye/image": "sensor_msgs/msg/Image",
        "/cf/eye/camera_info": "sensor_msgs/msg/CameraInfo",
        "/cf/eye/points": "sensor_msgs/msg/PointCloud2",
    }
    drawn = {path.name: path.stat().st_size for path in plot(run.folder)}
    assert drawn["seen-cf-eye.png"] > 5_000
