"""A participant: it makes itself known, finds others, and joins readers with writers of the same topic (RTPS 8.5)."""

from __future__ import annotations

import os
import select
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from airloom.ros2.rtps import wire
from airloom.ros2.rtps.reliable import (
    ReliableReader,
    ReliableWriter,
    Remote,
    Sample,
    read_acknack,
    read_heartbeat,
)
from airloom.ros2.rtps.wire import Locator

SPDP_WRITER, SPDP_READER = b"\x00\x01\x00\xc2", b"\x00\x01\x00\xc7"
PUBLICATIONS_WRITER, PUBLICATIONS_READER = b"\x00\x00\x03\xc2", b"\x00\x00\x03\xc7"
SUBSCRIPTIONS_WRITER, SUBSCRIPTIONS_READER = b"\x00\x00\x04\xc2", b"\x00\x00\x04\xc7"
PARTICIPANT, ANYBODY = b"\x00\x00\x01\xc1", b"\x00\x00\x00\x00"
WRITER_KIND, READER_KIND = b"\x03", b"\x04"
BUILTIN_ENDPOINTS = 0x3F  # what finds participants, readers and writers
RELIABLE, VOLATILE, KEEP_LAST = 2, 0, 0
MULTICAST = "239.255.0.1"
LOOPBACK = "127.0.0.1"
MOST_PARTICIPANTS = 100
LEASE, ANNOUNCEMENT, REMINDER = 10, 1.0, 0.25  # s
LARGEST_DATAGRAM = 65535
DEPTH = 100  # replies that are kept for those who have not got them
MOST_OTHERS, MOST_FOUND = 1000, 100_000
OF_SERVICES = ("rq/", "rr/")


def well_known_port(domain: int, index: int) -> int:
    """Where the participant of this number hears of others, of those on one host."""
    return 7400 + 250 * domain + 10 + 2 * index


@dataclass
class Other:
    """Another participant."""

    prefix: bytes
    vendor: bytes
    meta: Locator
    default: Locator
    heard_at: float = 0.0
    endpoints: set[bytes] = field(default_factory=set)


