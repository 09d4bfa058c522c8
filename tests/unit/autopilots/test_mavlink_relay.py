"""The relay between an autopilot and who speaks to it: bytes wait until they are handed over, then all are there."""

from __future__ import annotations

import contextlib
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
    script.send(b"\xfdcommand")
    assert heard(script) == heard(autopilot) == b""
    place.relay.carry()
    assert heard(script) == b"telemetry"
    assert heard(autopilot) == b"\xfdcommand"


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
    second.send(b"\xfdme too")
    first.send(b"\xfdfarewell")
    first.close()
    place.relay.carry()
    assert heard(autopilot) == b"\xfdfarewell"
    place.relay.carry()
    assert heard(autopilot) == b"\xfdme too"


def test_a_browser_is_hung_up_on_and_the_next_is_served(place):
    """What a page of another site posts stands behind a line of HTTP."""
    autopilot, browser, script = place.autopilot(), place.somebody(), place.somebody()
    browser.send(b"POST / HTTP/1.1\r\n\r\n")
    place.relay.carry()
    browser.send(b"\xfdcommand")
    script.send(b"\xfehello")
    for _ in range(2):
        place.relay.carry()
    assert heard(autopilot) == b"\xfehello"
    browser.setblocking(True)
    with contextlib.suppress(ConnectionResetError):
        assert browser.recv(1) == b""


def test_an_autopilot_that_boots_anew_connects_anew(place):
    autopilot, script = place.autopilot(), place.somebody()
    place.relay.carry()
    autopilot.close()
    place.relay.carry()
    autopilot = place.autopilot()
    place.relay.carry()
    autopilot.send(b"I am back")
    script.send(b"\xfdwelcome")
    place.relay.carry()
    assert heard(script) == b"I am back"
    assert heard(autopilot) == b"\xfdwelcome"


def test_a_port_in_use(place):
    with pytest.raises(AutopilotFailed, match=rf"TCP port {place.port}: Address already in use; `instance` chooses"):
        Relay(place.port)
