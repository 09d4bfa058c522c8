"""What the loom and its members say to each other, byte by byte; docs/reference/loom.md tells it to other languages.

A message is its length (u32, of what follows), its kind (u8) and its body; all numbers are little-endian, a text is its
length (u16) and UTF-8. A turn is one BEGIN from the loom and one END from the member, with the same time.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from airloom.commands import BY_MODE, Command, Mode

VERSION = 1
LONGEST_MESSAGE = 16 * 1024 * 1024
STATE_NUMBERS = 13
"""Position, attitude (quaternion w, x, y, z body→world), velocity in the world, rates in the body."""

HEAD = struct.Struct("<IB")
NO_LETTERS = b"\0\0"
_HELLO = struct.Struct("<HBQ")
_WELCOME = struct.Struct("<HQQH")
_TIME_AND_COUNT = struct.Struct("<QH")
_COUNT = struct.Struct("<H")
_COMMAND = struct.Struct("<HBB")
_LENGTH = struct.Struct("<I")


class Kind(IntEnum):
    HELLO = 1
    WELCOME = 2
    REFUSED = 3
    BEGIN = 4
    END = 5
    BYE = 6


class Phase(IntEnum):
    """When in a step a member has its turn."""

    LOGIC = 0
    """With the autopilots: it thinks on what the sensors have just told."""
    SIMULATOR = 1
    """After them: it simulates a part of the world, such as the radio network."""


class ProtocolError(Exception):
    """Bytes that no member or loom should send; the message says what was wrong."""


@dataclass(frozen=True)
class Hello:
    name: str
    phase: Phase = Phase.LOGIC
    period_ns: int = 0
    """From turn to turn; 0 takes what the scenario says."""
    vehicles: str = ""
    """Pattern of those it wants to see and command; empty takes what the scenario says."""
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


class Begin(NamedTuple):
    time_ns: int
    states: np.ndarray
    """[vehicle, 13], in the order of the welcome."""
    letters: Sequence[Letter] = ()


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
    texts = _text(it.name) + _text(it.vehicles) + _text(it.token)
    return message(Kind.HELLO, _HELLO.pack(it.version, it.phase, it.period_ns) + texts)


def welcome(it: Welcome) -> bytes:
    head = _WELCOME.pack(it.version, it.step_ns, it.time_ns, len(it.vehicles))
    return message(Kind.WELCOME, head + b"".join(map(_text, it.vehicles)))


def told(kind: Kind, reason: str) -> bytes:
    """REFUSED or BYE."""
    return message(kind, _text(reason[:1000]))


def begin(it: Begin) -> bytes:
    head = _TIME_AND_COUNT.pack(it.time_ns, len(it.states))
    return message(Kind.BEGIN, head + it.states.astype("<f8", copy=False).tobytes() + _letters(it.letters))


def end(it: End) -> bytes:
    orders = b"".join(map(_order, it.orders))
    return message(Kind.END, _TIME_AND_COUNT.pack(it.time_ns, len(it.orders)) + orders + _letters(it.letters))


def _text(text: str) -> bytes:
    data = text.encode()
    return _COUNT.pack(len(data)) + data


def _letters(letters: Sequence[Letter]) -> bytes:
    if not letters:
        return NO_LETTERS
    parts = [_text(letter.other) + _LENGTH.pack(len(letter.content)) + letter.content for letter in letters]
    return _COUNT.pack(len(letters)) + b"".join(parts)


def _order(order: Order) -> bytes:
    if order.command is None:
        return _COMMAND.pack(order.vehicle, Mode.IDLE, 0)
    numbers = flattened(order.command)
    return _with_numbers(len(numbers)).pack(order.vehicle, order.command.mode, len(numbers), *numbers)


@cache
def _with_numbers(count: int) -> struct.Struct:
    return struct.Struct(f"<HBB{count}d")


def flattened(command: Command) -> list[float]:
    """The numbers of a command, field by field as its class lists them."""
    numbers: list[float] = []
    for name, width in _fields(type(command)):  # type: ignore[arg-type]
        value = getattr(command, name)
        if width == 3:
            numbers += value
        else:
            numbers.append(value)
    return numbers


@cache
def _fields(kind: type[Command]) -> list[tuple[str, int]]:
    """Name and width of each field of a command."""
    return [(field.name, 3 if field.name in _VECTORS else 1) for field in fields(kind)]


# -- reading -----------------------------------------------------------------------------------------------------------


def parse(kind: int, body: memoryview) -> Any:
    """A message as an object: Hello, Welcome, Begin, End, or the text of REFUSED and BYE."""
    reader = _Reader(body)
    if kind not in _PARSERS:
        raise ProtocolError(f"there is no message of kind {kind}")
    try:
        found = _PARSERS[kind](reader)
    except ValueError as error:
        raise ProtocolError(f"a message of kind {kind} makes no sense: {error}") from None
    if reader.at != len(body):
        raise ProtocolError(f"a message of kind {kind} is {len(body) - reader.at} bytes too long")
    return found


class _Reader:
    def __init__(self, body: memoryview) -> None:
        self.body, self.at = body, 0

    def unpack(self, form: struct.Struct) -> tuple:
        return form.unpack(self.take(form.size))

    def take(self, size: int) -> memoryview:
        if self.at + size > len(self.body):
            raise ProtocolError(f"a message ends after {len(self.body)} bytes, in the middle of something")
        self.at += size
        return self.body[self.at - size : self.at]

    def text(self) -> str:
        return bytes(self.take(self.unpack(_COUNT)[0])).decode()

    def numbers(self, count: int) -> np.ndarray:
        return np.frombuffer(self.take(8 * count), "<f8")

    def letters(self) -> list[Letter]:
        if self.body[self.at :] == NO_LETTERS:
            self.at += len(NO_LETTERS)
            return []
        return [Letter(self.text(), bytes(self.take(self.unpack(_LENGTH)[0]))) for _ in range(self.unpack(_COUNT)[0])]


def _parse_hello(reader: _Reader) -> Hello:
    version, phase, period_ns = reader.unpack(_HELLO)
    if version != VERSION:
        raise ProtocolError(f"it speaks version {version} of the protocol, and this loom version {VERSION}")
    return Hello(reader.text(), Phase(phase), period_ns, reader.text(), reader.text(), version)


def _parse_welcome(reader: _Reader) -> Welcome:
    version, step_ns, time_ns, count = reader.unpack(_WELCOME)
    return Welcome(step_ns, time_ns, [reader.text() for _ in range(count)], version)


def _parse_begin(reader: _Reader) -> Begin:
    time_ns, count = reader.unpack(_TIME_AND_COUNT)
    states = reader.numbers(count * STATE_NUMBERS).reshape(count, STATE_NUMBERS)
    return Begin(time_ns, states, reader.letters())


def _parse_end(reader: _Reader) -> End:
    time_ns, count = reader.unpack(_TIME_AND_COUNT)
    return End(time_ns, [_parse_order(reader) for _ in range(count)], reader.letters())


def _parse_order(reader: _Reader) -> Order:
    vehicle, mode, count = reader.unpack(_COMMAND)
    numbers = reader.unpack(_doubles(count))
    return Order(vehicle, None if mode == Mode.IDLE else command_from(Mode(mode), numbers))


@cache
def _doubles(count: int) -> struct.Struct:
    return struct.Struct(f"<{count}d")


def command_from(mode: Mode, numbers: Sequence[float]) -> Command:
    """The other way round; what is left out at the end is as the class has it."""
    values: dict[str, Any] = {}
    at = 0
    for name, width in _fields(BY_MODE[mode]):  # type: ignore[arg-type]
        if at >= len(numbers):
            break
        values[name] = tuple(numbers[at : at + 3]) if width == 3 else numbers[at]
        at += width
    if at != len(numbers):
        raise ProtocolError(f"{mode.label} takes no {len(numbers)} numbers")
    try:
        return BY_MODE[mode](**values)
    except TypeError:
        raise ProtocolError(f"{mode.label} needs more than {len(numbers)} numbers") from None


_VECTORS = ("position", "velocity", "acceleration", "attitude", "attitude_rates", "torque")

_PARSERS: dict[int, Callable[[_Reader], Any]] = {
    Kind.HELLO: _parse_hello,
    Kind.WELCOME: _parse_welcome,
    Kind.REFUSED: _Reader.text,
    Kind.BEGIN: _parse_begin,
    Kind.END: _parse_end,
    Kind.BYE: _Reader.text,
}
