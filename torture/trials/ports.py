"""Ports of living runs. Whoever has no say must change nothing: the run ends with the hash it has when left alone."""

from __future__ import annotations

import json
import os
import random
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from airloom.runs.folder import RunFolder
from airloom.runs.link.place import find_socket
from torture.mutations import Mutations
from torture.runs import Run, started
from torture.trial import Tally, trial
from torture.trials.words import CONTROL_REQUESTS, HEADS, MEMBER_MESSAGES, STEP_REQUESTS

CLIENTS = 24
EDITS = [
    {"method": "spawn", "vehicle": "multirotor", "name": "new", "position": [5, 5, 1]},
    {"method": "copy", "vehicle": "cf", "name": "twin", "position": [3, 3, 1]}, {"method": "delete", "vehicle": "new"},
    {"method": "delete", "vehicle": "twin"}, {"method": "move", "vehicle": "cf", "position": [0, 0, 1]},
    {"method": "restart"},
]  # fmt: skip
LOOMED = """
name: loomed
duration: 600
engine: batch
vehicles:
  drone: {extends: multirotor, pose: {position: [0, 0, 0.05]}}
members:
  good: {command: [python, good.py], vehicles: drone, rate: 20, timeout: 30}
"""
GOOD = """
from airloom import PositionYaw
from airloom.member import join
with join() as me:
    for turn in me:
        turn.command("drone", PositionYaw((0.01 * turn.time, 0, 2)))
"""


# -- lines of JSON -----------------------------------------------------------------------------------------------------


