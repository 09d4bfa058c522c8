"""A TCP connection between two processes of this machine on which nothing is ever on its way.

Even on one machine a byte that was sent may come a moment later, when the kernel finds the time; who is waited for by
other means, as members and autopilots are, would then have said it now in one run and in the next frame of another.
But the kernel keeps account of both ends, and answers questions about the other one over a netlink socket: see
sock_diag(7), and tcp_info in linux/tcp.h.
"""

from __future__ import annotations

import select
import socket
import struct
import time
from typing import NamedTuple

SOCK_DIAG, SOCK_DIAG_BY_FAMILY = 4, 20
REQUEST, ERROR = 1, 2  # NLM_F_REQUEST, NLMSG_ERROR
ALL_STATES = 0xFFFFFFFF
ESTABLISHED = 1
ANY_COOKIE = 0xFFFFFFFF
INFO = 2  # INET_DIAG_INFO: a struct tcp_info follows
HEADER, QUESTION, PORTS, REST = (struct.Struct(form) for form in ("=IHHII", "=BBBBI", ">HH", "=III"))
ANSWER = 72  # bytes of struct inet_diag_msg
BYTES_RECEIVED, NOT_SENT, BYTES_SENT = 128, 144, 200  # places in struct tcp_info
ENOUGH_INFO = BYTES_SENT + 16

CHUNK = 1 << 16
PATIENCE = 2.0  # s for what the kernel says has been sent
A_MOMENT = 20e-6  # s
MOST_WAITING = 1 << 22  # bytes that somebody may leave unread


class Account(NamedTuple):
    """What the other end was given to send, and what has come to it; bytes since the beginning."""

    sent: int
    received: int


class FarEnd:
    """The other end of a connection on this machine, as the kernel knows it."""

    def __init__(self, connection: socket.socket) -> None:
        (here, port), (there, other_port) = connection.getsockname(), connection.getpeername()
        who = PORTS.pack(other_port, port) + _address(there) + _address(here) + REST.pack(0, ANY_COOKIE, ANY_COOKIE)
        question = QUESTION.pack(socket.AF_INET, socket.IPPROTO_TCP, 1 << (INFO - 1), 0, ALL_STATES) + who
        self._question = HEADER.pack(HEADER.size + len(question), SOCK_DIAG_BY_FAMILY, REQUEST, 0, 0) + question
        self._kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG)

    def account(self) -> Account | None:
        """None if it has hung up."""
        self._kernel.send(self._question)
        answer = self._kernel.recv(4096)
        if HEADER.unpack_from(answer)[1] == ERROR or answer[HEADER.size + 1] != ESTABLISHED:
            return None
        info = _attribute(answer, INFO)
        (received,) = struct.unpack_from("=Q", info, BYTES_RECEIVED)
        (waiting,) = struct.unpack_from("=I", info, NOT_SENT)
        sent, again = struct.unpack_from("=QQ", info, BYTES_SENT)
        return Account(sent - again + waiting, received)

    def close(self) -> None:
        self._kernel.close()


def _address(text: str) -> bytes:
    return socket.inet_aton(text).ljust(16, b"\0")


def _attribute(answer: bytes, wanted: int) -> bytes:
    at = HEADER.size + ANSWER
    while at < len(answer):
        size, kind = struct.unpack_from("=HH", answer, at)
        if kind == wanted:
            return answer[at + 4 : at + size].ljust(ENOUGH_INFO, b"\0")
        at += (size + 3) & ~3
    raise OSError(f"the kernel tells nothing of kind {wanted} about a connection")


class ExactStream:
    """`take` gives all that the other end has sent until now, and what was given by `give` is there when it returns."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = connection
        self._far_end = _known_far_end(connection)
        self._taken = self._given = 0
        self._waiting = bytearray()
        """Given, but the other end has no room for it."""
        self.ended = False
        """Whether the other end has hung up, or does not read."""

    @property
    def is_exact(self) -> bool:
        """Whether the kernel tells of the other end; else what is on its way comes later."""
        return self._far_end is not None

    def take(self) -> bytes:
        pieces: list[bytes] = []
        account = self._far_end.account() if self._far_end and not self.ended else None
        deadline = time.monotonic() + PATIENCE
        while not self.ended and (account is None or self._taken < account.sent):
            try:
                piece = self._connection.recv(CHUNK)
            except BlockingIOError:
                if self._far_end is None or time.monotonic() > deadline:
                    break
                select.select([self._connection], [], [], A_MOMENT)
            except OSError:
                self.ended = True
            else:
                self.ended = not piece
                self._taken += len(piece)
                pieces.append(piece)
        if pieces:  # ArduPilot stands still while much is unacknowledged, and the kernel likes to wait with that
            self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        return b"".join(pieces)

    def give(self, data: bytes) -> None:
        self._waiting += data
        if not self._waiting:
            return
        try:
            while self._waiting and (size := self._connection.send(self._waiting)):
                self._given += size
                del self._waiting[:size]
        except BlockingIOError:
            self.ended |= len(self._waiting) > MOST_WAITING
        except OSError:
            self.ended = True
        deadline = time.monotonic() + PATIENCE
        while not self._is_there() and time.monotonic() < deadline:
            time.sleep(A_MOMENT)

    def _is_there(self) -> bool:
        """All that was given, or as much as the other end has room for."""
        account = self._far_end.account() if self._far_end and not self.ended else None
        return account is None or account.received >= self._given or self._has_no_room()

    def _has_no_room(self) -> bool:
        info = self._connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, ENOUGH_INFO)
        return bool(struct.unpack_from("=I", info, NOT_SENT)[0])

    def close(self) -> None:
        """With nothing left unread, for which the kernel would reset the connection: the other end hears an end."""
        self.take()
        if self._far_end is not None:
            self._far_end.close()
        self._connection.close()


def _known_far_end(connection: socket.socket) -> FarEnd | None:
    try:
        far_end = FarEnd(connection)
        far_end.account()
        return far_end
    except OSError:  # a kernel without sock_diag
        return None
