"""An external controller drives the simulation: real processes, real sockets, programs in Python and C."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import airloom as al

EXAMPLES = Path(__file__).parents[2] / "examples" / "steps"
AIRLOOM = [sys.executable, "-m", "airloom", "serve", "hover", "--set", "systems={}"]
ENV = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}
BARE = ["--set", "vehicles.cf.controller=null"]


class Server:
    def __init__(self, *options):
        self.process = subprocess.Popen([*AIRLOOM, *options], stdout=subprocess.PIPE, text=True, env=ENV)
        while not (line := self.process.stdout.readline()).startswith("Serving"):
            assert line, "it ended before it served"
        self.place = line.split(" at ")[1].split(";")[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(30) == 0


class Client:
    def __init__(self, place):
        if place.startswith("127."):
            self.socket = socket.create_connection(("127.0.0.1", int(place.split(":")[1])), 60)
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(60)
            self.socket.connect(place)
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


def test_stdio():
    lines = '{"method":"step","ticks":3}\n{"method":"close"}\n'
    done = subprocess.run([*AIRLOOM, "--stdio"], input=lines, capture_output=True, text=True, env=ENV, timeout=120)
    assert [json.loads(line)["tick"] for line in done.stdout.splitlines()] == [3, 3]
