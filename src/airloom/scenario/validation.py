"""What pydantic finds wrong → what the user reads."""

from __future__ import annotations

from typing import Any, NamedTuple, get_args, get_origin

from pydantic import ValidationError

from .errors import KeyPath, complaint, hint, listed, shown
from .keys import alternatives, at, fields, known_keys, models
from .tree import Node, child_of, node_at, origin_of, override_below

EXPECTED = {
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "must be a smaller whole number",
    "finite_number": "must be a finite number",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "greater_than": "must be greater than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be at most {le:g}",
    "multiple_of": "must be a multiple of {multiple_of:g}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "union_tag_not_found": "needs a 'kind'",
    "dict_type": "must be a mapping (key: value)",
    "model_type": "must be a mapping (key: value)",
    "model_attributes_type": "must be a mapping (key: value)",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "none_required": "takes no value: leave it empty, or write null",
    "string_pattern_mismatch": "must match the pattern {pattern}",
}


OTHER_BRANCH = {"literal_error", "string_type", "float_type", "dict_type", "model_type", "list_type", "tuple_type"}
"""What pydantic says of those branches of a union that the value is not meant for."""


class Problem(NamedTuple):
    path: KeyPath
    what: str
    value: Any = ...
    """What stands there instead; an ellipsis where that says nothing."""


def complaints(error: ValidationError, root: Node, expected: Any, top: KeyPath = ()) -> dict[KeyPath, str]:
    """A line for every key that is wrong; `top` is where in the tree the validated value stands."""
    return {
        path: complaint(override_below(node_at(root, path)) or origin_of(root, path), path, _together(problems))
        for path, problems in _by_path(error, root, expected, top).items()
    }


def _by_path(error: ValidationError, root: Node, expected: Any, top: KeyPath) -> dict[KeyPath, list[Problem]]:
    value = node_at(root, top)
    assert value is not None
    found = [
        (details, *_without_branches(details["loc"], details["type"], value))
        for details in error.errors(include_url=False)
    ]
    grouped: dict[KeyPath, list[Problem]] = {}
    for details, location, is_missing in found:
        is_looked_into = any(other[: len(location)] == location != other for _, other, _ in found)
        if is_looked_into and details["type"] in OTHER_BRANCH:
            continue
        problem = _problem(details, location, is_missing, expected)
        path = _where_shared((*top, *problem.path), root)
        grouped.setdefault(path, []).append(problem)
    return grouped


def _without_branches(location: KeyPath, kind: str, value: Node) -> tuple[KeyPath, bool]:
    """The location without the names pydantic adds for the branches of a union, and whether its last key is missing."""
    path: list[str | int] = []
    node = value
    for depth, key in enumerate(location):
        child = child_of(node, key) or _shared_child(path, key, value)
        if child is not None:
            node = child
            path.append(key)
        elif kind == "missing" and depth == len(location) - 1:
            return (*path, key), True
    return tuple(path), False


def _shared_child(path: list[str | int], key: str | int, value: Node) -> Node | None:
    shared = _shared_rotor_path((*path, key))
    return node_at(value, shared) if shared else None


def _where_shared(path: KeyPath, root: Node) -> KeyPath:
    """Where the value was written: a rotor's value may come from the keys that all rotors share."""
    shared = _shared_rotor_path(path)
    return shared if shared and node_at(root, path) is None and node_at(root, shared) else path


def _shared_rotor_path(path: KeyPath) -> KeyPath | None:
    if "rotors" not in path:
        return None
    before = path.index("rotors")
    return (*path[:before], "rotor", *path[before + 2 :]) if len(path) > before + 2 else None


def _problem(details: Any, path: KeyPath, is_missing: bool, expected: Any) -> Problem:
    kind, value, context = details["type"], details["input"], details.get("ctx", {})
    if is_missing and isinstance(path[-1], int):
        return Problem(path[:-1], _needed_length(at(expected, path[:-1])), value)
    if is_missing:
        return Problem(path, f"is missing{_meaning(at(expected, path[:-1]), path[-1])}")
    if kind == "extra_forbidden":
        branch = details["loc"][-2] if len(details["loc"]) > 1 else None
        known = known_keys(at(expected, path[:-1]), branch)
        return Problem(path, f"unknown key{hint(str(path[-1]), known, 'Known keys')}")
    if kind == "union_tag_invalid":
        choices = listed(context["expected_tags"].split(", "))
        folder = " or the path of a terrain folder" if path[-1:] == ("terrain",) else ""
        return Problem((*path, context["discriminator"].strip("'")), f"must be {choices}{folder}", context["tag"])
    if kind == "value_error":
        return Problem(path, str(context["error"]))
    if kind in ("too_short", "too_long"):
        return Problem(path, _wrong_length(kind, context), value)
    if kind in EXPECTED:
        return Problem(path, EXPECTED[kind].format(**context), value)
    return Problem(path, details["msg"][:1].lower() + details["msg"][1:], value)


def _meaning(annotation: Any, key: str | int) -> str:
    found = [fields(model)[str(key)] for model in models(annotation) if str(key) in fields(model)]
    return next((f" ({field.description})" for field in found if field.description), "")


def _needed_length(annotation: Any) -> str:
    lengths = {len(get_args(one)) for one in alternatives(annotation) if get_origin(one) is tuple}
    return f"must be a list of {listed([str(length) for length in sorted(lengths)])}"


def _wrong_length(kind: str, context: dict[str, Any]) -> str:
    if context["field_type"] == "Tuple":
        return f"must be a list of {context['max_length']}"
    if kind == "too_short":
        least = context["min_length"]
        return f"must have at least {least} {'entry' if least == 1 else 'entries'}"
    return f"must have at most {context['max_length']} entries"


def _together(problems: list[Problem]) -> str:
    """The problems of one key in one sentence; there are several where a union has several branches."""
    values = [problem.value for problem in problems if problem.value is not ...]
    first, *others = dict.fromkeys(problem.what for problem in problems)
    expected = listed([first, *(what.removeprefix("must be ") for what in others)])
    return f"{expected}, got {shown(values[0])}" if values else expected
