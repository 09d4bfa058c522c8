"""A recorded run, paused, edited and begun anew by services."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.ros2_peers import FastClient, own_domain, until

import airloom as al
from airloom.ros2 import interfaces
from airloom.runs.folder import RunFolder
from airloom.runs.recorded import RecordedRun

pytest.importorskip("cyclonedds")


def test_a_run_is_paused_edited_and_begun_anew_by_services(tmp_path):
    domain = own_domain()
    sim = al.Simulation.load("hover", overrides={"engine": "batch", "duration": 600, "ros2.domain": domain})
    run = RecordedRun(sim, RunFolder.create("hover", tmp_path / "run"), speed=1.0)

    def command():
        client = FastClient(None, domain)
        set_bool, step, spawn, delete, trigger = map(
            interfaces.service,
            (interfaces.SET_BOOL, interfaces.STEP, interfaces.SPAWN, interfaces.DELETE, interfaces.TRIGGER),
        )
        try:
            refused = client.call("/airloom/step", step, {"ticks": 5})
            assert "pause it first" in refused.message
            assert client.call("/airloom/pause", set_bool, {"data": True}).success
            tick = sim.tick
            assert client.call("/airloom/step", step, {"ticks": 5}).success
            assert sim.tick == tick + 5
            wanted = {"kind": "crazyflie2", "pose.position.x": 3.0, "pose.position.z": 0.02}
            name = client.call("/airloom/spawn", spawn, wanted).name
            assert name in sim.vehicles
            until(lambda: any(o.startswith(f"/{name}/") for o in sim.ros2.outgoing._outlets), lambda: None)
            assert "unicorn" in client.call("/airloom/spawn", spawn, {**wanted, "kind": "unicorn"}).message
            assert client.call("/airloom/delete", delete, {"name": name}).success
            assert client.call("/airloom/pause", set_bool, {"data": False}).success
            assert client.call("/airloom/reset", trigger).success
        finally:
            client.close()
            run.stop()

    with ThreadPoolExecutor() as threads:
        told = threads.submit(command)
        run.fly()
        told.result()
    assert run.summary()["ros2"] is not None
    assert list(sim.vehicles) == ["cf"]


def test_patterns_that_match_nothing_are_warned_of(tmp_path):
    """Without a log, too; what only ROS has counts as a match."""
    wishes = {"domain": own_domain(), "topics": ["/cf/imo", "/tf", "/*/imu"], "rates": {"/cf/joint_states": 5, "/x": 1}}
    sim = al.Simulation.load("hover", overrides={"engine": "batch", "duration": 0.1, "ros2": wishes})
    run = RecordedRun(sim, RunFolder.create("hover", tmp_path / "run"), log=False)
    run.fly()
    assert sim.warnings == [
        "0.100 s: ros2: ros2.topics: no topic is like '/cf/imo'; did you mean '/cf/imu'?",
        "0.100 s: ros2: ros2.rates: no topic is like '/x'",
    ]
