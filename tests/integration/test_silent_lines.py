"""A line to a branch that is open but silent, as a stalled tunnel keeps it, is noticed; who is busy is not mistaken."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

import airloom as al
from airloom.loom.beats import BEAT, Beater, Rhythm
from airloom.loom.loom import LoomError
from airloom.scenario import load

RHYTHM = Rhythm(every=0.2, silence=5.0)
BUSY = RHYTHM.silence + 2.0
SCENARIO = """
name: silent
duration: 3
engine: batch
vehicles:
  drone: {extends: multirotor, pose: {position: [0, 0, 0.05]}}
members:
  wing: {command: [python, wing.py], vehicles: drone, rate: 20, start_timeout: 120, timeout: 60, at: field}
"""
WING = f"""
import time
from airloom import PositionYaw
from airloom.member import join
with join() as me:
    for turn in me:
        if turn.time == 2.0:
            time.sleep({BUSY})
        turn.command("drone", PositionYaw((turn.time, 0, 2)))
"""
BRANCH = f"""
import sys
from airloom.loom.beats import Rhythm
from airloom.loom.branch import Branch
here = Branch("field", sys.argv[1], rhythm=Rhythm({RHYTHM.every}, {RHYTHM.silence}))
try:
    here.connect()
    here.start({{"wing": ([sys.executable, "wing.py"], None)}})
    print(here.serve(), flush=True)
finally:
    here.close()
"""


class Tunnel:
    """A TCP proxy: a process that can be stopped, and then passes nothing on and keeps its connections."""

    def __init__(self, port, goes_to):
        self.address, self.goes_to = f"tcp:127.0.0.1:{port}", f"tcp:127.0.0.1:{goes_to}"
        line = Path(__file__).with_name("delay_line.py")
        self.process = subprocess.Popen([sys.executable, line, f"127.0.0.1:{port}", f"127.0.0.1:{goes_to}", "0"])

    def stall(self):
        self.process.send_signal(signal.SIGSTOP)


@pytest.fixture
def tunnel(free_port):
    tunnel = Tunnel(free_port(), free_port())
    yield tunnel
    tunnel.process.kill()
    tunnel.process.wait()


@contextmanager
def branch(folder, address):
    process = subprocess.Popen(
        [sys.executable, "-c", BRANCH, address], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def simulation(folder, wing=WING):
    (folder / "wing.py").write_text(wing)
    (folder / "silent.yaml").write_text(SCENARIO)
    sim = al.Simulation(load(folder / "silent.yaml"))
    sim.loom.rhythm = RHYTHM
    return sim


def through(sim, tunnel):
    sim.loom.listen = tunnel.goes_to
    return tunnel.address


@pytest.mark.slow
def test_a_branch_behind_a_stalled_tunnel_ends(tmp_path, tunnel):
    sim = simulation(tmp_path)
    with branch(tmp_path, through(sim, tunnel)) as process, sim:
        sim.run(until=1.0)
        tunnel.stall()
        stalled = time.monotonic()
        said = process.communicate(timeout=120)[1]
        assert time.monotonic() - stalled > RHYTHM.silence / 2
    assert f"is lost: nothing was heard or taken there for {RHYTHM.silence:g} s" in said
    assert process.returncode == 1


@pytest.mark.slow
def test_a_run_that_stands_still_notices_it_too(tmp_path, tunnel):
    sim = simulation(tmp_path)
    with branch(tmp_path, through(sim, tunnel)), sim:
        sim.run(until=1.0)
        tunnel.stall()
        deadline = time.monotonic() + 120
        while sim.loom._hub._branches and time.monotonic() < deadline:
            sim.loom.stay_in_touch()
            time.sleep(0.05)
        with pytest.raises(LoomError, match="branch 'field' is gone: nothing was heard of it for 5 s"):
            sim.run()
    assert sim.time == 1.05, "its next turn"


@pytest.mark.slow
def test_who_is_busy_is_not_taken_for_dead(tmp_path, tunnel):
    """Neither a simulation that holds Python's lock, as compiled code does, nor a member that thinks for long."""
    with simulation(tmp_path, WING.replace(str(BUSY), "0")) as alone:
        alone.scenario.members["wing"] = alone.scenario.members["wing"].model_copy(update={"at": None})
        alone.run()
    sim = simulation(tmp_path)
    with branch(tmp_path, through(sim, tunnel)) as process, sim:
        sim.run(until=1.0)
        ctypes.PyDLL(None).sleep(int(BUSY))
        assert process.poll() is None
        sim.run()
        assert sim.state_hash() == alone.state_hash()
        sim.close()
        assert process.communicate(timeout=60)[0] == "the run is over\n"


def test_a_suspended_simulation_goes_on_beating_and_a_killed_one_does_not(tmp_path):
    """Ctrl-Z and SIGKILL, here for a program that has nothing but a line."""
    program = """
import socket, sys
from airloom.loom.line import Line
line = Line(socket.create_connection(("127.0.0.1", int(sys.argv[1]))))
line.keep_beating(0.1)
print("there", flush=True)
sys.stdin.read()
"""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = [sys.executable, "-c", program, str(listener.getsockname()[1])]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            try:
                line = listener.accept()[0]
                line.settimeout(60)
                assert process.stdout.readline() == "there\n"
                os.kill(process.pid, signal.SIGSTOP)
                os.waitpid(process.pid, os.WUNTRACED)
                line.recv(65536)
                with line.makefile("rb") as heard:
                    assert heard.read(4 * len(BEAT)) == 4 * BEAT
            finally:
                process.kill()
            with line:
                while line.recv(65536):
                    pass


def test_a_beat_never_gets_into_a_message():
    near, far = socket.socketpair()
    beater = Beater(near, every=0.001)
    message = b"\xff" * 5_000_000
    reader_saw = []

    def read():
        while data := far.recv(65536):
            reader_saw.append(data)

    reader = Thread(target=read)
    reader.start()
    for _ in range(20):
        with beater:
            near.sendall(message)
        time.sleep(0.01)
    beater.end()
    near.close()
    reader.join()
    pieces = b"".join(reader_saw).split(BEAT)
    assert len(pieces) > 5
    assert sum(map(len, pieces)) == 20 * len(message)
    assert {len(piece) % len(message) for piece in pieces} == {0}
