"""Readers and writers that lose nothing: what is missing is asked for and sent again (RTPS 8.4)."""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from airloom.ros2.rtps import wire
from airloom.ros2.rtps.wire import Locator

MOST_MISSING = 256
LARGEST_SAMPLE = 1 << 20
MOST_HALVES = 16


@dataclass
class Remote:
    """A reader or a writer of somebody else, and where it listens."""

    guid: bytes
    place: Locator
    acknowledged: int = 0
    """Of a reader: up to this number it has all."""


@dataclass
class Sample:
    """What a reader was told, by whom and under which number."""

    vendor: bytes
    writer: bytes
    number: int
    inline: bytes
    payload: bytes


Send = Callable[[Locator, bytes, list[bytes]], None]
"""Called with the place, the other's prefix and the submessages."""


class ReliableWriter:
    def __init__(self, entity: bytes, send: Send, depth: int | None = None) -> None:
        self.entity, self._send, self._depth = entity, send, depth
        self.readers: dict[bytes, Remote] = {}
        self._samples: OrderedDict[int, tuple[bytes, bytes]] = OrderedDict()
        self._last, self._count = 0, 0

    def write(self, payload: bytes, inline: bytes = b"") -> None:
        self._last += 1
        self._samples[self._last] = payload, inline
        if self._depth is not None and len(self._samples) > self._depth:
            self._samples.popitem(last=False)
        for reader in self.readers.values():
            self._send_samples(reader, [self._last])

    def match(self, reader: Remote, from_the_start: bool) -> None:
        """Somebody listens: who was not there before need not have what was before, unless it is asked for."""
        if reader.guid in self.readers:
            self.readers[reader.guid].place = reader.place
            return
        reader.acknowledged = 0 if from_the_start else self._last
        self.readers[reader.guid] = reader
        self._send_samples(reader, [n for n in self._samples if n > reader.acknowledged])

    def remind(self) -> None:
        """Tell those who have not said that they have all."""
        for reader in self.readers.values():
            if reader.acknowledged < self._last:
                self._send_samples(reader, [])

    def hear(self, reader_guid: bytes, base: int, missing: list[int]) -> None:
        reader = self.readers.get(reader_guid)
        if reader is None:
            return
        reader.acknowledged = max(reader.acknowledged, min(base - 1, self._last))
        if missing or base <= self._last:
            self._send_samples(reader, missing)

    def _send_samples(self, reader: Remote, numbers: list[int]) -> None:
        to, own = reader.guid[12:], self.entity
        parts = []
        for number in numbers:
            if (sample := self._samples.get(number)) is not None:
                parts += wire.data_in_parts(to, own, number, *sample)
            elif number <= self._last:
                parts.append(wire.gap(to, own, number, number))
        self._count += 1
        first = next(iter(self._samples), self._last + 1)
        parts.append(wire.heartbeat(to, own, first, self._last, self._count))
        for part in parts[:-1]:
            self._send(reader.place, reader.guid[:12], [part])
        self._send(reader.place, reader.guid[:12], parts[-1:])


@dataclass
class _Progress:
    """How far a reader is with one writer."""

    remote: Remote
    next: int = 1
    """The first number that is missing."""
    beyond: set[int] = field(default_factory=set)
    halves: dict[int, dict[int, bytes]] = field(default_factory=dict)
    """Fragments of samples that are not complete."""
    count: int = 0

    def take(self, number: int) -> bool:
        """Whether it is new."""
        if number < self.next or number in self.beyond:
            return False
        self.beyond.add(number)
        self.advance()
        return True

    def advance(self, to: int = 0) -> None:
        self.next = max(self.next, to)
        self.beyond = {number for number in self.beyond if number >= self.next}
        while self.next in self.beyond:
            self.beyond.discard(self.next)
            self.next += 1


class ReliableReader:
    def __init__(self, entity: bytes, send: Send, deliver: Callable[[Sample], None]) -> None:
        self.entity, self._send, self._deliver = entity, send, deliver
        self.writers: dict[bytes, _Progress] = {}

    def match(self, writer: Remote) -> None:
        if writer.guid in self.writers:
            self.writers[writer.guid].remote.place = writer.place
        else:
            self.writers[writer.guid] = _Progress(writer)

    def hear_data(self, sample: Sample) -> None:
        progress = self.writers.get(sample.writer)
        if progress is not None and progress.take(sample.number):
            self._deliver(sample)

    def hear_fragment(self, sample: Sample, first: int, size: int, total: int) -> None:
        progress = self.writers.get(sample.writer)
        if progress is None or sample.number < progress.next or total > LARGEST_SAMPLE or size == 0:
            return
        parts = progress.halves.setdefault(sample.number, {})
        for k in range(0, len(sample.payload), size):
            parts[first + k // size] = sample.payload[k : k + size]
        if len(parts) * size >= total:
            whole = b"".join(parts[k] for k in sorted(parts))[:total]
            del progress.halves[sample.number]
            self.hear_data(Sample(sample.vendor, sample.writer, sample.number, sample.inline, whole))
        elif len(progress.halves) > MOST_HALVES:
            progress.halves.pop(min(progress.halves))

    def hear_heartbeat(self, writer: bytes, first: int, last: int, final: bool) -> None:
        progress = self.writers.get(writer)
        if progress is None:
            return
        progress.advance(first)
        missing = [n for n in range(progress.next, min(last, progress.next + MOST_MISSING - 1) + 1)]
        missing = [n for n in missing if n not in progress.beyond]
        if missing or not final:
            progress.count += 1
            note = wire.acknack(self.entity, writer[12:], progress.next, missing, progress.count)
            self._send(progress.remote.place, writer[:12], [note])

    def hear_gap(self, writer: bytes, start: int, base: int, members: list[int]) -> None:
        progress = self.writers.get(writer)
        if progress is None or base - start > 1 << 16:
            return
        for number in [*range(max(start, progress.next), base), *members]:
            progress.take(number)


def read_acknack(body: memoryview) -> tuple[bytes, bytes, int, list[int]]:
    """Reader, writer, the first number that it lacks, those that it asks for."""
    return bytes(body[:4]), bytes(body[4:8]), *wire.read_number_set(body, 8)


def read_heartbeat(body: memoryview) -> tuple[bytes, bytes, int, int]:
    struct.unpack_from("<I", body, 24)  # there must be so much
    return bytes(body[:4]), bytes(body[4:8]), wire.read_number(body, 8), wire.read_number(body, 16)
