"""What a script asks for and cannot have under `airloom exec`: it is told once, and the call fails as on Linux."""

from __future__ import annotations

import sys
from typing import NoReturn

_told: set[str] = set()


def tell(sentence: str) -> None:
    """On stderr, once: a script that tries again and again would fill its log."""
    if sentence not in _told:
        _told.add(sentence)
        print(f"airloom exec: {sentence}", file=sys.stderr, flush=True)


def refuse(number: int, sentence: str) -> NoReturn:
    """By the error that Linux has for it; scripts often catch that without a look, so it is told as well."""
    tell(sentence)
    raise OSError(number, sentence)
