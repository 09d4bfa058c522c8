"""What coordinators say to each other: the turns of many members in one message.

A branch is a coordinator that has a line to another, its parent, instead of the simulation. Whatever its members need
travels over that line once: the state of a vehicle that several see, a letter to several. What a member says comes back
as the member said it.

    BRANCH       both   version u16, name text, token text; the parent answers with the same kind and an empty body
    JOIN         up     the body of a member's HELLO
    ADMITTED     down   patience f64 in s, its vehicles: count u16, count × number u32; name text, body of its WELCOME
    TURNED_AWAY  down   name text, reason text
    BEGINS       down   time u64, vehicles: count u16, count × number u32, count × 13 f64; members: count u16, texts;
                        letters: count u32, each: writer text, length u32, bytes; for each member: count u16,
                        count × place u32 of a letter, in the order in which it shall read them
    ENDS         up     time u64, count u16, each: name text, what u8 (0 END, 1 left, 2 failed), length u32, bytes
    DISMISS      down   name text
    LOST         up     name text, reason text: a member that the branch was to start will not join
    BEAT         both   nothing; see `beats.py`
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import wraps
from typing import NamedTuple, ParamSpec, TypeVar

import numpy as np

from airloom.loom.protocol import (
    COUNT,
    HEAD,
    LENGTH,
    STATE_NUMBERS,
    TIME_AND_COUNT,
    Hello,
    Kind,
    Letter,
    ProtocolError,
    Reader,
    Welcome,
    hello,
    message,
    parse,
    text,
    welcome,
)
from airloom.loom.visibility import ToldVisibility, Visibility

P = ParamSpec("P")
R = TypeVar("R")
VERSION = 2
"""Of what coordinators say; members have another. From 2 on there are beats."""
MOST_VEHICLES = 1_000_000
_VERSION = struct.Struct("<H")
_PATIENCE_AND_COUNT = struct.Struct("<dH")


class What(IntEnum):
    END = 0
    LEFT = 1
    FAILED = 2


class TurnOutcome(NamedTuple):
    """What became of a member's turn: the body of its END, nothing if it left, or in words how it failed."""

    what: What
    body: bytes = b""


@dataclass(frozen=True)
class Admission:
    """What a member is granted: what it is told, the numbers of its vehicles, and how long its turns may take."""

    name: str
    welcome: Welcome
    vehicles: Sequence[int]
    patience: float


class Round(NamedTuple):
    """One phase of one step: the states of the vehicles, and the letters of each whose turn it is."""

    time_ns: int
    visibility: Visibility
    letters: Mapping[str, Sequence[Letter]]


@dataclass(frozen=True)
class Introduction:
    name: str
    token: str


