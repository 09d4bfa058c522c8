"""An external controller drives the simulation: real processes, real sockets, programs in Python and C."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import pytest

import airloom as al

EXAMPLES = Path(__file__).parents[2] / "examples" / "steps"
SERVE = [sys.executable, "-m", "airloom", "serve"]
AIRLOOM = [*SERVE, "hover", "--set", "systems={}"]
ENV = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}
BARE = ["--set", "vehicles.cf.controller=null"]


MAIN_THREAD_HEARS_LATE = [
    sys.executable, "-c",
    "import signal, sys, threading, time\n"
    "threading.Thread(target=time.sleep, args=[600], daemon=True).start()\n"
    "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])\n"
    "sys.argv[0] = 'airloom'; import airloom.cli; airloom.cli.main()",
]  # fmt: skip
"""The kernel gives the signal to another thread, so it ends no wait, as one that comes just before the wait."""


class Server:
    def __init__(self, *options, command=AIRLOOM):
        self.process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True, env=ENV)
        while not (line := self.process.stdout.readline()).startswith("Serving"):
            assert line, "it ended before it served"
        self.place = line.split(" at ")[1].split(";")[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(120) == 0


class Client:
    def __init__(self, place, tls=None):
        if place.startswith("127."):
            self.socket = socket.create_connection(("127.0.0.1", int(place.split(":")[1])), 60)
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(60)
            self.socket.connect(place)
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_hostname="127.0.0.1")
        self.replies = self.socket.makefile("rb")

    def ask(self, method, **fields):
        return self.say(json.dumps({"method": method, **fields}).encode() + b"\n")

    def say(self, line):
        self.socket.sendall(line)
        return json.loads(self.replies.readline())

    def close(self):
        self.replies.close()
        self.socket.close()


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_the_same_bits_as_in_one_process(tmp_path, engine):
    with Server("--set", f"engine={engine}", "--tcp", "0") as server:
        client, hashes = Client(server.place), []
        for _ in range(2):
            client.ask("reset", seed=3)
            client.ask("command", vehicle="cf", kind="position_yaw", position=[0, 0, 1])
            for _ in range(100):
                seen = client.ask("step", ticks=7, observe="cf")
            hashes.append(client.ask("hash")["hash"])
    sim = al.Simulation.load("hover", seed=3, overrides={"systems": {}, "engine": engine})
    sim.vehicles["cf"].command(al.PositionYaw((0, 0, 1)))
    sim.step(700)
    assert hashes == [sim.state_hash()] * 2
    assert seen["vehicles"]["cf"]["position"] == sim.vehicles["cf"].position.tolist()


def test_examples_fly_to_their_goal(tmp_path):
    place = str(tmp_path / "s")
    program = str(tmp_path / "controller")
    subprocess.run(["gcc", "-O2", "-Wall", "-Werror", EXAMPLES / "controller.c", "-lm", "-o", program], check=True)
    with Server(*BARE, "--socket", place):
        for command in ([sys.executable, str(EXAMPLES / "controller.py")], [program]):
            done = subprocess.run([*command, place], capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stderr
            assert float(done.stdout.split()[1]) == pytest.approx(1.0, abs=0.01)
    assert not Path(place).exists()


@pytest.mark.skipif(not shutil.which("octave-cli"), reason="Octave is not installed")
def test_the_octave_example_flies_to_its_goal():
    with Server(*BARE, "--tcp", "0") as server:
        env = {**ENV, "AIRLOOM_PORT": server.place.split(":")[1]}
        command = ["octave-cli", "--norc", str(EXAMPLES / "controller.m")]
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120)
    assert done.stdout == "height 1.000 m\n", done.stderr
    assert "warning" not in done.stderr


def test_readings_are_those_of_the_simulation(tmp_path):
    with Server(*BARE, "--socket", str(tmp_path / "s")) as server:
        client = Client(server.place)
        widths = client.ask("describe")["vehicles"]["cf"]["sensors"]
        first = client.ask("reset", seed=3, readings="cf")["readings"]["cf"]
        later = client.ask("step", ticks=50, readings="c*")["readings"]["cf"]
        assert client.ask("readings", vehicle="cf")["readings"]["cf"] == later
    sim = al.Simulation.load("hover", seed=3, overrides={"systems": {}, "vehicles.cf.controller": None})
    sim.first_look()
    assert first == {name: values.tolist() for name, values in sim.vehicles["cf"].readings.items()}
    assert widths == {name: len(values) for name, values in first.items()}
    assert any(widths.values())
    sim.step(50)
    assert later == {name: values.tolist() for name, values in sim.vehicles["cf"].readings.items()}
    assert later != first


def test_the_next_client_finds_what_the_last_one_left(tmp_path):
    with Server("--socket", str(tmp_path / "s")) as server:
        for ticks in (5, 10, 15):
            client = Client(server.place)
            assert client.ask("step", ticks=5)["tick"] == ticks
            client.close()


def test_a_served_run_is_logged(tmp_path):
    out = tmp_path / "run"
    with Server("--socket", str(tmp_path / "s"), "--seed", "3", "--out", str(out)) as server:
        client = Client(server.place)
        client.ask("reset")
        client.ask("step", ticks=100)
        client.ask("reset", seed=4)
        client.ask("command", vehicle="cf", kind="position_yaw", position=[0, 0, 1])
        for _ in range(500):
            client.ask("step")
        told = client.ask("hash")["hash"]
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["status"], summary["seed"], summary["simulated_time"]) == ("finished", 4, 0.5)
    assert summary["state_hash"] == told
    sim = al.Simulation.load("hover", seed=4, overrides={"systems": {}})
    sim.vehicles["cf"].command(al.PositionYaw((0, 0, 1)))
    sim.step(500)
    assert sim.state_hash() == told, "a log changes no bit"
    last = _last_state(out / "log.mcap")
    assert last == (500_000_000, sim.vehicles["cf"].position.tolist())
    assert _last_state(out / "log-1.mcap")[0] == 100_000_000


def _last_state(log):
    from airloom.runs.mcap import LogReader

    _, time_ns, message = list(LogReader(log).messages("/cf/state"))[-1]
    at = message.pose.pose.position
    return time_ns, [at.x, at.y, at.z]


def test_members_of_the_scenario_are_started_once(tmp_path):
    log, scenario = tmp_path / "starts", tmp_path / "s.yaml"
    program = tmp_path / "member.py"
    program.write_text(
        "from airloom.member import join\n"
        f"open({str(log)!r}, 'a').write('x')\n"
        "with join() as me:\n"
        "    for turn in me: pass\n"
    )
    scenario.write_text(
        "name: s\nduration: 5\nvehicles: {cf: {extends: crazyflie2}}\n"
        f"members: {{logic: {{command: [{sys.executable}, {program}], rate: 100}}}}\n"
    )
    with Server("--socket", str(tmp_path / "s"), command=[*SERVE, str(scenario)]) as server:
        client = Client(server.place)
        client.ask("describe")
        client.ask("reset", seed=3)
        assert client.ask("step", ticks=20).get("error") is None
    assert log.read_text() == "x"


def test_steps_one_by_one_with_and_without_onlookers():
    """A tick that nobody looks at takes a shorter way: who comes later must find everything in place."""

    def heard(chunk):
        sim = al.Simulation.load("hover", overrides={"systems": {}})
        sim.vehicles["cf"].command(al.PositionYaw((0, 0, 1)))
        told = []
        sim.call_at(0.03, lambda: told.append(sim.tick))
        for tick in range(0, 600, chunk):
            if tick == 300:
                sim.bus.subscribe("/cf/*", lambda topic, message, at: told.append((topic.name, at)))
            sim.step(chunk)
        return told, sim.state_hash()

    assert heard(1) == heard(300)


def test_by_tls(tmp_path, monkeypatch):
    monkeypatch.setitem(ENV, "XDG_DATA_HOME", str(tmp_path))
    with Server("--tcp", "0", "--token", "secret", "--tls") as server:
        trusting = ssl.create_default_context(cafile=tmp_path / "airloom/certificate.pem")
        client = Client(server.place, trusting)
        assert client.ask("hello", token="secret")["ok"]
        assert client.ask("step", ticks=10, observe="cf")["tick"] == 10
        assert "another client" in Client(server.place, trusting).replies.readline().decode()
        client.close()
        assert "token" in Client(server.place, trusting).ask("step")["error"]


@pytest.mark.parametrize("is_connected", [True, False])
def test_a_signal_that_ends_no_wait_is_noticed(is_connected):
    with Server(command=[*MAIN_THREAD_HEARS_LATE, *AIRLOOM[3:]]) as server:
        client = Client(server.place)
        assert client.ask("step")["ok"]
        if not is_connected:
            client.close()


def test_a_signal_that_ends_no_wait_for_standard_input_is_noticed():
    process = subprocess.Popen(
        [*MAIN_THREAD_HEARS_LATE, *AIRLOOM[3:], "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENV
    )
    process.stdin.write(b'{"method":"step"}\n')
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["ok"]
    process.send_signal(signal.SIGINT)
    assert process.wait(120) == 0


def test_stdio():
    lines = '{"method":"step","ticks":3}\n{"method":"close"}\n'
    done = subprocess.run([*AIRLOOM, "--stdio"], input=lines, capture_output=True, text=True, env=ENV, timeout=120)
    assert [json.loads(line)["tick"] for line in done.stdout.splitlines()] == [3, 3]
