"""What our side of an autopilot's frame costs: physics, sensors, codec, socket; a stand-in answers at once."""

from __future__ import annotations

import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from airloom.keeper import Kept
from airloom.simulation import Simulation

FRAMES = 1000  # before the other has its go: both meet the same noise of the machine
INSTANCE = 95
ARDUPILOT = """
import socket, struct, sys
line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
line.connect(("127.0.0.1", int(sys.argv[1])))
outputs = [1850] * 16  # it climbs
for count in range(2**32):
    try:
        line.send(struct.pack("<HHI16H", 18458, 400, count, *outputs))
        line.recv(2048)
    except ConnectionRefusedError:
        pass
"""
PX4 = """
import socket, sys, time
import numpy as np
from airloom.autopilots.mavlink_wire import (
    FOUND, HIL_ACTUATOR_CONTROLS, HIL_ACTUATOR_CONTROLS_FIELDS, HIL_SENSOR, HIL_SENSOR_FIELDS, LONGEST_FRAME, NEXT,
    NUMBER, SPEAKER, find, read, write,
)
stream, reply = np.zeros(4096, np.uint8), np.zeros(LONGEST_FRAME, np.uint8)
speaker, found, values = np.ones(SPEAKER, np.int64), np.zeros(FOUND, np.int64), np.zeros(24)
line = None
while line is None:
    try:
        line = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    except ConnectionRefusedError:
        time.sleep(0.01)
line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
while size := line.recv_into(stream):
    at = 0
    while find(stream, at, size, found):
        at = found[NEXT]
        if found[NUMBER] == HIL_SENSOR:
            read(stream, found, HIL_SENSOR_FIELDS, values)
            values[1:] = 0.85  # it climbs
            line.send(reply[: write(speaker, HIL_ACTUATOR_CONTROLS, HIL_ACTUATOR_CONTROLS_FIELDS, values, reply, 0)])
"""
REPLY, PACKET = 300, 40  # bytes of an exchange with ArduPilot


def frame_of_ardupilot(seconds: float) -> tuple[float, float]:
    """Microseconds of our processor time for a frame, and for a bare exchange of as many bytes."""
    pilot = {"kind": "ardupilot", "attach": True, "instance": INSTANCE}
    vehicle = {"extends": "iris", "sensors": {"imu": {"rate": 1000}}, "autopilot": pilot}
    with _flying(vehicle, ARDUPILOT, 9002 + 10 * INSTANCE) as sim, _echo_of_datagrams() as line:
        return _side_by_side(sim.step, lambda frames: _exchange(line, frames), seconds)


def frame_of_px4(seconds: float) -> tuple[float, float]:
    """Likewise; a frame is 4 ms, four ticks."""
    vehicle = {"extends": "x500", "autopilot": {"kind": "px4", "attach": True, "instance": INSTANCE}}
    with _flying(vehicle, PX4, 4560 + INSTANCE) as sim, _echo_of_datagrams() as line:
        return _side_by_side(lambda frames: sim.step(4 * frames), lambda frames: _exchange(line, frames), seconds)


@contextmanager
def _flying(vehicle: dict[str, Any], stand_in: str, port: int) -> Iterator[Simulation]:
    process = Kept([sys.executable, "-c", stand_in, str(port)])
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            Simulation.load("hover", overrides={"systems": {}, "vehicles": {"drone": vehicle}}) as sim,
        ):
            sim.member_logs = Path(folder)
            sim.step(FRAMES)
            yield sim
    finally:
        process.end()


ECHO = f"""
import socket, sys
line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
line.connect(("127.0.0.1", int(sys.argv[1])))
line.send(b"here")
while line.recv(2048) != b"end":
    line.send(b"x" * {PACKET})
"""


@contextmanager
def _echo_of_datagrams() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind(("127.0.0.1", 0))
        process = Kept([sys.executable, "-c", ECHO, str(line.getsockname()[1])])
        line.connect(line.recvfrom(2048)[1])
        yield line
        line.send(b"end")
        process.wait()


def _exchange(line: socket.socket, frames: int) -> None:
    reply = b"x" * REPLY
    for _ in range(frames):
        line.send(reply)
        line.recv(2048)


def _side_by_side(one: Any, other: Any, seconds: float) -> tuple[float, float]:
    """Microseconds of processor time of a frame of each."""
    spent, deadline = [0.0, 0.0], time.monotonic() + seconds
    rounds = 0
    while time.monotonic() < deadline:
        rounds += 1
        for k, advance in enumerate((one, other)):
            began = time.process_time()
            advance(FRAMES)
            spent[k] += time.process_time() - began
    return spent[0] / (rounds * FRAMES) * 1e6, spent[1] / (rounds * FRAMES) * 1e6
