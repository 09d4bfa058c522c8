"""A scenario while it is put together: values that remember where they were written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from airloom.basics.text import is_sound

from .errors import KeyPath, ScenarioError, complaint, shown

DEEPEST_NESTING = 32
BUNDLED = Path(__file__).parent


class InFile(NamedTuple):
    """A line in a file."""

    file: Path
    line: int

    @property
    def folder(self) -> Path:
        return self.file.parent

    def __str__(self) -> str:
        return f"{displayed(self.file)}, line {self.line}"


class InText(NamedTuple):
    """A line of a text that is no file of its own, such as the scenario in a log."""

    name: str
    line: int

    @property
    def folder(self) -> Path:
        return Path.cwd()

    def __str__(self) -> str:
        return f"{self.name}, line {self.line}"


class InOverride(NamedTuple):
    """An override, as it would be typed."""

    key: str
    value: str

    @property
    def folder(self) -> Path:
        return Path.cwd()

    def __str__(self) -> str:
        return f"--set {self.key}={self.value}"


Origin = InFile | InText | InOverride


class Node(NamedTuple):
    """A mapping or list of nodes, or a scalar, with the place it was written at."""

    value: Any
    origin: Origin


def displayed(file: Path) -> str:
    """The shortest path that a reader can find the file by; bundled files from the folder they are bundled in."""
    for base in (BUNDLED, Path.cwd()):
        if file.is_relative_to(base):
            return os.path.relpath(file, base)
    return str(file)


def plain(node: Node) -> Any:
    """The bare values."""
    if isinstance(node.value, dict):
        return {key: plain(child) for key, child in node.value.items()}
    if isinstance(node.value, list):
        return [plain(child) for child in node.value]
    return node.value


def planted(value: Any, origin: Origin, depth: int = 0) -> Node:
    """Bare Python values as a tree, all from one origin."""
    if depth > DEEPEST_NESTING:
        raise ScenarioError(complaint(origin, (), f"nested deeper than {DEEPEST_NESTING} levels"))
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return Node({str(key): planted(child, origin, depth + 1) for key, child in value.items()}, origin)
    if isinstance(value, list | tuple):
        return Node([planted(child, origin, depth + 1) for child in value], origin)
    if isinstance(value, str) and not is_sound(value):
        raise ScenarioError(complaint(origin, (), f"{shown(value)} holds half a character, which no file takes"))
    if value is None or isinstance(value, bool | int | float | str):
        return Node(value, origin)
    what = f"a scenario holds numbers, text, lists and mappings, but {shown(value)} is of type {type(value).__name__}"
    raise ScenarioError(complaint(origin, (), what))


def child_of(node: Node, key: str | int) -> Node | None:
    if isinstance(node.value, dict):
        return node.value.get(str(key))
    if isinstance(node.value, list) and isinstance(key, int) and 0 <= key < len(node.value):
        return node.value[key]
    return None


def node_at(root: Node, path: KeyPath) -> Node | None:
    node: Node | None = root
    for key in path:
        node = child_of(node, key) if node else None
    return node


def without(root: Node, path: KeyPath) -> Node:
    """The tree without what stands at `path`, or without the nearest of its parents that is there."""
    child = child_of(root, path[0]) if path else None
    if child is None or isinstance(root.value, list):
        return Node(None, root.origin)
    kept = {key: one for key, one in root.value.items() if key != str(path[0])}
    if path[1:] and (remainder := without(child, path[1:])).value is not None:
        kept[str(path[0])] = remainder
    return Node(kept, root.origin)


def origin_of(root: Node, path: KeyPath) -> Origin:
    """Where `path`, or the nearest of its parents that is there, was written."""
    node = root
    for key in path:
        child = child_of(node, key)
        if child is None:
            break
        node = child
    return node.origin


def override_below(node: Node | None) -> InOverride | None:
    """The override that one of the values in a mapping came from, if there is one."""
    if node is None or not isinstance(node.value, dict):
        return None
    for child in node.value.values():
        found = child.origin if isinstance(child.origin, InOverride) else override_below(child)
        if found:
            return found
    return None
