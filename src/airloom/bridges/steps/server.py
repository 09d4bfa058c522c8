"""The server: one client at a time, one thread, nothing between a line and the step it asks for."""

from __future__ import annotations

import hmac
import os
import select
import socket
import time
from contextlib import suppress

import msgspec

from airloom.bridges.control.link import LONGEST_LINE
from airloom.bridges.control.tower import RequestError
from airloom.bridges.steps.requests import Close, Fields, Hello, parse
from airloom.commands import CommandError
from airloom.simulation import Simulation

PATIENCE = 5.0  # s for a client to show its token
TAKEN = "another client is connected; one at a time"


class Conversation:
    """Lines that come from one end, and answers."""

    def __init__(self, sim: Simulation, source: int, sink: int, token: str | None = None) -> None:
        self._sim, self._source, self._sink, self._token = sim, source, sink, token
        self._rest = b""
        self.admitted = token is None

    def go_on(self) -> bool:
        """Answer what has come; tells whether more may come."""
        data = os.read(self._source, LONGEST_LINE)
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[: LONGEST_LINE + 1]  # one byte too many marks a line as too long, however long it gets
        return bool(data) and all(self._answered(line) for line in lines if line.strip())

    def _answered(self, line: bytes) -> bool:
        reply, goes_on = self._reply(line)
        _write(self._sink, msgspec.json.encode(reply) + b"\n")
        return goes_on

    def _reply(self, line: bytes) -> tuple[Fields, bool]:
        """What to say, and whether to go on listening."""
        try:
            if len(line) > LONGEST_LINE:
                raise RequestError(f"a line may have {LONGEST_LINE} bytes at most")
            request = parse(line)
            if not self.admitted:
                self._admit(request)
            return {"ok": True, **request.carry_out(self._sim)}, not isinstance(request, Close)
        except (RequestError, CommandError, msgspec.ValidationError) as error:
            return refusal(str(error)), self.admitted
        except Exception as error:  # of a user's system or controller: its client shall hear of it
            return refusal(f"{type(error).__name__}: {error}; reset to go on"), True

    def _admit(self, request: object) -> None:
        shown = request.token if isinstance(request, Hello) else ""
        if not hmac.compare_digest(shown.encode(), (self._token or "").encode()):
            raise RequestError('the first line must show the token: {"method": "hello", "token": "…"}')
        self.admitted = True


def serve_stream(sim: Simulation, source: int, sink: int) -> None:
    """Until the stream ends or its client takes its leave."""
    conversation = Conversation(sim, source, sink)
    with suppress(BrokenPipeError):
        while conversation.go_on():
            pass


def serve_socket(sim: Simulation, listener: socket.socket, token: str | None = None) -> None:
    """One client after the other, until a signal raises KeyboardInterrupt."""
    while True:
        client, _ = listener.accept()
        if client.family != socket.AF_UNIX:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        with client, suppress(OSError):
            _converse(Conversation(sim, client.fileno(), client.fileno(), token), client, listener)


def _converse(conversation: Conversation, client: socket.socket, listener: socket.socket) -> None:
    doors, deadline = select.poll(), time.monotonic() + PATIENCE
    doors.register(client, select.POLLIN)
    doors.register(listener, select.POLLIN)
    while True:
        wait = None if conversation.admitted else max(deadline - time.monotonic(), 0.0) * 1e3
        ready = [door for door, _ in doors.poll(wait)]
        if client.fileno() in ready:  # first, for whoever knocks may come after this one has left
            if not conversation.go_on():
                return
        elif ready:
            _turn_away(listener)
        else:
            return


def _turn_away(listener: socket.socket) -> None:
    with listener.accept()[0] as other, suppress(OSError):
        other.sendall(msgspec.json.encode(refusal(TAKEN)) + b"\n")


def _write(sink: int, data: bytes) -> None:
    while data:
        data = data[os.write(sink, data) :]


def refusal(error: str) -> Fields:
    return {"ok": False, "error": error}
