"""Names, paths and `extends` → one complete tree.

A definition lies over the one it extends: mappings merge, lists and scalars replace, null removes. A definition that
names its own `extends`, or another `kind` than the one below it, starts afresh: nothing of the one below remains.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from airloom import plugin

from .document import read
from .errors import KeyPath, ScenarioError, complaint, hint, shortened, shown
from .library import file_of, known, looks_like_path
from .shape import SCENARIO, Shape
from .tree import Node, displayed, plain

LONGEST_CHAIN = 16


class Place(NamedTuple):
    """A position in the scenario, and the files read on the way to it."""

    path: KeyPath = ()
    shape: Shape = SCENARIO
    chain: tuple[Path, ...] = ()

    def child(self, key: str | int) -> Place:
        return Place((*self.path, key), self.shape.child(key), self.chain)

    def within(self, file: Path) -> Place:
        return self._replace(chain=(*self.chain, file))


class Definitions:
    """Completes trees; a definition that many extend is completed once."""

    def __init__(self) -> None:
        self.completed: dict[tuple[Path, str | None], Node] = {}
        self.mistakes: list[str] = []
        """What could not be completed, and was left out."""

    def from_file(self, file: Path, place: Place) -> Node:
        """The complete definition in a file."""
        key = file, place.shape.category
        if key not in self.completed:
            self.completed[key] = self.complete(read(file), None, place.within(file))
        return self.completed[key]

    def complete(self, own: Node, base: Node | None, place: Place) -> Node:
        """`own` with every name in it resolved, laid over `base`."""
        if isinstance(own.value, str):
            return self._complete_text(own, place)
        if isinstance(own.value, list) and place.shape.entries and not place.shape.entries.category:
            return Node([self.complete(each, None, place.child(k)) for k, each in enumerate(own.value)], own.origin)
        if not isinstance(own.value, dict):
            return own
        if place.shape.category and "extends" in own.value:
            base = self._extended(own.value["extends"], place)
        return self._overlay(own, base, place)

    def _complete_text(self, own: Node, place: Place) -> Node:
        if place.shape.names_a == "plugin":
            return _absolute_plugin(own)
        if place.shape.names_a == "file":
            return _absolute_file(own, place)
        if place.shape.names_a == "name or file" and looks_like_path(own.value):
            return Node(os.path.normpath(own.origin.folder.absolute() / own.value), own.origin)
        if place.shape.names_a == "folder":
            return _absolute_folder(own, place)
        if place.shape.folder_kind and _looks_like_folder(own):
            kind = Node(place.shape.folder_kind, own.origin)
            return Node({"kind": kind, "folder": _absolute_folder(own, place)}, own.origin)
        if place.shape.category or place.shape.named_by_kind:
            return Node(self._named(own, place).value, own.origin)
        return own

    def _overlay(self, own: Node, base: Node | None, place: Place) -> Node:
        below = dict(base.value) if base and isinstance(base.value, dict) else {}
        above = {key: child for key, child in own.value.items() if key != "extends" or not place.shape.category}
        if "kind" in above:
            above["kind"] = self.complete(above["kind"], None, place.child("kind"))
            if "kind" in below and above["kind"].value not in (None, below["kind"].value):
                below = {}
        for key, child in above.items():
            inner = place.child(key)
            if child.value is None and not inner.shape.null_is_a_value:
                below.pop(key, None)
            elif (complete := self._completed_or_told(child, below.get(key), inner)) is not None:
                below[key] = complete
        return Node(below, own.origin)

    def _completed_or_told(self, own: Node, base: Node | None, place: Place) -> Node | None:
        """A mistake does not hide those beside it, so that a user reads all of a file's at once.

        The name of a file that is not there stays, or its key would be told to be missing, too.
        """
        try:
            return self.complete(own, base, place)
        except ScenarioError as mistake:
            self.mistakes.append(str(mistake))
            return own if place.shape.names_a in ("file", "folder") else None

    def _extended(self, name: Node, place: Place) -> Node:
        if not isinstance(name.value, str):
            what = f"must be a name or a path, got {shown(plain(name))}"
            raise ScenarioError(complaint(name.origin, (*place.path, "extends"), what))
        return self._named(name, place)

    def _named(self, name: Node, place: Place) -> Node:
        """The definition that a text stands for."""
        category = place.shape.category
        if category is None or _is_plugin(name.value, category):
            kind = _absolute_plugin(name)
            return Node({"kind": kind}, name.origin)
        file = file_of(name.value, category, name.origin.folder)
        if file is None:
            raise ScenarioError(complaint(name.origin, place.path, unknown_name(name.value, category)))
        if not os.path.exists(file):
            what = f"there is no file '{shortened(name.value)}' (looked for {displayed(file)})"
            raise ScenarioError(complaint(name.origin, place.path, what))
        _refuse_loop(name, file, place)
        return self.from_file(file, place)


def unknown_name(name: str, category: str) -> str:
    names = [*known(category), *(plugin.names(category) if category in plugin.GROUPS else [])]
    article = "an" if category[0] in "aeiou" else "a"
    return (
        f"no {category} is called '{shortened(name)}'{hint(name, dict.fromkeys(names), f'Known {category}s')}; "
        f"or give the path of {article} {category} file such as my_{category}.yaml"
    )


def _is_plugin(name: str, category: str) -> bool:
    if category not in plugin.GROUPS or name in known(category):
        return False
    return ".py" in name or name in plugin.names(category)


def _absolute_plugin(kind: Node) -> Node:
    if not isinstance(kind.value, str) or ".py" not in kind.value:
        return kind
    file, colon, class_name = kind.value.partition(":")
    return Node(f"{os.path.normpath(kind.origin.folder.absolute() / file)}{colon}{class_name}", kind.origin)


def _absolute_file(name: Node, place: Place) -> Node:
    file = name.origin.folder.absolute() / name.value
    if not os.path.isfile(file):
        what = f"there is no file '{shortened(name.value)}' (looked for {displayed(file)})"
        raise ScenarioError(complaint(name.origin, place.path, what))
    return Node(str(file), name.origin)


def _looks_like_folder(name: Node) -> bool:
    return "/" in name.value or os.path.exists(name.origin.folder / name.value)


def _absolute_folder(name: Node, place: Place) -> Node:
    folder = os.path.normpath(name.origin.folder.absolute() / name.value)
    if not os.path.isdir(folder):
        what = f"there is no folder '{shortened(name.value)}' (looked for {displayed(Path(folder))})"
        if os.path.isfile(folder):
            told = shortened(name.value)
            what = f"'{told}' is a file, and a terrain is a folder: make it of a survey by airloom terrain build {told}"
        raise ScenarioError(complaint(name.origin, place.path, what))
    return Node(folder, name.origin)


def _refuse_loop(name: Node, file: Path, place: Place) -> None:
    if file in place.chain:
        loop = [*place.chain[place.chain.index(file) :], file]
        what = f"definitions extend each other in a loop: {' → '.join(one.stem for one in loop)}"
        raise ScenarioError(complaint(name.origin, place.path, what))
    if len(place.chain) >= LONGEST_CHAIN:
        what = f"more than {LONGEST_CHAIN} definitions extend one another"
        raise ScenarioError(complaint(name.origin, place.path, what))
