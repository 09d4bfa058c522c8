"""Beats: how two coordinators know that the line between them is alive while nobody has a turn.

TCP's keepalive is answered by the next hop, so a tunnel or a proxy that has stalled keeps a dead line open. Therefore
both ends say BEAT every few seconds, and either gives up a line on which it has heard nothing for a while.

A parent may be busy for minutes (it compiles, a step is long, a user looks at a breakpoint or has suspended it). So a
process of its own beats for it, on the same socket; a lock keeps a beat out of the middle of a message. A branch has
nothing to do between rounds and beats by itself; within a round its parent waits as long as its members may take.
"""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from airloom.loom.protocol import Kind, message

PROGRAM = Path(__file__).with_name("beater.py")
BEAT = message(Kind.BEAT)


class Rhythm(NamedTuple):
    """Seconds; so a line is given up 20 s after the other end was heard last."""

    every: float = 5.0
    silence: float = 20.0


USUAL = Rhythm()


class Beater:
    """The process that beats on a line; who sends something else there does so inside `with beater:`."""

    def __init__(self, line: socket.socket, every: float) -> None:
        self._lock = os.memfd_create("airloom-beats")
        numbers = [line.fileno(), self._lock]
        command = [sys.executable, "-I", "-S", str(PROGRAM), *map(str, numbers), str(every), BEAT.hex()]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=numbers, start_new_session=True)

    def __enter__(self) -> None:
        fcntl.lockf(self._lock, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        fcntl.lockf(self._lock, fcntl.LOCK_UN)

    def end(self) -> None:
        self._process.kill()
        with self._process:
            os.close(self._lock)
