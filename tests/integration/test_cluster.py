"""Members on a Dask cluster: started there, watched there, what they print brought home."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

import airloom as al
from airloom.loom.cluster import Cluster, ClusterError
from airloom.loom.loom import LoomError
from airloom.scenario import load

SCENARIO = """
name: clustered
duration: 2
engine: batch
vehicles:
  drone: {extends: multirotor, pose: {position: [0, 0, 0.05]}, copies: {count: 3, spacing: 3}}
members:
  one: {command: [python, logic.py], vehicles: drone_0}
  two: {command: [python, logic.py], vehicles: drone_1}
  three: {command: [python, logic.py], vehicles: drone_2}
"""
LOGIC = """
import os
from airloom import PositionYaw
from airloom.member import join
with join() as me:
    print("began as", os.environ["AIRLOOM_MEMBER"], "on the branch at", os.environ["AIRLOOM_LOOM"])
    for turn in me:
        for letter in turn.letters:
            turn.command(me.vehicles[0], PositionYaw((float(letter.content), 0, 2)))
        turn.send("*", f"{turn.vehicles[me.vehicles[0]].position[0] + turn.time:.17g}".encode())
"""


@contextmanager
def dask(*arguments, ready):
    """A part of a cluster, once it has printed `ready`."""
    command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stderr:
            if ready in line:
                break
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def scheduler(free_port):
    port = free_port()
    with dask("scheduler", "--host", "127.0.0.1", "--port", str(port), ready="Scheduler at"):
        yield f"tcp://127.0.0.1:{port}"


@contextmanager
def worker(scheduler):
    with dask("worker", scheduler, "--nthreads", "1", "--no-nanny", ready="Registered to") as process:
        yield process


@pytest.fixture
def scenario(tmp_path):
    (tmp_path / "logic.py").write_text(LOGIC)
    (tmp_path / "clustered.yaml").write_text(SCENARIO)
    return tmp_path / "clustered.yaml"


def test_two_workers_fly_the_same(scenario, scheduler):
    with al.Simulation(load(scenario)) as sim:
        sim.run()
        expected = sim.state_hash()
    command = [sys.executable, "-m", "airloom", "run", scenario, "--headless", "--no-figures"]
    with worker(scheduler), worker(scheduler):
        done = subprocess.run(
            [*command, "--cluster", scheduler, "--out", scenario.parent / "run"],
            cwd=scenario.parent, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert expected in (scenario.parent / "run/summary.json").read_text()
    printed = [(scenario.parent / f"run/member-{name}.txt").read_text() for name in ("one", "two", "three")]
    assert "began as two" in printed[1]
    assert len({text.split()[-1] for text in printed}) == 2, "each worker had its share"


def test_a_worker_that_dies_is_noticed_at_once_and_leaves_nothing(scenario, scheduler, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # of the workers
    with worker(scheduler) as first, worker(scheduler) as second:
        cluster = Cluster(scheduler)
        with al.Simulation(load(scenario)) as sim:
            sim.loom.cluster = cluster
            sim.run(until=1.0)
            first.kill()
            second.kill()
            with pytest.raises(LoomError, match=r"member '\w+' is out of reach: branch 'worker_\w+' is gone"):
                sim.run()  # else it would say that it was not answered in time
        cluster.close()
    began = time.monotonic()
    while list(tmp_path.glob("airloom-branch-*")):
        assert time.monotonic() - began < 60
        time.sleep(0.05)


def test_a_cluster_without_workers(scenario, scheduler):
    cluster = Cluster(scheduler)
    with al.Simulation(load(scenario)) as sim:
        sim.loom.cluster = cluster
        with pytest.raises(LoomError, match="the cluster has no workers"):
            sim.run()
    cluster.close()


def test_no_cluster_there(free_port, monkeypatch):
    monkeypatch.setattr("airloom.loom.cluster.PATIENCE", 1.0)
    with pytest.raises(ClusterError, match="no Dask scheduler answers at tcp://127"):
        Cluster(f"tcp://127.0.0.1:{free_port()}")
