"""Logs in the MCAP format (https://mcap.dev/spec), ROS 2 profile.

Two promises shape the writer:

- *The same messages give the same bytes.* Messages are sorted by (time, order of advertisement) before they are cut
  into chunks by size, and no wall-clock time is stored.
- *A killed process loses less than a second.* Messages whose chunk is not full yet are saved twice a second in small
  provisional chunks, see `_SafeFile`.
"""

from __future__ import annotations

import difflib
import mmap
import os
import struct
import time
import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import zstandard

from airloom import messages
from airloom.bus import Bus, Topic
from airloom.messages import Layout, Leaf

if TYPE_CHECKING:
    from rosbags.typesys.store import Typestore

CHUNK_SIZE = 1 << 20
"""Bytes of messages in a chunk before compression."""
SAVE_INTERVAL = 0.5
"""Seconds of wall time between provisional chunks."""
BACKLOG_LIMIT = 64 * CHUNK_SIZE
"""Bytes that may wait for `tick` before they are stored regardless."""

_GAP_SIZE = 2 * CHUNK_SIZE
_MAGIC = b"\x89MCAP0\r\n"
_MAX_CHANNELS = 65535
_HEAD = struct.Struct("<BQ")
_MESSAGE = struct.Struct("<BQHIQQ")
_COMPRESSION = "zstd"
_OPEN_CHUNKS = 4


class LogError(Exception):
    """A log cannot be read or written; the message is meant for the user."""


class _Op(IntEnum):
    HEADER = 0x01
    FOOTER = 0x02
    SCHEMA = 0x03
    CHANNEL = 0x04
    MESSAGE = 0x05
    CHUNK = 0x06
    MESSAGE_INDEX = 0x07
    CHUNK_INDEX = 0x08
    ATTACHMENT = 0x09
    ATTACHMENT_INDEX = 0x0A
    STATISTICS = 0x0B
    METADATA = 0x0C
    METADATA_INDEX = 0x0D
    SUMMARY_OFFSET = 0x0E
    DATA_END = 0x0F
    GAP = 0x80  # the first of the private ones: readers skip it


