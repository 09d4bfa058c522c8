"""Patterns of names, such as `drone_*`: one place for all doors through which one may come.

Python's `fnmatch` searches for the end of every `[` anew, so that 20 000 of them hold it up for a minute and a half;
here a pattern is refused before it can cost anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import translate
from functools import lru_cache
from typing import Annotated, TypeVar

from pydantic import AfterValidator

from airloom.errors import Refusal

LONGEST = 200
MOST_WILDCARDS = 16
_WILDCARDS = re.compile(r"[*?\[]")

T = TypeVar("T")


class PatternError(Refusal):
    """A pattern that nobody needs; the message says why."""


def checked(pattern: str) -> str:
    """The pattern, if it is one; a name without wildcards may be of any length."""
    wildcards = len(_WILDCARDS.findall(pattern))
    if wildcards and (len(pattern) > LONGEST or wildcards > MOST_WILDCARDS):
        raise PatternError(
            f"a pattern has at most {LONGEST} characters and {MOST_WILDCARDS} of * ? [, "
            f"got {len(pattern)} and {wildcards}"
        )
    return pattern


Pattern = Annotated[str, AfterValidator(checked)]
"""For fields of models."""


@lru_cache(maxsize=256)
def matcher(pattern: str) -> Callable[[str], object]:
    """Tells whether a name matches: `*` stands for anything, `?` for one character, `[ab]` for one of these."""
    if not _WILDCARDS.search(pattern):
        return pattern.__eq__
    return re.compile(translate(checked(pattern))).match


def matches(name: str, pattern: str) -> bool:
    return bool(matcher(pattern)(name))


def matching(named: Iterable[tuple[str, T]], pattern: str) -> list[T]:
    """Of things with their names, those whose names match."""
    fits = matcher(pattern)
    return [thing for name, thing in named if fits(name)]
