"""Many programs, one clock: members in lockstep, in Python and in C, the same however slow they are."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

import airloom as al
from airloom.loom.listening import Listeners
from airloom.loom.loom import LoomError
from airloom.net.listening import ListenError
from airloom.scenario import ScenarioError, load

EXAMPLES = Path(__file__).parents[2] / "examples" / "loom"
SCENARIO = """
name: loomed
duration: 3
engine: ENGINE
vehicles:
  drone: {extends: multirotor, pose: {position: [0, 0, 0.05]}, copies: {count: 4, spacing: 3}}
members:
  leader: {command: [python, leader.py], vehicles: drone_0, rate: 50}
  follower: {command: [python, follower.py], vehicles: "drone_[123]", rate: 20}
  radio: {command: [python, radio.py], phase: simulator, rate: 100}
"""
LEADER = """
import time
from airloom import PositionYaw
from airloom.member import join
with join() as me:
    for turn in me:
        SLEEP
        turn.command("drone_0", PositionYaw((turn.time, 0, 2)))
        x, y, z = turn.vehicles["drone_0"].position
        turn.send("radio", f"{x:.17g} {z:.17g}".encode())
"""
RADIO = """
from airloom.member import join
with join() as me:
    for turn in me:
        assert len(turn.vehicles) == 4
        for letter in turn.letters:
            turn.send("follower", letter.content)
"""
FOLLOWER = """
from airloom import PositionYaw
from airloom.member import join
with join() as me:
    for turn in me:
        for letter in turn.letters[-1:]:
            x, z = map(float, letter.content.split())
            for k, name in enumerate(me.vehicles):
                turn.command(name, PositionYaw((x, 3 * (k + 1), z + 1)))
"""


def flown(folder, engine="batch", sleep="pass", step=None):
    for name, text in {"leader": LEADER.replace("SLEEP", sleep), "radio": RADIO, "follower": FOLLOWER}.items():
        (folder / f"{name}.py").write_text(text)
    (folder / "loomed.yaml").write_text(SCENARIO.replace("ENGINE", engine))
    with al.Simulation(load(folder / "loomed.yaml")) as sim:
        if step:
            while sim.time < 3.0:
                sim.step(step)
        else:
            sim.run()
        return sim.state_hash(), [vehicle.position for vehicle in sim.vehicles.values()]


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_the_same_however_slow_they_are(tmp_path, engine):
    expected, positions = flown(tmp_path, engine)
    assert positions[0][0] > 1.0
    assert positions[1][2] > 1.0, "the follower heard through the radio"
    slow = "time.sleep(0.02 if round(turn.time * 50) % 10 == 0 else 0)"
    assert flown(tmp_path, engine, sleep=slow)[0] == expected
    assert flown(tmp_path, engine, step=8)[0] == expected


def test_a_reset_starts_the_members_anew(tmp_path):
    expected, _ = flown(tmp_path)
    with al.Simulation(load(tmp_path / "loomed.yaml")) as sim:
        sim.run(until=1.0)
        sim.reset()
        sim.run()
        assert sim.state_hash() == expected


def test_a_member_in_c(tmp_path):
    subprocess.run(
        ["gcc", "-O2", "-Wall", "-Werror", "-o", tmp_path / "member", EXAMPLES / "member.c", "-lm"], check=True
    )
    scenario = SCENARIO[: SCENARIO.index("members:")].replace("ENGINE", "batch").replace("duration: 3", "duration: 25")
    (tmp_path / "loomed.yaml").write_text(f"{scenario}members:\n  circle: {{command: [./member]}}\n")
    with al.Simulation(load(tmp_path / "loomed.yaml")) as sim:
        sim.run()
        for k, vehicle in enumerate(sim.vehicles.values()):
            x, y, z = vehicle.position
            assert (x * x + y * y) ** 0.5 == pytest.approx(3.0, abs=0.6)
            assert z == pytest.approx(2 + k, abs=0.1)


def test_a_member_that_falls_silent_in_velocity_mode(tmp_path):
    """The guard hears members, too, whichever way their commands are carried out."""
    logic = LEADER.replace("SLEEP", "if turn.time > 1.5: continue").replace(
        "PositionYaw((turn.time, 0, 2))", "VelocityYawRate((0.5, 0, 0.5))"
    )
    (tmp_path / "leader.py").write_text(logic.replace("import PositionYaw", "import VelocityYawRate"))
    text = SCENARIO.replace("ENGINE", "batch").replace("copies:", "command_timeout: 0.5, copies:")
    (tmp_path / "loomed.yaml").write_text(text[: text.index("  follower:")])
    with al.Simulation(load(tmp_path / "loomed.yaml")) as sim:
        sim.run(until=1.9)
        assert sim.vehicles["drone_0"].mode is al.Mode.VELOCITY_YAWRATE
        sim.run()
        assert [warning for warning in sim.warnings if warning.startswith("2.00")], sim.warnings
        assert sim.vehicles["drone_0"].mode is al.Mode.POSITION_YAW


def test_a_vehicle_that_is_deleted_does_not_stop_its_member(tmp_path):
    flown(tmp_path)
    with al.Simulation(load(tmp_path / "loomed.yaml")) as sim:
        sim.run(until=1.0)
        drone = sim.scenario.vehicles["drone"]
        fewer = drone.model_copy(update={"copies": drone.copies.model_copy(update={"count": 3})})
        sim.change(sim.scenario.model_copy(update={"vehicles": {"drone": fewer}}))
        assert len(sim.vehicles) == 3
        sim.run()
        assert sim.time == 3.0
        assert sim.vehicles["drone_1"].position[2] > 1.0


def test_members_are_not_woken_between_their_turns(tmp_path):
    (tmp_path / "leader.py").write_text(LEADER.replace("SLEEP", "print(turn.time_ns)"))
    text = SCENARIO.replace("ENGINE", "batch")
    (tmp_path / "loomed.yaml").write_text(text[: text.index("  follower:")].replace("rate: 50", "rate: 4"))
    with al.Simulation(load(tmp_path / "loomed.yaml")) as sim:
        sim.member_logs = tmp_path
        sim.run(until=1.0)
    told = (tmp_path / "member-leader.txt").read_text().split()
    assert [int(t) for t in told if t.isdigit()] == [0, 250_000_000, 500_000_000, 750_000_000, 1_000_000_000]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("rate: 50", "rate: 30"), "members.leader.rate"),
        (("rate: 50", "rate: -1"), "greater than 0"),
        (("rate: 50", "on_failure: shrug"), "on_failure"),
        (("vehicles: drone_0", "vehicle: drone_0"), "did you mean 'vehicles'"),
        (("[python, leader.py]", "[]"), "command"),
    ],
)
def test_bad_descriptions_are_refused(tmp_path, change, complaint):
    (tmp_path / "loomed.yaml").write_text(SCENARIO.replace("ENGINE", "batch").replace(*change))
    with pytest.raises(ScenarioError, match=complaint):
        load(tmp_path / "loomed.yaml")


JOINING = """
import sys
from airloom import PositionYaw
from airloom.member import NotAdmitted, join
try:
    with join("leader", address=sys.argv[1], token=sys.argv[2]) as me:
        for turn in me:
            turn.command("drone_0", PositionYaw((turn.time, 0, 2)))
