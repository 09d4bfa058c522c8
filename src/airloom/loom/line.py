"""A line between the loom and one member: whole messages over a socket."""

from __future__ import annotations

import os
import socket
import struct
from typing import Any

from airloom.loom.protocol import HEAD, LONGEST_MESSAGE, Kind, ProtocolError, parse


class LineLost(Exception):
    """The other end is gone."""


class Line:
    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(True)
        self._socket = connection
        self._timeout: float | None = None
        self._buffer = bytearray()
        if connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise LineLost(error.strerror or "the connection is gone") from None

    def receive(self, timeout: float | None = None) -> tuple[Kind, Any]:
        """The next message; TimeoutError if it does not come in time, LineLost if it cannot come any more."""
        self._be_patient(timeout)
        size = self._size()
        while size is None or len(self._buffer) < size:
            self._read_some()
            size = self._size()
        kind, body = self._buffer[4], bytes(self._buffer[5:size])
        del self._buffer[:size]
        found = parse(kind, memoryview(body))
        return Kind(kind), found

    def _be_patient(self, timeout: float | None) -> None:
        """By the kernel's own timeout: with Python's each read would be two calls, one to wait and one to read."""
        if timeout != self._timeout:
            self._timeout = timeout
            seconds, rest = divmod(timeout or 0.0, 1.0)
            limit = struct.pack("ll", int(seconds), int(rest * 1e6))
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)

    @property
    def has_more(self) -> bool:
        """Whether something came beyond the last message."""
        return bool(self._buffer)

    def _size(self) -> int | None:
        """Of the message at hand with its head, once that is there."""
        if len(self._buffer) < HEAD.size:
            return None
        length, _ = HEAD.unpack_from(self._buffer)
        if not 1 <= length <= LONGEST_MESSAGE:
            raise ProtocolError(f"a message of {length} bytes: at least 1 and at most {LONGEST_MESSAGE} are taken")
        return 4 + length

    def _read_some(self) -> None:
        try:
            data = self._socket.recv(65536)
        except BlockingIOError:
            raise TimeoutError from None
        except OSError as error:
            raise LineLost(error.strerror or "the connection is gone") from None
        if not data:
            raise LineLost("it hung up")
        self._buffer += data

    def close(self) -> None:
        self._socket.close()


def connect(address: str, timeout: float = 30.0) -> Line:
    """To `unix:/path` or `tcp:host:port`."""
    scheme, _, rest = address.partition(":")
    if scheme == "unix":
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(timeout)
        connection.connect(os.fspath(rest))
    elif scheme == "tcp":
        host, _, port = rest.rpartition(":")
        connection = socket.create_connection((host.strip("[]"), int(port)), timeout)
    else:
        raise ValueError(f"an address is unix:/path or tcp:host:port, got '{address}'")
    return Line(connection)
