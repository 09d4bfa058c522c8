"""What a base station and its vehicles say to each other, byte by byte; all little-endian.

Every packet begins with the mark `BS` and the kind of word, and ends with the CRC-32 of all before it: what was
corrupted on its way is not taken for an order.

    BEAT       from the station to everybody, so that it is heard: nothing more
    TELEMETRY  from a vehicle to the station: see `Telemetry`
    PIECE      from the station to a vehicle, of an order: its number (u32), which piece, of how many (u16), the bytes
    GOT        from a vehicle to the station: number (u32) and piece (u16) of one that has come
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from enum import IntEnum
from math import isnan, nan
from typing import NamedTuple

from airloom.radio.packet import LONGEST

MARK = b"BS"


class Word(IntEnum):
    BEAT = 1
    TELEMETRY = 2
    PIECE = 3
    GOT = 4


class Doing(IntEnum):
    """What a vehicle is at."""

    RESTS = 0
    """Its rotors stand still."""
    HOLDS = 1
    """It stays where it is: the last order is flown, or was to hold."""
    ORDER = 2
    """It flies the last order."""
    FAILSAFE = 3
    """It does what it is to do without a link."""
    ELSE = 4
    """Somebody else flies it: another system, a program."""


class OrderState(IntEnum):
    """How far a vehicle is with the last order that it has got."""

    NONE = 0
    FLYING = 1
    DONE = 2
    FAILED = 3
    BROKEN_OFF = 4
    """By a failsafe, or by somebody else."""


class Telemetry(NamedTuple):
    """How a vehicle is, as its flight stack believes."""

    time_ns: int
    """By the vehicle's own clock."""
    position: tuple[float, float, float]
    """World, m; on the air whole mm."""
    velocity: tuple[float, float, float]
    """World, m/s; on the air whole cm/s."""
    yaw: float
    """rad; on the air whole mrad."""
    doing: Doing
    battery: float
    """Share, NaN if nobody knows; on the air whole percents."""
    order: int
    """Number of the last order that has come; 0 before the first."""
    item: int
    """Which of its items is flown, from 0."""
    state: OrderState


_HEAD = struct.Struct("<2sB")
_TELEMETRY = struct.Struct("<q3i3hhBBIHB")
_PIECE, _GOT = struct.Struct("<IHH"), struct.Struct("<IH")
_SUM = struct.Struct("<I")
UNKNOWN = 255  # percent
ROOM = LONGEST - _HEAD.size - _PIECE.size - _SUM.size
"""Bytes of an order in a packet."""
LONGEST_ORDER = 2**16 * ROOM


class Piece(NamedTuple):
    order: int
    number: int
    of: int
    """How many there are."""
    content: bytes


class Got(NamedTuple):
    order: int
    piece: int


def _framed(kind: Word, body: bytes = b"") -> bytes:
    word = _HEAD.pack(MARK, kind) + body
    return word + _SUM.pack(zlib.crc32(word))


BEAT = _framed(Word.BEAT)


def telemetry_word(it: Telemetry) -> bytes:
    percent = UNKNOWN if isnan(it.battery) else round(100 * min(max(it.battery, 0.0), 1.0))
    place = [_whole(x, 1e3, 31) for x in it.position]
    moves = [_whole(x, 1e2, 15) for x in (*it.velocity, 10 * it.yaw)]
    body = _TELEMETRY.pack(it.time_ns, *place, *moves, it.doing, percent, it.order, it.item, it.state)
    return _framed(Word.TELEMETRY, body)


def piece_word(piece: Piece) -> bytes:
    return _framed(Word.PIECE, _PIECE.pack(*piece[:3]) + piece.content)


def got_word(got: Got) -> bytes:
    return _framed(Word.GOT, _GOT.pack(*got))


def in_pieces(order: int, content: bytes) -> Iterator[Piece]:
    """An order, cut to the length of packets."""
    count = -(-len(content) // ROOM)
    for number in range(count):
        yield Piece(order, number, count, content[number * ROOM : (number + 1) * ROOM])


def understood(content: bytes) -> Word | Telemetry | Piece | Got | None:
    """What a packet with our mark says, `Word.BEAT` if that is nothing more; None if it was corrupted."""
    word, checksum = content[: -_SUM.size], content[-_SUM.size :]
    if checksum != _SUM.pack(zlib.crc32(word)):
        return None
    try:
        return _parsed(Word(word[len(MARK)]), word[_HEAD.size :])
    except (struct.error, ValueError, IndexError):  # somebody else uses our mark
        return None


def _parsed(kind: Word, body: bytes) -> Word | Telemetry | Piece | Got:
    if kind == Word.TELEMETRY:
        time_ns, x, y, z, vx, vy, vz, yaw, doing, percent, order, item, state = _TELEMETRY.unpack(body)
        place, velocity = (x * 1e-3, y * 1e-3, z * 1e-3), (vx * 1e-2, vy * 1e-2, vz * 1e-2)
        battery = nan if percent == UNKNOWN else percent / 100
        return Telemetry(time_ns, place, velocity, yaw * 1e-3, Doing(doing), battery, order, item, OrderState(state))
    if kind == Word.PIECE:
        order, number, of = _PIECE.unpack_from(body)
        return Piece(order, number, of, body[_PIECE.size :])
    return Got(*_GOT.unpack(body)) if kind == Word.GOT else kind


def _whole(value: float, scale: float, bits: int) -> int:
    """As near to it as there is room for."""
    most = 2**bits - 1
    return round(min(max(value * scale, -most), most))
