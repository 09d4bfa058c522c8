"""Values set from outside the file: `--set vehicles.cf.mass=0.03`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from airloom import plugin

from .definitions import Definitions, Place
from .document import parse_value
from .errors import KeyPath, ScenarioError, complaint, hint, shortened, shown, written
from .keys import either, fields, inside, known_keys, models
from .models import Scenario
from .tree import InOverride, Node, child_of, plain, planted

EXAMPLE = "write KEY=VALUE, such as vehicles.cf.mass=0.03"


def parse_override(text: str) -> tuple[str, Any]:
    """`KEY=VALUE` from the command line: the key and its value, read as YAML."""
    key, equals, value = (part.strip() for part in text.partition("="))
    origin = InOverride(key, value)
    if not equals:
        raise ScenarioError(f"--set {shortened(text)}: there is no '='; {EXAMPLE}")
    if not all(key.split(".")):
        raise ScenarioError(complaint(origin, (), f"a part of the key is empty; {EXAMPLE}"))
    if not value:
        raise ScenarioError(complaint(origin, (), "a value is missing after '='; write null to remove the key"))
    return key, plain(parse_value(value, origin))


def apply_overrides(root: Node, overrides: Mapping[str, Any], definitions: Definitions) -> Node:
    """The tree with every override in it, in the order given."""
    for key, value in overrides.items():
        origin = InOverride(key, written(value))
        if not all(key.split(".")):
            raise ScenarioError(complaint(origin, (), "a part of the key is empty"))
        root = _Override(planted(value, origin), origin, definitions).set_in(root, Scenario, Place(), key.split("."))
    return root


class _Override:
    def __init__(self, value: Node, origin: InOverride, definitions: Definitions) -> None:
        self.value = value
        self.origin = origin
        self.definitions = definitions

    def set_in(self, node: Node, annotation: Any, place: Place, keys: list[str]) -> Node:
        """`node` with the value at `keys` below it; only what lies on the way is copied."""
        annotation = either([annotation, self._parameters(node, place)])
        if isinstance(node.value, list):
            return self._set_in_list(node, annotation, place, keys)
        if not isinstance(node.value, dict):
            raise self._error(place.path, f"is {shown(node.value)}, which has no key '{keys[0]}'")
        return self._set_in_mapping(node, annotation, place, keys)

    def _set_in_mapping(self, node: Node, annotation: Any, place: Place, keys: list[str]) -> Node:
        key, *rest = keys
        inner = place.child(key)
        if rest:
            child = child_of(node, key) or self._default(annotation, key)
            if child is None:
                names = dict.fromkeys([*node.value, *known_keys(annotation)])
                what = f"there is no such key to set '{'.'.join(rest)}' in{hint(key, names, 'Known keys')}"
                raise self._error(inner.path, what)
            return Node({**node.value, key: self.set_in(child, inside(annotation, key), inner, rest)}, node.origin)
        if self.value.value is None and not inner.shape.null_is_a_value:
            return Node({name: child for name, child in node.value.items() if name != key}, self.origin)
        return Node({**node.value, key: self.definitions.complete(self.value, None, inner)}, node.origin)

    def _set_in_list(self, node: Node, annotation: Any, place: Place, keys: list[str]) -> Node:
        key, *rest = keys
        entries: list[Node] = list(node.value)
        if not (key.isascii() and key.isdigit() and int(key) < len(entries)):
            length = "1 entry" if len(entries) == 1 else f"{len(entries)} entries"
            raise self._error((*place.path, key), f"no such entry; the list has {length}, numbered from 0")
        index = int(key)
        if rest:
            entries[index] = self.set_in(entries[index], inside(annotation, index), place.child(index), rest)
        else:
            entries[index] = self.value
        return Node(entries, node.origin)

    def _parameters(self, node: Node, place: Place) -> Any:
        """The parameters of the plugin chosen here; None where no plugin stands or it cannot be found."""
        kind = child_of(node, "kind")
        if place.shape.category not in plugin.GROUPS or kind is None or not isinstance(kind.value, str):
            return None
        try:
            return plugin.find(place.shape.category, kind.value).Parameters
        except plugin.PluginError:
            return None

    def _default(self, annotation: Any, key: str) -> Node | None:
        """What a key that is not written stands for, so that a value inside it can be set."""
        found = [fields(model)[key] for model in models(annotation) if key in fields(model)]
        if not found:
            return None
        default = found[0].get_default(call_default_factory=True, validated_data={})
        if isinstance(default, BaseModel):
            return planted(default.model_dump(exclude_unset=True), self.origin)
        return planted({} if default in (None, PydanticUndefined) else default, self.origin)

    def _error(self, path: KeyPath, what: str) -> ScenarioError:
        return ScenarioError(complaint(self.origin, path, what))
