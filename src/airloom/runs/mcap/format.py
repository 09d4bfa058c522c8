"""The MCAP format: records, texts and maps as bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from enum import IntEnum

from airloom.basics.patterns import matches
from airloom.errors import UserError

MAGIC = b"\x89MCAP0\r\n"
MAX_CHANNELS = 65535
HEAD = struct.Struct("<BQ")
MESSAGE = struct.Struct("<BQHIQQ")


_FOREVER = "{sec: 9223372036, nsec: 854775807}"
LATCHED_QOS = (
    "- {history: keep_last, depth: 1, reliability: reliable, durability: transient_local, "
    f"deadline: {_FOREVER}, lifespan: {_FOREVER}, liveliness: automatic, liveliness_lease_duration: {_FOREVER}, "
    "avoid_ros_namespace_conventions: false}"
)
"""How `ros2 bag play` of Jazzy and Kilted is to offer a topic, so that who comes late gets its last message."""


class LogError(UserError):
    """A log cannot be read or written; the message is meant for the user."""


class Op(IntEnum):
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


def record_bytes(op: Op, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return HEAD.pack(op, len(body)) + body


def blob_bytes(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


def text_bytes(text: str) -> bytes:
    return blob_bytes(text.encode())


def map_bytes(entries: Mapping[str, str]) -> bytes:
    return blob_bytes(b"".join(text_bytes(key) + text_bytes(value) for key, value in entries.items()))


def as_patterns(topics: str | Iterable[str]) -> tuple[str, ...]:
    return (topics,) if isinstance(topics, str) else tuple(topics)


def matches_any(topic: str, patterns: tuple[str, ...]) -> bool:
    return any(matches(topic, pattern) for pattern in patterns)
