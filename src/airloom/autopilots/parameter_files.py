"""Files of an autopilot's parameters: ArduPilot's .parm and .param, and those that QGroundControl saves.

A line of the first is `NAME VALUE`, with blanks, a comma or = between them; a line of QGroundControl's has five fields,
vehicle, component, NAME, VALUE and type, with tabs between them. What follows # is a comment, an @ begins an order to
ArduPilot's loader.
"""

from __future__ import annotations

import re
from math import isfinite
from pathlib import Path

from airloom.basics.given import MEGABYTE, bytes_of
from airloom.errors import UserError

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
FIELDS_OF_QGROUNDCONTROL = 5


class ParameterFileError(UserError):
    """A file that is none of parameters; the message names the file and the line."""


def read_parameters(path: Path) -> dict[str, float]:
    """By name; of a name that comes twice the last value counts."""
    try:
        text = bytes_of(path, ParameterFileError, MEGABYTE, "no file of parameters is that large").decode()
    except UnicodeDecodeError:
        raise ParameterFileError(f"{path}: this is no text; expected lines such as `WPNAV_SPEED 500`") from None
    found: dict[str, float] = {}
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0].strip()
        if content and not content.startswith("@"):
            name, value = _name_and_value(content, f"{path}, line {number}")
            found[name] = value
    return found


def _name_and_value(content: str, place: str) -> tuple[str, float]:
    fields = [field for field in re.split(r"[\s,=]+", content) if field]
    if len(fields) == FIELDS_OF_QGROUNDCONTROL:
        fields = fields[2:4]
    if len(fields) < 2 or not NAME.fullmatch(fields[0]):
        raise ParameterFileError(f"{place}: expected a name and a value such as `WPNAV_SPEED 500`, got '{content:.60}'")
    try:
        value = float(fields[1])
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise ParameterFileError(f"{place}: the value of {fields[0]} must be a number, got '{fields[1]:.60}'")
    return fields[0], value