def _suspicious(parser: Callable[P, R]) -> Callable[P, R]:
    """Bytes from outside may be anything."""

    @wraps(parser)
    def parse_it(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return parser(*args, **kwargs)
        except (struct.error, ValueError, IndexError):
            raise ProtocolError("a message between coordinators makes no sense") from None

    return parse_it


def branch(it: Introduction) -> bytes:
    return message(Kind.BRANCH, _VERSION.pack(VERSION) + text(it.name) + text(it.token))


@_suspicious
def parse_branch(body: bytes) -> Introduction:
    reader = Reader(body)
    if (version := reader.unpack(_VERSION)[0]) != VERSION:
        raise ProtocolError(f"the branch speaks version {version} of the protocol, and this loom version {VERSION}")
    return Introduction(reader.text(), reader.text())


def join(it: Hello) -> bytes:
    return message(Kind.JOIN, hello(it)[HEAD.size :])


def parse_join(body: bytes) -> Hello:
    return parse(Kind.HELLO, body)


def admitted(it: Admission) -> bytes:
    numbers = np.asarray(it.vehicles, "<u4").tobytes()
    told = welcome(it.welcome)[HEAD.size :]
    head = _PATIENCE_AND_COUNT.pack(it.patience, len(it.vehicles))
    return message(Kind.ADMITTED, head + numbers + text(it.name) + told)


@_suspicious
def parse_admitted(body: bytes) -> Admission:
    reader = Reader(body)
    patience, count = reader.unpack(_PATIENCE_AND_COUNT)
    vehicles = np.frombuffer(reader.take(4 * count), "<u4").tolist()
    name = reader.text()
    return Admission(name, parse(Kind.WELCOME, body[reader.at :]), vehicles, patience)


def bad_news(kind: Kind, name: str, reason: str) -> bytes:
    """TURNED_AWAY or LOST."""
    return message(kind, text(name) + text(reason[:1000]))


@_suspicious
def parse_bad_news(body: bytes) -> tuple[str, str]:
    reader = Reader(body)
    return reader.text(), reader.text()


def dismiss(name: str) -> bytes:
    return message(Kind.DISMISS, text(name))


@_suspicious
def parse_dismiss(body: bytes) -> str:
    return Reader(body).text()


def begins(it: Round, vehicles: np.ndarray, members: Sequence[str]) -> bytes:
    """`vehicles` are the numbers of all that these members see."""
    parts = [
        TIME_AND_COUNT.pack(it.time_ns, len(vehicles)),
        vehicles.astype("<u4").tobytes(), it.visibility.states(vehicles).tobytes(),
        COUNT.pack(len(members)), *map(text, members), _shared_letters(it, members),
    ]  # fmt: skip
    return message(Kind.BEGINS, b"".join(parts))


def _shared_letters(it: Round, members: Sequence[str]) -> bytes:
    """A letter to several is one object, and so travels once."""
    places: dict[int, int] = {}
    contents: list[bytes] = []
    inboxes: list[bytes] = []
    for name in members:
        for letter in it.letters[name]:
            if id(letter) not in places:
                places[id(letter)] = len(places)
                contents += [text(letter.other), LENGTH.pack(len(letter.content)), letter.content]
        inbox = [places[id(letter)] for letter in it.letters[name]]
        inboxes += [COUNT.pack(len(inbox)), np.asarray(inbox, "<u4").tobytes()]
    return b"".join([LENGTH.pack(len(places)), *contents, *inboxes])


@_suspicious
def parse_begins(body: bytes, visibility: ToldVisibility) -> Round:
    """The round; the visibility learn what it tells."""
    reader = Reader(body)
    time_ns, count = reader.unpack(TIME_AND_COUNT)
    numbers = np.frombuffer(reader.take(4 * count), "<u4").astype(int)
    if numbers.max(initial=0) >= MOST_VEHICLES:
        raise ValueError
    visibility.learn(numbers, np.frombuffer(reader.take(8 * STATE_NUMBERS * count), "<f8").reshape(-1, STATE_NUMBERS))
    names = [reader.text() for _ in range(reader.unpack(COUNT)[0])]
    letters = [Letter(reader.text(), reader.content()) for _ in range(reader.unpack(LENGTH)[0])]
    inboxes = {name: [letters[place] for place in _places(reader)] for name in names}
    return Round(time_ns, visibility, inboxes)


def _places(reader: Reader) -> list[int]:
    return np.frombuffer(reader.take(4 * reader.unpack(COUNT)[0]), "<u4").tolist()


def ends(time_ns: int, outcomes: Iterable[tuple[str, TurnOutcome]]) -> bytes:
    parts = [text(name) + bytes([it.what]) + LENGTH.pack(len(it.body)) + it.body for name, it in outcomes]
    return message(Kind.ENDS, TIME_AND_COUNT.pack(time_ns, len(parts)) + b"".join(parts))


@_suspicious
def parse_ends(body: bytes) -> tuple[int, dict[str, TurnOutcome]]:
    reader = Reader(body)
    time_ns, count = reader.unpack(TIME_AND_COUNT)
    return time_ns, {reader.text(): TurnOutcome(What(reader.take(1)[0]), reader.content()) for _ in range(count)}