except NotAdmitted as error:
    sys.exit(str(error))
"""

VISITORS = """
import socket, subprocess, sys, time
program, port, token = sys.argv[1:]
while socket.socket().connect_ex(("127.0.0.1", int(port))):
    time.sleep(0.01)
for shown in ("wrong", token):
    subprocess.run([sys.executable, program, f"tcp:127.0.0.1:{port}", shown])
"""


def joined_over_tcp(folder, listen, token, port):
    """A run whose only member comes over TCP with this token; its hash, and what a stranger without it is told."""
    text = SCENARIO.replace("ENGINE", "batch").replace("command: [python, leader.py], ", "start_timeout: 120, ")
    (folder / "loomed.yaml").write_text(text[: text.index("  follower:")])
    (folder / "join.py").write_text(JOINING)
    command = [sys.executable, "-c", VISITORS, folder / "join.py", str(port), token]
    with al.Simulation(load(folder / "loomed.yaml")) as sim:
        sim.loom.listen, sim.loom.token = f"tcp:{listen}:{port}", token
        visitors = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            sim.run()
            sim.close()
            told = visitors.communicate(timeout=60)[1]
        finally:
            visitors.kill()
        return sim.state_hash(), sim.vehicles["drone_0"].position, told


def test_over_tcp_with_a_token(tmp_path, free_port):
    _, position, told = joined_over_tcp(tmp_path, "0.0.0.0", "secret", free_port())
    assert position[0] > 1.0
    assert "token is not the right one" in told


def test_beyond_this_machine_there_is_always_a_token(tmp_path):
    for host, guarded in (("0.0.0.0", True), ("127.0.0.1", False)):
        listeners = Listeners(f"tcp:{host}:0")
        assert bool(listeners.token) is guarded
        listeners.close()


@pytest.mark.parametrize("listen", ["tcp:127.0.0.1", "udp:127.0.0.1:1", "tcp::7700", "tcp:127.0.0.1:99999"])
def test_places_that_are_none(listen):
    with pytest.raises(ListenError, match="no place to listen"):
        Listeners(listen)


def test_a_port_in_use(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        text = SCENARIO.replace("ENGINE", "batch")
        (tmp_path / "loomed.yaml").write_text(text)
        with al.Simulation(load(tmp_path / "loomed.yaml")) as sim:
            sim.loom.listen = f"tcp:127.0.0.1:{port}"
            with pytest.raises(LoomError, match=f"cannot listen on 127.0.0.1, port {port}: Address already in use"):
                sim.run()
