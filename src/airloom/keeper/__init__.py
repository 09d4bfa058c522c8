"""Programs and folders that are gone when this process is, however it ends: by itself, by an exception, by SIGKILL.

Every program that Airloom starts beside itself is `Kept`; `program.py` is the process that sees to it.
"""

from __future__ import annotations

import errno
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakSet

PROGRAM = Path(__file__).with_name("program.py")
PATIENCE = 2.0  # s to end when asked
ANYWHERE = "anywhere"
MOST_PRINTED = 10_000_000
"""Bytes of what a program prints that are enough for anybody who looks into its file."""
LONGEST_SOCKET_PATH = 107  # bytes, of Linux
MADE_UP = 8 * "x"  # characters that are added to a prefix

_leashes: WeakSet[socket.socket] = WeakSet()


class Kept(subprocess.Popen):
    """A running program that ends with this process, together with all that it has started.

    Used as its base class is, with nothing to read from standard input. `pid` is the keeper's, `program` its own; how
    it ends, by which code or signal, is the program's. When the program is over, so is all that it has started.
    """

    def __init__(
        self, command: Sequence[str], *, patience: float = PATIENCE, folders: Iterable[Path | str] = (),
        reach: str = ANYWHERE, most_printed: int = 0, **options: Any,
    ) -> None:  # fmt: skip
        """`folders` are removed at the end; `patience` in seconds is for those who were asked to end. `reach` says who
        can speak to what it opens: anybody, or with `on_loopback` this machine. `most_printed` are the bytes that the
        file has at most which is given as its standard output, and standard error, beside its last words; 0: no limit.

        OSError if the program cannot be started, as from its base class; EOPNOTSUPP where nothing holds it on loopback.
        """
        limits = [str(patience), reach, str(most_printed)]
        keeper = [sys.executable, "-I", "-S", os.fspath(PROGRAM), *limits, *map(str, folders), "--"]
        self._leash, theirs = socket.socketpair()
        try:
            with theirs:
                super().__init__([*keeper, *command], stdin=theirs.fileno(), start_new_session=True, **options)
        except BaseException:
            self._leash.close()
            raise
        _leashes.add(self._leash)
        self.args = command
        self.program = self._begun(command[0]) if command else 0
        """The number of its process."""

    def _begun(self, program: str) -> int:
        told = int(self._leash.recv(16) or -errno.EAGAIN)  # silence: not even the keeper could begin
        if told < 0:
            self.end()
            raise OSError(-told, os.strerror(-told), program)
        return told

    def let_go(self) -> None:
        """Ask all to end; who has not done so after its patience is killed."""
        self._leash.close()

    def end(self) -> None:
        """Let go, and wait until all have ended."""
        self.let_go()
        self.wait()


def on_loopback(*sealed: int, peer: int = 0) -> str:
    """The reach of a program whose ports are to be on loopback. By datagrams it hears only the port `peer` if there is
    one, except at ports to which it binds itself, and nobody at those that are sealed.
    """
    return ":".join(["loopback", *map(str, (peer, *sealed))])


class KeptFolder:
    """A new folder for what is of no use when this process is over."""

    def __init__(self, prefix: str, parent: Path | str | None = None) -> None:
        """The keeper is there before the folder, or a process that is killed in between would leave it."""
        self.path = Path(parent or tempfile.gettempdir(), prefix + secrets.token_hex(len(MADE_UP) // 2))
        self._keeper = Kept([], folders=[self.path])
        self.path.mkdir(mode=0o700)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        self._keeper.end()


def folder_for_socket(prefix: str, name: str) -> KeptFolder:
    """One whose path leaves room for a socket of that name."""
    for parent in (tempfile.gettempdir(), "/tmp"):
        if fits_a_socket(Path(parent, f"{prefix}{MADE_UP}", name)):
            return KeptFolder(prefix, parent)
    raise OSError(errno.ENAMETOOLONG, "no folder for temporary files has a path short enough for a socket")


def fits_a_socket(path: Path) -> bool:
    return len(os.fsencode(path)) <= LONGEST_SOCKET_PATH


def how_it_ended(code: int) -> str:
    """In words, of what `poll` and `wait` give."""
    if code >= 0:
        return f"ended with code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def _drop_leashes() -> None:
    """A copy of this process must not hold what this process alone should."""
    for leash in _leashes:
        leash.close()


os.register_at_fork(after_in_child=_drop_leashes)
