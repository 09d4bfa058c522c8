"""Strangers at the listeners of a coordinator: nobody waits for them, and who says who it is gets in among them."""

from __future__ import annotations

import os
import socket
import time
from contextlib import ExitStack

import pytest
from tests.file_numbers import few_file_numbers

from airloom import member
from airloom.loom import newcomers, protocol
from airloom.loom.bundles import Admission
from airloom.loom.hub import Hub
from airloom.loom.line import Line, connect
from airloom.loom.listening import Listeners
from airloom.loom.newcomers import refuse
from airloom.loom.protocol import Hello, Kind, Welcome
from airloom.net import reserve


class Place:
    """A coordinator that lets in whoever knows the token."""

    def __init__(self):
        self.joined = []
        self.hub = Hub(Listeners("tcp:127.0.0.1:0", "secret"), self._admit, lambda name, reason: None)
        self.address = self.hub.listeners.remote_address

    def _admit(self, hello, answer):
        self.joined.append(hello.name)
        answer(Admission(hello.name, Welcome(1, 0, []), [], 1.0))

    def stranger(self, said=b""):
        line = socket.create_connection(("127.0.0.1", int(self.address.rpartition(":")[2])), 30)
        line.settimeout(30)
        line.sendall(said)
        return line

    def friend(self, name, address=None):
        line = connect(address or self.address)
        line.send(protocol.hello(Hello(name, token="secret")))
        return line

    def look_until(self, is_so):
        deadline = time.monotonic() + 60
        while not is_so():
            assert time.monotonic() < deadline
            self.hub.look_out(0.01)


@pytest.fixture
def place():
    place = Place()
    yield place
    place.hub.close("over")


def test_one_byte_a_connection_holds_nobody_up(place):
    strangers = [place.stranger(b"\1") for _ in range(40)]
    began = time.process_time(), time.monotonic()
    while len(place.hub._newcomers._waiting) < len(strangers):
        place.hub.look_out()
    assert time.monotonic() - began[1] < 15, "it took half a second each"
    assert time.process_time() - began[0] < 2
    place.friend("late")
    place.look_until(lambda: place.joined == ["late"])


def test_who_says_who_it_is_gets_in_among_a_crowd(place):
    crowd = [place.stranger() for _ in range(60)]
    friends = [place.friend(f"friend_{k}", address) for k, address in enumerate([None, place.hub.listeners.address])]
    crowd += [place.stranger() for _ in range(60)]
    place.look_until(lambda: sorted(place.joined) == ["friend_0", "friend_1"])
    assert [friend.receive(30)[0] for friend in friends] == [Kind.WELCOME] * 2
    assert len(place.hub._newcomers._waiting) <= newcomers.MOST
    place.look_until(lambda: b"others knock" in _heard(crowd[0]))


def _heard(line):
    line.settimeout(0.001)
    try:
        return line.recv(1000)
    except TimeoutError:
        return b""


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (protocol.HEAD.pack(newcomers.LONGEST_INTRODUCTION + 1, Kind.HELLO), b"at most 16384 are taken"),
        (protocol.HEAD.pack(0, Kind.HELLO), b"at least 1"),
        (protocol.HEAD.pack(1, 99), b"no message of kind 99"),
        (protocol.told(Kind.BYE, "x"), b"says HELLO first, not BYE"),
        (protocol.message(Kind.HELLO, b"\xff" * 40), b"version 65535"),
        (protocol.message(Kind.BRANCH, b"\2\0\xff"), b"makes no sense"),
        (protocol.hello(Hello("thief", token="guess")), b"token is not the right one"),
    ],
)
def test_nonsense_is_answered(place, said, complaint):
    stranger = place.stranger(said)
    place.look_until(lambda: complaint in _heard(stranger))
    assert place.joined == []


def test_who_says_nothing_is_told_to_go(place, monkeypatch):
    monkeypatch.setattr(newcomers, "PATIENCE", 0.1)
    stranger = place.stranger(b"\1")
    place.look_until(lambda: b"did not say who it is" in _heard(stranger))


def test_a_mistake_of_ours_is_told_to_who_made_us_stumble(place):
    place.hub._gate = lambda hello, answer: 1 / 0
    stranger = place.stranger(protocol.hello(Hello("unlucky", token="secret")))
    place.look_until(lambda: b"division by zero" in _heard(stranger))


def test_file_numbers_are_left_for_the_run(place):
    crowd = [place.stranger() for _ in range(60)]
    with few_file_numbers(50), ExitStack() as own:
        place.look_until(lambda: b"others knock" in _heard(crowd[0]))
        for _ in range(24):
            own.enter_context(open(os.devnull))
        place.friend("friend", place.hub.listeners.address)
        place.look_until(lambda: place.joined == ["friend"])


def test_who_is_turned_away_before_it_has_spoken_is_told_why(tmp_path, monkeypatch):
    door = socket.socket(socket.AF_UNIX)
    door.bind(str(tmp_path / "door"))
    door.listen()

    def connected(address):
        line = connect(address)
        refuse(Line(door.accept()[0]), reserve.SHORT_OF_FILES)
        return line

    monkeypatch.setattr(member, "connect", connected)
    with door, pytest.raises(member.NotAdmitted, match="too many files are open here"):
        member.join("late", address=f"unix:{tmp_path / 'door'}")
