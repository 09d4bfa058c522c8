"""Logs in the MCAP format (https://mcap.dev/spec), ROS 2 profile.

Two promises shape the writer:

- *The same messages give the same bytes.* Messages are sorted by (time, order of advertisement) before they are cut
  into chunks by size, and no wall-clock time is stored.
- *A killed process loses less than a second.* Messages whose chunk is not full yet are saved twice a second in small
  provisional chunks, see `_SafeFile`.
"""

from __future__ import annotations

import difflib
import os
import re
import struct
import time
import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
import zstandard

from airloom import messages
from airloom.bus import Bus, Topic
from airloom.clock import NS_PER_SECOND
from airloom.messages import Layout

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


def _patterns(topics: str | Iterable[str]) -> tuple[str, ...]:
    return (topics,) if isinstance(topics, str) else tuple(topics)


def _matches(topic: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(topic, pattern) for pattern in patterns)


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
            self._swap_tail(final, b"", 0)
        else:
            self._write(final, self.end)
            self.end = self._tail_end = self.end + len(final)

    def append_tail(self, provisional: bytes) -> None:
        if self.has_tail:
            self._write(provisional, self._tail_end)
            self._tail_end += len(provisional)
        else:
            self._swap_tail(b"", provisional, _GAP_SIZE)

    def replace_tail(self, final: bytes, provisional: bytes) -> None:
        if self.end + len(final) + _HEAD.size > self._tail:
            self._swap_tail(b"", os.pread(self._file, self._tail_end - self._tail, self._tail), len(final))
        self._swap_tail(final, provisional, _GAP_SIZE)

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            os.close(self._file)

    def _swap_tail(self, final: bytes, provisional: bytes, gap_size: int) -> None:
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
    period_ns: int = 0
    """At most one message in each such span of simulation time; 0 takes them all."""
    last_span: int = -1
    received: int = 0
    saved: int = 0
    stored: int = 0

    def thin_out(self, cdr: list[bytes], times_ns: list[int]) -> tuple[list[bytes], list[int]]:
        kept: tuple[list[bytes], list[int]] = [], []
        for data, at in zip(cdr, times_ns, strict=True):
            span = at // self.period_ns
            if span != self.last_span:
                self.last_span = span
                kept[0].append(data)
                kept[1].append(at)
        return kept


class LogWriter:
    """Writes the topics of a bus that match `topics` to an MCAP file. Call `tick` often and `close` at the end."""

    def __init__(
        self,
        path: Path | str,
        bus: Bus,
        topics: str | Iterable[str] = "*",
        *,
        rates: Mapping[str, float] | None = None,
        metadata: Mapping[str, str] | None = None,
        scenario_text: str = "",
    ) -> None:
        """`rates` gives topic patterns and how often, in Hz, their messages are kept at most."""
        self.path = Path(path)
        self._bus = bus
        self._patterns = _patterns(topics)
        self._rates = dict(rates or {})
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
        self._subscription = bus.subscribe(self._patterns, self._take, raw=True)

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
        if channel.period_ns:
            cdr, times_ns = channel.thin_out(cdr, times_ns)
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
            if other.name not in self._channels and _matches(other.name, self._patterns):
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
        rate = min((rate for pattern, rate in self._rates.items() if fnmatchcase(topic.name, pattern)), default=0.0)
        return _Channel(number, self._schemas[msgtype], record, round(NS_PER_SECOND / rate) if rate else 0)

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
    message_count: int


class LogMessage(NamedTuple):
    topic: str
    time_ns: int
    message: Any


class _Schema(NamedTuple):
    name: str
    encoding: str
    text: str


class _LoggedChannel(NamedTuple):
    schema: _Schema
    topic: str
    encoding: str


class _Span(NamedTuple):
    """Where a chunk's data lie in the file, and what they decompress to."""

    start: int
    size: int
    compression: str
    raw_size: int
    checksum: int