class RtpsParticipant:
    """Requests and replies. A thread of its own speaks the protocol; what is delivered comes from there."""

    def __init__(self, domain: int, address: str | None = None) -> None:
        """By loopback only, or by the interface that has this address."""
        self._domain, self._address = domain, address or LOOPBACK
        self._is_local = address is None
        self.prefix = wire.VENDOR + os.urandom(10)
        self._lock = threading.RLock()
        self._socket = self._listen()
        self._port: int = self._socket.getsockname()[1]
        self._others: dict[bytes, Other] = {}
        self._publications = ReliableWriter(PUBLICATIONS_WRITER, self._send)
        self._subscriptions = ReliableWriter(SUBSCRIPTIONS_WRITER, self._send)
        self._writers = {w.entity: w for w in (self._publications, self._subscriptions)}
        self._readers = {
            PUBLICATIONS_READER: ReliableReader(PUBLICATIONS_READER, self._send, self._find_writer),
            SUBSCRIPTIONS_READER: ReliableReader(SUBSCRIPTIONS_READER, self._send, self._find_reader),
        }
        self._by_topic: dict[tuple[str, str, bytes], bytes] = {}
        self._found: dict[bytes, tuple[tuple[str, str, bytes], Remote]] = {}
        """Of services of others: what they could be joined with, by their guids."""
        self._entities = 0
        self.unreadable = 0
        """Datagrams that were dropped."""
        self._is_open = True
        self._thread = threading.Thread(target=self._live, name="ros2 services", daemon=True)
        self._thread.start()

    def reader(self, topic: str, type_name: str, note: bytes, deliver: Callable[[Sample], None]) -> bytes:
        """Its guid."""
        with self._lock:
            entity = self._new_entity(READER_KIND)
            self._readers[entity] = ReliableReader(entity, self._send, deliver)
            self._enter((topic, type_name, READER_KIND), entity)
            self._subscriptions.write(self._endpoint(entity, topic, type_name, note))
            return self.prefix + entity

    def writer(self, topic: str, type_name: str, note: bytes) -> ReliableWriter:
        with self._lock:
            entity = self._new_entity(WRITER_KIND)
            writer = self._writers[entity] = ReliableWriter(entity, self._send, DEPTH)
            self._enter((topic, type_name, WRITER_KIND), entity)
            self._publications.write(self._endpoint(entity, topic, type_name, note))
            return writer

    def _enter(self, key: tuple[str, str, bytes], entity: bytes) -> None:
        """Join it with those who were there before."""
        self._by_topic[key] = entity
        for other_key, remote in self._found.values():
            if other_key == key:
                self._join(entity, remote)

    def write(self, writer: ReliableWriter, payload: bytes, inline: bytes) -> None:
        with self._lock:
            writer.write(payload, inline)

    def close(self) -> None:
        self._is_open = False
        self._thread.join()
        goodbye = wire.parameters([(wire.PID_STATUS, b"\0\0\0\x03")])
        payload = wire.PL_CDR + wire.parameters([(wire.PID_PARTICIPANT, self.prefix + PARTICIPANT)])
        part = wire.data(SPDP_READER, SPDP_WRITER, 2, payload, goodbye)
        for other in self._others.values():
            self._send(other.meta, other.prefix, [part])
        self._socket.close()

    # -- sending -----------------------------------------------------------------------------------------------------

    def _listen(self) -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for index in range(MOST_PARTICIPANTS):
            with suppress(OSError):
                made.bind((self._address, well_known_port(self._domain, index)))
                break
        else:
            made.bind((self._address, 0))
        made.setblocking(False)
        return made

    def _send(self, place: Locator, prefix: bytes, parts: list[bytes]) -> None:
        with suppress(OSError):  # a full buffer or a peer that has gone: whoever misses it asks again
            self._socket.sendto(wire.packet(self.prefix, parts, to=prefix), place)

    def _announce(self) -> None:
        part = wire.packet(self.prefix, [wire.data(ANYBODY, SPDP_WRITER, 1, self._about())])
        hosts = [LOOPBACK] if self._is_local else [self._address]
        places = [(host, well_known_port(self._domain, k)) for host in hosts for k in range(MOST_PARTICIPANTS)]
        if not self._is_local:
            places.append((MULTICAST, 7400 + 250 * self._domain))
        places += [other.meta for other in self._others.values()]
        for place in places:
            with suppress(OSError):
                self._socket.sendto(part, place)

    def _about(self) -> bytes:
        here = wire.locator((self._address, self._port))
        return wire.PL_CDR + wire.parameters(
            [
                (wire.PID_VERSION, b"\x02\x03"),
                (wire.PID_VENDOR, wire.VENDOR),
                (wire.PID_PARTICIPANT, self.prefix + PARTICIPANT),
                (wire.PID_META_UNICAST, here),
                (wire.PID_DEFAULT_UNICAST, here),
                (wire.PID_LEASE, struct.pack("<iI", LEASE, 0)),
                (wire.PID_BUILTIN, struct.pack("<I", BUILTIN_ENDPOINTS)),
                (wire.PID_USER_DATA, wire.octets(b"enclave=/;")),
            ]
        )

    def _new_entity(self, kind: bytes) -> bytes:
        self._entities += 1
        return self._entities.to_bytes(3, "big") + kind

    def _endpoint(self, entity: bytes, topic: str, type_name: str, note: bytes) -> bytes:
        return wire.PL_CDR + wire.parameters(
            [
                (wire.PID_ENDPOINT, self.prefix + entity),
                (wire.PID_PARTICIPANT, self.prefix + PARTICIPANT),
                (wire.PID_TOPIC, wire.text(topic)),
                (wire.PID_TYPE, wire.text(type_name)),
                (wire.PID_RELIABILITY, struct.pack("<IiI", RELIABLE, 1, 0)),
                (wire.PID_DURABILITY, struct.pack("<I", VOLATILE)),
                (wire.PID_HISTORY, struct.pack("<Ii", KEEP_LAST, DEPTH)),
                (wire.PID_REPRESENTATION, struct.pack("<Ih", 1, 0)),
                (wire.PID_USER_DATA, wire.octets(note)),
                (wire.PID_UNICAST, wire.locator((self._address, self._port))),
                (wire.PID_VERSION, b"\x02\x03"),
                (wire.PID_VENDOR, wire.VENDOR),
            ]
        )

    # -- listening ---------------------------------------------------------------------------------------------------

    def _live(self) -> None:
        announced = reminded = 0.0
        while self._is_open:
            ready, _, _ = select.select([self._socket], [], [], REMINDER)
            with self._lock:
                for _ in range(64 if ready else 0):
                    try:
                        data = self._socket.recv(LARGEST_DATAGRAM)
                    except OSError:
                        break
                    try:
                        self._hear(data)
                    except (ValueError, struct.error, IndexError):  # garbage: as if it had not come
                        self.unreadable += 1
                now = time.monotonic()
                if now - announced > ANNOUNCEMENT:
                    announced = now
                    self._forget_the_silent(now)
                    self._announce()
                if now - reminded > REMINDER:
                    reminded = now
                    for writer in self._writers.values():
                        writer.remind()

    def _forget_the_silent(self, now: float) -> None:
        for prefix in [prefix for prefix, other in self._others.items() if now - other.heard_at > 2 * LEASE]:
            self._part_from(prefix)

    def _part_from(self, prefix: bytes) -> None:
        if self._others.pop(prefix, None) is None:
            return
        builtin = [PUBLICATIONS_READER, SUBSCRIPTIONS_READER, PUBLICATIONS_WRITER, SUBSCRIPTIONS_WRITER]
        for guid in [*(guid for guid in self._found if guid.startswith(prefix)), *(prefix + e for e in builtin)]:
            self._lose(guid)

    def _hear(self, data: bytes) -> None:
        packet = wire.parse(data)
        if packet.prefix == self.prefix:
            return
        if (other := self._others.get(packet.prefix)) is not None:
            other.heard_at = time.monotonic()
        is_for_us = True
        for kind, flags, body in packet.submessages:
            if kind == wire.INFO_DST:
                is_for_us = bytes(body[:12]) in (self.prefix, bytes(12))
            elif is_for_us:
                self._heed(packet, kind, flags, body)

    def _heed(self, packet: wire.Packet, kind: int, flags: int, body: memoryview) -> None:
        if kind == wire.DATA:
            self._hear_data(packet, flags, body)
        elif kind == wire.DATA_FRAG:
            self._hear_fragment(packet, flags, body)
        elif kind == wire.HEARTBEAT:
            to, by, first, last = read_heartbeat(body)
            for reader in self._readers_for(to, packet.prefix + by):
                reader.hear_heartbeat(packet.prefix + by, first, last, bool(flags & wire.FINAL))
        elif kind == wire.GAP:
            to, by = bytes(body[:4]), bytes(body[4:8])
            base, members = wire.read_number_set(body, 16)
            for reader in self._readers_for(to, packet.prefix + by):
                reader.hear_gap(packet.prefix + by, wire.read_number(body, 8), base, members)
        elif kind == wire.ACKNACK:
            by, to, base, missing = read_acknack(body)
            if (writer := self._writers.get(to)) is not None:
                writer.hear(packet.prefix + by, base, missing)

    def _readers_for(self, entity: bytes, writer: bytes) -> list[ReliableReader]:
        """The one that is named, or all that listen to the writer."""
        if entity != ANYBODY:
            return [self._readers[entity]] if entity in self._readers else []
        return [reader for reader in self._readers.values() if writer in reader.writers]

    def _hear_data(self, packet: wire.Packet, flags: int, body: memoryview) -> None:
        to, by, number = bytes(body[4:8]), bytes(body[8:12]), wire.read_number(body, 12)
        (offset,) = struct.unpack_from("<H", body, 2)
        inline, payload = _split(body[4 + offset :], bool(flags & wire.INLINE_QOS))
        sample = Sample(packet.vendor, packet.prefix + by, number, inline, payload)
        if by == SPDP_WRITER:
            self._find_participant(sample)
            return
        for reader in self._readers_for(to, sample.writer):
            reader.hear_data(sample)

    def _hear_fragment(self, packet: wire.Packet, flags: int, body: memoryview) -> None:
        to, by, number = bytes(body[4:8]), bytes(body[8:12]), wire.read_number(body, 12)
        (offset,) = struct.unpack_from("<H", body, 2)
        first, _, size, total = struct.unpack_from("<IHHI", body, 20)
        inline, payload = _split(body[4 + offset :], bool(flags & wire.INLINE_QOS))
        sample = Sample(packet.vendor, packet.prefix + by, number, inline, payload)
        for reader in self._readers_for(to, sample.writer):
            reader.hear_fragment(sample, first, size, total)

    # -- finding others ----------------------------------------------------------------------------------------------

    def _find_participant(self, sample: Sample) -> None:
        prefix = sample.writer[:12]
        if _is_gone(sample.inline):
            self._part_from(prefix)
            return
        told = _Told(sample.payload, self._is_local)
        if told.meta is None or (told.domain not in (None, self._domain)) or len(self._others) >= MOST_OTHERS:
            return
        known = self._others.get(prefix)
        if known is not None:
            known.meta, known.default = told.meta, told.default or told.meta
            return
        other = Other(prefix, sample.vendor, told.meta, told.default or told.meta, time.monotonic())
        self._others[prefix] = other
        self._announce_to(other)
        for builtin in (self._publications, self._subscriptions):
            reader = PUBLICATIONS_READER if builtin is self._publications else SUBSCRIPTIONS_READER
            builtin.match(Remote(prefix + reader, other.meta), from_the_start=True)
        for own, entity in ((PUBLICATIONS_READER, PUBLICATIONS_WRITER), (SUBSCRIPTIONS_READER, SUBSCRIPTIONS_WRITER)):
            self._readers[own].match(Remote(prefix + entity, other.meta))

    def _announce_to(self, other: Other) -> None:
        self._send(other.meta, other.prefix, [wire.data(SPDP_READER, SPDP_WRITER, 1, self._about())])

    def _find_writer(self, sample: Sample) -> None:
        self._find_endpoint(sample, READER_KIND)

    def _find_reader(self, sample: Sample) -> None:
        self._find_endpoint(sample, WRITER_KIND)

    def _find_endpoint(self, sample: Sample, own_kind: bytes) -> None:
        """Of another, which our reader or writer of the same topic may be joined with, now or later."""
        told = _Told(sample.payload, self._is_local)
        other = self._others.get(sample.writer[:12])
        if told.endpoint is None or other is None:
            return
        if _is_gone(sample.inline):
            self._lose(told.endpoint)
        elif told.topic.startswith(OF_SERVICES) and len(self._found) < MOST_FOUND:
            key = told.topic, told.type_name, own_kind
            self._found[told.endpoint] = key, Remote(told.endpoint, told.unicast or other.default)
            if (entity := self._by_topic.get(key)) is not None:
                self._join(entity, self._found[told.endpoint][1])

    def _join(self, entity: bytes, remote: Remote) -> None:
        if entity in self._readers:
            self._readers[entity].match(remote)
        else:
            self._writers[entity].match(remote, from_the_start=False)

    def _lose(self, guid: bytes) -> None:
        self._found.pop(guid, None)
        for writer in self._writers.values():
            writer.readers.pop(guid, None)
        for reader in self._readers.values():
            reader.writers.pop(guid, None)


