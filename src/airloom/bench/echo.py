"""A process that only echoes: what an exchange of messages costs with nothing behind it."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from airloom.keeper import Kept

ECHO = """
import socket, sys
line = socket.socket(fileno=int(sys.argv[1]))
reply = b"x" * int(sys.argv[2])
while line.recv(65536):
    line.sendall(reply)
"""


@contextmanager
def echo(size: int) -> Iterator[socket.socket]:
    """A line to a process that answers whatever comes with so many bytes."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, "-c", ECHO, str(theirs.fileno()), str(size)]
        process = Kept(command, pass_fds=[theirs.fileno()])
        theirs.close()
        try:
            yield ours
        finally:
            ours.close()
            process.wait()
