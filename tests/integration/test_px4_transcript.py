"""A recorded flight of a real PX4 again, on the wire: its outputs come by TCP, and every reading that it is told must
be the one that it was told then. Another processor may round differently, hence the tolerances.
"""

from __future__ import annotations

import socket
import time
from pathlib import Path
from threading import Thread

import pytest
from pymavlink.dialects.v20 import common
from tests.programs import free_instance

import airloom as al
from airloom.autopilots.px4 import PORT
from airloom.autopilots.transcript import NAME, Transcript

FOLDER = Path(__file__).parent / "recorded_flights/px4"
INSTANCE = free_instance()
PATIENCE = 600.0  # s: before the first frame the simulation may have to compile
IN_FLOAT = 1e-5  # of a value, or absolute: what MAVLink's single precision and another processor make of it
OF_DIGITS = 1  # the last digit of whole numbers
ATTACHED = {
    f"vehicles.drone.autopilot.{name}": value
    for name, value in {"attach": True, "timeout": 120, "instance": INSTANCE}.items()
}


def parsed(data: bytes) -> list:
    return common.MAVLink(None).parse_buffer(data) or []


class Peer(Thread):
    """Answers for each time as PX4 did, and keeps what it is told."""

    def __init__(self, answers: dict[int, bytes]) -> None:
        super().__init__(daemon=True)
        self._answers = answers
        self.told: dict[tuple[str, int], object] = {}

    def run(self) -> None:
        with self._connected() as line:
            parser = common.MAVLink(None)
            while data := line.recv(65536):
                for message in parser.parse_buffer(data) or []:
                    self.told[message.get_type(), message.time_usec] = message
                    if message.get_type() == "HIL_SENSOR" and message.time_usec in self._answers:
                        line.send(self._answers[message.time_usec])

    def _connected(self) -> socket.socket:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return socket.create_connection(("127.0.0.1", PORT + INSTANCE))
            except ConnectionRefusedError:
                assert time.monotonic() < deadline
                time.sleep(0.05)


@pytest.fixture(scope="module")
def flown():
    recorded = list(Transcript(FOLDER / NAME))
    heard = parsed(b"".join(message.data for message in recorded if message.heard))
    answers = {
        message.time_usec: bytes(message.get_msgbuf())
        for message in heard if message.get_type() == "HIL_ACTUATOR_CONTROLS"
    }  # fmt: skip
    with al.Simulation.load(FOLDER / "flight.yaml", overrides=ATTACHED) as sim:
        peer = Peer(answers)
        peer.start()
        sim.run(until=max(answers) / 1e6)
        told = [sent for message in recorded if not message.heard for sent in parsed(message.data)]
        yield sim, told, peer.told


@pytest.mark.parametrize("kind", ["HIL_SENSOR", "HIL_GPS", "HIL_STATE_QUATERNION"])
def test_what_it_is_told_is_what_was_recorded(flown, kind):
    _, recorded, told = flown
    expected = [message for message in recorded if message.get_type() == kind]
    assert len(expected) > 5
    for message in expected:
        found = told[kind, message.time_usec].to_dict()
        for field, value in message.to_dict().items():
            last_digit = OF_DIGITS if isinstance(value, int) else IN_FLOAT
            wanted = value if isinstance(value, str) else pytest.approx(value, rel=IN_FLOAT, abs=last_digit)
            assert found[field] == wanted, field


def test_it_flew(flown):
    sim, _, told = flown
    heights = [message.alt / 1e3 for (kind, _), message in told.items() if kind == "HIL_STATE_QUATERNION"]
    assert max(heights) - heights[0] == pytest.approx(3.0, abs=0.5)
    assert sim.vehicles["drone"].position[:2] == pytest.approx([4.0, 2.0], abs=1.5)
