"""What the loom and its members say to each other, byte by byte; docs/reference/loom.md tells it to other languages.

A message is its length (u32, of what follows), its kind (u8) and its body; all numbers are little-endian, a text is its
length (u16) and UTF-8. A turn is one BEGIN from the loom and one END from the member, with the same time.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from airloom.basics.text import sound
from airloom.commands import BY_MODE, Command, Mode, places

VERSION = 1
LONGEST_MESSAGE = 16 * 1024 * 1024
MOST_LETTERS, MOST_LETTER_BYTES = 10_000, 8 * 1024 * 1024
"""That a member may send in a turn, and that may wait for one; with the names on them. So every message stays shorter
than the longest, however many vehicles and orders there are."""
MOST_ORDERS = LONGEST_TEXT = 65_535
LONGEST_BUNDLE = 1024 * 1024 * 1024
"""Between coordinators, who have introduced themselves: the messages of many members."""
STATE_NUMBERS = 13
"""Position, attitude (quaternion w, x, y, z body→world), velocity in the world, rates in the body."""

HEAD = struct.Struct("<IB")
NO_LETTERS = b"\0\0"
MOST_OF_LETTERS = f"at most {MOST_LETTERS} letters, and {MOST_LETTER_BYTES} bytes with the names on them, are taken"
_HELLO = struct.Struct("<HBQ")
_WELCOME = struct.Struct("<HQQH")
TIME_AND_COUNT = struct.Struct("<QH")
_BEGIN_HEAD = struct.Struct("<IBQH")
COUNT = struct.Struct("<H")
_COMMAND = struct.Struct("<HBB")
_WITH_NUMBERS = [struct.Struct(f"<HBB{count}d") for count in range(12)]
LENGTH = struct.Struct("<I")


class Kind(IntEnum):
    HELLO = 1
    WELCOME = 2
    REFUSED = 3
    BEGIN = 4
    END = 5
    BYE = 6
    BRANCH = 7
    """From here on between coordinators, see `bundles.py`."""
    JOIN = 8
    ADMITTED = 9
    TURNED_AWAY = 10
    BEGINS = 11
    ENDS = 12
    DISMISS = 13
    LOST = 14
    BEAT = 15


KINDS: dict[int, Kind] = {kind.value: kind for kind in Kind}
"""Faster to ask than the class."""


class Phase(IntEnum):
    """When in a step a member has its turn."""

    LOGIC = 0
    """With the autopilots: it thinks on what the sensors have just told."""
    SIMULATOR = 1
    """After them: it simulates a part of the world, such as the radio network."""


AS_DESCRIBED = 255
"""Instead of a phase: the one that the scenario says."""


class ProtocolError(Exception):
    """Bytes that no member or loom should send; the message says what was wrong."""


@dataclass(frozen=True)
class Hello:
    name: str
    phase: Phase | None = None
    """None takes what the scenario says, as do the next two if empty."""
    period_ns: int = 0
    """From turn to turn."""
    vehicles: str = ""
    """Pattern of those it wants to see and command."""
    token: str = ""
    version: int = VERSION


@dataclass(frozen=True)
class Welcome:
    step_ns: int
    time_ns: int
    """of the first turn"""
    vehicles: list[str]
    version: int = VERSION


@dataclass(frozen=True)
class Letter:
    """Bytes from one member to another."""

    other: str
    """Whom it is to, or from."""
    content: bytes

    @property
    def size(self) -> int:
        """Bytes in a message."""
        return len(text(self.other)) + LENGTH.size + len(self.content)


class Order(NamedTuple):
    """A command for a vehicle, by its place in the welcome; None stops the rotors."""

    vehicle: int
    command: Command | None


class End(NamedTuple):
    time_ns: int
    orders: Sequence[Order] = ()
    letters: Sequence[Letter] = ()


# -- writing -----------------------------------------------------------------------------------------------------------


def message(kind: Kind, body: bytes = b"") -> bytes:
    return HEAD.pack(len(body) + 1, kind) + body


def hello(it: Hello) -> bytes:
    texts = text(it.name) + text(it.vehicles) + text(it.token)
    phase = AS_DESCRIBED if it.phase is None else it.phase
    return message(Kind.HELLO, _HELLO.pack(it.version, phase, it.period_ns) + texts)


def welcome(it: Welcome) -> bytes:
    head = _WELCOME.pack(it.version, it.step_ns, it.time_ns, len(it.vehicles))
    return message(Kind.WELCOME, head + b"".join(map(text, it.vehicles)))


def told(kind: Kind, reason: str) -> bytes:
    """REFUSED or BYE."""
    return message(kind, text(reason[:1000]))


def begin(time_ns: int, states: np.ndarray, letters: Sequence[Letter] = ()) -> bytes:
    """`states` are [vehicle, 13], in the order of the welcome. The usual round has `round.py` write it instead."""
    rest = states.tobytes() + letters_as_bytes(letters)
    return _BEGIN_HEAD.pack(1 + TIME_AND_COUNT.size + len(rest), Kind.BEGIN, time_ns, len(states)) + rest


def end(time_ns: int, orders: Sequence[bytes] = (), letters: Sequence[Letter] = ()) -> bytes:
    """Orders as `order` writes them."""
    body = TIME_AND_COUNT.pack(time_ns, len(orders)) + b"".join(orders)
    return message(Kind.END, body + letters_as_bytes(letters))


def order(vehicle: int, command: Command | None) -> bytes:
    """A command for a vehicle, by its place in the welcome; None stops the rotors."""
    if command is None:
        return _COMMAND.pack(vehicle, Mode.IDLE, 0)
    command.check_is_for_one("a member's order")
    numbers = command.numbers()
    return _WITH_NUMBERS[len(numbers)].pack(vehicle, command.mode, len(numbers), *numbers)


def text(words: str) -> bytes:
    data = sound(words).encode()
    if len(data) > LONGEST_TEXT:
        raise ValueError(f"a name or a pattern of {len(data)} bytes: at most {LONGEST_TEXT} are taken")
    return COUNT.pack(len(data)) + data


def letters_as_bytes(letters: Sequence[Letter]) -> bytes:
    if not letters:
        return NO_LETTERS
    parts = [text(letter.other) + LENGTH.pack(len(letter.content)) + letter.content for letter in letters]
    return COUNT.pack(len(letters)) + b"".join(parts)


# -- reading -----------------------------------------------------------------------------------------------------------


def parse(kind: int, body: bytes) -> Any:
    """A message as an object: Hello, Welcome, End, or the text of REFUSED and BYE."""
    if kind not in _PARSERS:
        raise ProtocolError(f"there is no message of kind {kind}")
    reader = Reader(body)
    try:
        found = _PARSERS[kind](reader)
    except struct.error:
        raise ProtocolError(f"a message ends after {len(body)} bytes, in the middle of something") from None
    except ValueError as error:
        raise ProtocolError(f"a message of kind {kind} makes no sense: {error}") from None
    if reader.at != len(body):
        raise ProtocolError(f"a message of kind {kind} is {len(body) - reader.at} bytes too long")
    return found


class Reader:
    """Reads a body from the left."""

    def __init__(self, body: bytes) -> None:
        self.body, self.at = body, 0

    def unpack(self, form: struct.Struct) -> tuple:
        at, self.at = self.at, self.at + form.size
        return form.unpack_from(self.body, at)

    def take(self, size: int) -> bytes:
        if self.at + size > len(self.body):
            raise struct.error
        self.at += size
        return self.body[self.at - size : self.at]

    def text(self) -> str:
        return self.take(self.unpack(COUNT)[0]).decode()

    def content(self) -> bytes:
        return self.take(self.unpack(LENGTH)[0])

    def letters(self) -> list[Letter]:
        return [Letter(self.text(), self.content()) for _ in range(self.unpack(COUNT)[0])]


def _parse_hello(reader: Reader) -> Hello:
    version, phase, period_ns = reader.unpack(_HELLO)
    if version != VERSION:
        raise ProtocolError(f"it speaks version {version} of the protocol, and this loom version {VERSION}")
    wanted = None if phase == AS_DESCRIBED else Phase(phase)
    return Hello(reader.text(), wanted, period_ns, reader.text(), reader.text(), version)


def _parse_welcome(reader: Reader) -> Welcome:
    version, step_ns, time_ns, count = reader.unpack(_WELCOME)
    return Welcome(step_ns, time_ns, [reader.text() for _ in range(count)], version)


def states_in(body: bytes, count: int) -> np.ndarray:
    """Of a BEGIN with so many vehicles."""
    return np.frombuffer(body, "<f8", count * STATE_NUMBERS, TIME_AND_COUNT.size).reshape(count, STATE_NUMBERS)


def letters_in(body: bytes, count: int) -> list[Letter]:
    """Of a BEGIN with so many vehicles."""
    reader = Reader(body)
    reader.at = TIME_AND_COUNT.size + 8 * STATE_NUMBERS * count
    return reader.letters()


def _parse_end(reader: Reader) -> End:
    time_ns, count = reader.unpack(TIME_AND_COUNT)
    orders = [_parse_order(reader) for _ in range(count)]
    letters = reader.letters()
    if len(letters) > MOST_LETTERS or sum(letter.size for letter in letters) > MOST_LETTER_BYTES:
        raise ProtocolError(f"{len(letters)} letters in a turn: {MOST_OF_LETTERS}")
    return End(time_ns, orders, letters)


def _parse_order(reader: Reader) -> Order:
    vehicle, mode, count = reader.unpack(_COMMAND)
    numbers = reader.unpack(_doubles(count))
    return Order(vehicle, command_from(Mode(mode), numbers) if mode else None)


@cache
def _doubles(count: int) -> struct.Struct:
    return struct.Struct(f"<{count}d")


def command_from(mode: Mode, numbers: Sequence[float]) -> Command:
    """From numbers as `order` writes them; what is left out at the end is as the class has it."""
    return BY_MODE[mode](*[numbers[place] for place in _places(mode, len(numbers))])


@cache
def _places(mode: Mode, count: int) -> list[int | slice]:
    """Where the fields of a command lie among so many numbers."""
    found = {_end(place): place for place in places(BY_MODE[mode]).values()}  # type: ignore[arg-type]
    if count not in found:
        raise ProtocolError(f"{mode.label} takes no {count} numbers, but {', '.join(map(str, found))}")
    return [place for end, place in found.items() if end <= count]


def _end(place: int | slice) -> int:
    return place.stop if isinstance(place, slice) else place + 1


_PARSERS: dict[int, Callable[[Reader], Any]] = {
    Kind.HELLO: _parse_hello,
    Kind.WELCOME: _parse_welcome,
    Kind.REFUSED: Reader.text,
    Kind.END: _parse_end,
    Kind.BYE: Reader.text,
}
