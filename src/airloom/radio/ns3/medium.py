"""The medium whose air is ns-3's."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from airloom.errors import Refusal, RunError, UserError
from airloom.keeper import Kept, how_it_ended
from airloom.radio.medium import ARRIVAL, EVERYBODY, Arrivals, Frame, Jammer, Outcomes
from airloom.radio.ns3 import protocol
from airloom.radio.ns3.installation import helper_program
from airloom.radio.ns3.setup import lines
from airloom.scenario.ns3_radio import Ns3Radio

PATIENCE = 1.0  # s to end when asked; a stopped process ignores it
AT_ONCE = 1 << 20  # bytes
FIRST_WORDS = 300  # bytes of what it printed that are told when it fails


class Ns3Failed(RunError):
    """The helper has died, hangs, or says what makes no sense."""


@dataclass(frozen=True)
class Flow:
    """What went from one node to another, as ns-3's flow monitor counts it; a frame to all counts for each receiver."""

    sender: str
    receiver: str
    sent: int
    heard: int
    bytes_heard: int
    delay: float
    """Mean, s; 0 if nothing was heard."""
    jitter: float
    """Mean change of the delay from one frame to the next, s."""


class Ns3Medium:
    """A `Medium` in a process of its own, a fresh one for each run: equal seeds give equal bits.

    A node whose position is not finite has left: its radio is off.
    """

    def __init__(
        self,
        names: Sequence[str],
        radio: Ns3Radio,
        *,
        folder: Path | None = None,
        tell: Callable[[str], None] = lambda text: print(text, file=sys.stderr),
    ) -> None:
        """`folder` is for pcap files and flows, if they are wanted; what takes long or is doubtful is told."""
        self.names, self.radio = list(names), radio
        if not self.names:
            raise UserError("ns-3: nobody has a radio, so there is nothing to carry")
        if radio.base is not None and radio.base not in self.names:
            raise UserError(f"ns-3: the base station '{radio.base}' is no node; nodes are {', '.join(self.names)}")
        if (radio.pcap or radio.flow_monitor) and folder is None:
            raise UserError("ns-3: pcap files and flows need a folder to be written to")
        self._folder = folder
        self.jammers: Sequence[Jammer] = ()
        self.links: np.ndarray | None = None
        self._program = helper_program(tell)
        self._helper: _Helper | None = None
        self._waiting: list[tuple[Frame, bytes]] = []
        self.facts: dict[str, float] = {}
        """What ns-3 made of the settings: slot time, contention window, queue and others, by name; after `reset`."""

    def reset(self, seed: int) -> None:
        self.close()
        self._waiting.clear()
        self.jammers, self.links = (), None
        self._next_event_ns = 0
        self._told: tuple[bytes, bytes, tuple[Jammer, ...]] | None = None  # who is somewhere, links, and jammers
        self._history = hashlib.blake2b(digest_size=16)
        wanted = [*lines(self.radio, seed, self.names), *self._files()]
        helper = _Helper(self._program, self.radio.timeout)
        text = helper.ask(b"S", "\n".join(wanted).encode(), b"F").decode()
        self._helper = helper
        self.facts = {key: float(value) for key, value in (line.split() for line in text.splitlines())}

    def _files(self) -> list[str]:
        if self._folder is None:
            return []
        self._folder.mkdir(parents=True, exist_ok=True)
        pcap = [f"pcap {self._folder.resolve()}/"] if self.radio.pcap else []
        return pcap + ([f"flows {self._folder.resolve() / 'flows.xml'}"] if self.radio.flow_monitor else [])

    def send(self, frames: Sequence[Frame], payloads: Sequence[bytes] | None = None) -> None:
        """Queue frames; nothing moves. Payloads are what pcap files show; without them bytes are zero.

        A frame has a byte at least: ns-3's devices take none that is empty.
        """
        for frame, payload in zip(frames, payloads or [b""] * len(frames), strict=True):
            self._check(frame)
            self._waiting.append((frame if frame.size else frame._replace(size=1), payload))

    def _check(self, frame: Frame) -> None:
        nodes = len(self.names)
        if not (0 <= frame.sender < nodes and EVERYBODY <= frame.to < nodes and frame.to != frame.sender):
            raise Refusal(f"a frame from node {frame.sender} to {frame.to}: there are nodes 0 to {nodes - 1}")
        if not 0 <= frame.size <= self.radio.longest:
            link, longest = self.radio.link, self.radio.longest
            raise Refusal(f"a frame of {frame.size} bytes: one of {link} has at most {longest} bytes of payload")

    def advance(self, until_ns: int, positions: np.ndarray) -> Arrivals:
        """Only if something can happen: to ask takes as long as a few frames do."""
        links = b"" if self.links is None else self.links.tobytes()
        circumstances = (np.isfinite(positions).tobytes(), links, tuple(self.jammers))
        if not self._waiting and until_ns <= self._next_event_ns and circumstances == self._told:
            return Arrivals(np.empty(0, ARRIVAL))
        blocked = [] if self.links is None else list(zip(*np.nonzero(~self.links), strict=True))
        body = protocol.run_body(until_ns, positions, self._waiting, self.jammers, blocked)
        self._waiting.clear()
        answer = self._ask(b"R", body, b"A", ARRIVAL.itemsize, protocol.NEXT_EVENT.size)
        self._history.update(body)
        self._history.update(answer)
        (self._next_event_ns,), self._told = protocol.NEXT_EVENT.unpack_from(answer), circumstances
        return Arrivals(np.frombuffer(answer, ARRIVAL, offset=protocol.NEXT_EVENT.size))

    def add_node(self, name: str) -> None:
        self.names.append(name)
        self._ask(b"N", name.encode(), b"N")
        self._next_event_ns = 0

    def hash_into(self, digest: Any) -> None:
        """What ns-3 holds follows from all that it was told; what it answered is there to be sure."""
        digest.update(self._history.digest())
        for frame, payload in self._waiting:
            digest.update(repr(frame).encode() + payload)

    def outcomes(self) -> Outcomes:
        """Counts so far. A frame that its receiver does not even notice is no loss there."""
        table = self._table(b"C", b"", b"C", protocol.COUNTS)
        return Outcomes(*(table[name].copy() for name in Outcomes._fields))

    def flows(self) -> list[Flow]:
        """From each node to each that something was sent to; empty unless `flow_monitor` was asked for."""
        return [
            Flow(
                self.names[row["sender"]], self.names[row["receiver"]], int(row["sent"]), int(row["heard"]),
                int(row["bytes_heard"]), row["delay_sum_ns"] * 1e-9 / max(row["heard"], 1),
                row["jitter_sum_ns"] * 1e-9 / max(row["heard"] - 1, 1),
            )
            for row in self._table(b"L", b"", b"L", protocol.FLOW)
        ]  # fmt: skip

    def report(self) -> dict[str, Any]:
        flows = self.flows() if self.radio.flow_monitor else []
        return {"flows": [asdict(flow) for flow in flows]} if flows else {}

    @property
    def processor_time(self) -> float:
        """Seconds that ns-3 has taken so far."""
        return self._helper.processor_time if self._helper else 0.0

    def close(self) -> None:
        """Files are complete afterwards."""
        if self._helper is not None:
            helper, self._helper = self._helper, None
            helper.end()

    def _table(self, kind: bytes, body: bytes, wanted: bytes, rows: np.dtype) -> np.ndarray:
        return np.frombuffer(self._ask(kind, body, wanted, rows.itemsize), rows)

    def _ask(self, kind: bytes, body: bytes, wanted: bytes, row: int = 1, head: int = 0) -> bytes:
        """The answer: a head, then whole rows of so many bytes."""
        if self._helper is None:
            raise Ns3Failed("ns-3 does not run: reset comes first")
        try:
            answer = self._helper.ask(kind, body, wanted)
            if len(answer) < head or (len(answer) - head) % row:
                self._helper.fail(f"answered with {len(answer)} bytes, which makes no sense")
        except Ns3Failed:
            self._helper = None
            raise
        return answer


