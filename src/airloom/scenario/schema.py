"""JSON schemas of the files, for editors.

Looser than the loader, because a file may take values from the one it extends: no key is required below the top
level, null may stand for every value, and a definition may be a name.
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
        "allOf": [_ref(f"{category}_inline"), {"anyOf": [{"required": ["extends"]}, {"required": required}]}],
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
        shared[category] = {"anyOf": [_name_schema(category), _ref(f"{category}_inline")]}
    _allow_names(shared)
    return shared


def _allow_names(shared: dict[str, Schema]) -> None:
    scenario, vehicle, world = (shared[f"{category}_inline"]["properties"] for category in MODELS)
    scenario["world"] = _nullable(_ref("world"))
    scenario["vehicles"] = _mapping_to("vehicle")
    scenario["systems"] = _mapping_to("system")
    scenario["engine"] = {"anyOf": [scenario["engine"], TEXT]}
    world["terrain"] = {"anyOf": [world["terrain"], TEXT]}
    vehicle["sensors"] = _mapping_to("sensor")
    vehicle["controller"] = _nullable(_ref("controller"))
    vehicle["estimator"] = _nullable(_ref("estimator"))
    vehicle["autopilot"] = _nullable(_ref("autopilot"))
    vehicle["rotor"] = _nullable(_ref("Rotor"))


def _mapping_to(category: str) -> Schema:
    return _nullable({"type": "object", "additionalProperties": _nullable(_ref(category))})


def _definition(model: type[BaseModel], shared: dict[str, Schema], prefix: str) -> Schema:
    """A model's schema, loosened, with `extends`; what it refers to goes to `shared`."""
    schema = _loosened(model.model_json_schema(ref_template=f"#/$defs/{prefix}{{model}}"))
    shared.update({f"{prefix}{name}": part for name, part in schema.pop("$defs", {}).items()})
    schema.setdefault("properties", {})["extends"] = EXTENDS
    return schema


def _plugin_definition(category: str, choice: type[PluginChoice], shared: dict[str, Schema]) -> Schema:
    """One alternative for each installed plugin, one for a plugin by path, one that inherits its kind."""
    own = _definition(choice, shared, "")["properties"]
    by_kind = [_kind_schema(category, kind, own, shared) for kind in sorted(plugin.names(category))]
    by_path = {"properties": {**own, "kind": {**TEXT, "pattern": r"\.py:"}}, "required": ["kind"]}
    inherited = {
        "properties": {key: value for key, value in own.items() if key != "kind"},
        "not": {"required": ["kind"]},
    }
    return {"type": "object", "anyOf": [*by_kind, by_path, inherited]}


def _kind_schema(category: str, kind: str, own: Schema, shared: dict[str, Schema]) -> Schema:
    found = plugin.find(category, kind)
    parameters = _definition(found.Parameters, shared, f"{category}.{kind}.")
    return {
        "title": kind,
        "description": found.summary(),
        "properties": {**parameters["properties"], **own, "kind": {"const": kind}},
        "required": ["kind"],
        "additionalProperties": parameters.get("additionalProperties", True),
    }


def _name_schema(category: str) -> Schema:
    names = [*known(category), *(plugin.names(category) if category in plugin.GROUPS else [])]
    return {"anyOf": [{"enum": sorted(set(names))}, {**TEXT, "description": f"path of a {category} file"}]}


def _loosened(schema: Any) -> Any:
    """Nothing required, null allowed as every property, alternatives that may overlap."""
    if isinstance(schema, list):
        return [_loosened(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    loose: Schema = {}
    for key, part in schema.items():
        if key == "properties":
            loose[key] = {name: _nullable(_loosened(value)) for name, value in part.items()}
        elif key == "$defs":
            loose[key] = {name: _loosened(value) for name, value in part.items()}
        elif key == "additionalProperties" and isinstance(part, dict):
            loose[key] = _nullable(_loosened(part))
        elif key not in ("required", "discriminator"):
            loose["anyOf" if key == "oneOf" else key] = _loosened(part)
    return loose


def _nullable(schema: Schema) -> Schema:
    notes: Schema = {key: schema[key] for key in ("title", "description", "default") if key in schema}
    return {**notes, "anyOf": [schema, {"type": "null"}]}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}
