"""From a line of JSON to a request: what may be asked of a running simulation, one class a method."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

from pydantic import ValidationError

from airloom.basics.text import is_sound
from airloom.runs.link.context import RequestError, hint
from airloom.runs.link.editing import Copy, Delete, Move, Save, Spawn
from airloom.runs.link.flying import (
    FlyTo,
    GiveCommand,
    Goto,
    HoldStick,
    Kill,
    Land,
    LayDownStick,
    Recover,
    ResetPose,
    SwitchMode,
    Takeoff,
    Tune,
)  # fmt: skip
from airloom.runs.link.looking import Contacts, Events, Gains, Observe, Series, Topics, Watch
from airloom.runs.link.request import Request
from airloom.runs.link.running import Audience, Info, Pause, Restart, Resume, Speed, Step, Stop

LARGEST = 1e9
"""No number of a request may be greater: whoever sends one has made a mistake."""

METHODS: dict[str, type[Request]] = {
    kind.method: kind
    for kind in (
        Info, Observe, Gains, Watch, Events, Topics, Series, Contacts,
        GiveCommand, SwitchMode, Tune, Kill, Recover, ResetPose, Takeoff, Goto, FlyTo, Land, HoldStick, LayDownStick,
        Pause, Resume, Step, Speed, Restart, Audience, Stop,
        Spawn, Copy, Move, Delete, Save,
    )
}  # fmt: skip


def parse(line: bytes) -> Request:
    """A request from a line of JSON."""
    given = _json_object(line)
    method = given.pop("method", None)
    kind = METHODS.get(method) if isinstance(method, str) else None
    if kind is None:
        raise RequestError(f"there is no method {json.dumps(method)}{hint(method, METHODS, 'methods are')}")
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise RequestError(f"{kind.method}: {_complaint(kind, error)}") from None


def _json_object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line.decode(), parse_constant=_number, parse_float=_number, parse_int=_number)
    except RequestError:
        raise
    except (ValueError, RecursionError) as error:
        raise RequestError(f"this is no line of JSON: {error}") from None
    if not isinstance(found, dict):
        raise RequestError('a request is an object such as {"method": "info"}')
    if b"\\u" in line and not is_sound(json.dumps(found, ensure_ascii=False)):
        raise RequestError("the escapes in its text make half a character, which nobody can write down")
    return found


def _number(text: str) -> float:
    number = float(text)
    if not isfinite(number) or abs(number) > LARGEST:
        shown = text if len(text) < 20 else f"{text[:20]}…"
        raise RequestError(f"numbers must be finite and at most {LARGEST:g}, got {shown}")
    return int(number) if text.lstrip("-").isdigit() else number


def _complaint(kind: type[Request], error: ValidationError) -> str:
    first = error.errors()[0]
    where = first["loc"][0] if first["loc"] else ""
    if first["type"] == "extra_forbidden":
        return f"it takes no '{where}', but {', '.join(kind.model_fields) or 'nothing'}"
    if first["type"] == "missing":
        return f"'{where}' is missing"
    return f"'{where}': {first['msg'].removeprefix('Input ')}, got {json.dumps(first['input'])}"
