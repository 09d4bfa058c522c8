"""The small participant: what is lost comes again, what is too large comes in parts, garbage does no harm."""

from __future__ import annotations

import random
import socket

import pytest
from tests.ros2_peers import own_domain, until

from airloom.ros2.rtps import wire
from airloom.ros2.rtps.participant import LOOPBACK, RtpsParticipant
from airloom.ros2.rtps.reliable import ReliableReader, ReliableWriter, Remote, Sample


class Lossy:
    """A line between a writer and a reader that loses every third datagram."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.writer = ReliableWriter(b"\0\0\1\3", self._to_reader, depth=100)
        self.reader = ReliableReader(b"\0\0\1\4", self._to_writer, lambda sample: self.heard.append(sample.payload))
        self._sent = 0
        self.writer.match(Remote(bytes(12) + self.reader.entity, ("", 0)), from_the_start=True)
        self.reader.match(Remote(bytes(12) + self.writer.entity, ("", 0)))

    def _to_reader(self, _, __, parts) -> None:
        self._sent += 1
        if self._sent % 3 == 0:
            return
        for kind, flags, body in wire.parse(wire.packet(bytes(12), parts)).submessages:
            if kind == wire.HEARTBEAT:
                numbers = wire.read_number(body, 8), wire.read_number(body, 16)
                self.reader.hear_heartbeat(bytes(12) + self.writer.entity, *numbers, bool(flags & wire.FINAL))
            elif kind == wire.DATA:
                number = wire.read_number(body, 12)
                self.reader.hear_data(Sample(b"\0\0", bytes(12) + self.writer.entity, number, b"", bytes(body[20:])))

    def _to_writer(self, _, __, parts) -> None:
        for _, _, body in wire.parse(wire.packet(bytes(12), parts)).submessages:
            self.writer.hear(bytes(12) + self.reader.entity, *wire.read_number_set(body, 8))


def test_what_is_lost_comes_again():
    line = Lossy()
    for k in range(50):
        line.writer.write(bytes([k]) * 4)
    for _ in range(200):
        line.writer.remind()
    assert sorted(payload[0] for payload in line.heard) == list(range(50))


@pytest.mark.parametrize("missing", [[], [5], [5, 6, 40, 255]])
def test_a_set_of_numbers_survives_the_wire(missing):
    note = wire.acknack(b"\0\0\1\4", b"\0\0\1\3", 5, missing, 1)
    body = wire.parse(wire.packet(bytes(12), [note])).submessages[0].body
    assert wire.read_number_set(body, 8) == (5, missing)


@pytest.fixture
def pair():
    domain = own_domain()
    made = RtpsParticipant(domain), RtpsParticipant(domain)
    yield made
    for one in made:
        one.close()


def test_a_sample_larger_than_a_datagram_arrives_whole(pair):
    one, other = pair
    heard: list[Sample] = []
    writer = one.writer("rq/large", "large_", b"")
    other.reader("rq/large", "large_", b"", heard.append)
    until(lambda: writer.readers, lambda: None)
    payload = random.Random(1).randbytes(300_000)
    one.write(writer, payload, wire.parameters([(wire.PID_RELATED, bytes(24))]))
    until(lambda: heard, lambda: None)
    assert heard[0].payload == payload


def test_garbage_does_no_harm(pair):
    one, other = pair
    heard: list[Sample] = []
    draws, place = random.Random(2), (LOOPBACK, one._port)
    good = wire.packet(other.prefix, [wire.data(bytes(4), b"\0\1\0\xc2", 1, other._about())])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        for _ in range(2000):
            spoiled = bytearray(good)
            for _ in range(draws.randrange(1, 20)):
                spoiled[draws.randrange(8, len(spoiled))] = draws.randrange(256)
            stranger.sendto(spoiled[: draws.randrange(len(spoiled))], place)
            stranger.sendto(draws.randbytes(draws.randrange(100)), place)
    writer = other.writer("rq/alive", "alive_", b"")
    one.reader("rq/alive", "alive_", b"", heard.append)
    until(lambda: writer.readers, lambda: None)
    other.write(writer, b"still", b"")
    assert until(lambda: heard, lambda: None)[0].payload[:5] == b"still"
