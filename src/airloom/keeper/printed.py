"""Keeps what a program prints in bounds: its beginning and its end, and between them a line that says what is missing.

A program that says the same without end would fill the disk. It prints into a pipe, which the keeper empties into the
file. This runs in the keeper, which has none of Airloom's modules.
"""

from __future__ import annotations

import os
import select
from contextlib import suppress
from threading import Thread

LAST = 16_384  # bytes of the end
CHUNK = 1 << 16
STDOUT, STDERR = 1, 2
PATIENCE = 5.0  # s for the last of it, when all who print have been killed


class Printed:
    """Into the file that is this process's standard output now."""

    def __init__(self, most: int) -> None:
        """`most` is the number of bytes that are kept of the beginning."""
        self._most = most
        self._file = os.dup(STDOUT)
        self._source, self._sink = os.pipe()
        self._size = self._beyond = 0
        """Bytes that were printed, and those of them that are not of the beginning."""
        self._last = b""
        self._is_behind = False
        self._thread = Thread(target=self._empty, daemon=True)

    @property
    def files(self) -> set[int]:
        return {self._file, self._source}

    def begin(self) -> None:
        """In the process that becomes the program."""
        for number in (STDOUT, STDERR):
            os.dup2(self._sink, number)

    def keep(self) -> None:
        """In the keeper, once it has closed what is not among the `files`."""
        self._thread.start()

    def conclude(self) -> None:
        self._thread.join(PATIENCE)

    def _empty(self) -> None:
        while self._more():
            pass
        self._catch_up()

    def _more(self) -> bool:
        if self._is_behind and not select.select([self._source], [], [], 0)[0]:
            self._catch_up()
        data = os.read(self._source, CHUNK)
        beginning = data[: max(self._most - self._size, 0)]
        self._write(beginning, self._size)
        self._size += len(data)
        if rest := data[len(beginning) :]:
            self._beyond += len(rest)
            self._last = (self._last + rest)[-LAST:]
            self._is_behind = True
        return bool(data)

    def _catch_up(self) -> None:
        """Whoever looks at the file while the program prints nothing finds its last words."""
        if not self._is_behind:
            return
        missing = self._beyond - len(self._last)
        gap = f"\n[{missing} bytes are missing here: the first {self._most} are kept and the last]\n" if missing else ""
        with suppress(OSError):
            os.ftruncate(self._file, self._most)
        self._write(gap.encode() + self._last, self._most)
        self._is_behind = False

    def _write(self, data: bytes, at: int) -> None:
        """By its place: Airloom reads the same file. What a full disk does not take is lost."""
        with suppress(OSError):
            while data:
                written = os.pwrite(self._file, data, at)
                data, at = data[written:], at + written
