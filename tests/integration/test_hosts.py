"""Two machines: network namespaces with a cable between them. The same bits in one process, in many, on two hosts."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

import airloom as al
from airloom.scenario import known, load

VEHICLES = """
name: hosted
duration: 3
engine: mujoco
vehicles:
  drone: {extends: multirotor, pose: {position: [0, 0, 0.05]}, copies: {count: 3, spacing: 3}}
"""
IN_THE_PROCESS = """
systems:
  chief: {kind: "inside.py:Inside", rate: 50, vehicles: [drone_0]}
  wing: {kind: "inside.py:Inside", rate: 25, vehicles: [drone_1, drone_2]}
"""
IN_PROCESSES = """
members:
  chief: {command: [python, outside.py], vehicles: drone_0, rate: 50, start_timeout: 120}
  wing:
    {command: [python, outside.py], vehicles: "drone_[12]", rate: 25, AT_start_timeout: 120, timeout: TIMEOUT,
    on_failure: POLICY}
"""
LOGIC = """
from airloom import PositionYaw, VelocityYawRate

def think(name, time, position):
    if name == "drone_0":
        return PositionYaw((time, 0.5 * position[1], 2.0))
    return VelocityYawRate((0.3 * position[0], -0.2, 1.5 - position[2]), yaw_rate=0.1)
"""
INSIDE = """
import importlib.util
from pathlib import Path
import airloom as al
from airloom.plugin import Parameters

spec = importlib.util.spec_from_file_location("logic", Path(__file__).parent / "logic.py")
logic = importlib.util.module_from_spec(spec)
spec.loader.exec_module(logic)

class Inside(al.System):
    class Parameters(Parameters):
        vehicles: list[str]

    def post_update(self, sim):
        for name in self.parameters.vehicles:
            vehicle = sim.vehicles[name]
            vehicle.command(logic.think(name, sim.time, vehicle.position))
"""
OUTSIDE = """
from airloom.member import join
from logic import think
with join() as me:
    for turn in me:
        for name, seen in turn.vehicles.items():
            turn.command(name, think(name, turn.time, seen.position))
"""
SIMULATOR, FIELD = "10.77.0.1", "10.77.0.2"


def written(folder, rest):
    for name, text in {"logic": LOGIC, "inside": INSIDE, "outside": OUTSIDE}.items():
        (folder / f"{name}.py").write_text(text)
    (folder / "hosted.yaml").write_text(VEHICLES + rest)
    return folder / "hosted.yaml"


def members(at="", timeout=10, policy="stop"):
    return (
        IN_PROCESSES.replace("AT_", f"at: {at}, " if at else "")
        .replace("TIMEOUT", str(timeout))
        .replace("POLICY", policy)
    )


@pytest.fixture
def hashes(tmp_path):
    """Of the flight with its logic in the process of the simulation, and in one process each."""
    found = {}
    for place, rest in {"inside": IN_THE_PROCESS, "processes": members()}.items():
        with al.Simulation(load(written(tmp_path, rest))) as sim:
            sim.run()
            assert sim.vehicles["drone_0"].position[2] > 1.5
            found[place] = sim.state_hash()
    return found


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@pytest.fixture
def hosts():
    """Two namespaces; a function runs a command in one of them, and another pulls the plug."""
    names = [f"airloom-{os.getpid()}-{side}" for side in ("simulator", "field")]
    try:
        ip("netns", "add", names[0])
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no network namespaces here: {error}")
    with ExitStack() as stack:
        stack.callback(ip, "netns", "del", names[0])
        ip("netns", "add", names[1])
        stack.callback(ip, "netns", "del", names[1])
        ip("link", "add", "cable", "netns", names[0], "type", "veth", "peer", "name", "cable", "netns", names[1])
        for name, address in zip(names, (SIMULATOR, FIELD), strict=True):
            ip("-n", name, "address", "add", f"{address}/24", "dev", "cable")
            for device in ("lo", "cable"):
                ip("-n", name, "link", "set", device, "up")
        yield Hosts(stack, dict(zip(("simulator", "field"), names, strict=True)))


class Hosts:
    def __init__(self, stack, names):
        self._stack, self._names = stack, names

    def start(self, host, *command, cwd):
        process = subprocess.Popen(
            ["ip", "netns", "exec", self._names[host], sys.executable, *map(str, command)],
            cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process

    def pull_the_plug(self):
        ip("-n", self._names["field"], "link", "set", "cable", "down")


def flown_on_two_hosts(folder, hosts, branch_goes_to=f"{SIMULATOR}:7700", scenario=None):
    scenario = scenario or written(folder, members(at="field"))
    run = ["-m", "airloom", "run", scenario, "--headless", "--no-figures", "--out", folder / "run"]
    simulator = hosts.start("simulator", *run, "--loom", f"tcp:{SIMULATOR}:7700", "--token", "secret", cwd=folder)
    branch = ["-m", "airloom", "branch", "field", f"tcp:{branch_goes_to}", scenario, "--token", "secret"]
    field = hosts.start("field", *branch, cwd=folder)
    told = simulator.communicate(timeout=300)
    assert simulator.returncode == 0, told
    assert "Over: the run is over" in field.communicate(timeout=120)[0]
    return (folder / "run/summary.json").read_text()


def test_in_the_process_and_in_processes(hashes):
    assert hashes["inside"] == hashes["processes"]


def test_in_processes_and_on_two_hosts(tmp_path, hashes, hosts):
    assert hashes["processes"] in flown_on_two_hosts(tmp_path, hosts)


def test_in_the_process_and_on_two_hosts_far_apart(tmp_path, hashes, hosts):
    """20 ms there and 20 ms back: slower, but the same."""
    line = Path(__file__).with_name("delay_line.py")
    hosts.start("field", line, f"{FIELD}:7701", f"{SIMULATOR}:7700", "20", cwd=tmp_path)
    began = time.monotonic()
    assert hashes["inside"] in flown_on_two_hosts(tmp_path, hosts, f"{FIELD}:7701")
    assert time.monotonic() - began > 76 * 0.04, "each of the 76 turns waited for the way there and back"


FLOCK = """
name: hosted
duration: 6
engine: batch
radio: {channel: {fading: {kind: nakagami}}}
vehicles:
  bird:
    extends: multirotor
    pose: {position: [0, 0, 0.05]}
    copies: {count: 3, spacing: 7}
    sensors: {imu: null, barometer: null, magnetometer: null}
