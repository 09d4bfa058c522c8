"""The server: one client at a time, one thread, nothing between a line and the step it asks for."""

from __future__ import annotations

import hmac
import os
import select
import socket
import struct
import time
from collections.abc import Iterable
from contextlib import closing, suppress

import msgspec

from airloom.errors import Refusal
from airloom.net import reserve
from airloom.net.json_lines import LONGEST_LINE, LineBuffer, RequestError, refusal
from airloom.net.sockets import make_quick_and_mortal
from airloom.serve.requests import Close, Fields, Hello, Request, parse
from airloom.serve.session import Session

PATIENCE = 5  # s for a client to show its token, or to read its replies
MOST_WAITING = 16
"""Clients that have not shown their token; one more takes the place of the one that has been there longest."""
BETWEEN_TRIES = 0.1  # s until somebody is let in again, after it was not possible
LOOK_FOR_SIGNALS = 500
"""ms of waiting for a client, and then again: a signal that comes just before a wait does not end it."""
TAKEN = "another client is connected; one at a time"


class Conversation:
    """Lines that come from one end, and replies."""

    def __init__(
        self, session: Session, source: int, sink: int, token: str | None = None, may_be_a_browser: bool = False
    ) -> None:
        """A page of any site can make a browser connect and say what the page likes, but only after a line of HTTP: who
        may be one is hung up on if the first line is no request.
        """
        self._session, self._source, self._sink, self._token = session, source, sink, token
        self._lines = LineBuffer()
        self.admitted = token is None
        self._may_be_a_browser = may_be_a_browser

    def go_on(self) -> bool:
        """Answer what has come; tells whether more may come."""
        data = os.read(self._source, LONGEST_LINE)
        for line in self._lines.feed(data):
            if not self._answered(line):
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
            request = self._parsed(line)
            if not self.admitted:
                self._admit(request)
            if session.failure and not request.mends:
                raise RequestError(f"{session.failure}; reset to go on")
            fields = request.carry_out(session)
            return {"ok": True, **_clock(session), **fields}, not isinstance(request, Close)
        except Refusal as error:
            goes_on = self.admitted and not self._may_be_a_browser
            return refusal(str(error)) | (_clock(session) if self.admitted else {}), goes_on
        except Exception as error:  # of a user's system or controller: its client shall hear of it
            if not self.admitted:
                return refusal(str(error)), False
            return refusal(session.fail(error)) | _clock(session), True
        finally:
            session.busy = False

    def _parsed(self, line: bytes) -> Request:
        try:
            request = parse(line)
        except RequestError as error:
            raise RequestError(f"{error}{'; whoever begins so is hung up on' * self._may_be_a_browser}") from None
        self._may_be_a_browser = False
        return request

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
    words = select.poll()
    words.register(source, select.POLLIN)
    with suppress(BrokenPipeError):
        while not words.poll(LOOK_FOR_SIGNALS) or conversation.go_on():
            pass


def serve_socket(session: Session, listener: socket.socket, token: str | None = None) -> None:
    """One client after the other, until a signal has come."""
    listener.setblocking(False)
    while not session.ending:
        if (visit := _Lobby(session, listener, token).first_admitted()) is not None:
            with closing(visit), suppress(OSError):
                visit.go_on()


class _Lobby:
    """Where clients wait until one of them has shown the token, so that nobody without it keeps others out."""

    def __init__(self, session: Session, listener: socket.socket, token: str | None) -> None:
        self._session, self._listener, self._token = session, listener, token
        self._waiting: dict[int, _Visit] = {}
        """By file number; who came first is first."""
        self._doors = select.poll()
        self._doors.register(listener, select.POLLIN)

    def first_admitted(self) -> _Visit | None:
        """None if a signal has come."""
        try:
            while not self._session.ending:
                for number, _ in self._doors.poll(500 * PATIENCE if self._waiting else LOOK_FOR_SIGNALS):
                    visit = self._let_in() if number == self._listener.fileno() else self._heard(number)
                    if visit and visit.admitted:
                        del self._waiting[visit.number]
                        return visit
                self._send_away(number for number, visit in self._waiting.items() if visit.is_late)
            return None
        finally:
            for visit in self._waiting.values():
                visit.close(TAKEN)

    def _let_in(self) -> _Visit | None:
        try:
            client = self._listener.accept()[0]
        except OSError:  # it is gone again, or no file number is left: perhaps later
            time.sleep(BETWEEN_TRIES)
            return None
        visit = _Visit(self._session, client, self._listener, self._token)
        if len(self._waiting) >= MOST_WAITING or not reserve.is_kept():
            self._send_away(list(self._waiting)[:1])
        self._waiting[visit.number] = visit
        self._doors.register(client, select.POLLIN)
        return visit

    def _heard(self, number: int) -> _Visit | None:
        visit = self._waiting.get(number)  # none if another has just taken its place
        with suppress(OSError):
            if visit is None or visit.hear():
                return visit
        self._send_away([number])
        return None

    def _send_away(self, numbers: Iterable[int]) -> None:
        for number in list(numbers):
            self._doors.unregister(number)
            self._waiting.pop(number).close()


class _Visit:
    """A client from its coming to its leaving; once it is admitted, others are turned away."""

    def __init__(self, session: Session, client: socket.socket, listener: socket.socket, token: str | None) -> None:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", PATIENCE, 0))
        leaving = 0  # that a Unix socket was closed is told unasked; that it says no more does not mean it left
        if client.family != socket.AF_UNIX:
            make_quick_and_mortal(client)
            leaving = select.POLLRDHUP
        self.number = client.fileno()
        self._session, self._client, self._listener = session, client, listener
        self._deadline = time.monotonic() + PATIENCE
        self._conversation = Conversation(session, client.fileno(), client.fileno(), token, may_be_a_browser=True)
        self._between_steps, self._in_a_step = select.poll(), select.poll()
        for doors, events in ((self._between_steps, select.POLLIN), (self._in_a_step, leaving)):
            doors.register(client, events)
            doors.register(listener, select.POLLIN)

    @property
    def admitted(self) -> bool:
        return self._conversation.admitted

    @property
    def is_late(self) -> bool:
        """With its token."""
        return time.monotonic() > self._deadline

    def go_on(self) -> None:
        while True:
            ready = [door for door, _ in self._between_steps.poll(LOOK_FOR_SIGNALS)]
            if self.number in ready:  # first, for whoever knocks may come after this one has left
                if not self.hear():
                    return
            elif ready:
                self._turn_away()

    def hear(self) -> bool:
        """Answer what has come; tells whether more may come."""
        self._session.is_awaited = self._is_here
        return self._conversation.go_on()

    def _is_here(self) -> bool:
        ready = [door for door, _ in self._in_a_step.poll(0)]
        if self.number in ready:
            return False
        if ready:
            self._turn_away()
        return True

    def _turn_away(self) -> None:
        with suppress(OSError), self._listener.accept()[0] as other:
            _tell(other, TAKEN)

    def close(self, reason: str = "") -> None:
        with self._client, suppress(OSError):
            if reason:
                _tell(self._client, reason)


def _tell(client: socket.socket, error: str) -> None:
    client.sendall(msgspec.json.encode(refusal(error)) + b"\n")


def _clock(session: Session) -> Fields:
    return {"tick": session.sim.tick, "time": session.sim.time}
