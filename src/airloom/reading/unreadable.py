"""What readers in the box raise, and how they come by their libraries."""

from __future__ import annotations

import struct
from importlib import import_module
from typing import Any

from airloom.errors import UserError


class Unreadable(UserError):
    """A file cannot be read; whoever has asked for it gets the same text as an error of his own."""


def library(name: str, purpose: str, extra: str) -> Any:
    """A module of an extra, or one clear message."""
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise Unreadable(f"{purpose} needs {package}: pip install 'airloom[{extra}]' ({error})") from None


LOST = IndexError, KeyError, AttributeError, TypeError, AssertionError, struct.error
"""Of a reader that has lost its way: their texts are for programmers."""


def told(error: BaseException) -> str:
    """The first line of what a library says."""
    if isinstance(error, LOST):
        return "what is in it makes no sense"
    return next(iter(str(error).strip().splitlines()), "") or type(error).__name__
