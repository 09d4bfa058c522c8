"""JSON schemas of the files, for editors.

Looser than the loader, because a file may take values from the one it extends: no key is required below the top
level, null may stand for every value, and a definition may be a name.

An editor marks what it finds wrong where the schema says so. Where one of several alternatives would do (`anyOf`), that
is the whole block; so what applies is decided first, by the kind of plugin or whether there is a name (`if`), and a
mistake is marked at its key.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from airloom import plugin

from .library import FOLDERS, known
from .models import PluginChoice, Scenario, SensorChoice, SystemChoice, Vehicle, World

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MODELS: dict[str, type[BaseModel]] = {"scenario": Scenario, "vehicle": Vehicle, "world": World}
CHOICES: dict[str, type[PluginChoice]] = {
    "sensor": SensorChoice,
    "controller": PluginChoice,
    "estimator": PluginChoice,
    "autopilot": PluginChoice,
    "system": SystemChoice,
}
TEXT = {"type": "string"}
EXTENDS = {**TEXT, "description": "name or path of the definition that this one lies over"}


def json_schema() -> Schema:
    """The JSON schema of scenario files."""
    return file_schema("scenario")


def vehicle_schema() -> Schema:
    """The JSON schema of vehicle files."""
    return file_schema("vehicle")


def file_schema(category: str) -> Schema:
    """The JSON schema of the files of a category: scenario, vehicle, world, sensor, controller, estimator, system."""
    fields = (MODELS.get(category) or CHOICES[category]).model_fields
    required = [name for name, field in fields.items() if field.is_required()]
    return {
        "$schema": DIALECT,
        "title": f"Airloom {category}",
        "type": "object",
        "allOf": [
            _ref(f"{category}_inline"),
            {"if": {"not": {"required": ["extends"]}}, "then": {"required": required}},
        ],
        "$defs": _definitions(),
    }


def _definitions() -> dict[str, Schema]:
    """Every category twice: written inline, and as a name or inline; and all that these refer to."""
    shared: dict[str, Schema] = {}
    for category, model in MODELS.items():
        shared[f"{category}_inline"] = _definition(model, shared, "")
    for category, choice in CHOICES.items():
        shared[f"{category}_inline"] = _plugin_definition(category, choice, shared)
    for category in FOLDERS:
        shared[category] = _named_or(_ref(f"{category}_inline"), _name_schema(category))
    _allow_names(shared)
    return shared


def _allow_names(shared: dict[str, Schema]) -> None:
    scenario, vehicle, world = (shared[f"{category}_inline"]["properties"] for category in MODELS)
    scenario["world"] = _ref("world")
    scenario["vehicles"] = _mapping_to("vehicle")
    scenario["systems"] = _mapping_to("system")
    scenario["engine"] = _named_or(scenario["engine"], TEXT)
    world["terrain"] = _named_or(world["terrain"], TEXT)
    vehicle["sensors"] = _mapping_to("sensor")
    vehicle["controller"] = _ref("controller")
    vehicle["estimator"] = _ref("estimator")
    vehicle["autopilot"] = _ref("autopilot")
    vehicle["rotor"] = _ref("Rotor")


def _mapping_to(category: str) -> Schema:
    return _nullable({"type": "object", "additionalProperties": _ref(category)})


def _named_or(inline: Schema, name: Schema) -> Schema:
    return {**_notes(inline), "if": {"type": "object"}, "then": inline, "else": {"anyOf": [name, {"type": "null"}]}}


def _definition(model: type[BaseModel], shared: dict[str, Schema], prefix: str) -> Schema:
    """A model's schema, loosened, with `extends`; what it refers to goes to `shared`."""
    schema = _loosened(model.model_json_schema(ref_template=f"#/$defs/{prefix}{{model}}"))
    shared.update({f"{prefix}{name}": _nullable(part) for name, part in schema.pop("$defs", {}).items()})
    schema.setdefault("properties", {})["extends"] = EXTENDS
    return _nullable(schema)


def _plugin_definition(category: str, choice: type[PluginChoice], shared: dict[str, Schema]) -> Schema:
    """What each installed plugin takes; one that is given by its path, or inherited, may take anything."""
    own, kinds = _definition(choice, shared, "")["properties"], sorted(plugin.names(category))
    kind = {"anyOf": [{"enum": kinds}, {**TEXT, "pattern": r"\.py:"}]}
    return {
        "type": ["object", "null"],
        "properties": {**own, "kind": kind},
        "allOf": [_if_kind(kind, _kind_schema(category, kind, own, shared)) for kind in kinds],
    }


def _if_kind(kind: str, schema: Schema) -> Schema:
    return {"if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]}, "then": schema}


def _kind_schema(category: str, kind: str, own: Schema, shared: dict[str, Schema]) -> Schema:
    found = plugin.find(category, kind)
    parameters = _definition(found.Parameters, shared, f"{category}.{kind}.")
    return {
        "title": kind,
        "description": found.summary(),
        "properties": {**parameters["properties"], **own},
        "additionalProperties": parameters.get("additionalProperties", True),
    }


def _name_schema(category: str) -> Schema:
    names = [*known(category), *(plugin.names(category) if category in plugin.GROUPS else [])]
    return {"anyOf": [{"enum": sorted(set(names))}, {**TEXT, "description": f"path of a {category} file"}]}


def _loosened(schema: Any) -> Any:
    """Nothing required, null allowed as every property, what applies decided by the kind where there is one."""
    if isinstance(schema, list):
        return [_loosened(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "discriminator" in schema:
        return _decided(schema)
    loose: Schema = {}
    for key, part in schema.items():
        if key == "properties":
            loose[key] = {name: _nullable(_loosened(value)) for name, value in part.items()}
        elif key == "$defs":
            loose[key] = {name: _loosened(value) for name, value in part.items()}
        elif key == "additionalProperties" and isinstance(part, dict):
            loose[key] = _nullable(_loosened(part))
        elif key != "required":
            loose["anyOf" if key == "oneOf" else key] = _loosened(part)
    return loose


def _decided(schema: Schema) -> Schema:
    """One of several models, by what it says it is."""
    key, models = schema["discriminator"]["propertyName"], schema["discriminator"]["mapping"]
    assert key == "kind"
    return {
        **_notes(schema),
        "type": "object",
        "properties": {"kind": {"enum": sorted(models)}},
        "allOf": [_if_kind(kind, {"$ref": reference}) for kind, reference in models.items()],
    }


def _nullable(schema: Schema) -> Schema:
    """That a reference leads to may be null anyway."""
    others = [part for part in schema.get("anyOf", ()) if part != {"type": "null"}]
    if "$ref" in schema or schema.get("type") == "null":
        return schema
    if len(others) == 1:
        return {**_notes(schema), **_nullable(others[0])}
    if "const" in schema or "enum" in schema:
        return {**_notes(schema), "enum": [*schema.get("enum", [schema.get("const")]), None]}
    if isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    return schema if isinstance(schema.get("type"), list) else {**_notes(schema), "anyOf": [schema, {"type": "null"}]}


def _notes(schema: Schema) -> Schema:
    return {key: schema[key] for key in ("title", "description", "default") if key in schema}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}
