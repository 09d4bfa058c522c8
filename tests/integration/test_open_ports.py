"""What a run listens on: nothing that another machine could reach."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.open_ports import assert_on_loopback, open_ports

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sockets of processes are told by /proc")

OPENS = """
import socket, sys
from contextlib import suppress
held = []
for family, address in [(socket.AF_INET, "{four}"), (socket.AF_INET6, "{six}")]:
    for kind, name in [(socket.SOCK_STREAM, "tcp"), (socket.SOCK_DGRAM, "udp")]:
        one = socket.socket(family, kind)
        held.append(one)
        with suppress(OSError):  # not every machine has IPv6
            one.bind((address, 0))
            if name == "tcp":
                one.listen()
            print(name, *one.getsockname()[:2], end=" ")
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
peer.connect(held[1].getsockname())
print(flush=True)
sys.stdin.read()
"""
STARTS = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"


@pytest.mark.parametrize(("four", "six", "is_inside"), [("127.0.0.1", "::1", True), ("0.0.0.0", "::", False)])
def test_the_scan_finds_what_a_grandchild_opens(four: str, six: str, is_inside: bool) -> None:
    command = [sys.executable, "-c", STARTS, OPENS.format(four=four, six=six)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        told = process.stdout.readline().split()
        found = open_ports(process.pid)
        if is_inside:
            assert assert_on_loopback(process.pid) == found
        else:
            with pytest.raises(AssertionError, match=r"can be reached from outside: tcp 0\.0\.0\.0 port"):
                assert_on_loopback(process.pid)
        process.stdin.close()
    assert {(one.protocol, one.address, str(one.port)) for one in found} == set(batched(told, 3))
    assert ("udp", four) in {(one.protocol, one.address) for one in found}


def batched(flat: list[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(flat[k : k + size]) for k in range(0, len(flat), size)]
