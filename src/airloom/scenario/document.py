"""YAML text → tree: the one reader of YAML there is, for files of users and for what stands in logs and messages.

Built from the event stream, so that hostile input is refused before it costs memory or stack.

Scalars follow YAML 1.2: `1e-8` is a number, `on` and `1:30` are text. Tags and merge keys are not part of the format.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from yaml.reader import Reader

from airloom.basics.given import MEGABYTE, text_of

from .errors import KeyPath, ScenarioError, complaint, shortened
from .tree import DEEPEST_NESTING, InFile, InOverride, InText, Node, Origin, displayed

LARGEST_FILE = 4 * MEGABYTE
LARGEST_RESOLVED = 16 * MEGABYTE
"""Of a scenario with nothing left to look up, as a run writes it down."""
MOST_ALIASED_VALUES = 100_000

EventLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

INTEGER = re.compile(r"[-+]?[0-9]{1,40}")
BASED_INTEGER = re.compile(r"0x[0-9a-fA-F]{1,32}|0o[0-7]{1,32}")
NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
WORDS = {
    **dict.fromkeys(["", "~", "null", "Null", "NULL"]),
    **dict.fromkeys(["true", "True", "TRUE"], True),
    **dict.fromkeys(["false", "False", "FALSE"], False),
    **dict.fromkeys([".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"], float("inf")),
    **dict.fromkeys(["-.inf", "-.Inf", "-.INF"], float("-inf")),
    **dict.fromkeys([".nan", ".NaN", ".NAN"], float("nan")),
}


def read(file: Path, most: int = LARGEST_FILE) -> Node:
    """The tree of one file of at most so many bytes, whose top level is a mapping."""
    large = "put large data such as terrain heights in a file of its own and name that file here"
    text = text_of(file, ScenarioError, most, large, displayed(file))
    root = _Document(text, lambda line: InFile(file, line)).root()
    if not isinstance(root.value, dict):
        what = "the file must hold keys and values, such as 'name: hover'"
        raise ScenarioError(complaint(root.origin, (), what))
    return root


def parse_value(text: str, origin: InOverride) -> Node:
    """The tree of a value typed on the command line."""
    return _Document(text, lambda line: origin).root()


def read_text(text: str, name: str) -> Node:
    """The tree of a text that is no file of its own; errors call it by `name`."""
    if len(text) > LARGEST_RESOLVED:
        raise ScenarioError(f"{name}: is longer than {LARGEST_RESOLVED // MEGABYTE} MB, the most that is read")
    return _Document(text, lambda line: InText(name, line)).root()


def scalar(text: str) -> Any:
    """The value of a plain (unquoted) scalar."""
    if text in WORDS:
        return WORDS[text]
    if INTEGER.fullmatch(text):
        return int(text)
    if BASED_INTEGER.fullmatch(text):
        return int(text, 0)
    if NUMBER.fullmatch(text):
        return float(text)
    return text


class _Document:
    """Composes one YAML document."""

    def __init__(self, text: str, origin_of_line: Callable[[int], Origin]) -> None:
        self.text = text
        self.origin_of_line = origin_of_line
        self.anchors: dict[str, tuple[Node, int]] = {}
        self.values = 0
        self.aliased_values = 0

    def root(self) -> Node:
        self._refuse_unprintable()
        self.loader = EventLoader(self.text)
        try:
            return self._document()
        except yaml.MarkedYAMLError as error:
            raise self._syntax_error(error) from error
        finally:
            self.loader.dispose()

    def _document(self) -> Node:
        self.loader.get_event()
        if self.loader.check_event(yaml.StreamEndEvent):
            raise ScenarioError(complaint(self.origin_of_line(1), (), "nothing is written here"))
        self.loader.get_event()
        root = self._node((), None)
        self.loader.get_event()
        if not self.loader.check_event(yaml.StreamEndEvent):
            raise self._error(self.loader.get_event(), (), "a second document starts here; one file holds one document")
        return root

    def _node(self, path: KeyPath, key_line: int | None) -> Node:
        event = self.loader.get_event()
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, path)
        if event.tag is not None:
            raise self._error(event, path, f"the tag '{shortened(event.tag)}' is not allowed; write the plain value")
        if len(path) > DEEPEST_NESTING:
            raise self._error(event, path[:3], f"nested deeper than {DEEPEST_NESTING} levels")
        values_before = self.values
        self.values += 1
        origin = self.origin_of_line(key_line or event.start_mark.line + 1)
        node = Node(self._value(event, path), origin)
        if event.anchor is not None:
            self.anchors[event.anchor] = node, self.values - values_before
        return node

    def _value(self, event: Any, path: KeyPath) -> Any:
        if isinstance(event, yaml.ScalarEvent):
            return scalar(event.value) if event.implicit[0] else event.value
        return self._sequence(path) if isinstance(event, yaml.SequenceStartEvent) else self._mapping(path)

    def _sequence(self, path: KeyPath) -> list[Node]:
        entries: list[Node] = []
        while not self.loader.check_event(yaml.SequenceEndEvent):
            entries.append(self._node((*path, len(entries)), None))
        self.loader.get_event()
        return entries

    def _mapping(self, path: KeyPath) -> dict[str, Node]:
        entries: dict[str, Node] = {}
        while not self.loader.check_event(yaml.MappingEndEvent):
            event = self.loader.get_event()
            key = self._key(event, path)
            if key in entries:
                first = entries[key].origin
                where = f"first in line {first.line}" if isinstance(first, InFile | InText) else "in one value"
                raise self._error(event, (*path, key), f"given twice ({where}); rename or remove one of them")
            entries[key] = self._node((*path, key), event.start_mark.line + 1)
        self.loader.get_event()
        return entries

    def _key(self, event: Any, path: KeyPath) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise self._error(event, path, "a key must be plain text, not a list, a mapping or an alias")
        if event.value == "<<":
            raise self._error(event, path, "merge keys ('<<') are not supported; use 'extends' instead")
        if not event.value:
            raise self._error(event, path, "a key is missing before ':'")
        return event.value

    def _alias(self, event: Any, path: KeyPath) -> Node:
        if event.anchor not in self.anchors:
            what = f"the alias '*{event.anchor}' has no anchor before it; put text that starts with '*' in quotes"
            raise self._error(event, path, what)
        node, size = self.anchors[event.anchor]
        self.values += size
        self.aliased_values += size
        if self.aliased_values > MOST_ALIASED_VALUES:
            raise self._error(event, path, f"aliases expand to more than {MOST_ALIASED_VALUES} values")
        return node

    def _refuse_unprintable(self) -> None:
        found = Reader.NON_PRINTABLE.search(self.text)
        if found:
            line = self.text.count("\n", 0, found.start()) + 1
            what = f"the character U+{ord(found.group()):04X} is not allowed in a text file"
            raise ScenarioError(complaint(self.origin_of_line(line), (), what))

    def _error(self, event: Any, path: KeyPath, what: str) -> ScenarioError:
        return ScenarioError(complaint(self.origin_of_line(event.start_mark.line + 1), path, what))

    def _syntax_error(self, error: yaml.MarkedYAMLError) -> ScenarioError:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line, mark.column) if mark else (0, 0)
        lines = self.text.splitlines()
        written = lines[line] if line < len(lines) else ""
        origin = self.origin_of_line(line + 1)
        where = f"{origin}, column {column + 1}" if isinstance(origin, InFile | InText) else str(origin)
        return ScenarioError(complaint(where, (), f"this is not valid YAML: {_in_plain_words(error, written)}"))


def _in_plain_words(error: yaml.MarkedYAMLError, written: str) -> str:
    context, problem = error.context or "", error.problem or ""
    opened = f"opened in line {error.context_mark.line + 1}" if error.context_mark else "opened here"
    if "\t" in written[: len(written) - len(written.lstrip())]:
        return "a tab is used for indentation; use spaces"
    if "flow sequence" in context:
        return f"in the list {opened} with '[', a ',' or the closing ']' is missing"
    if "flow mapping" in context:
        return f"in the mapping {opened} with '{{', a ',' or the closing '}}' is missing"
    if "flow node" in context:
        return "a list or mapping is opened with '[' or '{' but not closed"
    if "quoted scalar" in context and "end of stream" in problem:
        return f"the quote {opened} is not closed"
    if "mapping values are not allowed" in problem:
        return "a ':' stands where none fits; check the indentation here and above, or quote text that has ': ' in it"
    if "cannot start any token" in problem:
        return "a value cannot start with this character; put it in quotes"
    if "could not find expected ':'" in problem:
        return "a ':' is missing after a key"
    if "block mapping" in context or "block collection" in context:
        return f"the indentation does not fit the block {opened}; entries of one block start in the same column"
    return f"{problem} {context}".strip()
