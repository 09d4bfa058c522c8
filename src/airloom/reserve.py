"""File numbers that a run keeps for its own files: whoever comes from outside gets none of the last ones."""

from __future__ import annotations

import resource
import socket

RESERVE = 32
SHORT_OF_FILES = "too many files are open here; `ulimit -n` tells the most allowed"
"""What is told to whoever cannot be let in for that."""


def leaves_reserve(connection: socket.socket) -> bool:
    """Whether enough numbers are left beside that of a new connection.

    The kernel gives the lowest number that is free, so that all below it are in use.
    """
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return connection.fileno() < most - min(RESERVE, most // 4)
