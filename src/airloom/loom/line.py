"""A line between the loom and one member: whole messages over a socket."""

from __future__ import annotations

import errno
import select
import socket
import ssl
import struct
from time import monotonic  # by its own name the real one stays here, where a script has a clock of the simulation
from typing import Any

from airloom.loom.beats import BEAT, Beater
from airloom.loom.protocol import HEAD, KINDS, LONGEST_MESSAGE, Kind, ProtocolError, parse
from airloom.net.listening import Address
from airloom.net.sockets import make_quick_and_mortal
from airloom.net.tls import secured


class LineLost(Exception):
    """The other end is gone."""


class Line:
    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(True)
        self._socket = connection
        self.longest = LONGEST_MESSAGE
        """Bytes of a message that is taken."""
        self._timeout: float | None = None
        self._buffer = b""
        self._heard_at = monotonic()
        self._beater: Beater | None = None
        if connection.family != socket.AF_UNIX:
            make_quick_and_mortal(connection)

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, data: bytes) -> None:
        """TimeoutError if the other end does not read for as long as `receive` last waited for it."""
        try:
            if self._beater is None:
                self._socket.sendall(data)
                return
            with self._beater:
                self._socket.sendall(data)
        except OSError as error:
            raise _told(error) from None

    def beat(self) -> None:
        """Say that this end is alive, unless what waits to be sent says as much."""
        writable = select.poll()
        writable.register(self._socket, select.POLLOUT)
        if writable.poll(0):
            self.send(BEAT)

    def keep_beating(self, every: float) -> None:
        """Have another process say so every few seconds, whatever this one does. Not for TLS, which is in this one."""
        self._beater = Beater(self._socket, every)

    @property
    def silent_for(self) -> float:
        """Seconds since something was read."""
        return monotonic() - self._heard_at

    def receive(self, timeout: float | None = None) -> tuple[Kind, Any]:
        """The next message as an object; TimeoutError if it does not come in time, LineLost if it cannot come."""
        kind, body = self.receive_bytes(timeout)
        return kind, parse(kind, body)

    def receive_bytes(self, timeout: float | None = None) -> tuple[Kind, bytes]:
        """The next message as it came."""
        self.be_patient(timeout)
        data = self._buffer or self._read()
        while (size := _size(data, self.longest)) is None:
            data = self._keep(data) + self._read()
        return self._taken(data if len(data) >= size else self._completed(data, size), size)

    def arrived(self, longest: int = LONGEST_MESSAGE) -> tuple[Kind, bytes] | None:
        """The next message as it came, if all of it has come: nobody waits. It may have `longest` bytes."""
        while (size := _size(self._buffer, longest)) is None or len(self._buffer) < size:
            try:
                self._buffer += self._read(socket.MSG_DONTWAIT)
            except TimeoutError:
                return None
        return self._taken(self._buffer, size)

    def _taken(self, data: bytes, size: int) -> tuple[Kind, bytes]:
        self._buffer = data[size:]
        try:
            return KINDS[data[4]], data[HEAD.size : size]
        except KeyError:
            raise ProtocolError(f"there is no message of kind {data[4]}") from None

    def be_patient(self, timeout: float | None) -> None:
        """By the kernel's own timeout: with Python's each read would be two calls, one to wait and one to read."""
        if timeout != self._timeout:
            self._timeout = timeout
            set_kernel_timeouts(self._socket, timeout or 0.0)

    @property
    def has_more(self) -> bool:
        """Whether something came beyond the last message."""
        return bool(self._buffer)

    def put_back(self, data: bytes) -> None:
        """Bytes that somebody else has read from the socket, to be received first."""
        self._buffer = data

    def _completed(self, data: bytes, size: int) -> bytes:
        """A long message, without copying all of it for every part."""
        whole = bytearray(data)
        try:
            while len(whole) < size:
                whole += self._read()
        finally:
            self._keep(bytes(whole))
        return self._buffer

    def _keep(self, data: bytes) -> bytes:
        """A part of a message survives a timeout."""
        self._buffer = data
        return data

    def _read(self, flags: int = 0) -> bytes:
        try:
            data = self._socket.recv(65536, flags)
        except OSError as error:
            raise _told(error) from None
        if not data:
            raise LineLost("it hung up")
        self._heard_at = monotonic()
        return data

    def close(self) -> None:
        beater, self._beater = self._beater, None
        if beater:
            beater.end()
        self._socket.close()


def _told(error: OSError) -> TimeoutError | LineLost:
    """Our own patience is at an end, or the kernel has given the line up, which Python calls a TimeoutError too."""
    if isinstance(error, BlockingIOError | TimeoutError) and error.errno != errno.ETIMEDOUT:
        return TimeoutError()
    return LineLost(error.strerror or "the connection is gone")


def set_kernel_timeouts(line: socket.socket, seconds: float) -> None:
    """For reading and sending; 0 waits for ever."""
    whole, rest = divmod(seconds, 1.0)
    limit = struct.pack("ll", int(whole), int(rest * 1e6))
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        line.setsockopt(socket.SOL_SOCKET, option, limit)


def _size(data: bytes, longest: int) -> int | None:
    """Of the message at hand with its head, once that is there."""
    if len(data) < HEAD.size:
        return None
    length, _ = HEAD.unpack_from(data)
    if not 1 <= length <= longest:
        raise ProtocolError(f"a message of {length} bytes: at least 1 and at most {longest} are taken")
    return 4 + length


class TlsLine(Line):
    """A member's or branch's end of a line by TLS; at the other end is a `tls.TlsProxy`."""

    _socket: ssl.SSLSocket

    def be_patient(self, timeout: float | None) -> None:
        self._socket.settimeout(timeout)

    def _read(self, flags: int = 0) -> bytes:
        """All that is there, for nobody outside sees what was decrypted already."""
        data = super()._read(flags)
        while waiting := self._socket.pending():
            data += self._socket.recv(waiting)
        return data


def connect(address: str, timeout: float = 30.0) -> Line:
    """To an `Address`; for that of a certificate's fingerprint see `tls.secured`."""
    place = Address.parse(address)
    if place.scheme == "unix":
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(timeout)
        connection.connect(place.path)
        return Line(connection)
    connection = socket.create_connection((place.host, place.port), timeout)
    if place.scheme == "tls":
        return TlsLine(secured(connection, place.host, place.fingerprint))
    return Line(connection)