class _Helper:
    """The process, and questions to it."""

    def __init__(self, program: Path, timeout: float) -> None:
        self._timeout = timeout
        self._in_step = True  # not while an answer is due: an interrupt may come meanwhile
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(timeout)
        self._received = b""
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  closed with the helper
        with theirs:
            try:
                self._process = Kept(
                    [str(program), str(theirs.fileno())], patience=PATIENCE, pass_fds=[theirs.fileno()],
                    stdout=subprocess.DEVNULL, stderr=self._said,
                )  # fmt: skip
            except OSError as error:
                self._socket.close()
                self._said.close()
                raise Ns3Failed(f"ns-3 cannot be started: {program}: {error.strerror}") from None

    @property
    def processor_time(self) -> float:
        fields = Path(f"/proc/{self._process.program}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ask(self, kind: bytes, body: bytes, wanted: bytes) -> bytes:
        """The body of the answer."""
        self._in_step = False
        try:
            self._socket.sendall(protocol.HEAD.pack(1 + len(body), kind) + body)
            (length,) = protocol.LENGTH.unpack(self._read(protocol.LENGTH.size))
            if not 1 <= length <= protocol.LONGEST:
                self.fail(f"announced a message of {length} bytes, which makes no sense")
            answer = self._read(length)
        except TimeoutError:
            self.fail(f"has not answered for {self._timeout:g} s, and was ended")
        except ConnectionError:
            self.fail(self._how_it_ended())
        if answer[:1] == b"E":
            self.fail(f"gave up: {answer[1:].decode(errors='replace')}")
        if answer[:1] != wanted:
            self.fail(f"answered {answer[:1]!r} where {wanted!r} was due")
        self._in_step = True
        return answer[1:]

    def _read(self, count: int) -> bytes:
        while len(self._received) < count:
            some = self._socket.recv(AT_ONCE)
            if not some:
                raise ConnectionResetError
            self._received += some
        answer, self._received = self._received[:count], self._received[count:]
        return answer

    def _how_it_ended(self) -> str:
        """Its end of the socket is closed, so it is about to, unless it has gone mad."""
        try:
            return how_it_ended(self._process.wait(self._timeout))
        except subprocess.TimeoutExpired:
            return "has closed its socket"

    def fail(self, how: str) -> NoReturn:
        self._process.end()
        self._said.seek(0)
        text = self._said.read(FIRST_WORDS).decode(errors="replace").strip()
        self._close()
        raise Ns3Failed(f"ns-3 {how}" + (f"; it said: {text}" if text else ""))

    def end(self) -> None:
        if self._in_step:
            self.ask(b"Q", b"", b"Q")
            self._how_it_ended()  # by itself, when its files are complete
        self._process.end()
        self._close()

    def _close(self) -> None:
        self._socket.close()
        self._said.close()