class _Rows:
    """One row for each message: channel, time in ns, span, and place within the span's data."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []

    def add(self, span: int, rows: list[tuple[int, int, int, int]]) -> None:
        part = np.empty((5, len(rows)), np.int64)
        part[:4] = np.array(rows, np.int64).reshape(-1, 4).T
        part[4] = span
        self._parts.append(part)

    def sort(self) -> None:
        table = np.concatenate([np.empty((5, 0), np.int64), *self._parts], axis=1)
        self._parts = []
        self.channel, self.time, self.offset, self.size, self.span = table[:, np.lexsort(table[:2])]
        numbers, rows, counts = np.unique(self.channel, return_index=True, return_counts=True)
        self.first = dict(zip(numbers.tolist(), rows.tolist(), strict=True))
        self.count = dict(zip(numbers.tolist(), counts.tolist(), strict=True))


class _Pick(NamedTuple):
    """The numbers of a field in a message's bytes."""

    offsets: list[int]
    dtypes: list[np.dtype]
    single: bool


_DAMAGE = (
    ValueError,
    KeyError,
    IndexError,
    MemoryError,
    OverflowError,
    RuntimeError,
    struct.error,
    zstandard.ZstdError,
)
"""What bytes that make no sense may raise."""


class LogReader:
    """Reads an MCAP log of ROS 2 messages, whole or torn; `complete` tells which."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.complete = False
        self.metadata: dict[str, str] = {}
        self.scenario_text = ""
        self._file = self._open()
        self._schemas: dict[int, _Schema] = {}
        self._channels: dict[int, _LoggedChannel] = {}
        self._spans: list[_Span] = []
        self._open_chunks: dict[int, bytes] = {}
        self._layouts: dict[int, Layout] = {}
        self._rows = _Rows()
        self._read()
        self._rows.sort()

    def __enter__(self) -> LogReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    @property
    def topics(self) -> dict[str, TopicInfo]:
        """The topics that have messages, with their type and number of messages."""
        count = self._rows.count
        return {
            topic: TopicInfo(self._channels[numbers[0]].schema.name, sum(count[number] for number in numbers))
            for topic, numbers in self._numbers.items()
        }

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
        patterns = _patterns(topics)
        wanted = [number for number, channel in self._channels.items() if _matches(channel.topic, patterns)]
        times = self._rows.time
        chosen = np.isin(self._rows.channel, wanted) & (times >= round(start * 1e9)) & (times <= end * 1e9)
        for row in np.flatnonzero(chosen).tolist():
            channel = self._channels[int(self._rows.channel[row])]
            yield LogMessage(channel.topic, int(times[row]), self._decode(self._cdr(row), channel))

    def series(self, topic: str, field: str) -> tuple[np.ndarray, np.ndarray]:
        """Times (s) and values of a field.

        A field is one number, an array such as `velocity`, a number in it such as `velocity[0]`, or a group such as
        `pose.pose.position`. The numbers of arrays and groups become columns.
        """
        return self.series_of([topic], field)[topic]

    def series_of(self, topics: Iterable[str], field: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """The same field of several topics of one type, read in one pass."""
        names = list(dict.fromkeys(topics))
        owner = np.full(_MAX_CHANNELS + 1, -1)
        for position, topic in enumerate(names):
            owner[self._channels_of(topic)] = position
        rows = np.flatnonzero(owner[self._rows.channel] >= 0)
        rows = rows[np.argsort(owner[self._rows.channel[rows]], kind="stable")]
        starts = np.searchsorted(owner[self._rows.channel[rows]], np.arange(1, len(names)))
        times = np.split(self._rows.time[rows] * 1e-9, starts)
        values = np.split(self._values(rows, field), starts)
        return dict(zip(names, zip(times, values, strict=True), strict=True))

    # Numbers, straight from the bytes where all messages of a topic are laid out alike

    def _values(self, rows: np.ndarray, field: str) -> np.ndarray:
        numbers, which = np.unique(self._rows.channel[rows], return_inverse=True)
        layouts = [self._layout(number) for number in numbers.tolist()]
        picks = [_pick(layout, field) for layout in layouts]
        if any(pick.dtypes != picks[0].dtypes for pick in picks):
            raise LogError(f"'{field}' is not of the same kind in all these topics")
        places = np.array([pick.offsets for pick in picks])
        lengths = _padded([layout.lengths for layout in layouts])
        regular = self._rows.size[rows] == np.array([layout.size for layout in layouts])[which]
        values = np.empty((len(rows), len(picks[0].dtypes)))
        for span, mine in _groups(self._rows.span[rows], np.flatnonzero(regular)):
            data = np.frombuffer(self._chunk(span), np.uint8)
            starts, kinds = self._rows.offset[rows[mine]], which[mine]
            for offset, length in np.moveaxis(lengths, 0, -1):
                regular[mine] &= _gather(data, starts + offset[kinds], np.dtype("<u4")) == length[kinds]
            for column, dtype in enumerate(picks[0].dtypes):
                values[mine, column] = _gather(data, starts + places[kinds, column], dtype)
        for position in np.flatnonzero(~regular).tolist():
            values[position] = self._irregular(int(rows[position]), field, len(picks[0].dtypes))
        return values[:, 0] if picks[0].single else values

    def _irregular(self, row: int, field: str, width: int) -> list[float]:
        cdr, channel = self._cdr(row), self._channels[int(self._rows.channel[row])]
        pick = _pick(self._layout_of(cdr, channel), field)
        if len(pick.offsets) != width:
            raise LogError(f"'{field}' of {channel.topic} changes its length during the log")
        places = zip(pick.offsets, pick.dtypes, strict=True)
        return [float(np.frombuffer(cdr, dtype, 1, offset)[0]) for offset, dtype in places]

    def _layout(self, number: int) -> Layout:
        """How the first message of a channel is laid out."""
        if number not in self._layouts:
            self._layouts[number] = self._layout_of(self._cdr(self._rows.first[number]), self._channels[number])
        return self._layouts[number]

    def _layout_of(self, cdr: bytes, channel: _LoggedChannel) -> Layout:
        self._must_be_cdr(channel)
        try:
            return messages.layout(cdr, channel.schema.name, self._store)
        except _DAMAGE as error:
            raise LogError(f"{self.path}: a message on {channel.topic} cannot be read: {error}") from error

    def _decode(self, cdr: bytes, channel: _LoggedChannel) -> Any:
        self._must_be_cdr(channel)
        try:
            return self._store.deserialize_cdr(cdr, channel.schema.name)
        except Exception as error:
            raise LogError(f"{self.path}: a message on {channel.topic} cannot be read: {error}") from error

    def _must_be_cdr(self, channel: _LoggedChannel) -> None:
        if (channel.encoding, channel.schema.encoding) != ("cdr", "ros2msg"):
            raise LogError(f"{self.path}: {channel.topic} does not hold ROS 2 messages, but '{channel.encoding}'")

    @cached_property
    def _store(self) -> Typestore:
        """Airloom's types, unless the log defines its types differently."""
        schemas = [schema for schema in self._schemas.values() if schema.encoding == "ros2msg"]
        if all(messages.is_known(name) and messages.definition(name) == text for name, _, text in schemas):
            return messages.typestore()
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore

        store = get_typestore(Stores.EMPTY)
        for name, _, text in schemas:
            try:
                store.register(get_types_from_msg(text, name))
            except Exception as error:
                raise LogError(f"{self.path}: the definition of {name} cannot be understood: {error}") from error
        return store

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        """The channels of each topic that has messages."""
        found: dict[str, list[int]] = {}
        for number in self._rows.count:
            found.setdefault(self._channels[number].topic, []).append(number)
        return found

    def _channels_of(self, topic: str) -> list[int]:
        if topic not in self._numbers:
            close = difflib.get_close_matches(topic, self._numbers, n=1, cutoff=0.4)
            known = ", ".join(self._numbers) or "no messages at all"
            hint = f"did you mean {close[0]}?" if close else f"it has {known}"
            raise LogError(f"{self.path} has no topic {topic}; {hint}")
        return self._numbers[topic]

    # The file

    def _open(self) -> BinaryIO:
        try:
            file = self.path.open("rb", buffering=CHUNK_SIZE)
        except IsADirectoryError:
            raise LogError(f"{self.path} is a folder, not a log") from None
        except OSError as error:
            raise LogError(f"cannot read the log {self.path}: {error.strerror}") from error
        magic = file.read(len(_MAGIC))
        if magic != _MAGIC:
            raise LogError(f"{self.path} is not an MCAP log" if magic else f"{self.path} is empty")
        return file

    def _read(self) -> None:
        """Read record after record until the data end, or what is left of the file makes no sense."""
        size = os.fstat(self._file.fileno()).st_size
        position = len(_MAGIC)
        with suppress(*_DAMAGE):
            while position + _HEAD.size <= size:
                op, length = _HEAD.unpack(self._file.read(_HEAD.size))
                position += _HEAD.size
                if op == 0 or position + length > size:
                    return
                if op == _Op.DATA_END:
                    self.complete = self._has_footer(size)
                    return
                if op in _READ_RECORDS:
                    self._read_record(op, position, self._file.read(length))
                else:
                    self._file.seek(length, os.SEEK_CUR)
                position += length

    def _has_footer(self, size: int) -> bool:
        self._file.seek(max(0, size - _HEAD.size - 20 - len(_MAGIC)))
        end = self._file.read()
        return end.endswith(_MAGIC) and end[0] == _Op.FOOTER

    def _read_record(self, op: int, position: int, body: bytes) -> None:
        if op == _Op.CHUNK:
            self._read_chunk(position, body)
        elif op == _Op.MESSAGE:
            number, _, at = struct.unpack_from("<HIQ", body)
            self._spans.append(_Span(position, len(body), "", len(body), 0))
            self._rows.add(len(self._spans) - 1, [(number, at, 22, len(body) - 22)])
        elif op == _Op.METADATA:
            cursor = _Cursor(body)
            cursor.text()
            self.metadata |= cursor.text_map()
        elif op == _Op.ATTACHMENT:
            cursor = _Cursor(body, 16)
            if cursor.text() == "scenario.yaml":
                cursor.text()
                (length,) = struct.unpack_from("<Q", body, cursor.position)
                self.scenario_text = body[cursor.position + 8 :][:length].decode()
        else:
            self._declare(op, body)

    def _declare(self, op: int, body: bytes) -> None:
        cursor = _Cursor(body, 2)
        (number,) = struct.unpack_from("<H", body)
        if op == _Op.SCHEMA:
            self._schemas[number] = _Schema(cursor.text(), cursor.text(), cursor.text())
        elif op == _Op.CHANNEL:
            (schema,) = struct.unpack_from("<H", body, 2)
            cursor.position = 4
            known = self._schemas.get(schema, _Schema("unknown", "", ""))
            self._channels[number] = _LoggedChannel(known, cursor.text(), cursor.text())

    def _read_chunk(self, position: int, body: bytes) -> None:
        _, _, raw_size, checksum = struct.unpack_from("<QQQI", body)
        cursor = _Cursor(body, 28)
        compression = cursor.text()
        (size,) = struct.unpack_from("<Q", body, cursor.position)
        start = cursor.position + 8
        span = _Span(position + start, size, compression, raw_size, checksum)
        rows = self._scan(_decompressed(span, body[start : start + size]))
        self._spans.append(span)
        self._rows.add(len(self._spans) - 1, rows)

    def _scan(self, data: bytes) -> list[tuple[int, int, int, int]]:
        rows, position, end = [], 0, len(data)
        unpack_message, overhead = _MESSAGE.unpack_from, _MESSAGE.size - _HEAD.size
        while position < end:
            if data[position] == _MESSAGE_OP:
                _, length, number, _, at, _ = unpack_message(data, position)
                rows.append((number, at, position + 31, length - overhead))
            else:
                op, length = _HEAD.unpack_from(data, position)
                self._declare(op, data[position + _HEAD.size :][:length])
            position += _HEAD.size + length
        if position != end or any(number not in self._channels for number in {row[0] for row in rows}):
            raise ValueError("the chunk is inconsistent")
        return rows

    def _chunk(self, number: int) -> bytes:
        if number not in self._open_chunks:
            span = self._spans[number]
            try:
                data = _decompressed(span, os.pread(self._file.fileno(), span.size, span.start))
            except _DAMAGE as error:
                raise LogError(f"{self.path} changed while it was read") from error
            if len(self._open_chunks) == _OPEN_CHUNKS:
                del self._open_chunks[next(iter(self._open_chunks))]
            self._open_chunks[number] = data
        return self._open_chunks[number]

    def _cdr(self, row: int) -> bytes:
        start = int(self._rows.offset[row])
        return self._chunk(int(self._rows.span[row]))[start : start + int(self._rows.size[row])]


