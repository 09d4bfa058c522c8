"""Real clients, which `scripts/test` installs: rclpy of Jazzy and Kilted, an independent DDS, rosbags."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import platformdirs
import pytest
from tests.ros2_peers import own_domain

import airloom as al
from airloom.bus import messages
from airloom.ros2 import interfaces, names
from airloom.ros2.files import fast_dds, interface_files

pytest.importorskip("cyclonedds")
NODES = Path(__file__).parent.parent / "ros2_nodes"
CLIENTS = Path(os.environ.get("AIRLOOM_ROS2_CLIENTS") or platformdirs.user_cache_path("airloom") / "ros2_clients")
STATE_HASH = "RIHS01_3cc97dc7fb7502f8714462c526d369e35b603cfc34d946e3f2eda2766dfec6e0"
READ_TF = """
import sys, rosless
with rosless.Node(int(sys.argv[1])).subscribe("/tf", wait=60.0) as frames:
    message = frames.read(timeout=60.0)
one = message.to_dict()["transforms"][0]
print(one["header"]["frame_id"], one["child_frame_id"], one["transform"]["translation"]["z"])
"""

SEEING = """
name: seeing
duration: 600
vehicles:
  drone:
    extends: multirotor
    pose: {position: [0, 0, 2]}
    sensors: {depth: {extends: realsense_d435, rate: 10, width: 640, height: 480, pitch: 1.5}}
systems:
  hold: {kind: waypoints, vehicle: drone, points: [{at: 0, position: [0, 0, 2]}]}
"""

WALK = """
name: walk
duration: 600
world: lab
vehicles:
  cf: {extends: crazyflie2, controller: modes, pose: {position: [0, 0, 0.015]}}
  sprayer: {extends: sprayer, pose: {position: [5, 5, 0.42]}}
