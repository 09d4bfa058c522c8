"""A transcript: every byte that went between the simulation and an autopilot, in both directions, with its time.

The file is compressed with gzip. Inside, a line of JSON says who talked, and a record follows for each message, as it
was on the wire: time (int64, ns of simulation time), direction (uint8, 0 for what the autopilot was told and 1 for
what was heard from it), size (uint32), then the bytes. Numbers are little-endian.
"""

from __future__ import annotations

import gzip
import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from airloom.basics.clock import NS_PER_SECOND
from airloom.basics.given import regular_file
from airloom.compiled import bytes_at, compiled
from airloom.engines.lockstep import FILLED, PAGE, PAGE_SIZE, STEP_NS, address
from airloom.errors import UserError

NAME = "transcript.gz"
FORMAT, VERSION = "airloom transcript", 1
TOLD, HEARD = 0, 1
HEAD = struct.Struct("<qBI")
HEAD_SIZE = HEAD.size  # the size of a record without its bytes
PIECE = 1 << 16  # bytes that are read at a time
EFFORT = 1  # gzip's: what is told is mostly digits, which more effort makes hardly smaller


class TranscriptError(UserError):
    """A file is no transcript; the message is meant for the user."""


class Message(NamedTuple):
    time_ns: int
    heard: bool
    """From the autopilot, otherwise told to it."""
    data: bytes

    @property
    def time(self) -> float:
        """Seconds of simulation time."""
        return self.time_ns / NS_PER_SECOND


@compiled
def note(wire, tick, direction, address, size):
    """Keep the bytes there in the transcript, if one is written."""
    if wire[PAGE] == 0:
        return
    page, data = bytes_at(wire[PAGE], PAGE_SIZE), bytes_at(address, size)
    at, time_ns = wire[FILLED], tick * wire[STEP_NS]
    for k in range(8):
        page[at + k] = (time_ns >> (8 * k)) & 255
    page[at + 8] = direction
    for k in range(4):
        page[at + 9 + k] = (size >> (8 * k)) & 255
    for k in range(size):
        page[at + HEAD_SIZE + k] = data[k]
    wire[FILLED] = at + HEAD_SIZE + size


class TranscriptWriter:
    """One that is being written, page by page: compiled code fills the page of a wire."""

    def __init__(self, path: Path, wire: np.ndarray, **about: Any) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = gzip.GzipFile(path, "wb", EFFORT, mtime=0)  # equal runs leave equal files
        self._file.write(json.dumps({"format": FORMAT, "version": VERSION, **about}).encode() + b"\n")
        self._page = np.zeros(PAGE_SIZE, np.uint8)
        wire[PAGE] = address(self._page)

    def turn_page(self, wire: np.ndarray) -> None:
        self._file.write(self._page[: wire[FILLED]].tobytes())
        self._file.flush()
        wire[FILLED] = 0

    def close(self, wire: np.ndarray) -> None:
        self.turn_page(wire)
        self._file.close()
        wire[PAGE] = 0


class Transcript:
    """One that was written, to iterate over: its messages in order. One that was cut off gives what there is."""

    def __init__(self, path: Path | str) -> None:
        self._path = regular_file(path, TranscriptError)
        self.about: dict[str, Any]
        """Who talked."""
        try:
            line, _, _ = next(self._pieces(), b"").partition(b"\n")
            self.about = json.loads(line)
            fits = self.about["format"] == FORMAT and self.about["version"] == VERSION
        except (ValueError, TypeError, KeyError, zlib.error):
            fits = False
        if not fits:
            raise TranscriptError(f"{path} is no transcript of version {VERSION}; a run writes autopilot-NAME/{NAME}")

    def __iter__(self) -> Iterator[Message]:
        pieces = self._pieces()
        _, _, rest = next(pieces).partition(b"\n")
        for piece in pieces:
            rest, at = rest + piece, 0
            while at + HEAD_SIZE <= len(rest):
                time_ns, direction, size = HEAD.unpack_from(rest, at)
                if (end := at + HEAD_SIZE + size) > len(rest):
                    break
                yield Message(time_ns, direction == HEARD, rest[at + HEAD_SIZE : end])
                at = end
            rest = rest[at:]

    def _pieces(self) -> Iterator[bytes]:
        """What is inside, as far as it can be read; the first line is in the first piece."""
        inside = zlib.decompressobj(16 + zlib.MAX_WBITS)
        with open(self._path, "rb") as file:
            yield inside.decompress(file.read(PIECE))
            yield b""
            while packed := file.read(PIECE):
                yield inside.decompress(packed)