_MESSAGE_OP = int(_Op.MESSAGE)
_READ_RECORDS = {_Op.SCHEMA, _Op.CHANNEL, _Op.MESSAGE, _Op.CHUNK, _Op.ATTACHMENT, _Op.METADATA}


class _Cursor:
    """Reads one text after the other."""

    def __init__(self, data: bytes, position: int = 0) -> None:
        self.data, self.position = data, position

    def text(self) -> str:
        (length,) = struct.unpack_from("<I", self.data, self.position)
        start = self.position + 4
        self.position = start + length
        if self.position > len(self.data):
            raise ValueError("the text is longer than its record")
        return self.data[start : self.position].decode()

    def text_map(self) -> dict[str, str]:
        (length,) = struct.unpack_from("<I", self.data, self.position)
        self.position += 4
        end, found = self.position + length, {}
        while self.position < end:
            key = self.text()
            found[key] = self.text()
        return found


def _decompressed(span: _Span, data: bytes) -> bytes:
    if span.compression == "zstd":
        data = zstandard.ZstdDecompressor().decompress(data, max_output_size=span.raw_size)
    elif span.compression == "lz4":
        import lz4.frame  # type: ignore[import-untyped]

        data = lz4.frame.decompress(data)
    if len(data) != span.raw_size or (span.checksum and zlib.crc32(data) != span.checksum):
        raise ValueError("the chunk is damaged")
    return data