def _record(op: _Op, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return _HEAD.pack(op, len(body)) + body


def _blob(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


def _text(text: str) -> bytes:
    return _blob(text.encode())


def _text_map(entries: Mapping[str, str]) -> bytes:
    return _blob(b"".join(_text(key) + _text(value) for key, value in entries.items()))


class _SafeFile:
    """A file that grows at its end, plus a provisional tail that final bytes replace in one step.

    The tail lies behind a gap, which is a private record:

        final | gap                  | tail
        final | more final | gap           | new tail

    More final bytes and the new tail are written where no reader looks: into the gap, and behind the old tail within
    a record of their own. Then one write of a record's first 9 bytes makes both appear and the old tail vanish. So a
    process killed at any moment leaves either the old state or the new one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise LogError(f"cannot write the log {path}: {error.strerror}") from error
        self.is_open = True
        self.end = 0
        self._tail = 0
        self._tail_end = 0

    @property
    def has_tail(self) -> bool:
        return self._tail_end > self.end

    def append(self, final: bytes) -> None:
        if self.has_tail:
            self._swap_tail(final, b"")
        else:
            self._write(final, self.end)
            self.end = self._tail_end = self.end + len(final)

    def append_tail(self, provisional: bytes) -> None:
        if self.has_tail:
            self._write(provisional, self._tail_end)
            self._tail_end += len(provisional)
        else:
            self._swap_tail(b"", provisional)

    def replace_tail(self, final: bytes, provisional: bytes) -> None:
        if self.end + len(final) + _HEAD.size > self._tail:
            self._swap_tail(b"", os.pread(self._file, self._tail_end - self._tail, self._tail), len(final))
        self._swap_tail(final, provisional)

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            os.close(self._file)

    def _swap_tail(self, final: bytes, provisional: bytes, gap_size: int = _GAP_SIZE) -> None:
        gap = self.end + len(final)
        tail = self._tail_end
        if provisional:
            tail = max(tail, gap + gap_size) + _HEAD.size
            self._write(_HEAD.pack(_Op.GAP, tail + len(provisional) - self._tail_end - _HEAD.size), self._tail_end)
            self._write(provisional, tail)
        appearing = final + _HEAD.pack(_Op.GAP, tail - gap - _HEAD.size)
        self._write(appearing[_HEAD.size :], self.end + _HEAD.size)
        self._write(appearing[: _HEAD.size], self.end)
        self.end, self._tail, self._tail_end = gap, tail, tail + len(provisional)
        if not provisional:
            os.ftruncate(self._file, self.end)
            self._tail = self._tail_end = self.end

    def _write(self, data: bytes, position: int) -> None:
        try:
            while data:
                written = os.pwrite(self._file, data, position)
                data, position = data[written:], position + written
        except OSError as error:
            self.close()
            raise LogError(f"cannot write the log {self._path}: {error.strerror}") from error


_Entry = tuple[int, int, int, bytes]
"""A message on its way into a chunk: time in ns, channel, sequence, record. Entries sort as they are stored."""


@dataclass
class _Channel:
    id: int
    schema: bytes
    record: bytes
    received: int = 0
    saved: int = 0
    stored: int = 0


class LogWriter:
    """Writes the topics of a bus that match `topics` to an MCAP file. Call `tick` often and `close` at the end."""

    def __init__(
        self,
        path: Path | str,
        bus: Bus,
        topics: Iterable[str] = ("*",),
        *,
        metadata: Mapping[str, str] | None = None,
        scenario_text: str = "",
    ) -> None:
        self.path = Path(path)
        self._bus = bus
        self._file = _SafeFile(self.path)
        self._schemas: dict[str, bytes] = {}
        self._channels: dict[str, _Channel] = {}
        self._channel_by_id: dict[int, _Channel] = {}
        self._pending: list[_Entry] = []
        self._pending_size = 0
        self._unsaved: list[_Entry] = []
        self._saved_at = time.monotonic()
        self._compress = zstandard.ZstdCompressor(level=1).compress
        self._chunk_indexes: list[bytes] = []
        self._first_ns: int | None = None
        self._last_ns = 0
        self._write_start(metadata or {}, scenario_text.encode())
        self._subscription = bus.subscribe(topics, self._take, raw=True)

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def tick(self, time_ns: int) -> None:
        """Tell that all messages before `time_ns` (simulation time) have been published."""
        if self._pending_size >= CHUNK_SIZE:
            self._store(before_ns=time_ns)
        self._save_if_due()

    def close(self) -> None:
        """Write what is left, and the summary. Closing twice does no harm."""
        if not self._file.is_open:
            return
        self._subscription.cancel()
        self._store(before_ns=None)
        self._file.append(self._closing())
        self._file.close()

    def _take(self, topic: Topic, cdr: list[bytes], times_ns: list[int]) -> None:
        channel = self._channels.get(topic.name) or self._add_channel(topic)
        number, pack, head = channel.id, _MESSAGE.pack, _MESSAGE.size - _HEAD.size
        entries = [
            (at, number, sequence, pack(5, head + len(data), number, sequence & 0xFFFFFFFF, at, at) + data)
            for sequence, (data, at) in enumerate(zip(cdr, times_ns, strict=True), channel.received)
        ]
        channel.received += len(entries)
        self._pending += entries
        self._unsaved += entries
        self._pending_size += sum(map(len, cdr)) + _MESSAGE.size * len(cdr)
        if self._pending_size >= BACKLOG_LIMIT:
            self._store(before_ns=None)
        self._save_if_due()

    def _add_channel(self, topic: Topic) -> _Channel:
        """Channels are numbered in the order of advertisement, whichever topic speaks first."""
        for other in self._bus.topics():
            if other.name not in self._channels and self._subscription.matches(other.name):
                channel = self._new_channel(other)
                self._channels[other.name] = self._channel_by_id[channel.id] = channel
        return self._channels[topic.name]

    def _new_channel(self, topic: Topic) -> _Channel:
        number = len(self._channels) + 1
        if number > _MAX_CHANNELS:
            raise LogError(f"an MCAP log holds at most {_MAX_CHANNELS} topics: choose fewer to be logged")
        msgtype = topic.msgtype
        if msgtype not in self._schemas:
            words = _text(msgtype) + _text("ros2msg") + _text(messages.definition(msgtype))
            self._schemas[msgtype] = _record(_Op.SCHEMA, struct.pack("<H", len(self._schemas) + 1), words)
        ids = struct.pack("<HH", number, list(self._schemas).index(msgtype) + 1)
        record = _record(_Op.CHANNEL, ids, _text(topic.name), _text("cdr"), _text_map({}))
        return _Channel(number, self._schemas[msgtype], record)

    def _store(self, before_ns: int | None) -> None:
        """Write full chunks of the messages before a time; if it is None, all messages, the last chunk full or not."""
        self._pending.sort()
        settled = len(self._pending) if before_ns is None else bisect_left(self._pending, before_ns, key=lambda e: e[0])
        first = 0
        while (last := self._chunk_end(first, settled)) < settled or (before_ns is None and first < settled):
            self._store_chunk(first, last)
            first = last
        del self._pending[:first]
        self._pending_size = sum(len(entry[3]) for entry in self._pending)
        self._unsaved = [entry for entry in self._pending if not self._is_saved(entry)]

    def _chunk_end(self, first: int, settled: int) -> int:
        size = 0
        for position in range(first, settled):
            size += len(self._pending[position][3])
            if size > CHUNK_SIZE and position > first:
                return position
        return settled

    def _store_chunk(self, first: int, last: int) -> None:
        entries = self._pending[first:last]
        declarations = self._declarations(entries)
        chunk = self._chunk(entries, declarations)
        indexes = _message_indexes(entries, len(declarations))
        self._chunk_indexes.append(_chunk_index(chunk, self._file.end, indexes))
        self._first_ns = entries[0][0] if self._first_ns is None else min(self._first_ns, entries[0][0])
        self._last_ns = max(self._last_ns, entries[-1][0])
        for number, stored in Counter(entry[1] for entry in entries).items():
            self._channel_by_id[number].stored += stored
        final = b"".join([chunk, *indexes.values()])
        if self._file.has_tail:
            saved = [entry for entry in self._pending[last:] if self._is_saved(entry)]
            self._file.replace_tail(final, self._chunk(saved, self._declarations(saved)) if saved else b"")
        else:
            self._file.append(final)

    def _chunk(self, entries: list[_Entry], declarations: bytes) -> bytes:
        raw = declarations + b"".join([entry[3] for entry in entries])
        first, last = min(entries)[0], max(entries)[0]
        data = self._compress(raw)
        numbers = struct.pack("<QQQI", first, last, len(raw), zlib.crc32(raw))
        return _record(_Op.CHUNK, numbers, _text(_COMPRESSION), struct.pack("<Q", len(data)), data)

    def _declarations(self, entries: list[_Entry]) -> bytes:
        """The schemas and channels that no finished chunk has declared yet."""
        numbers = sorted({entry[1] for entry in entries})
        new = [channel for channel in map(self._channel_by_id.__getitem__, numbers) if not channel.stored]
        return b"".join([*dict.fromkeys(channel.schema for channel in new), *(channel.record for channel in new)])

    def _save_if_due(self) -> None:
        now = time.monotonic()
        if now - self._saved_at >= SAVE_INTERVAL:
            self._saved_at = now
            self._save()

    def _save(self) -> None:
        if not self._unsaved:
            return
        self._file.append_tail(self._chunk(self._unsaved, self._declarations(self._unsaved)))
        self._unsaved = []
        for channel in self._channels.values():
            channel.saved = channel.received

    def _is_saved(self, entry: _Entry) -> bool:
        return entry[2] < self._channel_by_id[entry[1]].saved

    def _write_start(self, metadata: Mapping[str, str], scenario: bytes) -> None:
        header = _MAGIC + _record(_Op.HEADER, _text("ros2"), _text("airloom"))
        about = _record(_Op.METADATA, _text("airloom"), _text_map(metadata))
        names = _text("scenario.yaml") + _text("application/yaml")
        attached = struct.pack("<QQ", 0, 0) + names + struct.pack("<Q", len(scenario)) + scenario
        attachment = _record(_Op.ATTACHMENT, attached, struct.pack("<I", zlib.crc32(attached)))
        place = struct.pack("<QQ", len(header), len(about))
        self._metadata_index = _record(_Op.METADATA_INDEX, place, _text("airloom"))
        place = struct.pack("<QQQQQ", len(header) + len(about), len(attachment), 0, 0, len(scenario))
        self._attachment_index = _record(_Op.ATTACHMENT_INDEX, place, names)
        self._file.append(header + about + attachment)

    def _closing(self) -> bytes:
        data_end = _record(_Op.DATA_END, struct.pack("<I", 0))
        start = self._file.end + len(data_end)
        used = [channel for channel in self._channels.values() if channel.stored]
        groups = {
            _Op.SCHEMA: b"".join(dict.fromkeys(channel.schema for channel in used)),
            _Op.CHANNEL: b"".join(channel.record for channel in used),
            _Op.STATISTICS: self._statistics(used),
            _Op.CHUNK_INDEX: b"".join(self._chunk_indexes),
            _Op.ATTACHMENT_INDEX: self._attachment_index,
            _Op.METADATA_INDEX: self._metadata_index,
        }
        summary, offsets = b"", b""
        for op, group in groups.items():
            if group:
                offsets += _record(_Op.SUMMARY_OFFSET, struct.pack("<BQQ", op, start + len(summary), len(group)))
                summary += group
        footer = _HEAD.pack(_Op.FOOTER, 20) + struct.pack("<QQ", start, start + len(summary))
        checksum = struct.pack("<I", zlib.crc32(summary + offsets + footer))
        return data_end + summary + offsets + footer + checksum + _MAGIC

    def _statistics(self, used: list[_Channel]) -> bytes:
        schemas = len({channel.schema for channel in used})
        total = sum(channel.stored for channel in used)
        counts = total, schemas, len(used), 1, 1, len(self._chunk_indexes), self._first_ns or 0, self._last_ns
        by_channel = b"".join(struct.pack("<HQ", channel.id, channel.stored) for channel in used)
        return _record(_Op.STATISTICS, struct.pack("<QHIIIIQQ", *counts), _blob(by_channel))


def _message_indexes(entries: list[_Entry], offset: int) -> dict[int, bytes]:
    """For each channel in a chunk, the record that tells when and where its messages are."""
    numbers = np.array([entry[1] for entry in entries])
    sizes = np.array([len(entry[3]) for entry in entries])
    table = np.empty((len(entries), 2), "<u8")
    table[:, 0] = [entry[0] for entry in entries]
    table[:, 1] = offset + np.cumsum(sizes) - sizes
    order = np.argsort(numbers, kind="stable")
    found, first = np.unique(numbers[order], return_index=True)
    parts = np.split(table[order], first[1:])
    return {
        number: _record(_Op.MESSAGE_INDEX, struct.pack("<H", number), _blob(part.tobytes()))
        for number, part in zip(found.tolist(), parts, strict=True)
    }


def _chunk_index(chunk: bytes, position: int, indexes: dict[int, bytes]) -> bytes:
    first, last, raw_size = struct.unpack_from("<QQQ", chunk, _HEAD.size)
    places, end = b"", position + len(chunk)
    for number, index in indexes.items():
        places += struct.pack("<HQ", number, end)
        end += len(index)
    data_size = len(chunk) - (_HEAD.size + 28 + len(_text(_COMPRESSION)) + 8)
    return _record(
        _Op.CHUNK_INDEX,
        struct.pack("<QQQQ", first, last, position, len(chunk)),
        _blob(places),
        struct.pack("<Q", end - position - len(chunk)),
        _text(_COMPRESSION),
        struct.pack("<QQ", data_size, raw_size),
    )


class TopicInfo(NamedTuple):
    msgtype: str
    count: int


class LogMessage(NamedTuple):
    topic: str
    time_ns: int
    message: Any


class _Schema(NamedTuple):
    name: str
    encoding: str
    text: str


class _LoggedChannel(NamedTuple):
    schema: int
    topic: str
    encoding: str


class _Span(NamedTuple):
    """A chunk's compressed data in the file."""

    start: int
    end: int
    compression: str
    raw_size: int
    checksum: int


_DAMAGE = (struct.error, ValueError, IndexError, KeyError, MemoryError, OverflowError, RuntimeError, zstandard.ZstdError)
"""What decoding broken bytes may raise."""


class LogReader:
    """Reads an MCAP log with ROS 2 messages, whole or torn; `complete` tells which."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.complete = False
        self.metadata: dict[str, str] = {}
        self.scenario_text = ""
        self._data = self._map()
        self._schemas: dict[int, _Schema] = {}
        self._channels: dict[int, _LoggedChannel] = {}
        self._spans: list[_Span] = []
        self._open_chunks: dict[int, bytes] = {}
        self._layouts: dict[int, Layout] = {}
        self._rows = _Rows()
        self._read()
        self._rows.freeze()

    @property
    def topics(self) -> dict[str, TopicInfo]:
        """The topics that have messages, with their type and number of messages."""
        counts = np.bincount(self._rows.channel, minlength=1).tolist()
        found: dict[str, TopicInfo] = {}
        for number, channel in sorted(self._channels.items()):
            count = counts[number] if number < len(counts) else 0
            if count:
                earlier = found[channel.topic].count if channel.topic in found else 0
                found[channel.topic] = TopicInfo(self._schemas[channel.schema].name, earlier + count)
        return found

    @property
    def duration(self) -> float:
        """Time of the last message, seconds."""
        return float(self._rows.time[-1]) * 1e-9 if len(self._rows.time) else 0.0

    def fields(self, topic: str) -> list[str]:
        """The names of a topic's numeric fields."""
        return list(self._layout(self._channels_of(topic)[0]).leaves)

    def messages(
        self, topics: str | Iterable[str] = "*", start: float = 0.0, end: float = float("inf")
    ) -> Iterator[LogMessage]:
        """The messages of the topics that match, from `start` to `end` (seconds, inclusive), in order of time."""
        patterns = [topics] if isinstance(topics, str) else list(topics)
        wanted = [
            number
            for number, channel in self._channels.items()
            if any(fnmatchcase(channel.topic, pattern) for pattern in patterns)
        ]
        times = self._rows.time
        chosen = np.isin(self._rows.channel, wanted) & (times >= round(start * 1e9)) & (times <= end * 1e9)
        for row in np.flatnonzero(chosen).tolist():
            channel = self._channels[int(self._rows.channel[row])]
            message = self._decode(self._cdr(row), channel)
            yield LogMessage(channel.topic, int(times[row]), message)

    def series(self, topic: str, field: str) -> tuple[np.ndarray, np.ndarray]:
        """Times (s) and values of a field: one number, an array such as `velocity`, one of its numbers such as
        `velocity[0]`, or a group such as `pose.pose.position`, whose numbers become columns."""
        return self.series_of([topic], field)[topic]

    def series_of(self, topics: Iterable[str], field: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """The same field of several topics, read in one pass."""
        channels = {number: topic for topic in topics for number in self._channels_of(topic)}
        rows = np.flatnonzero(np.isin(self._rows.channel, list(channels)))
        values = self._values(rows, field)
        found = {}
        for topic in dict.fromkeys(channels.values()):
            mine = np.isin(self._rows.channel[rows], self._channels_of(topic))
            found[topic] = self._rows.time[rows[mine]] * 1e-9, values[mine]
        return found
