"""What a program opens stays on loopback, whatever it asks for: tried with real programs and the kernel's tables."""

from __future__ import annotations

import errno
import json
import platform
import socket
import subprocess
import sys
import textwrap
from threading import Thread

import pytest
from tests.open_ports import assert_on_loopback, open_ports

from airloom.keeper import Kept, on_loopback
from airloom.keeper.loopback import MACHINES

pytestmark = pytest.mark.skipif(platform.machine() not in MACHINES, reason="of no kind of machine that Airloom fences")

SETUP = """
import errno, json, os, socket, subprocess, sys, threading
from socket import *

held = []
def opened(address, kind=SOCK_DGRAM, family=AF_INET):
    one = socket(family, kind)
    held.append(one)
    one.bind(address)
    if kind == SOCK_STREAM:
        one.listen()
    return one.getsockname()[:2]

def error_of(*asked):
    try:
        opened(*asked)
    except OSError as error:
        return errno.errorcode[error.errno]
"""
STAYS = """
print(json.dumps(told), flush=True)
threading.Event().wait()
"""


@pytest.fixture
def started():
    """Start a program of these lines, which leave something in `told`; gives that, and the running program."""
    running = []

    def start(lines, *sealed, peer=0):
        program = SETUP + textwrap.dedent(lines) + STAYS
        command = [sys.executable, "-c", program]
        kept = Kept(command, reach=on_loopback(*sealed, peer=peer), patience=0.3, stdout=subprocess.PIPE, text=True)
        running.append(kept)
        return json.loads(kept.stdout.readline()), kept

    yield start
    for kept in running:
        kept.end()
        kept.stdout.close()


def test_every_address_becomes_loopback(started):
    told, kept = started("""
        told = [opened(("", 0)), opened(("0.0.0.0", 0), SOCK_STREAM)]
        if has_ipv6:
            told += [opened(("::", 0), SOCK_DGRAM, AF_INET6), opened(("::", 0), SOCK_STREAM, AF_INET6)]
    """)
    found = {(port.address, port.port) for port in assert_on_loopback(kept.pid)}
    assert {tuple(address) for address in told} <= found
    assert {address for address, _ in told} <= {"127.0.0.1", "::1"}


def test_who_sends_without_binding_is_not_in_reach(started):
    """Nor in a thread, nor in another process that it starts."""
    _, kept = started("""
        def send():
            one = socket(AF_INET, SOCK_DGRAM)
            one.sendto(b"anybody there?", ("127.0.0.1", 9))
            held.append(one)
        send()
        thread = threading.Thread(target=send)
        thread.start()
        thread.join()
        code = "from socket import *; one = socket(AF_INET, SOCK_DGRAM); one.sendto(b'!', ('127.0.0.1', 9)); "
        code += "print(flush=True); import time; time.sleep(600)"
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        told = child.stdout.readline().decode()
    """)
    assert len({(port.process, port.port) for port in assert_on_loopback(kept.pid) if port.process != kept.pid}) == 3


def test_it_has_the_port_and_the_options_that_it_asked_for(started):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        told, _ = started(f"""
            told = [error_of(("", {port})), error_of(("", {port}), SOCK_STREAM)]
        """)
        assert told == ["EADDRINUSE", None]
    told, _ = started(f"""
        one = socket(AF_INET, SOCK_DGRAM)
        one.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        one.setsockopt(SOL_SOCKET, SO_RCVTIMEO, bytes([3] + 15 * [0]))
        one.setblocking(False)
        one.bind(("", {port}))
        seconds = one.getsockopt(SOL_SOCKET, SO_RCVTIMEO, 16)[0]
        told = [one.getsockname(), one.getsockopt(SOL_SOCKET, SO_REUSEADDR), seconds, os.get_blocking(one.fileno())]
    """)
    assert told == [["127.0.0.1", port], 1, 3, False]


def test_it_speaks_and_is_spoken_to_on_this_machine(started):
    """By datagrams with and without a peer, and by streams."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours, socket.create_server(("127.0.0.1", 0)) as door:
        ours.bind(("127.0.0.1", 0))
        answers = Thread(target=lambda: [ours.sendto(*ours.recvfrom(9)) for _ in range(2)], daemon=True)
        answers.start()
        told, _ = started(f"""
            free, tied = socket(AF_INET, SOCK_DGRAM), socket(AF_INET, SOCK_DGRAM)
            free.sendto(b"free", {ours.getsockname()})
            tied.connect({ours.getsockname()})
            tied.send(b"tied")
            stream = create_connection({door.getsockname()})
            told = [free.recv(9).decode(), tied.recv(9).decode()]
        """)
        assert told == ["free", "tied"]
        answers.join()


def test_a_sealed_port_hears_nobody(started):
    told, kept = started(
        """
        told = opened(("", 5501))
        held[-1].setblocking(False)
        """,
        5501,
    )
    assert told not in [[port.address, port.port] for port in open_ports(kept.pid)]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.connect(tuple(told))
        stranger.send(b"land!")
        with pytest.raises(ConnectionRefusedError):
            stranger.recv(1)


def test_with_a_peer_it_hears_nobody_else(started):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.bind(("127.0.0.1", 0))
        _, kept = started(
            f"""
            one = socket(AF_INET, SOCK_DGRAM)
            one.sendto(b"here", {peer.getsockname()})
            held.append(one)
            told = None
            """,
            peer=peer.getsockname()[1],
        )
        _, address = peer.recvfrom(9)
        assert open_ports(kept.pid) == []
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            stranger.connect(address)
            stranger.send(b"land!")
            with pytest.raises(ConnectionRefusedError):
                stranger.recv(1)


def test_other_networks_are_refused_and_other_families_left_alone(started, tmp_path):
    told, _ = started(f"""
        told = [error_of(("192.0.2.1", 0)), error_of(("239.1.2.3", 0)), error_of(("127.0.0.1", 0))]
        told += [error_of({str(tmp_path / "socket")!r}, SOCK_STREAM, AF_UNIX)]
    """)
    assert told == ["EACCES", "EACCES", None, None]


def test_where_it_cannot_be_fenced_nothing_is_started(started):
    """The kernel asks one guard: a fence in a fence is one that it refuses."""
    told, _ = started("""
        from airloom.keeper import Kept, on_loopback
        try:
            told = Kept(["true"], reach=on_loopback()).wait()
        except OSError as error:
            told = errno.errorcode[error.errno]
    """)
    assert told == errno.errorcode[errno.EOPNOTSUPP]