"""


def python_of(environment: str) -> str:
    found = CLIENTS / environment / "bin" / "python"
    if not found.exists():
        pytest.skip(f"no real client '{environment}' in {CLIENTS}: the package index may not have it")
    return str(found)


def environment(domain: int) -> dict[str, str]:
    return {**os.environ, "ROS_DOMAIN_ID": str(domain)}


@contextmanager
def flying(*more: str, domain: int, out: Path):
    """A run in a process of its own, which ends with the block."""
    options = [
        "--headless",
        "--ros2",
        "--domain",
        str(domain),
        "--no-figures",
        "--set",
        "engine=batch",
        "--out",
        str(out),
    ]
    run = subprocess.Popen(
        [sys.executable, "-m", "airloom", "run", *more, "--until", "1e6", *options], stdout=subprocess.PIPE, text=True
    )
    try:
        yield
    finally:
        run.terminate()
        run.communicate()


def said_by(distribution: str, node: str, *arguments: str, domain: int, **variables: str) -> dict:
    """The line of JSON that a node leaves. Nobody ends it but the clock: it may hang as those of ROS do."""
    command, more = [python_of(distribution), str(NODES / node), *arguments], {**environment(domain), **variables}
    node_process = subprocess.Popen(command, env=more, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        told, complaint = node_process.communicate(timeout=300)
    finally:
        node_process.kill()
    assert node_process.returncode == 0, complaint
    return json.loads(told.splitlines()[-1])


def our_messages(distribution: str) -> Path:
    """Where they are installed, as they are defined now."""
    made = CLIENTS / f"{distribution}-messages"
    for path, text in interface_files().items():
        if not (made / path).exists() or (made / path).read_text(encoding="utf-8") != text:
            pytest.skip(f"our messages are not built for {distribution}: scripts/ros2_clients does, if it has CMake")
    return made


def with_our_messages(distribution: str) -> dict[str, str]:
    """Variables for a node that speaks them."""
    home, made = CLIENTS / distribution, our_messages(distribution)
    return {
        "PYTHONPATH": str(next(made.glob("lib/python3*/site-packages"))),
        "LD_LIBRARY_PATH": f"{home / 'lib'}:{made / 'lib'}",
    }


@pytest.mark.parametrize("distribution", ["jazzy", "kilted"])
def test_a_node_finds_hears_and_commands_a_run(tmp_path, distribution):
    domain = own_domain()
    with flying("hover", domain=domain, out=tmp_path / "run"):
        found = said_by(distribution, "probe.py", domain=domain)
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


@pytest.mark.parametrize("distribution", ["jazzy", "kilted"])
def test_a_node_with_our_own_types_follows_a_path_cancels_spawns_and_starts_missions(tmp_path, distribution):
    domain, built = own_domain(), with_our_messages(distribution)
    with flying("hover", "--speed", "3", domain=domain, out=tmp_path / "run"):
        found = said_by(distribution, "pilot.py", domain=domain, **built)
    assert [what for what, came_true in found.items() if not came_true] == []


@pytest.mark.parametrize("distribution", ["jazzy", "kilted"])
def test_all_that_the_page_promises_shows_in_the_simulation(tmp_path, distribution):
    domain, built, scenario = own_domain(), with_our_messages(distribution), tmp_path / "walk.yaml"
    scenario.write_text(WALK)
    with flying(str(scenario), "--speed", "10", domain=domain, out=tmp_path / "run"):
        found = said_by(distribution, "walk.py", domain=domain, **built)
    assert [what for what, came_true in found.items() if not came_true] == []
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["ros2"]["dropped"] == {}


@pytest.mark.parametrize("distribution", ["jazzy", "kilted"])
def test_hashes_of_our_types_are_those_that_ros_works_out(distribution):
    share = our_messages(distribution) / "share" / "airloom_interfaces"
    worked_out = {
        one["type_name"]: one["hash_string"]
        for path in share.glob("*/*.json")
        for one in json.loads(path.read_text())["type_hashes"]
        if one["type_name"].startswith("airloom_interfaces/")
    }
    used = [name for name in messages.OWN_DEFINITIONS if name.startswith("airloom_interfaces/")]
    used += map(interfaces.service, interfaces.OWN_SERVICES)
    used += interfaces.action(interfaces.FOLLOW_PATH)
    assert {name: names.type_hash(name) for name in used} == {name: worked_out[name] for name in used}


@pytest.mark.parametrize("distribution", ["jazzy", "kilted"])
def test_a_hundred_topics_at_100_hz_lose_nothing(tmp_path, distribution):
    domain, topics = own_domain(), [f"/drone_{k}/state" for k in range(100)]
    many = ["--set", "vehicles.drone.copies.count=100", "--set", "log.rate=100", "--set", "ros2.rate=100"]
    with flying("fleet", *many, "--speed", "0.5", domain=domain, out=tmp_path / "run"):
        found = said_by(distribution, "listener.py", "nav_msgs/msg/Odometry", "100", *topics, domain=domain)
    assert (found["heard"] >= 100, found["missing"], found["period"]) == (True, 0, 0.01)


@pytest.mark.parametrize("distribution", ["jazzy", "kilted"])
def test_pictures_and_clouds_of_a_depth_camera_lose_nothing(tmp_path, distribution):
    """640 × 480 at 10 Hz, which looks down, so that each point is one; both to one node."""
    pytest.importorskip("embreex")
    domain, scenario, profiles = own_domain(), tmp_path / "seeing.yaml", tmp_path / "fastdds.xml"
    scenario.write_text(SEEING)
    profiles.write_text(fast_dds())
    large = dict.fromkeys(("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"), str(profiles))
    with flying(str(scenario), domain=domain, out=tmp_path / "run"):
        found = said_by(
            distribution,
            "listener.py",
            "sensor_msgs/msg/PointCloud2,sensor_msgs/msg/Image",
            "20",
            "/drone/depth/points",
            "/drone/depth/image",
            domain=domain,
            **large,
        )
    assert (found["heard"], found["missing"], found["period"]) == (20, 0, 0.1), "of each"
    assert found["largest"] > 3_000_000


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
