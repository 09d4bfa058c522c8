"""Messages of RTPS 2.3 as bytes: submessages, parameter lists, sets of sequence numbers. All little-endian.

Numbers of submessages and parameters are those of the standard, chapters 8.3.7 and 9.6.2.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

VENDOR = b"\x00\x00"  # of nobody in particular
CYCLONE = b"\x01\x10"
ACKNACK, HEARTBEAT, GAP, INFO_TS, INFO_DST, HEARTBEAT_FRAG, DATA, DATA_FRAG = (
    0x06,
    0x07,
    0x08,
    0x09,
    0x0E,
    0x13,
    0x15,
    0x16,
)
LITTLE, INLINE_QOS, FINAL, HAS_DATA = 1, 2, 2, 4

PID_SENTINEL, PID_LEASE, PID_TOPIC, PID_TYPE, PID_DOMAIN = 0x01, 0x02, 0x05, 0x07, 0x0F
PID_VERSION, PID_VENDOR, PID_RELIABILITY, PID_DURABILITY, PID_USER_DATA = 0x15, 0x16, 0x1A, 0x1D, 0x2C
PID_UNICAST, PID_DEFAULT_UNICAST, PID_META_UNICAST, PID_HISTORY, PID_PARTICIPANT = 0x2F, 0x31, 0x32, 0x40, 0x50
PID_BUILTIN, PID_ENDPOINT, PID_STATUS, PID_REPRESENTATION = 0x58, 0x5A, 0x71, 0x73
PID_RELATED, PID_RELATED_OF_FAST = 0x83, 0x800F

PL_CDR = b"\x00\x03\x00\x00"
MOST_BITS = 256
FRAGMENT = 32768  # bytes of a sample that go into one datagram
UDP = 1
Locator = tuple[str, int]
_SN = struct.Struct("<iI")
_LOCATOR = struct.Struct("<iI12s4s")


class Submessage(NamedTuple):
    kind: int
    flags: int
    body: memoryview


@dataclass
class Packet:
    vendor: bytes
    prefix: bytes
    submessages: list[Submessage]


def parse(data: bytes) -> Packet:
    """ValueError if it is no RTPS, or not in our byte order, which every machine of today speaks."""
    if len(data) < 20 or data[:4] != b"RTPS":
        raise ValueError("no RTPS")
    found, view, at = [], memoryview(data), 20
    while at + 4 <= len(data):
        kind, flags, size = struct.unpack_from("<BBH", data, at)
        if not flags & LITTLE:
            raise ValueError("another byte order")
        end = len(data) if size == 0 and kind != INFO_TS else at + 4 + size
        if end > len(data):
            raise ValueError("a submessage that is cut off")
        found.append(Submessage(kind, flags, view[at + 4 : end]))
        at = end
    return Packet(data[6:8], data[8:20], found)


def packet(prefix: bytes, submessages: Iterable[bytes], to: bytes | None = None) -> bytes:
    """From the participant with this prefix, to that of another or to anybody."""
    head = b"RTPS\x02\x03" + VENDOR + prefix
    return b"".join([head, *([_submessage(INFO_DST, 0, to)] if to else []), *submessages])


def _submessage(kind: int, flags: int, body: bytes) -> bytes:
    return struct.pack("<BBH", kind, flags | LITTLE, len(body)) + body


def data(reader: bytes, writer: bytes, number: int, payload: bytes, inline: bytes = b"") -> bytes:
    flags = HAS_DATA | (INLINE_QOS if inline else 0)
    body = struct.pack("<HH", 0, 16) + reader + writer + sequence_number(number) + inline + payload
    return _submessage(DATA, flags, body + b"\0" * (-len(body) % 4))


def data_in_parts(reader: bytes, writer: bytes, number: int, payload: bytes, inline: bytes = b"") -> list[bytes]:
    """As much at once as a datagram holds, the inline QoS with the first."""
    if len(payload) <= FRAGMENT:
        return [data(reader, writer, number, payload, inline)]
    parts = []
    for k, at in enumerate(range(0, len(payload), FRAGMENT)):
        beside = inline if k == 0 else b""
        head = struct.pack("<HH", 0, 28) + reader + writer + sequence_number(number)
        head += struct.pack("<IHHI", k + 1, 1, FRAGMENT, len(payload))
        body = head + beside + payload[at : at + FRAGMENT]
        parts.append(_submessage(DATA_FRAG, INLINE_QOS if beside else 0, body + b"\0" * (-len(body) % 4)))
    return parts


def heartbeat(reader: bytes, writer: bytes, first: int, last: int, count: int) -> bytes:
    body = reader + writer + sequence_number(first) + sequence_number(last) + struct.pack("<I", count)
    return _submessage(HEARTBEAT, 0, body)


def acknack(reader: bytes, writer: bytes, base: int, missing: Iterable[int], count: int) -> bytes:
    body = reader + writer + _number_set(base, missing) + struct.pack("<I", count)
    return _submessage(ACKNACK, FINAL, body)


def gap(reader: bytes, writer: bytes, first: int, last: int) -> bytes:
    """These numbers are no longer to be had."""
    return _submessage(GAP, 0, reader + writer + sequence_number(first) + _number_set(last + 1, ()))


def sequence_number(number: int) -> bytes:
    return _SN.pack(number >> 32, number & 0xFFFFFFFF)


def read_number(body: memoryview, at: int) -> int:
    high, low = _SN.unpack_from(body, at)
    return (high << 32) | low


def _number_set(base: int, members: Iterable[int]) -> bytes:
    offsets = [number - base for number in members if number - base < MOST_BITS]
    count = max(offsets, default=-1) + 1
    words = [0] * (-(-count // 32))
    for offset in offsets:
        words[offset // 32] |= 1 << (31 - offset % 32)
    return sequence_number(base) + struct.pack(f"<I{len(words)}I", count, *words)


def read_number_set(body: memoryview, at: int) -> tuple[int, list[int]]:
    base, (count,) = read_number(body, at), struct.unpack_from("<I", body, at + 8)
    if count > MOST_BITS:
        raise ValueError("a set of sequence numbers has at most 256 of them")
    words = struct.unpack_from(f"<{-(-count // 32)}I", body, at + 12)
    return base, [base + k for k in range(count) if words[k // 32] >> (31 - k % 32) & 1]


# -- parameter lists -------------------------------------------------------------------------------------------------


def parameters(given: Iterable[tuple[int, bytes]]) -> bytes:
    parts = []
    for pid, value in given:
        value += b"\0" * (-len(value) % 4)
        parts.append(struct.pack("<HH", pid, len(value)) + value)
    return b"".join(parts) + struct.pack("<HH", PID_SENTINEL, 0)


def read_parameters(body: memoryview) -> Iterator[tuple[int, bytes, int]]:
    """Each parameter, its value, and where the next begins; the last is the sentinel."""
    at = 0
    while True:
        pid, size = struct.unpack_from("<HH", body, at)
        at += 4
        if pid == PID_SENTINEL:
            yield pid, b"", at
            return
        if at + size > len(body):
            raise ValueError("a parameter goes beyond its list")
        at += size
        yield pid, bytes(body[at - size : at]), at


def text(value: str) -> bytes:
    raw = value.encode() + b"\0"
    return struct.pack("<I", len(raw)) + raw


def read_text(value: bytes) -> str:
    (length,) = struct.unpack_from("<I", value)
    return value[4 : 4 + length].rstrip(b"\0").decode(errors="replace")


def octets(value: bytes) -> bytes:
    return struct.pack("<I", len(value)) + value


def locator(place: Locator) -> bytes:
    return _LOCATOR.pack(UDP, place[1], bytes(12), socket.inet_aton(place[0]))


def read_locator(value: bytes) -> Locator | None:
    kind, port, _, address = _LOCATOR.unpack_from(value)
    return (socket.inet_ntoa(address), port) if kind == UDP and 0 < port < 65536 else None
