"""xacro: macros, properties, conditions and includes of an XML file are worked out, and a plain URDF is left.

Our own, since the usual processor hands expressions to Python's `eval`, and a model is data. What xacro can do beyond
this (`xacro:call` of computed names, `load_yaml`) is refused in a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from airloom.models.description import ModelError
from airloom.models.expressions import ExpressionError, evaluate
from airloom.models.files import Library
from airloom.models.markup import Element, local_name, read_xml, where

NAMESPACE = re.compile(r"^(\{[^}]*(?:xacro|wiki/xacro)[^}]*\}|xacro:)")
MOST_ELEMENTS = 100_000
DEEPEST = 40
SECONDS = 2.0
_PARTS = re.compile(r"\$\$(?=[{(])|\$\{[^}]*\}|\$\([^)]*\)")


class Names(Mapping):
    """Properties as they are seen from within macros: one's own, then those of whoever called."""

    def __init__(self, outer: Names | None = None) -> None:
        self.own: dict[str, Any] = {}
        self.outer = outer

    def __getitem__(self, name: str) -> Any:
        if name in self.own:
            return self.own[name]
        if self.outer is None:
            raise KeyError(name)
        return self.outer[name]

    def __contains__(self, name: object) -> bool:
        return name in self.own or (self.outer is not None and name in self.outer)

    def __iter__(self):
        return iter({*self.own, *(self.outer or ())})

    def __len__(self) -> int:
        return len(list(iter(self)))

    @property
    def root(self) -> Names:
        return self if self.outer is None else self.outer.root


@dataclass(frozen=True)
class _Macro:
    parameters: list[tuple[str, str | None]]
    """Names, with what they are if not given."""
    blocks: list[str]
    body: Element
    file: Path
    names: Names


@dataclass
class _Block:
    """Elements that a property or a macro's caller gives, and the names they are to be worked out with."""

    elements: list[Element]
    names: Names
    file: Path


