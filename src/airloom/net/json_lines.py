"""Requests as lines of JSON, one reply each: what the control link of a run and `airloom serve` have in common.

Each checks the fields of a request in its own way: the server, which drives a control loop, by msgspec, which takes a
microsecond; the link by pydantic, which takes twenty, but has the types of scenario files and says which value it got.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any, TypeVar

import msgspec

from airloom.basics.hints import did_you_mean
from airloom.basics.text import sound
from airloom.errors import Refusal

LONGEST_LINE = 64 * 1024
LONGEST_SHOWN = 40
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What msgspec raises for a line that it cannot read."""

Kind = TypeVar("Kind")


class RequestError(Refusal):
    """A request that cannot be carried out; the message is meant for its sender."""


class LineBuffer:
    """Whole lines out of what comes in pieces. What comes before the end without a line feed is nothing."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that are complete now and not empty; of one that is too long, enough to tell."""
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[: LONGEST_LINE + 1]
        return [line for line in lines if line.strip()]


def must_not_be_too_long(line: bytes) -> None:
    if len(line) > LONGEST_LINE:
        raise RequestError(f"a line may have {LONGEST_LINE} bytes at most")


def parse_object(line: bytes) -> dict[str, Any]:
    """What stands in a line."""
    must_not_be_too_long(line)
    try:
        found = msgspec.json.decode(line)
    except UNREADABLE as error:
        raise RequestError(f"this is no line of JSON: {_explained(line, error)}") from None
    if not isinstance(found, dict):
        raise RequestError('a request is an object such as {"method": "step"}')
    return found


def take_method(given: dict[str, Any], methods: Mapping[str, Kind]) -> Kind:
    """Take the method out of a request; what it stands for."""
    name = given.pop("method", None)
    if not isinstance(name, str) or name not in methods:
        raise RequestError(
            f"there is no method {json.dumps(name):.{LONGEST_SHOWN}}{did_you_mean(name, methods, 'methods are')}"
        )
    return methods[name]


def refusal(error: str) -> dict[str, Any]:
    """The reply to a request that is not carried out."""
    return {"ok": False, "error": sound(error)}


def _explained(line: bytes, error: Exception) -> str:
    """Programs often write what is no JSON without knowing it, and msgspec only says at which byte."""
    try:
        found = json.loads(line.decode(), parse_constant=_finite, parse_float=_finite)
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "the escapes in its text make half a character, which nobody can write down"
    except RequestError as refused:
        return str(refused)
    except (ValueError, RecursionError):
        pass
    return str(error)


def _finite(text: str) -> float:
    if not isfinite(number := float(text)):
        raise RequestError(f"a number is out of range: numbers must be finite, got {text:.20}")
    return number
