"""Reading logs, whole or torn."""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
import zstandard

from airloom.basics.given import regular_file
from airloom.basics.hints import closest, did_you_mean
from airloom.bus import messages
from airloom.bus.messages import Layout
from airloom.runs.mcap.format import HEAD, MAGIC, MAX_CHANNELS, MESSAGE, LogError, Op, as_patterns, matches_any

if TYPE_CHECKING:
    from rosbags.typesys.store import Typestore

_OPEN_CHUNKS = 4
_READ_BUFFER = 1 << 20


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
    """Reads an MCAP log of ROS 2 messages, whole or torn; `complete` tells which.

    Chunks that end before `since` (seconds) are passed over, to be quick about the latest news of a long flight.
    """

    def __init__(self, path: Path | str, since: float = 0.0) -> None:
        self.path, self._since_ns = Path(path), round(since * 1e9)
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
        return list(self.layout(topic).leaves)

    def layout(self, topic: str) -> Layout:
        """How a topic's first message is laid out."""
        return self._layout(self._channels_of(topic)[0])

    def messages(
        self, topics: str | Iterable[str] = "*", start: float = 0.0, end: float = float("inf")
    ) -> Iterator[LogMessage]:
        """The messages of the topics that match, from `start` to `end` (seconds, inclusive), in order of time."""
        patterns = as_patterns(topics)
        wanted = [number for number, channel in self._channels.items() if matches_any(channel.topic, patterns)]
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
        owner = np.full(MAX_CHANNELS + 1, -1)
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
            meant = closest(topic, self._numbers, like=0.4)
            known = ", ".join(self._numbers) or "no messages at all"
            hint = f"did you mean {meant}?" if meant else f"it has {known}"
            raise LogError(f"{self.path} has no topic {topic}; {hint}")
        return self._numbers[topic]

    # The file

    def _open(self) -> BinaryIO:
        regular_file(self.path, LogError)
        try:
            file = self.path.open("rb", buffering=_READ_BUFFER)
        except OSError as error:
            raise LogError(f"cannot read the log {self.path}: {error.strerror}") from error
        magic = file.read(len(MAGIC))
        if magic != MAGIC:
            raise LogError(f"{self.path} is not an MCAP log" if magic else f"{self.path} is empty")
        return file

    def _read(self) -> None:
        """Read record after record until the data end, or what is left of the file makes no sense."""
        size = os.fstat(self._file.fileno()).st_size
        position = len(MAGIC)
        with suppress(*_DAMAGE):
            while position + HEAD.size <= size:
                op, length = HEAD.unpack(self._file.read(HEAD.size))
                position += HEAD.size
                if op == 0 or position + length > size:
                    return
                if op == Op.DATA_END:
                    self.complete = self._has_footer(size)
                    return
                if op in _READ_RECORDS:
                    self._read_record(op, position, self._file.read(length))
                else:
                    self._file.seek(length, os.SEEK_CUR)
                position += length

    def _has_footer(self, size: int) -> bool:
        self._file.seek(max(0, size - HEAD.size - 20 - len(MAGIC)))
        end = self._file.read()
        return end.endswith(MAGIC) and end[0] == Op.FOOTER

    def _read_record(self, op: int, position: int, body: bytes) -> None:
        if op == Op.CHUNK:
            self._read_chunk(position, body)
        elif op == Op.MESSAGE:
            number, _, at, _ = struct.unpack_from("<HIQQ", body)
            self._must_be_declared({number})
            self._spans.append(_Span(position, len(body), "", len(body), 0))
            self._rows.add(len(self._spans) - 1, [(number, at, 22, len(body) - 22)])
        elif op == Op.METADATA:
            cursor = _Cursor(body)
            cursor.text()
            self.metadata |= cursor.text_map()
        elif op == Op.ATTACHMENT:
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
        if op == Op.SCHEMA:
            self._schemas[number] = _Schema(cursor.text(), cursor.text(), cursor.text())
        elif op == Op.CHANNEL:
            (schema,) = struct.unpack_from("<H", body, 2)
            cursor.position = 4
            known = self._schemas.get(schema, _Schema("unknown", "", ""))
            self._channels[number] = _LoggedChannel(known, cursor.text(), cursor.text())

    def _read_chunk(self, position: int, body: bytes) -> None:
        _, last_ns, raw_size, checksum = struct.unpack_from("<QQQI", body)
        cursor = _Cursor(body, 28)
        compression = cursor.text()
        (size,) = struct.unpack_from("<Q", body, cursor.position)
        start = cursor.position + 8
        span = _Span(position + start, size, compression, raw_size, checksum)
        data = _decompressed(span, body[start : start + size])
        if last_ns < self._since_ns:
            self._scan_declarations(data)
            return
        rows = self._scan(data)
        self._spans.append(span)
        self._rows.add(len(self._spans) - 1, rows)

    def _scan_declarations(self, data: bytes) -> None:
        """Those at the beginning of a chunk, where our writer puts them."""
        position = 0
        while position < len(data) and data[position] != _MESSAGE_OP:
            op, length = HEAD.unpack_from(data, position)
            self._declare(op, data[position + HEAD.size :][:length])
            position += HEAD.size + length

    def _scan(self, data: bytes) -> list[tuple[int, int, int, int]]:
        rows, position, end = [], 0, len(data)
        unpack_message, overhead = MESSAGE.unpack_from, MESSAGE.size - HEAD.size
        while position < end:
            if data[position] == _MESSAGE_OP:
                _, length, number, _, at, _ = unpack_message(data, position)
                rows.append((number, at, position + 31, length - overhead))
            else:
                op, length = HEAD.unpack_from(data, position)
                self._declare(op, data[position + HEAD.size :][:length])
            position += HEAD.size + length
        if position != end:
            raise ValueError("the chunk is inconsistent")
        self._must_be_declared({row[0] for row in rows})
        return rows

    def _must_be_declared(self, channels: set[int]) -> None:
        if not channels <= self._channels.keys():
            raise ValueError("a message's channel is nowhere declared")

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


_MESSAGE_OP = int(Op.MESSAGE)
_READ_RECORDS = {Op.SCHEMA, Op.CHANNEL, Op.MESSAGE, Op.CHUNK, Op.ATTACHMENT, Op.METADATA}


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
    return f"there is no field '{field}'{did_you_mean(name, known) or '.'} The fields are {', '.join(known)}"


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
