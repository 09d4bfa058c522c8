"""From a line of JSON to a request: what may be asked of a running simulation, one class a method."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from airloom.net.json_lines import RequestError, parse_object, take_method
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
    Refill,
    ResetPose,
    ReturnHome,
    Spray,
    SwitchMode,
    Takeoff,
    Tune,
)
from airloom.runs.link.looking import (
    Contacts,
    Events,
    Gains,
    Look,
    LookAtRadio,
    LookAtSpray,
    Observe,
    Series,
    Topics,
    Watch,
)
from airloom.runs.link.request import Request
from airloom.runs.link.running import Audience, Info, Pause, Restart, Resume, Speed, Step, Stop
from airloom.scenario.errors import shortened, written

LARGEST = 1e9
"""No number of a request may be greater: whoever sends one has made a mistake."""

METHODS: dict[str, type[Request]] = {
    kind.method: kind
    for kind in (
        Info, Observe, Gains, Watch, Events, Topics, Series, Contacts, Look, LookAtSpray, LookAtRadio,
        GiveCommand, SwitchMode, Tune, Kill, Recover, ResetPose, Takeoff, Goto, FlyTo, ReturnHome, Land,
        HoldStick, LayDownStick, Spray, Refill,
        Pause, Resume, Step, Speed, Restart, Audience, Stop,
        Spawn, Copy, Move, Delete, Save,
    )
}  # fmt: skip


def parse(line: bytes) -> Request:
    """A request from a line of JSON."""
    given = parse_object(line)
    _check_numbers(given)
    kind = take_method(given, METHODS)
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise RequestError(f"{kind.method}: {_complaint(kind, error)}") from None


def _check_numbers(given: dict[str, Any]) -> None:
    """However deep they stand."""
    left: list[Any] = [given]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value
        elif isinstance(value, int | float) and abs(value) > LARGEST:
            raise RequestError(f"numbers must be at most {LARGEST:g}, got {written(value)}")


def _complaint(kind: type[Request], error: ValidationError) -> str:
    first = error.errors()[0]
    where = first["loc"][0] if first["loc"] else ""
    if first["type"] == "extra_forbidden":
        return f"it takes no '{where}', but {', '.join(kind.model_fields) or 'nothing'}"
    if first["type"] == "missing":
        return f"'{where}' is missing"
    return f"'{where}': {first['msg'].removeprefix('Input ')}, got {shortened(json.dumps(first['input']))}"
