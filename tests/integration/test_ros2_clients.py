"""Real clients, which `scripts/test` installs: rclpy of Jazzy and Kilted, an independent DDS, rosbags."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest
from tests.ros2_peers import own_domain

import airloom as al

pytest.importorskip("cyclonedds")
NODES = Path(__file__).parent.parent / "ros2_nodes"
CLIENTS = Path(os.environ.get("AIRLOOM_ROS2_CLIENTS") or platformdirs.user_cache_path("airloom") / "ros2_clients")
STATE_HASH = "RIHS01_3cc97dc7fb7502f8714462c526d369e35b603cfc34d946e3f2eda2766dfec6e0"
READ_TF = """
import sys, rosless
with rosless.Node(int(sys.argv[1])).subscribe("/tf") as frames:
    message = frames.read(timeout=20.0)
one = message.to_dict()["transforms"][0]
print(one["header"]["frame_id"], one["child_frame_id"], one["transform"]["translation"]["z"])
"""


def python_of(environment: str) -> str:
    found = CLIENTS / environment / "bin" / "python"
    if not found.exists():
        pytest.skip(f"no real client '{environment}' in {CLIENTS}: the package index may not have it")
    return str(found)


def environment(domain: int) -> dict[str, str]:
    return {**os.environ, "ROS_DOMAIN_ID": str(domain)}


@pytest.mark.slow
@pytest.mark.parametrize("distribution", ["jazzy", "kilted"])
def test_a_node_finds_hears_and_commands_a_run(tmp_path, distribution):
    python, domain = python_of(distribution), own_domain()
    command = [sys.executable, "-m", "airloom", "run", "hover", "--headless", "--ros2", "--domain", str(domain)]
    options = ["--until", "600", "--no-figures", "--set", "engine=batch", "--out", str(tmp_path / "run")]
    run = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
    try:
        probe = [python, str(NODES / "probe.py")]
        told = subprocess.run(
            probe, env=environment(domain), capture_output=True, text=True, timeout=120, start_new_session=True
        )
        assert told.returncode == 0, told.stderr
    finally:
        run.terminate()
        run.wait()
    found = json.loads(told.stdout.splitlines()[-1])
    yes = ["heard", "flew", "set", "paused", "stood_still", "resumed", "went_on", "reset", "began_anew"]
    assert {name: found[name] for name in yes} == dict.fromkeys(yes, True)
    assert not found["mismatched"], "a reliable subscriber has nothing from a best-effort publisher"
    assert "/airloom" in found["nodes"]
    assert found["publishes"]["/cf/state"] == ["nav_msgs/msg/Odometry"]
    assert f"RIHS01_{found['hash']}" == STATE_HASH
    assert found["types"]["/cf/state"] == ["nav_msgs/msg/Odometry"]
    assert found["types"]["/tf"] == ["tf2_msgs/msg/TFMessage"]
    assert found["actions"] == {"/cf/follow_path": ["airloom_interfaces/action/FollowPath"]}
    assert found["services"]["/airloom/set_parameters"] == ["rcl_interfaces/srv/SetParameters"]
    assert "cf.xy_kp" in found["parameters"]
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["ros2"]["dropped"] == {}


@pytest.mark.slow
def test_a_node_in_lockstep_gives_the_same_bits_however_slow_it_is():
    hashes = set()
    for seed, slowness in ((1, 0.0), (2, 0.02)):
        domain = own_domain()
        controller = subprocess.Popen(
            [python_of("jazzy"), str(NODES / "controller.py"), str(seed), str(slowness)], env=environment(domain)
        )
        lockstep = {"tell": "/cf/state", "hear": "/cf/goal_pose"}
        overrides = {"engine": "batch", "ros2.domain": domain, "ros2.lockstep": lockstep}
        try:
            with al.Simulation.load("hover", overrides=overrides) as sim:
                sim.run(until=1.0)
                assert sim.vehicles["cf"].position[2] > 0.1
                hashes.add(sim.state_hash())
        finally:
            controller.kill()
            controller.wait()
    assert len(hashes) == 1


def test_an_independent_implementation_reads_tf():
    python, domain = python_of("rosless"), own_domain()
    with al.Simulation.load("hover", overrides={"engine": "batch", "ros2.domain": domain}) as sim:
        sim.step()
        reader = subprocess.Popen([python, "-c", READ_TF, str(domain)], stdout=subprocess.PIPE, text=True)
        while reader.poll() is None:
            sim.step(20)
        assert reader.stdout.read().split()[:2] == ["cf/odom", "cf/base_link"]


def test_a_log_opens_as_a_bag(tmp_path):
    """With what reads ROS's bags: the log is MCAP with definitions and bytes of ROS 2."""
    from rosbags.highlevel import AnyReader

    from airloom.runs.folder import RunFolder
    from airloom.runs.recorded import RecordedRun

    sim = al.Simulation.load("hover", overrides={"engine": "batch", "duration": 0.5})
    run = RecordedRun(sim, RunFolder.create("hover", tmp_path / "run"))
    run.fly()
    with AnyReader([run.folder.log]) as bag:
        states = [c for c in bag.connections if c.topic == "/cf/state"]
        read = [bag.deserialize(raw, c.msgtype) for c, _, raw in bag.messages(connections=states)]
    assert len(read) == 26
    assert read[-1].pose.pose.position.z == pytest.approx(sim.vehicles["cf"].position[2])
