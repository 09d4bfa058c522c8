"""What an autopilot opens cannot be reached from another machine; an ArduPilot is spoken to by the relay alone.

The stand-ins open what the sources of ArduPilot (`AP_HAL_SITL/UARTDriver.cpp`, `AP_RCProtocol_UDP.cpp`, `SIM_JSON.cpp`)
and PX4 (`px4-rc.mavlink`, `mavlink_main.cpp`) open, in the same way; the real ones fly where they are found.
"""

from __future__ import annotations

import json
import os
import socket
import sys

import pytest
from tests.open_ports import assert_on_loopback
from tests.programs import free_instance, needs_ardupilot, needs_px4

import airloom as al
from airloom.scenario import load

INSTANCE = free_instance()
ARDUPILOT = f"""#!{sys.executable}
import json, socket, struct, sys

instance = int(next(word for word in sys.argv if word.startswith("-I"))[2:])
paths = ["tcp:0:wait", "tcp:2", "tcp:3", "GPS1", "GPS2", "tcp:5", "tcp:6", "tcp:7", "tcp:8"]
for word, path in zip(sys.argv, sys.argv[1:]):
    if word.startswith("--serial"):
        paths[int(word[8:])] = path
held = []
for kind, *more in (path.split(":") for path in paths):
    if kind in ("tcp", "tcpclient"):
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.append(line)
        if kind == "tcp":
            line.bind(("0.0.0.0", 5760 + 10 * instance + int(more[0])))
            line.listen(5)
        else:
            line.connect((more[0], int(more[1])))
            line.setblocking(False)
remote = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
remote.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
remote.bind(("0.0.0.0", 5501 + 10 * instance))
remote.setblocking(False)
frames, count, output = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0, 1100
while True:
    try:
        output = struct.unpack("<16H", remote.recv(32))[2]
    except BlockingIOError:
        pass
    count += 1
    outputs = struct.pack("<HHI16H", 18458, 400, count, *[output] * 4, *[0] * 12)
    frames.sendto(outputs, ("127.0.0.1", 9002 + 10 * instance))
    frames.recv(2048)
"""
PX4_PORTS = [18570, 14580, 14280, 13030]
PX4 = f"""#!{sys.executable}
import socket, sys

instance = int(sys.argv[sys.argv.index("-i") + 1])
lines = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in {PX4_PORTS}]
for line, port in zip(lines, {PX4_PORTS}):
    line.bind(("0.0.0.0", port + instance))
simulator = socket.create_connection(("127.0.0.1", 4560 + instance))
while True:
    data, sender = lines[0].recvfrom(100)
    lines[0].sendto(data, sender)
"""
"""It boots for ever, and answers one who speaks to it."""


def written(path, program):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(program)
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def flown(tmp_path):
    """A run of a vehicle whose autopilot is of this kind."""
    sims = []

    def fly(vehicle, until, copies=1, **autopilot):
        autopilot["instance"] = INSTANCE
        drone = {"extends": vehicle, "sensors": {"imu": {"rate": 1000}}, "autopilot": autopilot}
        if copies > 1:
            drone["copies"] = {"count": copies, "spacing": 3}
        (tmp_path / "ports.yaml").write_text(json.dumps({"name": "ports", "duration": 5, "vehicles": {"drone": drone}}))
        sim = al.Simulation(load(tmp_path / "ports.yaml"))
        sims.append(sim)
        sim.member_logs = tmp_path
        sim.run(until=until)
        return sim

    yield fly
    for sim in sims:
        sim.close()


def opened_by(program):
    """Where it hears anybody on this machine; nothing of this process and its children can be reached from outside."""
    return {port.port for port in assert_on_loopback(os.getpid()) if port.program == program}


@pytest.mark.parametrize("which", ["stand-in", pytest.param("real", marks=needs_ardupilot)])
def test_nobody_else_reaches_an_ardupilot(flown, tmp_path, which):
    given = {} if which == "real" else {"binary": written(tmp_path / "arducopter", ARDUPILOT)}
    sim = flown("iris", 0.3, kind="ardupilot", **given)
    assert opened_by("arducopter") == set(), "not even from this machine"
    full_throttle = b"\xd0\x07" * 16
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.sendto(full_throttle, ("127.0.0.1", 5501 + 10 * INSTANCE))
    sim.run(until=0.6)
    assert max(sim.vehicles["drone"].rotor_speeds) < 500.0


def test_copies_have_ports_of_their_own(flown, tmp_path):
    sim = flown("iris", 0.1, copies=3, kind="ardupilot", binary=written(tmp_path / "arducopter", ARDUPILOT))
    ports = [5760 + 10 * (INSTANCE + k) for k in range(3)]
    assert sim.autopilots.addresses() == {f"drone_{k}": f"tcp:127.0.0.1:{port}" for k, port in enumerate(ports)}
    assert set(ports) <= {port.port for port in assert_on_loopback(os.getpid())}


def test_a_serial_port_that_somebody_asks_for_is_on_loopback(flown, tmp_path):
    program = written(tmp_path / "arducopter", ARDUPILOT)
    flown("iris", 0.3, kind="ardupilot", binary=program, arguments=["--serial5", "tcp:5"])
    assert opened_by("arducopter") == {5765 + 10 * INSTANCE}


def test_a_px4_is_reached_from_this_machine_alone(flown, tmp_path):
    program = written(tmp_path / "build/bin/px4", PX4)
    written(tmp_path / "build/etc/init.d-posix/rcS", "")
    flown("x500", 0.1, kind="px4", binary=program)
    assert opened_by("px4") == {port + INSTANCE for port in PX4_PORTS}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as station:
        station.connect(("127.0.0.1", 18570 + INSTANCE))
        station.send(b"hello")
        station.settimeout(60)
        assert station.recv(9) == b"hello"


@needs_px4
def test_a_real_px4_is_reached_from_this_machine_alone(flown):
    flown("x500", 5, kind="px4")
    assert {port + INSTANCE for port in PX4_PORTS} <= opened_by("px4")
