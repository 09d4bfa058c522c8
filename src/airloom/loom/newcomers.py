"""Newcomers: who has knocked at a coordinator's door and has not said yet who it is.

Anybody can knock who reaches the port, so that nobody ever waits for them, and they are bounded in number, time and
rate: a run goes on as before however many come, and whoever says at once who it is gets in among them.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from airloom.loom.line import Line, LineLost
from airloom.loom.listening import Listeners
from airloom.loom.protocol import Kind, ProtocolError, told
from airloom.net import reserve

MOST = 64
"""That stand there at once; one more takes the place of the one that has been there longest."""
PATIENCE = 10.0  # s to say who one is
BETWEEN_LOOKS = 0.02  # s
MOST_AT_A_LOOK = 8  # that are let in by one door: at 20 looks a second a crowd takes 2 % of the time
LONGEST_INTRODUCTION = 16 * 1024  # bytes
SHUT = 1.0  # s, if no file number is left for one more


class Introduced(NamedTuple):
    """A newcomer that has said who it is."""

    line: Line
    came_by: socket.socket
    kind: Kind
    body: bytes


class Newcomers:
    def __init__(self, listeners: Listeners) -> None:
        self._listeners = listeners
        self._waiting: dict[Line, tuple[socket.socket, float]] = {}
        """The door by which each came, and when; who came first is first."""
        self._next_look = 0.0

    @property
    def wait(self) -> float:
        """Seconds until they may be looked at again."""
        return max(self._next_look - time.monotonic(), 0.0)

    @property
    def places(self) -> list[socket.socket | Line]:
        """Where something from them may come, if they may be looked at."""
        return [] if self.wait else [*self._listeners.listeners, *self._waiting]

    def look(self, ready: list) -> Iterator[Introduced]:
        """Of what is ready among the places: let in who knocks, and give those who have said who they are."""
        now = time.monotonic()
        self._next_look = now + BETWEEN_LOOKS
        for line, (_, since) in list(self._waiting.items()):
            if now - since > PATIENCE:
                self._turn_away(line, f"it did not say who it is within {PATIENCE:g} s")
        for one in ready:
            if one in self._waiting:
                yield from self._introduced(one)
            elif one in self._listeners.listeners:
                for line in self._let_in(one):
                    yield from self._introduced(line)

    def _let_in(self, door: socket.socket) -> Iterator[Line]:
        for _ in range(MOST_AT_A_LOOK):
            try:
                connection = door.accept()[0]
            except BlockingIOError:
                return
            except OSError:
                self._next_look += SHUT
                return
            line = Line(connection)
            enough = reserve.is_kept()
            if self._waiting and not (enough and len(self._waiting) < MOST):
                self._turn_away(next(iter(self._waiting)), "others knock, and it did not say who it is")
            elif not enough:
                refuse(line, reserve.SHORT_OF_FILES)
                return
            self._waiting[line] = door, time.monotonic()
            yield line

    def _introduced(self, line: Line) -> Iterator[Introduced]:
        try:
            said = line.arrived(LONGEST_INTRODUCTION)
        except (ProtocolError, LineLost) as error:
            self._turn_away(line, str(error))
            return
        if said is not None:
            yield Introduced(line, self._waiting.pop(line)[0], *said)

    def _turn_away(self, line: Line, reason: str) -> None:
        del self._waiting[line]
        refuse(line, reason)

    def close(self) -> None:
        for line in self._waiting:
            line.close()
        self._waiting.clear()


def refuse(line: Line, reason: str) -> None:
    with suppress(LineLost, TimeoutError):
        line.send(told(Kind.REFUSED, reason))
    line.close()
