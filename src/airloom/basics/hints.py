"""What somebody may have meant who misspelt a name: one answer for all doors through which names come."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

MOST_COMPARED = 1000
"""Names that are looked through, since whoever asks may wait for the answer in the middle of a run."""
MOST_LISTED = 20
LIKE = 0.6  # of 1, how like a name must be to be offered


def closest(name: str, known: Iterable[str], like: float = LIKE) -> str | None:
    """The known name that is most like this one, if any is like it at all."""
    return next(iter(get_close_matches(name, islice(known, MOST_COMPARED), n=1, cutoff=like)), None)


def did_you_mean(name: object, known: Iterable[str], or_else: str = "") -> str:
    """`; did you mean 'mass'?`, to end a sentence with.

    If no name is like it, the known ones behind `or_else`: `; keys are mass, inertia …`; or nothing.
    """
    names = list(known)
    if meant := closest(str(name), names):
        return f"; did you mean '{meant}'?"
    if not or_else:
        return ""
    return f"; {or_else} {', '.join(names[:MOST_LISTED])}{' …' if len(names) > MOST_LISTED else ''}"
