"""Every port that a run opens, its own and those of libraries, found by the kernel's lists."""

from __future__ import annotations

import random
import socket
import struct
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from tests.open_ports import OpenPort, open_ports

from airloom.loom.protocol import HEAD, Kind
from airloom.ros2.rtps import wire
from torture.mutations import Mutations
from torture.runs import Run, started
from torture.trial import Tally, trial
from torture.trials.words import MEMBER_MESSAGES, STEP_REQUESTS

PATIENCE = 0.5  # s for an answer; who gives none keeps silent
MOST_TEXT = 20_000  # characters that a run may say, whatever it is told
FOREIGN = b"Origin: http://evil.example\r\n"
UPGRADE = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
UPGRADE += b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: viser-v1.1.1, foxglove.sdk.v1\r\n"
KNOCKS = [
    b"GET %s HTTP/1.1\r\nHost: %s\r\n%s%s\r\n" % (path, host, upgrade, origin)
    for path in (b"/", b"/?token=guess", b"/stick?tab=t", b"/airloom.js", b"/index.html")
    for host, origin in ((b"127.0.0.1", FOREIGN), (b"evil.example", b""), (b"evil.example", FOREIGN))
    for upgrade in (b"", UPGRADE)
]
KNOCKS += [
    b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n" % FOREIGN + b"\n".join(str(one).encode() for one in STEP_REQUESTS)
]
WITHOUT_TOKEN = [
    *MEMBER_MESSAGES,
    *(b'{"method": "%s"}\n' % name for name in (b"hello", b"describe", b"step", b"reset")),
]
MEMBER = """
name: guarded
duration: 600
engine: batch
vehicles: {drone: {extends: multirotor, pose: {position: [0, 0, 0.05]}}}
members: {good: {command: [python, good.py], vehicles: drone, rate: 20, timeout: 30}}
"""
CALM = ("--speed", "1", "--no-figures", "--set", "engine=batch")
RUNS: dict[str, tuple[str, ...]] = {
    "studio": ("run", "hover", "--token", "secret", "--port", "0", "--until", "1000000", *CALM),
    "serve": ("serve", "hover", "--tcp", "0", "--token", "secret", "--set", "systems={}"),
    "loom": ("run", "guarded.yaml", "--headless", "--loom", "tcp:127.0.0.1:0", "--token", "secret", *CALM),
    "foxglove": ("run", "hover", "--headless", "--foxglove", "--set", "foxglove.port=0", "--until", "1000000", *CALM),
}
ASKS_FOR_A_TOKEN = {"studio", "serve", "loom"}


@trial(
    "every port of a run, strangers",
    "all ports that runs open are found; web requests of other sites, and without a token, changed: no data, no say",
    full=4_000,
    reduced=400,
)
def every_port(count: int, seed: int) -> Tally:
    tally, found = Tally(), []
    for kind in RUNS:
        with _running(kind) as run:
            ports = open_ports(run.process.pid)
            for port in ports:
                found.append(f"{kind} {port.protocol}")
                if not port.is_on_loopback:
                    tally.surprise(f"{kind}: {port} can be reached from outside")
            share = count // len(RUNS) // max(len(ports), 1)
            for port in ports:
                _knock(port, kind, Mutations(seed), share, tally)
            _must_go_on(run, kind, tally)
    tally.note = f"{len(found)} ports"
    return tally


@contextmanager
def _running(kind: str, *options: str) -> Iterator[Run]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "guarded.yaml").write_text(MEMBER)
        (place / "good.py").write_text(
            "from airloom.member import join\nwith join() as me:\n    [None for turn in me]\n"
        )
        with started(place, *RUNS[kind], "--out", "run", *options) as run:
            if kind == "serve":
                run.wait_for(run.said_match("(Serving)"))
            else:
                run.wait_for(run.is_in_flight)
            yield run


def _knock(port: OpenPort, kind: str, mutations: Mutations, count: int, tally: Tally) -> None:
    has_token = kind in ASKS_FOR_A_TOKEN
    words = KNOCKS + WITHOUT_TOKEN if has_token else KNOCKS
    for data in mutations.of_bytes(words, count):
        began = time.perf_counter()
        answer = _answer(port, data)
        tally.slowest = max(tally.slowest, time.perf_counter() - began)
        is_stranger = has_token or FOREIGN in data or b"\r\nHost: evil.example\r\n" in data
        tally.expect(not is_stranger or _is_refusal(answer), f"{kind}, {port}: {answer!r:.200} to {data!r:.300}")
        tally.refused += _is_refusal(answer)


def _answer(port: OpenPort, data: bytes) -> bytes:
    kind = socket.SOCK_STREAM if port.protocol == "tcp" else socket.SOCK_DGRAM
    with socket.socket(socket.AF_INET, kind) as line, suppress(OSError):
        line.settimeout(PATIENCE)
        line.connect((port.address, port.port))
        line.sendall(data)
        return line.recv(4096)
    return b""


def _is_refusal(answer: bytes) -> bool:
    """Silence, HTTP's 4xx and 5xx, a line of JSON that says no, and the loom's message that does."""
    is_told = len(answer) >= HEAD.size and answer[4] == Kind.REFUSED and HEAD.unpack_from(answer)[0] == len(answer) - 4
    return not answer or answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5", b'{"ok":false')) or is_told


