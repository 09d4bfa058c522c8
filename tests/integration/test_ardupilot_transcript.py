"""A recorded flight of a real ArduPilot again, on the wire: its outputs come by UDP, and every reply must be the one
that it got then. Another processor may round differently, hence the tolerance.
"""

from __future__ import annotations

import json
import socket
from contextlib import chdir
from pathlib import Path
from threading import Thread

import pytest
from tests.programs import free_instance

import airloom as al
from airloom.autopilots.ardupilot import PORT
from airloom.autopilots.relay import PORTS_APART
from airloom.autopilots.transcript import NAME, Transcript

INSTANCE = free_instance()
FOLDER = Path(__file__).parent / "recorded_flights/ardupilot"
PATIENCE = 600.0  # s: between the first two replies the simulation may have to compile
TOLERANCE = 1e-6  # m, m/s, rad/s, m/s²; the replies have nine decimals


class Peer(Thread):
    """Says what ArduPilot said, one datagram for each reply, and keeps the replies."""

    def __init__(self, said: list[bytes], instance: int) -> None:
        super().__init__(daemon=True)
        self._said, self._there = said, ("127.0.0.1", PORT + PORTS_APART * instance)
        self.replies: list[bytes] = []

    def run(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            self._knock(line)
            line.settimeout(PATIENCE)
            for data in self._said[1:-1]:
                line.sendto(data, self._there)
                self.replies.append(self._new_reply(line))
            line.sendto(self._said[-1], self._there)

    def _new_reply(self, line: socket.socket) -> bytes:
        """Who knocked several times, since the simulation took its time, is answered several times."""
        while (reply := line.recv(4096)) == self.replies[-1]:
            pass
        return reply

    def _knock(self, line: socket.socket) -> None:
        """Until the simulation is there."""
        line.settimeout(0.1)
        while not self.replies:
            line.sendto(self._said[0], self._there)
            try:
                self.replies.append(line.recv(4096))
            except TimeoutError:
                continue


def numbers(reply):
    """Of a reply, in order; the timestamp first."""
    if isinstance(reply, dict):
        reply = list(reply.values())
    return [number for item in reply for number in numbers(item)] if isinstance(reply, list) else [reply]


@pytest.fixture(scope="module")
def flown(tmp_path_factory):
    recorded = list(Transcript(FOLDER / NAME))
    heard = [message.data for message in recorded if message.heard]
    autopilot = {"attach": True, "timeout": 120, "instance": INSTANCE}
    overrides = {f"vehicles.drone.autopilot.{name}": value for name, value in autopilot.items()}
    with (
        chdir(tmp_path_factory.mktemp("flight")),
        al.Simulation.load(FOLDER / "flight.yaml", overrides=overrides) as sim,
    ):
        peer = Peer(heard, INSTANCE)
        peer.start()
        sim.run()
        peer.join(PATIENCE)
    return sim, recorded, peer.replies


def test_every_reply_is_the_recorded_one(flown):
    _, recorded, replies = flown
    told = [message for message in recorded if not message.heard]
    assert len(told) > 200
    for message in told:
        expected, found = json.loads(message.data), json.loads(replies[message.time_ns // 1_000_000])
        assert found["timestamp"] == expected["timestamp"]
        assert found["rc"] == expected["rc"]
        assert numbers(found) == pytest.approx(numbers(expected), abs=TOLERANCE)


def test_time_goes_on_by_a_millisecond_a_frame(flown):
    _, _, replies = flown
    stamps = [json.loads(reply)["timestamp"] for reply in replies]
    assert stamps == [round(0.001 * (k + 1), 9) for k in range(len(stamps))]


def test_it_flew(flown):
    sim, _, replies = flown
    heights = [-json.loads(reply)["position"][2] for reply in replies[::100]]
    assert max(heights) == pytest.approx(3.0, abs=0.1)
    assert sim.vehicles["drone"].position[0] > 20.0, "it flew ahead, to the east"
