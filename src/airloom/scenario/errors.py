"""What the user reads when a scenario is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from airloom.basics.hints import did_you_mean
from airloom.errors import UserError

KeyPath = tuple[str | int, ...]

MOST_PROBLEMS_LISTED = 20
LONGEST_VALUE_SHOWN = 60


class ScenarioError(UserError):
    """A scenario cannot be used. str(error) is ready to print: where, which key, what is wrong, what to do."""


def complaint(where: object, path: KeyPath, what: str) -> str:
    """One line of a ScenarioError: `hover.yaml, line 12: vehicles.cf.mass: must be greater than 0, got -1`."""
    return ": ".join(part for part in (str(where), dotted(path), what) if part)


def all_in_one(complaints: Iterable[str]) -> ScenarioError:
    """One error that lists the different complaints."""
    lines = list(dict.fromkeys(complaints))
    left_out = len(lines) - MOST_PROBLEMS_LISTED
    tail = [f"… and {left_out} more like these"] if left_out > 0 else []
    return ScenarioError("\n".join(lines[:MOST_PROBLEMS_LISTED] + tail))


def dotted(path: KeyPath) -> str:
    return ".".join(shortened(str(key)) for key in path)


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE_SHOWN else text[: LONGEST_VALUE_SHOWN - 1] + "…"


def written(value: Any) -> str:
    """A value as it would be written in the file or on the command line."""
    if isinstance(value, str):
        return shortened(value)
    try:
        return shortened(json.dumps(value, default=_bare, ensure_ascii=False))
    except (TypeError, ValueError):
        return shortened(repr(value))


def _bare(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


def shown(value: Any) -> str:
    """A value in a sentence."""
    if value is None:
        return "nothing"
    return f"'{written(value)}'" if isinstance(value, str) else written(value)


def listed(words: Sequence[str], last: str = "or") -> str:
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""


def hint(name: str, known: Iterable[str], title: str) -> str:
    """`; did you mean 'mass'? Known keys: body, inertia, mass, …`, in the order in which one looks a name up."""
    names = sorted(known)
    return f"{did_you_mean(name, names) or '.'} {title}: {', '.join(names) if names else 'none'}"
