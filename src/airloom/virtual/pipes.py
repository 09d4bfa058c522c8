"""Pipes between the threads of a script: who waits at one end lets the others run, so that one can come to the other.

A pipe to another process is left alone: the simulation stands still until there is something.
"""

from __future__ import annotations

import fcntl
import os
import select
import stat
import subprocess
import sys
from typing import Any

from airloom.virtual.baton import VirtualTime

_read, _write, _open, _poll = os.read, os.write, open, select.poll
AT_ONCE = select.PIPE_BUF  # bytes for which there is room if there is room at all


def patch_pipes(world: VirtualTime) -> dict[Any, Any]:
    """What takes the place of what."""

    def read(file: int, size: int, /) -> bytes:
        if not _is_for_a_child() and _is_between_threads(file, os.O_RDONLY):
            world.wait(lambda: _is(file, select.POLLIN))
        if not (data := _read(file, size)):
            world.look()
        return data

    def write(file: int, data: Any, /) -> int:
        if _is_for_a_child() or not _is_between_threads(file, os.O_WRONLY):
            return _write(file, data)
        rest = memoryview(data).cast("B")
        size = len(rest)
        while rest:
            world.wait(lambda: _is(file, select.POLLOUT))
            rest = rest[_write(file, rest[:AT_ONCE]) :]
        return size

    def opened(file: Any, *args: Any, **options: Any) -> Any:
        """A file in Python reads by `os.read`, which one in C does not."""
        if isinstance(file, int) and _is_pipe(file) and not _is_for_a_child():
            import _pyio  # type: ignore[import-not-found]

            return _pyio.open(file, *args, **options)
        return _open(file, *args, **options)

    return {_read: read, _write: write, _open: opened}


def _is_for_a_child() -> bool:
    """Whether Python's own module for children asks, which waits for nothing but what a child does at once."""
    return sys._getframe(2).f_globals is vars(subprocess)


def _is_between_threads(file: int, end: int) -> bool:
    """Whether this is that end of a pipe, in use with waits, and the other end is in this process."""
    if not _is_pipe(file):
        return False
    flags = fcntl.fcntl(file, fcntl.F_GETFL)
    if flags & os.O_NONBLOCK or flags & os.O_ACCMODE != end:
        return False
    return any(_is_other_end(int(name), os.fstat(file), end) for name in os.listdir("/proc/self/fd"))


def _is_other_end(number: int, pipe: os.stat_result, end: int) -> bool:
    try:
        is_same = os.path.samestat(os.fstat(number), pipe)
        return is_same and fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE != end
    except OSError:  # that of the listing itself
        return False


def _is_pipe(file: int) -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(file).st_mode)
    except OSError:
        return False


def _is(file: int, event: int) -> bool:
    question = _poll()
    question.register(file, event)
    return bool(question.poll(0))