@trial(
    "control link, living run",
    "lines of changed requests by 24 clients at once; every line is answered",
    full=10**6,
    reduced=10**4,
)
def control_link(count: int, seed: int) -> Tally:
    with tempfile.TemporaryDirectory() as folder, started(
        Path(folder), "run", "hover", "--headless", "--link", "--until", "1000000", "--out", "run", "--speed", "20"
    ) as run:  # fmt: skip
        path = run.wait_for(lambda: find_socket(RunFolder(run.out)))
        run.wait_for(lambda: _answers(socket.AF_UNIX, str(path)))
        tally = Tally()
        share = count // CLIENTS
        clients = [threading.Thread(target=_talk, args=(str(path), share, seed + k, tally)) for k in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        _must_end_well(run, tally, lambda: _answers(socket.AF_UNIX, str(path)))
    return tally


def _talk(path: str, count: int, seed: int, tally: Tally) -> None:
    mutations = Mutations(seed)
    chance = random.Random(seed)
    requests = mutations.of_trees(CONTROL_REQUESTS, count)
    edits = mutations.of_trees(EDITS, count)
    with closing(_connected(socket.AF_UNIX, path)) as line, line.makefile("rb") as replies:
        for request in requests:
            data = next(edits) if chance.random() < 1e-4 else request
            if b'"stop"' in data or not data.strip():
                continue
            began = time.perf_counter()
            line.sendall(data + b"\n")
            _count_reply(replies.readline(), data, tally)
            tally.slowest = max(tally.slowest, time.perf_counter() - began)


def _count_reply(reply: bytes, request: bytes, tally: Tally) -> None:
    try:
        answer = json.loads(reply)
        tally.expect(isinstance(answer.get("ok"), bool), f"{reply!r:.200} in answer to {request!r:.200}")
        tally.refused += not answer["ok"]
        if "failed: " in str(answer.get("error")):
            tally.surprise(f"{answer['error']!s:.300} in answer to {request!r:.200}")
    except ValueError:
        tally.expect(False, f"{reply!r:.200} in answer to {request!r:.200}")


@trial(
    "serve, living session",
    "lines of changed requests by one client; every line is answered",
    full=10**6,
    reduced=10**4,
)
def serve(count: int, seed: int) -> Tally:
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder, started(
        Path(folder), "serve", "hover", "--set", "systems={}", "--set", "engine=batch", "--out", "run"
    ) as run:  # fmt: skip
        path = str(run.folder / "airloom.sock")
        run.wait_for(lambda: _answers(socket.AF_UNIX, path, b'{"method": "hello"}\n'))
        with closing(_connected(socket.AF_UNIX, path)) as line, line.makefile("rb") as replies:
            line.sendall(b'{"method": "hello"}\n')
            replies.readline()
            for request in _short_steps(Mutations(seed).of_trees(STEP_REQUESTS, count)):
                began = time.perf_counter()
                line.sendall(request + b"\n")
                _count_reply(replies.readline(), request, tally)
                tally.slowest = max(tally.slowest, time.perf_counter() - began)
        _must_end_well(run, tally, lambda: _answers(socket.AF_UNIX, path, b'{"method": "hello"}\n'))
    return tally


def _short_steps(requests: Iterator[bytes]) -> Iterator[bytes]:
    """Steps of a million ticks are right, and would take a second each; those who take their leave end the session."""
    for request in requests:
        if request.strip() and b'"ticks": 65' not in request and b'"close"' not in request:
            yield request


def _answers(family: int, address: str | tuple[str, int], hello: bytes = b'{"method": "info"}\n') -> bytes:
    """What a new client is told."""
    with suppress(OSError), closing(_connected(family, address)) as line:
        line.sendall(hello)
        return line.recv(4096)
    return b""


def _connected(family: int, address: str | tuple[str, int]) -> socket.socket:
    line = socket.socket(family, socket.SOCK_STREAM)
    line.settimeout(60)
    line.connect(address)
    return line


def _must_end_well(run: Run, tally: Tally, answers) -> None:
    tally.expect(run.process.poll() is None, f"the run ended: {run.said[-500:]}")
    tally.expect(run.process.poll() is None and answers(), "a new client is not answered afterwards")
    code = run.end()
    tally.expect(code in (0, 130), f"exit code {code} after Ctrl-C")
    tally.expect(not run.crashed, f"a traceback: {run.said[-1500:]}")
    tally.expect(run.log_opens(), "the log does not open")


# -- strangers at the loom ---------------------------------------------------------------------------------------------


@trial(
    "loom, strangers at a living run",
    "connections with changed greetings or none, half, slow: no say, no harm",
    full=20_000,
    reduced=1000,
)
def strangers(count: int, seed: int) -> Tally:
    tally = Tally()
    hashes = [_loomed(tally, seed, visits) for visits in (0, count)]
    tally.expect(hashes[0] == hashes[1], "the flight was another")
    return tally


def _loomed(tally: Tally, seed: int, visits: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "good.py").write_text(GOOD)
        (place / "loomed.yaml").write_text(LOOMED)
        with started(
            place, "run", "loomed.yaml", "--headless", "--loom", "tcp:127.0.0.1:0", "--out", "run", "--no-figures",
            *(("--speed", "20") if visits else ()),
        ) as run:  # fmt: skip
            if visits:
                address = run.wait_for(lambda: loom_port(run))
                _knock(address, visits, seed, run, tally)
            code = run.process.wait(600)
            tally.expect(code == 0 and not run.crashed, f"exit code {code}: {run.said[-1000:]}")
            return run.summary["state_hash"]


def _open_files(process: int) -> Iterator[str]:
    for link in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            yield os.readlink(link)


def loom_port(run: Run) -> int | None:
    """From the kernel: the run says where it was asked to listen, which is any free port."""
    inodes = {target.strip("socket:[]") for target in _open_files(run.process.pid) if target.startswith("socket:")}
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        columns = line.split()
        if columns[3] == "0A" and columns[9] in inodes:
            return int(columns[1].split(":")[1], 16)
    return None


def _knock(port: int, visits: int, seed: int, run: Run, tally: Tally) -> None:
    mutations = Mutations(seed)
    held: list[socket.socket] = []
    for greeting in mutations.of_bytes(MEMBER_MESSAGES, visits):
        if run.process.poll() is not None:
            break
        began = time.perf_counter()
        with suppress(OSError):
            line = _connected(socket.AF_INET, ("127.0.0.1", port))
            line.sendall(greeting)
            held.append(line)
            tally.inputs += 1
        if len(held) > 100:
            held.pop(mutations.random.randrange(len(held))).close()
        tally.slowest = max(tally.slowest, time.perf_counter() - began)
    for line in held:
        line.close()


# -- browsers ----------------------------------------------------------------------------------------------------------


@trial(
    "studio, living run",
    "connections with changed requests, half requests, garbage on websockets",
    full=20_000,
    reduced=1000,
)
def browsers(count: int, seed: int) -> Tally:
    tally = Tally()
    mutations = Mutations(seed)
    with tempfile.TemporaryDirectory() as folder, started(
        Path(folder), "run", "hover", "--until", "100000", "--out", "run", "--port", "0"
    ) as run:  # fmt: skip
        port = int(run.wait_for(run.said_match(r"http://127\.0\.0\.1:(\d+)")))
        heads = [head.replace(b"8080", str(port).encode()) for head in HEADS]
        held: list[socket.socket] = []
        for data in mutations.of_bytes(heads, count):
            began = time.perf_counter()
            with suppress(OSError):
                line = _connected(socket.AF_INET, ("127.0.0.1", port))
                line.sendall(data)
                held.append(line)
                tally.inputs += 1
            if len(held) > 50:
                _part(held.pop(0), mutations)
            tally.slowest = max(tally.slowest, time.perf_counter() - began)
        for line in held:
            line.close()
        page = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
        _must_end_well(run, tally, lambda: _page_comes(port, page))
    return tally


def _part(line: socket.socket, mutations: Mutations) -> None:
    with suppress(OSError):
        if mutations.random.random() < 0.3:
            line.sendall(mutations.random.randbytes(200))
    line.close()


def _page_comes(port: int, page: bytes) -> bool:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if b" 200 " in _answers(socket.AF_INET, ("127.0.0.1", port), page):
            return True
        time.sleep(0.5)
    return False