def _must_go_on(run: Run, kind: str, tally: Tally) -> None:
    tally.expect(run.process.poll() is None, f"{kind}: the run ended: {run.said[-500:]}")
    code = run.end()
    tally.expect(code in (0, 130), f"{kind}: exit code {code} after Ctrl-C: {run.said[-500:]}")
    tally.expect(not run.crashed, f"{kind}: a traceback: {run.said[-1500:]}")
    tally.expect(len(run.said) < MOST_TEXT, f"{kind}: {len(run.said)} characters of text: {run.said[:500]}")


# -- DDS ---------------------------------------------------------------------------------------------------------------

PREFIX = bytes(range(12))
ABOUT = wire.PL_CDR + wire.parameters([(wire.PID_VERSION, b"\2\3")])
DATAGRAMS = [
    wire.packet(PREFIX, [wire.data(bytes(4), b"\0\1\0\xc2", 1, ABOUT)]),
    b"RTPS\2\1\1\x10" + PREFIX + struct.pack("<BBHHH", 0x15, 5, 44, 0, 16) + b"\0\1\0\xc7\0\1\0\xc2" + bytes(28),
    b"RTPS\2\3\1\x10" + PREFIX + struct.pack("<BBH", 0x07, 1, 28) + b"\0\0\3\xc7\0\0\3\xc2" + bytes(20),
    b"RTPS\2\3\1\x10" + PREFIX + struct.pack("<BBH", 0x06, 1, 24) + b"\0\0\3\xc7\0\0\3\xc2" + bytes(16),
]  # fmt: skip


@trial(
    "DDS, living run",
    "changed datagrams to each port of a run with ROS 2: it goes on, and says next to nothing of it",
    full=10**6,
    reduced=10**4,
)
def dds(count: int, seed: int) -> Tally:
    domain = f"ros2.domain={random.randrange(50, 100)}"
    options = ("--headless", "--ros2", "--set", domain, "--until", "1000000", "--speed", "1", "--no-figures")
    return _flooded("run", "hover", options, DATAGRAMS, count, seed)


# -- a board -----------------------------------------------------------------------------------------------------------


@trial(
    "HIL, living run",
    "changed MAVLink and nonsense from strangers to the port at which a board is heard: nobody else is",
    full=10**6,
    reduced=10**4,
)
def board(count: int, seed: int) -> Tally:
    words = [b"\xfd\x09\0\0\0\x01\x01\0\0\0" + bytes(11), b"\xfe\x09\0\x01\x01\0" + bytes(11), b"hello"]
    return _flooded("run", "hil", ("--headless", "--until", "1000000", "--no-figures"), words, count, seed)


def _flooded(
    command: str, scenario: str, options: Sequence[str], words: Sequence[bytes], count: int, seed: int
) -> Tally:
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder, started(
        Path(folder), command, scenario, *options, "--out", "run"
    ) as run, closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as stranger:  # fmt: skip
        run.wait_for(run.is_in_flight)
        ports = _datagram_ports(run)
        for k, data in enumerate(Mutations(seed).of_bytes(words, count)):
            with suppress(OSError):  # too long, or nobody there any more
                stranger.sendto(data, ("127.0.0.1", ports[k % len(ports)]))
            tally.inputs += 1
            if k % 1000 == 0:
                time.sleep(0.01)  # or the kernel drops most
        tally.note = f"{len(ports)} ports"
        before = run.logged_until()
        run.wait_for(lambda: run.logged_until() > before + 0.5)
        _must_go_on(run, scenario, tally)
    return tally


def _datagram_ports(run: Run) -> list[int]:
    """Those that take anybody's, and those that are tied to one peer, who may be pretended to be."""
    return [port.port for port in open_ports(run.process.pid, with_peers=True) if port.protocol == "udp"]


# -- Foxglove ----------------------------------------------------------------------------------------------------------

APP = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + UPGRADE + b"\r\n"
SUBSCRIBE = b'{"op": "subscribe", "subscriptions": [{"id": 0, "channelId": 1}]}'
FRAMES = [APP + b"\x81" + bytes([0x80 | len(SUBSCRIBE)]) + bytes(4) + SUBSCRIBE, APP + b"\x82\x85maskhello", APP]


@trial(
    "Foxglove, living run",
    "connections with changed requests and frames, half ones, garbage: the app is served afterwards, nothing is said",
    full=20_000,
    reduced=1000,
)
def foxglove(count: int, seed: int) -> Tally:
    tally, mutations = Tally(), Mutations(seed)
    with _running("foxglove") as run:
        door = int(run.wait_for(run.said_match(r"ws://127\.0\.0\.1:(\d+)")))
        held: list[socket.socket] = []
        for data in mutations.of_bytes(FRAMES, count):
            began = time.perf_counter()
            with suppress(OSError):
                line = socket.create_connection(("127.0.0.1", door), 60)
                line.sendall(data)
                held.append(line)
                tally.inputs += 1
            if len(held) > 20:
                held.pop(0).close()
            tally.slowest = max(tally.slowest, time.perf_counter() - began)
        for line in held:
            line.close()
        port = OpenPort("tcp", "127.0.0.1", door, run.process.pid, "")
        run.wait_for(lambda: _answer(port, APP).startswith(b"HTTP/1.1 101 "))
        _must_go_on(run, "foxglove", tally)
    return tally