systems:
  flock: {kind: flock, enabled: INSIDE, v_flock: 3, height: 8, climb: 3, arena: {radius: 50}}
"""


def test_a_flock_by_radio_in_the_process_in_processes_and_on_two_hosts(tmp_path, hosts):
    """The hash holds the medium's state, and what each has heard."""
    program = known("scenario")["flock"].with_suffix("") / "fly.py"

    def made(at):
        text = FLOCK.replace("INSIDE", "false") + "members:\n"
        for k in range(3):
            more = "start_timeout: 120" + (f", at: {at}" if at and k else "")
            command = f"[python, {program}, hosted.yaml]"
            text += f"  bird_{k}: {{command: {command}, vehicles: bird_{k}, sensors: gnss, rate: 20, {more}}}\n"
        (tmp_path / "hosted.yaml").write_text(text)
        return tmp_path / "hosted.yaml"

    (tmp_path / "hosted.yaml").write_text(FLOCK.replace("INSIDE", "true"))
    sim = al.Simulation.load(tmp_path / "hosted.yaml")
    sim.run()
    inside = sim.state_hash()
    assert min(node["heard"] for node in sim.radio.summary()["nodes"].values()) > 20
    with al.Simulation(load(made(""))) as sim:
        sim.run()
        assert sim.state_hash() == inside
    assert inside in flown_on_two_hosts(tmp_path, hosts, scenario=made("field"))


def test_a_cable_that_is_pulled(tmp_path, hosts):
    """The simulation holds the vehicles and goes on; the branch ends by itself when nobody answers.

    It is pulled in the turn of a member, which ends as soon as it is, so that the branch sends something that nobody
    acknowledges.
    """
    scenario = written(tmp_path, members(at="field", timeout=5, policy="hold"))
    thinking = """
        if turn.time == 1.0:
            print("thinking", flush=True)
            while not Path("pulled").exists():
                time.sleep(0.01)"""
    (tmp_path / "outside.py").write_text(
        "import time\nfrom pathlib import Path\n" + OUTSIDE.replace("for turn in me:", f"for turn in me:{thinking}")
    )
    run = ["-m", "airloom", "run", scenario, "--headless", "--no-figures", "--out", tmp_path / "run"]
    simulator = hosts.start("simulator", *run, "--loom", f"tcp:{SIMULATOR}:7700", "--token", "s", cwd=tmp_path)
    branch = ["-m", "airloom", "branch", "field", f"tcp:{SIMULATOR}:7700", scenario, "--token", "s"]
    field = hosts.start("field", *branch, cwd=tmp_path)
    log = tmp_path / "member-wing.txt"
    while not log.exists() or "thinking" not in log.read_text():
        assert simulator.poll() is None
        time.sleep(0.05)
    hosts.pull_the_plug()
    pulled = time.monotonic()
    (tmp_path / "pulled").touch()
    told = simulator.communicate(timeout=120)
    assert simulator.returncode == 3, told
    summary = (tmp_path / "run/summary.json").read_text()
    assert "member 'wing' is out of reach: branch 'field' did not answer within 10 s" in summary
    assert "is lost" in field.communicate(timeout=60)[1]
    assert field.returncode == 1
    assert time.monotonic() - pulled < 25, "what docs/reliability.md promises"
