"""Writing logs.

Two promises shape the writer:

- *The same messages give the same bytes.* Messages are sorted by (time, order of advertisement) before they are cut
  into chunks by size, and no wall-clock time is stored.
- *A killed process loses less than a second.* Messages whose chunk is not full yet are saved twice a second in small
  provisional chunks, see `_SafeFile`.
"""

from __future__ import annotations

import os
import struct
import time
import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import zstandard

from airloom.basics.clock import NS_PER_SECOND
from airloom.basics.patterns import matches
from airloom.bus import messages
from airloom.bus.bus import Bus, Topic
from airloom.runs.mcap.format import (
    HEAD,
    LATCHED_QOS,
    MAGIC,
    MAX_CHANNELS,
    MESSAGE,
    LogError,
    Op,
    as_patterns,
    blob_bytes,
    map_bytes,
    matches_any,
    record_bytes,
    text_bytes,
)

CHUNK_SIZE = 1 << 20
"""Bytes of messages in a chunk before compression."""
SAVE_INTERVAL = 0.5
"""Seconds of wall time between provisional chunks."""
BACKLOG_LIMIT = 64 * CHUNK_SIZE
"""Bytes that may wait for `tick` before they are stored regardless."""
_GAP_SIZE = 2 * CHUNK_SIZE
_COMPRESSION = "zstd"


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
        if self.end + len(final) + HEAD.size > self._tail:
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
            tail = max(tail, gap + gap_size) + HEAD.size
            self._write(HEAD.pack(Op.GAP, tail + len(provisional) - self._tail_end - HEAD.size), self._tail_end)
            self._write(provisional, tail)
        appearing = final + HEAD.pack(Op.GAP, tail - gap - HEAD.size)
        self._write(appearing[HEAD.size :], self.end + HEAD.size)
        self._write(appearing[: HEAD.size], self.end)
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
            problem = (
                f"cannot write the log {self._path}: {error.strerror}; it is cut, but can be read as far as it goes"
            )
            raise LogError(problem) from error


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
        self._patterns = as_patterns(topics)
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
        self._put(self._channels.get(topic.name) or self._add_channel(topic), cdr, times_ns)

    def add(self, name: str, msgtype: str, *, latched: bool = False) -> None:
        """A topic that the bus has not, for `write`; of a latched one players tell late listeners the last message."""
        self._declare(name, msgtype, {"offered_qos_profiles": LATCHED_QOS} if latched else {})

    def write(self, name: str, cdr: bytes, time_ns: int) -> None:
        """A message of a topic that was added; a log that could not go on takes none."""
        if self._file.is_open:
            self._put(self._channels[name], [cdr], [time_ns])

    def _put(self, channel: _Channel, cdr: list[bytes], times_ns: list[int]) -> None:
        if channel.period_ns:
            cdr, times_ns = channel.thin_out(cdr, times_ns)
        number, pack, head = channel.id, MESSAGE.pack, MESSAGE.size - HEAD.size
        entries = [
            (at, number, sequence, pack(5, head + len(data), number, sequence & 0xFFFFFFFF, at, at) + data)
            for sequence, (data, at) in enumerate(zip(cdr, times_ns, strict=True), channel.received)
        ]
        channel.received += len(entries)
        self._pending += entries
        self._unsaved += entries
        self._pending_size += sum(map(len, cdr)) + MESSAGE.size * len(cdr)
        if self._pending_size >= BACKLOG_LIMIT:
            self._store(before_ns=None)
        self._save_if_due()

    def _add_channel(self, topic: Topic) -> _Channel:
        """Channels are numbered in the order of advertisement, whichever topic speaks first."""
        for other in self._bus.topics():
            if other.name not in self._channels and matches_any(other.name, self._patterns):
                self._declare(other.name, other.msgtype, {})
        return self._channels[topic.name]

    def _declare(self, name: str, msgtype: str, about: Mapping[str, str]) -> None:
        channel = self._new_channel(name, msgtype, about)
        self._channels[name] = self._channel_by_id[channel.id] = channel

    def _new_channel(self, name: str, msgtype: str, about: Mapping[str, str]) -> _Channel:
        number = len(self._channels) + 1
        if number > MAX_CHANNELS:
            raise LogError(
                f"an MCAP log holds at most {MAX_CHANNELS} topics: name fewer in log.topics, or write no log"
            )
        if msgtype not in self._schemas:
            words = text_bytes(msgtype) + text_bytes("ros2msg") + text_bytes(messages.definition(msgtype))
            self._schemas[msgtype] = record_bytes(Op.SCHEMA, struct.pack("<H", len(self._schemas) + 1), words)
        ids = struct.pack("<HH", number, list(self._schemas).index(msgtype) + 1)
        record = record_bytes(Op.CHANNEL, ids, text_bytes(name), text_bytes("cdr"), map_bytes(about))
        rate = min((rate for pattern, rate in self._rates.items() if matches(name, pattern)), default=0.0)
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
        return record_bytes(Op.CHUNK, numbers, text_bytes(_COMPRESSION), struct.pack("<Q", len(data)), data)

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
        header = MAGIC + record_bytes(Op.HEADER, text_bytes("ros2"), text_bytes("airloom"))
        about = record_bytes(Op.METADATA, text_bytes("airloom"), map_bytes(metadata))
        names = text_bytes("scenario.yaml") + text_bytes("application/yaml")
        attached = struct.pack("<QQ", 0, 0) + names + struct.pack("<Q", len(scenario)) + scenario
        attachment = record_bytes(Op.ATTACHMENT, attached, struct.pack("<I", zlib.crc32(attached)))
        place = struct.pack("<QQ", len(header), len(about))
        self._metadata_index = record_bytes(Op.METADATA_INDEX, place, text_bytes("airloom"))
        place = struct.pack("<QQQQQ", len(header) + len(about), len(attachment), 0, 0, len(scenario))
        self._attachment_index = record_bytes(Op.ATTACHMENT_INDEX, place, names)
        self._file.append(header + about + attachment)

    def _closing(self) -> bytes:
        data_end = record_bytes(Op.DATA_END, struct.pack("<I", 0))
        start = self._file.end + len(data_end)
        used = [channel for channel in self._channels.values() if channel.stored]
        groups = {
            Op.SCHEMA: b"".join(dict.fromkeys(channel.schema for channel in used)),
            Op.CHANNEL: b"".join(channel.record for channel in used),
            Op.STATISTICS: self._statistics(used),
            Op.CHUNK_INDEX: b"".join(self._chunk_indexes),
            Op.ATTACHMENT_INDEX: self._attachment_index,
            Op.METADATA_INDEX: self._metadata_index,
        }
        summary, offsets = b"", b""
        for op, group in groups.items():
            if group:
                offsets += record_bytes(Op.SUMMARY_OFFSET, struct.pack("<BQQ", op, start + len(summary), len(group)))
                summary += group
        footer = HEAD.pack(Op.FOOTER, 20) + struct.pack("<QQ", start, start + len(summary))
        checksum = struct.pack("<I", zlib.crc32(summary + offsets + footer))
        return data_end + summary + offsets + footer + checksum + MAGIC

    def _statistics(self, used: list[_Channel]) -> bytes:
        schemas = len({channel.schema for channel in used})
        total = sum(channel.stored for channel in used)
        counts = total, schemas, len(used), 1, 1, len(self._chunk_indexes), self._first_ns or 0, self._last_ns
        by_channel = b"".join(struct.pack("<HQ", channel.id, channel.stored) for channel in used)
        return record_bytes(Op.STATISTICS, struct.pack("<QHIIIIQQ", *counts), blob_bytes(by_channel))


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
        number: record_bytes(Op.MESSAGE_INDEX, struct.pack("<H", number), blob_bytes(part.tobytes()))
        for number, part in zip(found.tolist(), parts, strict=True)
    }


def _chunk_index(chunk: bytes, position: int, indexes: dict[int, bytes]) -> bytes:
    first, last, raw_size = struct.unpack_from("<QQQ", chunk, HEAD.size)
    places, end = b"", position + len(chunk)
    for number, index in indexes.items():
        places += struct.pack("<HQ", number, end)
        end += len(index)
    data_size = len(chunk) - (HEAD.size + 28 + len(text_bytes(_COMPRESSION)) + 8)
    return record_bytes(
        Op.CHUNK_INDEX,
        struct.pack("<QQQQ", first, last, position, len(chunk)),
        blob_bytes(places),
        struct.pack("<Q", end - position - len(chunk)),
        text_bytes(_COMPRESSION),
        struct.pack("<QQ", data_size, raw_size),
    )