def _pick(layout: Layout, field: str) -> _Pick:
    name = re.sub(r"\[(\d+)\]", r".\1", field)
    owner, _, last = name.rpartition(".")
    if name in layout.leaves:
        leaf = layout.leaves[name]
        return _Pick(leaf.elements(), [leaf.dtype] * len(leaf.elements()), leaf.length is None)
    if owner in layout.leaves and last.isdigit() and int(last) < (layout.leaves[owner].length or 0):
        leaf = layout.leaves[owner]
        return _Pick([leaf.elements()[int(last)]], [leaf.dtype], True)
    group = [leaf for path, leaf in layout.leaves.items() if path.startswith(f"{name}.")]
    if not group:
        raise LogError(_no_such_field(layout, field, name))
    elements = [(offset, leaf.dtype) for leaf in group for offset in leaf.elements()]
    return _Pick([offset for offset, _ in elements], [dtype for _, dtype in elements], False)


def _no_such_field(layout: Layout, field: str, name: str) -> str:
    if name in layout.texts:
        return f"'{field}' is a text, not a number"
    known = [f"{path}[0…{leaf.length - 1}]" if leaf.length else path for path, leaf in layout.leaves.items()]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    return f"there is no field '{field}'{hint} The fields are {', '.join(known)}"


def _padded(lengths: list[list[tuple[int, int]]]) -> np.ndarray:
    """As an array; shorter lists repeat their first entry."""
    widest = max(map(len, lengths))
    return np.array([entry + entry[:1] * (widest - len(entry)) for entry in lengths]).reshape(len(lengths), widest, 2)


def _groups(keys: np.ndarray, positions: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The positions with the same key, key by key."""
    positions = positions[np.argsort(keys[positions], kind="stable")]
    found, first = np.unique(keys[positions], return_index=True)
    return zip(found.tolist(), np.split(positions, first[1:]), strict=True)


def _gather(data: np.ndarray, places: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return data[places[:, None] + np.arange(dtype.itemsize)].view(dtype)[:, 0]
