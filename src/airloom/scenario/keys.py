"""Which keys a model knows at a place below it."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from .errors import KeyPath


def alternatives(annotation: Any) -> list[Any]:
    """The types in a union, without annotations and None."""
    if get_origin(annotation) is Annotated:
        return alternatives(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [one for part in get_args(annotation) for one in alternatives(part)]
    return [] if annotation in (None, types.NoneType) else [annotation]


def either(annotations: Iterable[Any]) -> Any:
    """The union of some types; None if there are none."""
    found = [one for annotation in annotations for one in alternatives(annotation)]
    return Union[tuple(found)] if found else None  # noqa: UP007


def inside(annotation: Any, key: str | int) -> Any:
    """The type of what lies at `key` in a value of the annotated type; None if there is no such key."""
    return either(_inside_one(one, key) for one in alternatives(annotation))


def _inside_one(annotation: Any, key: str | int) -> Any:
    if is_model(annotation):
        field = fields(annotation).get(str(key))
        return field.annotation if field else None
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is dict:
        return arguments[1]
    if origin is list and isinstance(key, int):
        return arguments[0]
    if origin is tuple and isinstance(key, int):
        inner = [part for part in arguments if part is not Ellipsis]
        return inner[min(key, len(inner) - 1)]
    return None


def at(annotation: Any, path: KeyPath) -> Any:
    for key in path:
        annotation = inside(annotation, key)
    return annotation


def is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """By the keys that users write; what Python keeps for itself, such as `return`, is an alias."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def models(annotation: Any) -> list[type[BaseModel]]:
    return [one for one in alternatives(annotation) if is_model(one)]


def known_keys(annotation: Any, branch: str | int | None = None) -> list[str]:
    """Of all models that an annotation allows, or of that of a union which a tag such as `dryden` chooses."""
    chosen = [model for model in models(annotation) if _is_tagged(model, branch)]
    return list(dict.fromkeys(name for model in chosen or models(annotation) for name in fields(model)))


def _is_tagged(model: type[BaseModel], tag: str | int | None) -> bool:
    return any(get_origin(f.annotation) is Literal and tag in get_args(f.annotation) for f in fields(model).values())
