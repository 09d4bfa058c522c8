"""Carries MAVLink between an autopilot and who speaks to it, in the lockstep: nothing arrives within a frame.

The autopilot is connected to the relay from its start on, and ground stations and scripts connect to the relay where
they would connect to the autopilot. Bytes of both directions wait here. They are handed over, all that there are, when
the autopilot waits for its next frame and no member has its turn: a member sees in a turn whatever the autopilot said
in the frames before it, and the autopilot has in its next frame whatever the member said. So two runs with the same
script are equal to the bit. For those who live on the wall clock it is the same, often enough not to be felt.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Protocol

from airloom.autopilots.autopilot import AutopilotFailed
from airloom.autopilots.exact_stream import ExactStream
from airloom.autopilots.mavlink_wire import START_1, START_2

PERIOD, PERIOD_ALONE = 0.02, 0.1  # s between two hand-overs at most, and between two looks for somebody who connects
HERE = "127.0.0.1"
FIRST_PORT, PORTS_APART = 5760, 10  # where ground stations look for ArduPilots: its SERIAL0
MOST_WHO_WAIT = 16
LONGEST_DATAGRAM, USUAL_DATAGRAM = 1 << 16, 1400  # bytes


class Way(Protocol):
    """What lies between the two sides of a relay."""

    @property
    def is_open(self) -> bool:
        """Whether it takes and gives something now."""

    def carry(self, said: bytes, asked: bytes) -> tuple[bytes, bytes]:
        """Takes what the autopilot said and what it was asked; gives what has come to the other side and to it."""


class Wire:
    """All comes, at once."""

    is_open = True

    def carry(self, said: bytes, asked: bytes) -> tuple[bytes, bytes]:
        return said, asked


class Datagrams:
    """An autopilot that speaks by UDP, with whoever has spoken to it last."""

    def __init__(self, port: int) -> None:
        self._line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._line.setblocking(False)
        self._line.connect((HERE, port))

    def take(self) -> bytes:
        """All that has come; nothing while there is nobody."""
        pieces = []
        with suppress(OSError):
            while True:
                pieces.append(self._line.recv(LONGEST_DATAGRAM))
        return b"".join(pieces)

    def give(self, data: bytes) -> None:
        for at in range(0, len(data), USUAL_DATAGRAM):
            with suppress(OSError):
                self._line.send(data[at : at + USUAL_DATAGRAM])

    def close(self) -> None:
        self._line.close()


class Relay:
    def __init__(self, port: int, way: Way | None = None, autopilot: Datagrams | None = None) -> None:
        """`port` is where ground stations and scripts connect, one at a time as with the autopilot itself, which
        connects likewise if it is not given.
        """
        self._front, self._back = listening(port), listening(0)
        self._way = way or Wire()
        self._autopilot: ExactStream | Datagrams | None = autopilot
        self._client: ExactStream | None = None
        self._client_has_spoken = False

    @property
    def has_client(self) -> bool:
        return self._client is not None

    @property
    def device(self) -> str:
        """What ArduPilot takes for one of its serial ports in order to connect."""
        return f"tcpclient:{HERE}:{self._back.getsockname()[1]}"

    def carry(self) -> None:
        """Hand over all that was said on either side. An autopilot that boots anew connects anew."""
        if not self._way.is_open:
            return
        self._meet()
        said = self._autopilot.take() if self._autopilot else b""
        asked = self._asked(self._client) if self._client else b""
        said, asked = self._way.carry(said, asked)
        if self._client is not None:
            self._client.give(said)
        if self._autopilot is not None:
            self._autopilot.give(asked)

    def _asked(self, client: ExactStream) -> bytes:
        """Who does not begin as MAVLink does is hung up on: a page of any site can make a browser connect and post what
        the page likes, but only after a line of HTTP.
        """
        asked = client.take()
        if asked and not self._client_has_spoken and asked[0] not in (START_1, START_2):
            client.ended = True
            return b""
        self._client_has_spoken |= bool(asked)
        return asked

    def _meet(self) -> None:
        if not isinstance(self._autopilot, Datagrams):
            self._autopilot = still_connected(self._autopilot, self._back)
        before, self._client = self._client, still_connected(self._client, self._front)
        self._client_has_spoken &= self._client is before

    def close(self) -> None:
        for each in (self._client, self._autopilot, self._front, self._back):
            if each is not None:
                each.close()


def listening(port: int) -> socket.socket:
    door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((HERE, port))
        door.listen(MOST_WHO_WAIT)
    except OSError as error:
        door.close()
        raise AutopilotFailed(
            f"cannot be spoken to: TCP port {port}: {error.strerror}; `instance` chooses another"
        ) from None
    door.setblocking(False)
    return door


def still_connected(stream: ExactStream | None, door: socket.socket) -> ExactStream | None:
    """The stream, or one with the next who waits at the door if the other end has hung up."""
    if stream is not None and not stream.ended:
        return stream
    if stream is not None:
        stream.close()
    try:
        return ExactStream(door.accept()[0])
    except OSError:
        return None