@dataclass
class Xacro:
    library: Library
    arguments: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._defaults: dict[str, str] = {}
        self._macros: dict[str, _Macro] = {}
        self._read: list[Path] = []
        self._count, self._until = 0, monotonic() + SECONDS

    def process(self, root: Element, file: Path) -> Element:
        result = deepcopy(root)
        for child in list(result):
            result.remove(child)
        names = Names()
        self._read.append(file)
        for key, value in result.attrib.items():
            if key == "name":
                result.set(key, self._text(value, names, file, root))
        for child in self._children(root, names, file, (file,), 0):
            result.append(child)
        return result

    def unused(self) -> set[str]:
        """Arguments that were given and nothing asked for."""
        return set(self.arguments) - self._mentioned()

    def _children(self, parent: Element, names: Names, file: Path, way: tuple[Path, ...], depth: int) -> list[Element]:
        out: list[Element] = []
        for child in parent:
            out += self._element(child, names, file, way, depth)
        return out

    def _element(self, element: Element, names: Names, file: Path, way: tuple[Path, ...], depth: int) -> list[Element]:
        self._count += 1
        place = where(element, file)
        if depth > DEEPEST:
            raise ModelError(f"{place}: macros are more than {DEEPEST} deep: do they call themselves?")
        if self._count > MOST_ELEMENTS or monotonic() > self._until:
            raise ModelError(f"{place}: this xacro runs away: it made {self._count} elements in {SECONDS:g} s or less")
        tag = str(element.tag)
        if not NAMESPACE.match(tag):
            attributes = {key: self._text(value, names, file, element) for key, value in element.attrib.items()}
            try:
                copy = element.makeelement(element.tag, attributes)
            except ValueError as error:  # what lxml forgave when it read the file
                raise ModelError(f"{place}: {error}") from None
            copy.sourceline = min(element.sourceline or 1, 65535)
            copy.text = self._text(element.text or "", names, file, element)
            for child in self._children(element, names, file, way, depth + 1):
                copy.append(child)
            return [copy]
        name = local_name(element)
        handler = getattr(self, f"_on_{name}", None)
        if handler is not None:
            return handler(element, names, file, way, depth)
        if name in self._macros:
            return self._call(self._macros[name], element, names, file, way, depth)
        raise ModelError(f"{place}: there is no macro '{name}'")

    def _on_property(self, element: Element, names: Names, file: Path, way, depth: int) -> list[Element]:
        name, scope = element.get("name", ""), element.get("scope")
        target = names.root if scope == "global" else names.outer or names if scope == "parent" else names
        if "value" in element.attrib:
            target.own[name] = self._value(element.get("value"), names, file, element)
        elif "default" in element.attrib:
            if name not in names:
                target.own[name] = self._value(element.get("default"), names, file, element)
        else:
            target.own[f"*{name}"] = _Block(list(element), names, file)
        return []

    def _on_arg(self, element: Element, names: Names, file: Path, way, depth: int) -> list[Element]:
        name = element.get("name", "")
        if "default" in element.attrib:
            self._defaults.setdefault(name, self._text(element.get("default"), names, file, element))
        return []

    def _on_include(
        self, element: Element, names: Names, file: Path, way: tuple[Path, ...], depth: int
    ) -> list[Element]:
        place = where(element, file)
        target = self.library.find(self._text(element.get("filename", ""), names, file, element), file.parent, place)
        if target is None or not target.is_file():
            raise ModelError(
                f"{place}: the file '{element.get('filename')}' is not found; name the folder of its "
                "package: --path FOLDER"
            )
        if target in way:
            raise ModelError(f"{place}: includes go in a circle: {' → '.join(p.name for p in (*way, target))}")
        self._read.append(target)
        return self._children(read_xml(target), names, target, (*way, target), depth + 1)

    def _on_macro(self, element: Element, names: Names, file: Path, way, depth: int) -> list[Element]:
        parameters: list[tuple[str, str | None]] = []
        blocks: list[str] = []
        for word in re.findall(r"[^\s:=]+\s*:?=\s*(?:'[^']*'|\"[^\"]*\"|\^\|?\S*|\S+)|\S+", element.get("params", "")):
            if word.startswith("*"):
                blocks.append(word)
                continue
            key, given, default = word.partition(":=") if ":=" in word else word.partition("=")
            default = default.strip()
            if default[:1] in "'\"" and default[-1:] == default[:1]:
                default = default[1:-1]
            parameters.append((key.strip(), default if given else None))
        name = element.get("name", "").removeprefix("xacro:")
        self._macros[name] = _Macro(parameters, blocks, element, file, names)
        return []

    def _call(self, macro: _Macro, element: Element, names: Names, file: Path, way, depth: int) -> list[Element]:
        place, name = where(element, file), local_name(element)
        inner = Names(names)
        given = {key: self._value(value, names, file, element) for key, value in element.attrib.items()}
        for key, default in macro.parameters:
            if key in given:
                inner.own[key] = given.pop(key)
            elif default is None:
                raise ModelError(f"{place}: the macro '{name}' needs '{key}'")
            elif default.startswith("^"):
                if key in names:
                    inner.own[key] = names[key]
                elif "|" in default:
                    inner.own[key] = self._value(default.split("|", 1)[1], names, file, element)
                else:
                    raise ModelError(f"{place}: the macro '{name}' needs '{key}'")
            else:
                inner.own[key] = self._value(default, inner, macro.file, element)
        if given:
            raise ModelError(f"{place}: the macro '{name}' takes no '{min(given)}'")
        handed = list(element)
        if len(handed) < len(macro.blocks):
            raise ModelError(f"{place}: the macro '{name}' needs the block '{macro.blocks[len(handed)].lstrip('*')}'")
        for block, part in zip(macro.blocks, handed, strict=False):
            parts = list(part) if block.startswith("**") else [part]
            inner.own[f"*{block.lstrip('*')}"] = _Block(parts, names, file)
        return self._children(macro.body, inner, macro.file, way, depth + 1)

    def _on_insert_block(self, element: Element, names: Names, file: Path, way, depth: int) -> list[Element]:
        key = f"*{self._text(element.get('name', ''), names, file, element)}"
        if key not in names:
            raise ModelError(f"{where(element, file)}: there is no block '{key[1:]}'")
        block = names[key]
        return [
            made for part in block.elements for made in self._element(part, block.names, block.file, way, depth + 1)
        ]

    def _on_if(self, element: Element, names: Names, file: Path, way, depth: int) -> list[Element]:
        return self._children(element, names, file, way, depth) if self._condition(element, names, file) else []

    def _on_unless(self, element: Element, names: Names, file: Path, way, depth: int) -> list[Element]:
        return [] if self._condition(element, names, file) else self._children(element, names, file, way, depth)

    def _condition(self, element: Element, names: Names, file: Path) -> bool:
        value = self._value(element.get("value", ""), names, file, element)
        if isinstance(value, str):
            value = {"true": True, "false": False, "1": True, "0": False}.get(value.strip().lower(), value)
        if not isinstance(value, (bool, int, float)):
            raise ModelError(f"{where(element, file)}: a condition must be true or false, got '{value}'")
        return bool(value)

    def _value(self, text: str, names: Names, file: Path, element: Element) -> Any:
        """Of a property: a number if it is one, so that expressions can work with it."""
        whole = re.fullmatch(r"\$\{([^}]*)\}", text.strip())
        if whole:
            return self._evaluated(whole[1], names, file, element)
        made = self._text(text, names, file, element)
        for kind in (int, float):
            try:
                return kind(made)
            except ValueError:
                pass
        return {"true": True, "false": False}.get(made.strip().lower(), made)

    def _text(self, text: str, names: Names, file: Path, element: Element) -> str:
        def replaced(found: re.Match) -> str:
            part = found[0]
            if part == "$$":
                return "$"
            if part.startswith("${"):
                return _written(self._evaluated(part[2:-1], names, file, element))
            return self._command(part[2:-1], names, file, element)

        made = _PARTS.sub(replaced, text) if "$" in text else text
        if len(made) > 100_000:
            raise ModelError(f"{where(element, file)}: a text of this xacro grows beyond 100 000 characters")
        return made

    def _evaluated(self, text: str, names: Names, file: Path, element: Element) -> Any:
        try:
            return evaluate(self._text(text, names, file, element), names)
        except ExpressionError as error:
            raise ModelError(f"{where(element, file)}: ${{{text}}}: {error}") from None

    def _command(self, text: str, names: Names, file: Path, element: Element) -> str:
        word, _, rest = text.strip().partition(" ")
        rest = self._text(rest.strip(), names, file, element)
        place = where(element, file)
        if word == "arg":
            return self._argument(rest, place)
        if word == "find":
            folder = self.library.package(rest)
            if folder is None:
                raise ModelError(
                    f"{place}: the package '{rest}' is not found beside {self.library.home}; name the "
                    "folder that holds it: --path FOLDER"
                )
            return str(folder)
        if word == "eval":
            try:
                return _written(evaluate(rest, {**self._defaults, **self.arguments, **names}))
            except ExpressionError as error:
                raise ModelError(f"{place}: $(eval {rest}): {error}") from None
        if word == "dirname":
            return str(file.parent)
        raise ModelError(f"{place}: $({word} …) is not read; give the value as an argument instead")

    def _argument(self, name: str, place: str) -> str:
        if name in self.arguments:
            return self.arguments[name]
        if name in self._defaults:
            return self._defaults[name]
        missing = sorted(self._mentioned() - set(self._defaults) - set(self.arguments))
        raise ModelError(
            f"{place}: needs the argument '{name}'. Give what is missing: "
            + " ".join(f"--arg {key}=…" for key in missing)
        )

    def _mentioned(self) -> set[str]:
        """Arguments that the files speak of."""
        found = set(self._defaults)
        for path in self._read:
            found |= set(re.findall(r"\$\(arg\s+([^\s)]+)\s*\)", path.read_text(errors="replace")))
        return found


def _written(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value)
