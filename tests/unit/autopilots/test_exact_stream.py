"""A stream on which nothing is on its way: what one end has sent is there when the other takes it."""

from __future__ import annotations

import socket
import threading

import pytest

from airloom.autopilots.exact_stream import ExactStream


@pytest.fixture
def ends():
    """Of a connection: ours, and the plain socket of somebody else."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        other = socket.create_connection(door.getsockname())
        ours = ExactStream(door.accept()[0])
    yield ours, other
    ours.close()
    other.close()


def test_all_that_was_sent_is_taken(ends):
    ours, other = ends
    assert ours.is_exact
    sent = b""
    for k in range(200):
        data = bytes([k]) * (1 + 97 * k)
        other.sendall(data)
        sent += data
        assert ours.take() == data
    assert ours.take() == b""
    assert not ours.ended


def test_all_that_was_given_is_there(ends):
    ours, other = ends
    other.setblocking(False)
    for k in range(1, 200):
        ours.give(b"x" * k)
        assert other.recv(1 << 16) == b"x" * k


def test_more_than_the_other_end_has_room_for_comes_later(ends):
    ours, other = ends
    data = bytes(range(256)) * 40_000
    ours.give(data[: len(data) // 4])
    ours.give(data[len(data) // 4 :])
    assert ours.ended, "nobody reads it"
    received = bytearray()
    other.settimeout(60)
    while len(received) < 1 << 20:
        received += other.recv(1 << 16)
    assert data.startswith(received)


def test_more_than_there_is_room_for_here_is_taken_whole(ends):
    ours, other = ends
    data = b"abcdefgh" * 1_000_000
    sender = threading.Thread(target=other.sendall, args=[data], daemon=True)
    sender.start()
    taken = b""
    while len(taken) < len(data):
        taken += ours.take()
    sender.join(10)
    assert taken == data


def test_what_was_said_before_hanging_up_is_heard(ends):
    ours, other = ends
    other.sendall(b"the last words")
    other.close()
    assert ours.take() == b"the last words"
    assert ours.ended
    assert ours.take() == b""
    ours.give(b"too late")


def test_without_the_kernel_it_is_a_plain_stream(ends, monkeypatch):
    monkeypatch.setattr("airloom.autopilots.exact_stream.FarEnd", lambda connection: (_ for _ in ()).throw(OSError))
    with socket.create_server(("127.0.0.1", 0)) as door:
        other = socket.create_connection(door.getsockname())
        ours = ExactStream(door.accept()[0])
    with other:
        assert not ours.is_exact
        ours.give(b"hello")
        other.settimeout(60)
        assert other.recv(10) == b"hello"
        assert ours.take() == b""
    ours.close()
