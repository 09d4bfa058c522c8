"""Programs of autopilots: where tests need a real one, and what must not be left behind."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import airloom
from airloom.autopilots import px4
from airloom.autopilots.ardupilot_programs import PROGRAMS
from airloom.autopilots.autopilot import AutopilotFailed
from airloom.autopilots.programs import find_program


def _is_found(name, variable, usual):
    try:
        find_program(None, variable, name, usual, "")
    except AutopilotFailed:
        return False
    return True


def _needs(program):
    is_missing = not _is_found(program.binary, program.variable, program.usual)
    reason = f"no {program.binary}: build ArduPilot's SITL and set {program.variable}"
    return pytest.mark.skipif(is_missing, reason=reason)


needs_ardupilot, needs_arduplane, needs_ardusub, needs_ardurover = (
    _needs(PROGRAMS[name]) for name in ("copter", "plane", "sub", "rover")
)
needs_px4 = pytest.mark.skipif(
    not _is_found("px4", "AIRLOOM_PX4", px4.USUAL), reason="no px4: build PX4's SITL and set AIRLOOM_PX4"
)


MOST_AT_ONCE = 5  # autopilots of a test
DATAGRAMS, STREAMS = socket.SOCK_DGRAM, socket.SOCK_STREAM
PORTS = [
    (DATAGRAMS, 9002, 10), (STREAMS, 5760, 10),
    (STREAMS, 4560, 1), *((DATAGRAMS, port, 1) for port in (18570, 14580, 14280, 13030)),
]  # fmt: skip
"""Of ArduPilot's instance 0 and of PX4's, and how far those of the next are from them."""


@cache
def free_instance():
    """The first of as many as a test needs, which are this process's until it ends: its tests come one by one.

    It holds them by a name that the kernel gives to one process. To look whether the ports are free would not do:
    another one looks at the same time.
    """
    for first in range(10, 100, MOST_AT_ONCE):
        hold = socket.socket(socket.AF_UNIX)
        try:
            hold.bind(f"\0airloom-tests-autopilots-{first}")
            for kind, port, apart in PORTS:
                for instance in range(first, first + MOST_AT_ONCE):
                    _must_be_free(kind, port + apart * instance)
        except OSError:
            hold.close()
        else:
            _held.append(hold)
            return first
    raise RuntimeError("no instances of autopilots are free")


_held = []


def _must_be_free(kind, port):
    with socket.socket(socket.AF_INET, kind) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, kind == STREAMS)
        line.bind(("127.0.0.1", port))


def led_by_station(folder, scenario, instance):
    """What the station said in a run of the scenario to its end, which is in the folder then as `run`."""
    command = [sys.executable, "-m", "airloom", "run", scenario, "--headless", "--no-figures", "--out", "run"]
    environment = {**os.environ, "AIRLOOM_INSTANCE": str(instance)}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900, env=environment)
    file = folder / "run/member-station.txt"
    said = file.read_text() if file.exists() else ""
    assert done.returncode == 0, done.stdout + done.stderr + said
    return said


def ground_station():
    """The module of the bundled scenarios."""
    path = Path(airloom.__file__).parent / "scenario/scenarios/autopilot/ground_station.py"
    spec = importlib.util.spec_from_file_location("ground_station", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def children(name):
    """The commands of our child processes in which the name occurs."""
    command = ["ps", "-ww", "-o", "args=", "--ppid", str(os.getpid())]
    found = subprocess.run(command, capture_output=True, text=True).stdout
    return [line for line in found.splitlines() if name in line]
