"""The process of a `beats.Beater`: says BEAT on a line every few seconds, for a coordinator that may be busy.

    python -I -S beater.py SOCKET LOCK EVERY MESSAGE

Its standard input is a pipe whose other end only the coordinator holds: when that is closed, however it ended, this one
ends, too. It has a session of its own, so that Ctrl-Z, which suspends the coordinator, does not suspend it.
"""

from __future__ import annotations

import fcntl
import select
import socket
import sys
from contextlib import suppress

LEASH = 0


def main(line: socket.socket, lock: int, every: float, message: bytes) -> None:
    over, writable = select.poll(), select.poll()
    over.register(LEASH, select.POLLIN)
    writable.register(line, select.POLLOUT)
    with suppress(OSError):  # the line is gone
        while not over.poll(1000 * every):
            fcntl.lockf(lock, fcntl.LOCK_EX)
            if writable.poll(0):  # otherwise what waits to be sent says as much
                line.sendall(message)
            fcntl.lockf(lock, fcntl.LOCK_UN)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]), float(sys.argv[3]), bytes.fromhex(sys.argv[4]))