class _Told:
    """What somebody says of itself or of one of its endpoints."""

    def __init__(self, payload: bytes, is_local: bool) -> None:
        self.meta: Locator | None = None
        self.default: Locator | None = None
        self.unicast: Locator | None = None
        self.endpoint: bytes | None = None
        self.domain: int | None = None
        self.topic = self.type_name = ""
        if payload[:2] not in (wire.PL_CDR[:2],):
            return
        for pid, value, _ in wire.read_parameters(memoryview(payload)[4:]):
            if pid == wire.PID_ENDPOINT:
                self.endpoint = value[:16]
            elif pid == wire.PID_TOPIC:
                self.topic = wire.read_text(value)
            elif pid == wire.PID_TYPE:
                self.type_name = wire.read_text(value)
            elif pid == wire.PID_DOMAIN:
                (self.domain,) = struct.unpack_from("<I", value)
            elif pid in _PLACES and (place := wire.read_locator(value)) is not None:
                name = _PLACES[pid]
                if getattr(self, name) is None or place[0] == LOOPBACK:
                    setattr(self, name, (LOOPBACK, place[1]) if is_local else place)


_PLACES = {wire.PID_META_UNICAST: "meta", wire.PID_DEFAULT_UNICAST: "default", wire.PID_UNICAST: "unicast"}


def _split(body: memoryview, has_inline: bool) -> tuple[bytes, bytes]:
    """Inline QoS and payload."""
    end = 0
    if has_inline:
        *_, (_, _, end) = wire.read_parameters(body)
    return bytes(body[:end]), bytes(body[end:])


def _is_gone(inline: bytes) -> bool:
    if not inline:
        return False
    return any(pid == wire.PID_STATUS and value[3] & 3 for pid, value, _ in wire.read_parameters(memoryview(inline)))
