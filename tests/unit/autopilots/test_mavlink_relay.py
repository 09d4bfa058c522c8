"""The relay between an autopilot and who speaks to it: bytes wait until they are handed over, then all are there."""

from __future__ import annotations

import socket

import pytest

from airloom.autopilots.autopilot import AutopilotFailed
from airloom.autopilots.relay import Relay


@pytest.fixture
def place(free_port):
    """A relay, and how an autopilot and others connect to it."""
    made = []

    class Place:
        def __init__(self):
            self.port = free_port()
            self.relay = Relay(self.port)
            made.append(self.relay)

        def autopilot(self):
            _, host, port = self.relay.device.split(":")
            return self._connected(host, int(port))

        def somebody(self):
            return self._connected("127.0.0.1", self.port)

        def _connected(self, *address):
            line = socket.create_connection(address)
            line.setblocking(False)
            made.append(line)
            return line

    yield Place()
    for each in made:
        each.close()


def heard(line):
    try:
        return line.recv(4096)
    except BlockingIOError:
        return b""


def test_bytes_wait_until_they_are_handed_over(place):
    autopilot, script = place.autopilot(), place.somebody()
    place.relay.carry()
    autopilot.send(b"telemetry")
    script.send(b"command")
    assert heard(script) == heard(autopilot) == b""
    place.relay.carry()
    assert heard(script) == b"telemetry"
    assert heard(autopilot) == b"command"


def test_what_is_said_to_nobody_is_gone(place):
    autopilot = place.autopilot()
    autopilot.send(b"before")
    place.relay.carry()
    script = place.somebody()
    place.relay.carry()
    autopilot.send(b"after")
    place.relay.carry()
    assert heard(script) == b"after"


def test_one_is_served_at_a_time_and_the_next_when_it_has_gone(place):
    autopilot, first, second = place.autopilot(), place.somebody(), place.somebody()
    place.relay.carry()
    second.send(b"me too")
    first.send(b"farewell")
    first.close()
    place.relay.carry()
    assert heard(autopilot) == b"farewell"
    place.relay.carry()
    assert heard(autopilot) == b"me too"


def test_an_autopilot_that_boots_anew_connects_anew(place):
    autopilot, script = place.autopilot(), place.somebody()
    place.relay.carry()
    autopilot.close()
    place.relay.carry()
    autopilot = place.autopilot()
    place.relay.carry()
    autopilot.send(b"I am back")
    script.send(b"welcome")
    place.relay.carry()
    assert heard(script) == b"I am back"
    assert heard(autopilot) == b"welcome"


def test_a_port_in_use(place):
    with pytest.raises(AutopilotFailed, match=rf"TCP port {place.port}: Address already in use; `instance` chooses"):
        Relay(place.port)
