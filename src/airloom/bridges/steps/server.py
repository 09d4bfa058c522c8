"""The server: one client at a time, one thread, nothing between a line and the step it asks for."""

from __future__ import annotations

import hmac
import os
import select
import socket
import struct
import time
from contextlib import suppress

import msgspec

from airloom.bridges.control.link import LONGEST_LINE
from airloom.bridges.control.tower import RequestError
from airloom.bridges.steps.requests import Close, Fields, Hello, parse
from airloom.bridges.steps.session import Session
from airloom.commands import CommandError

PATIENCE = 5  # s for a client to show its token, or to read its replies
TAKEN = "another client is connected; one at a time"


class Conversation:
    """Lines that come from one end, and replies."""

    def __init__(self, session: Session, source: int, sink: int, token: str | None = None) -> None:
        self._session, self._source, self._sink, self._token = session, source, sink, token
        self._rest = b""
        self.admitted = token is None

    def go_on(self) -> bool:
        """Answer what has come; tells whether more may come."""
        data = os.read(self._source, LONGEST_LINE)
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[: LONGEST_LINE + 1]  # one byte too many marks a line as too long, however long it gets
        for line in lines:
            if line.strip() and not self._answered(line):
                return False
        return bool(data)

    def _answered(self, line: bytes) -> bool:
        reply, goes_on = self._reply(line)
        data = msgspec.json.encode(reply) + b"\n"
        while data:
            data = data[os.write(self._sink, data) :]
        return goes_on and not self._session.ending

    def _reply(self, line: bytes) -> tuple[Fields, bool]:
        """What to say, and whether to go on listening. A refusal, too, says what time it is."""
        session = self._session
        session.busy = True
        try:
            if len(line) > LONGEST_LINE:
                raise RequestError(f"a line may have {LONGEST_LINE} bytes at most")
            request = parse(line)
            if not self.admitted:
                self._admit(request)
            if session.failure and not request.mends:
                raise RequestError(f"{session.failure}; reset to go on")
            fields = request.carry_out(session)
            return {"ok": True, **_clock(session), **fields}, not isinstance(request, Close)
        except (RequestError, CommandError) as error:
            return refusal(str(error)) | (_clock(session) if self.admitted else {}), self.admitted
        except Exception as error:  # of a user's system or controller: its client shall hear of it
            return refusal(session.fail(error)) | _clock(session), self.admitted
        finally:
            session.busy = False

    def _admit(self, request: object) -> None:
        shown = request.token if isinstance(request, Hello) else ""
        if not hmac.compare_digest(shown.encode(), (self._token or "").encode()):
            raise RequestError('the first line must show the token: {"method": "hello", "token": "…"}')
        self.admitted = True


def serve_stream(session: Session, source: int, sink: int) -> None:
    """Until the stream ends or its client takes its leave."""
    conversation, readers = Conversation(session, source, sink), select.poll()
    readers.register(sink, 0)  # tells of an error when nobody can read there any more
    session.is_awaited = lambda: not readers.poll(0)
    with suppress(BrokenPipeError):
        while conversation.go_on():
            pass


def serve_socket(session: Session, listener: socket.socket, token: str | None = None) -> None:
    """One client after the other, until a signal has come."""
    while not session.ending:
        client, _ = listener.accept()
        with client, suppress(OSError):
            _Visit(session, client, listener, token).go_on()


class _Visit:
    """A client from its coming to its leaving; others are turned away."""

    def __init__(self, session: Session, client: socket.socket, listener: socket.socket, token: str | None) -> None:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", PATIENCE, 0))
        leaving = 0  # that a Unix socket was closed is told unasked; that it says no more does not mean it left
        if client.family != socket.AF_UNIX:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            leaving = select.POLLRDHUP
        self._client, self._listener = client, listener
        self._conversation = Conversation(session, client.fileno(), client.fileno(), token)
        self._between_steps, self._in_a_step = select.poll(), select.poll()
        for doors, events in ((self._between_steps, select.POLLIN), (self._in_a_step, leaving)):
            doors.register(client, events)
            doors.register(listener, select.POLLIN)
        session.is_awaited = self._is_here

    def go_on(self) -> None:
        conversation, deadline = self._conversation, time.monotonic() + PATIENCE
        while True:
            wait = None if conversation.admitted else max(deadline - time.monotonic(), 0.0) * 1e3
            ready = [door for door, _ in self._between_steps.poll(wait)]
            if self._client.fileno() in ready:  # first, for whoever knocks may come after this one has left
                if not conversation.go_on():
                    return
            elif ready:
                self._turn_away()
            else:
                return

    def _is_here(self) -> bool:
        ready = [door for door, _ in self._in_a_step.poll(0)]
        if self._client.fileno() in ready:
            return False
        if ready:
            self._turn_away()
        return True

    def _turn_away(self) -> None:
        with suppress(OSError), self._listener.accept()[0] as other:
            other.sendall(msgspec.json.encode(refusal(TAKEN)) + b"\n")


def refusal(error: str) -> Fields:
    return {"ok": False, "error": error}


def _clock(session: Session) -> Fields:
    return {"tick": session.sim.tick, "time": session.sim.time}
