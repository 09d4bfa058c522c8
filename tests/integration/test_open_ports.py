"""What a run listens on: nothing that another machine could reach."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.open_ports import assert_on_loopback, open_ports
from tests.ros2_peers import own_domain
from torture.runs import started

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


PATIENCE = 60.0  # s


def test_a_studio_with_a_token_opens_one_port_and_no_page_of_others_acts_on_it(tmp_path):
    """viser, behind the studio's gateway, once had a port of its own that took anybody."""
    viser, websockets = pytest.importorskip("viser"), pytest.importorskip("websockets")
    from websockets.sync.client import connect

    with started(tmp_path, "run", "hover", "--speed", "1", "--token", "secret", "--port", "0", "--out", "run") as run:
        door = int(run.wait_for(run.said_match(r"http://127\.0\.0\.1:(\d+)/\?token=secret")))
        run.wait_for(run.is_in_flight)
        found = assert_on_loopback(run.process.pid)
        assert [(port.protocol, port.port) for port in found] == [("tcp", door)]
        for path, status in (("/?token=secret", 403), ("/", 403), ("/stick?tab=t", 403)):
            with pytest.raises(websockets.InvalidStatus, match=str(status)):
                connect(
                    f"ws://127.0.0.1:{door}{path}",
                    origin="http://evil.example",
                    subprotocols=[f"viser-v{viser.__version__}"],
                    open_timeout=PATIENCE,
                )
        before = run.logged_until()
        run.wait_for(lambda: run.logged_until() > before + 0.5)
        assert run.end() in (0, 130)


def test_ros_is_heard_on_this_machine_only(tmp_path):
    pytest.importorskip("cyclonedds")
    domain = f"ros2.domain={own_domain()}"
    with started(tmp_path, "run", "hover", "--headless", "--ros2", "--set", domain, "--set", "engine=batch") as run:
        run.wait_for(lambda: "ROS 2 nodes find" in run.said)
        assert len(assert_on_loopback(run.process.pid)) >= 3, "two of Cyclone's, and that for services"
