"""A port of a library within this process that asks nobody who he is, walled up: it can be reached from here alone."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress

HERE = "127.0.0.1"
SO_ATTACH_FILTER = 26
LOAD_WORD, LOAD_HALF, JUMP_IF_EQUAL, RETURN = 0x20, 0x28, 0x15, 0x06
"""Of classic BPF, see linux/filter.h. What a filter of a listening socket returns is how much of a packet may pass."""
IP_HEADER, SENDER_ADDRESS, SENDER_PORT = 0xFFF00000, 12, 0
"""SKF_NET_OFF; the place of the sender's address behind it, and that of its port in the TCP header."""


class WalledPort:
    """Lets nobody in but who comes from the port that is let in, as the kernel sees to."""

    def __init__(self, port: int) -> None:
        """OSError if this process has no such port, or the kernel knows no filters."""
        self._port = port
        self._listener = _own_listener(port)
        self._let_in(None)

    def approach(self) -> socket.socket:
        """A socket that may connect, until another may or `shut` is called. Whatever it connects to stays connected."""
        coming = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        coming.bind((HERE, 0))
        self._let_in(coming.getsockname()[1])
        coming.setblocking(False)
        return coming

    def shut(self) -> None:
        self._let_in(None)

    @property
    def address(self) -> tuple[str, int]:
        return HERE, self._port

    def _let_in(self, port: int | None) -> None:
        """A port that a socket of ours is bound to cannot be that of anybody else at this address."""
        (address,) = struct.unpack("!I", socket.inet_aton(HERE))
        passes = [
            (LOAD_WORD, 0, 0, IP_HEADER + SENDER_ADDRESS), (JUMP_IF_EQUAL, 0, 3, address),
            (LOAD_HALF, 0, 0, SENDER_PORT), (JUMP_IF_EQUAL, 0, 1, port or 0), (RETURN, 0, 0, 0xFFFFFFFF),
        ]  # fmt: skip
        steps = [*(passes if port else []), (RETURN, 0, 0, 0)]
        code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
        program = struct.pack("HP", len(steps), ctypes.addressof(code))
        self._listener.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)

    def close(self) -> None:
        self._listener.close()


def _own_listener(port: int) -> socket.socket:
    for one in _own_sockets():
        if one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) and one.getsockname() == (HERE, port):
            return one
        one.close()
    raise OSError(f"this process does not listen on port {port}")


def _own_sockets() -> Iterator[socket.socket]:
    """Of this process, whoever made them; each is to be closed."""
    for number in map(int, os.listdir("/proc/self/fd")):
        with suppress(OSError):  # it has been closed meanwhile
            if os.readlink(f"/proc/self/fd/{number}").startswith("socket:"):
                yield socket.socket(fileno=os.dup(number))
