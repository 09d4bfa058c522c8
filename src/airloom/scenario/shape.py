"""Where in a scenario definitions may stand by name, and where files and plugins are named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Shape:
    """What the resolver needs to know about one position in the tree."""

    category: str | None = None
    """Definitions of this category may stand here by name or path, and be extended."""
    named_by_kind: bool = False
    """A text that is no definition's name is the `kind`."""
    null_is_a_value: bool = False
    """null says 'none' instead of removing the key."""
    names_a: Literal["plugin", "file", "folder", "name or file"] | None = None
    """A text here is a plugin, a file or a folder, whose path is relative to the file it is written in."""
    folder_kind: str | None = None
    """A text that is a path is the `folder` of something of this kind."""
    fields: Mapping[str, Shape] = field(default_factory=dict)
    entries: Shape | None = None
    """What each entry is, in a mapping with names of the user's choice."""

    def child(self, key: str | int) -> Shape:
        return self.fields.get(str(key)) or self.entries or ANYTHING


ANYTHING = Shape()


def _plugin(category: str, null_is_a_value: bool = False, **fields: Shape) -> Shape:
    fields = {"kind": Shape(names_a="plugin"), **fields}
    return Shape(category, named_by_kind=True, null_is_a_value=null_is_a_value, fields=fields)


def _each(shape: Shape) -> Shape:
    return Shape(entries=shape)


SENSOR, CONTROLLER, ESTIMATOR, AUTOPILOT, SYSTEM = (
    _plugin("sensor"),
    _plugin("controller", null_is_a_value=True),
    _plugin("estimator"),
    _plugin("autopilot", null_is_a_value=True, params_files=_each(Shape(names_a="file"))),
    _plugin(
        "system",
        file=Shape(names_a="file"),
        script=Shape(names_a="plugin"),
        mapping=Shape(names_a="name or file"),
        orders=_each(Shape(fields={"file": Shape(names_a="file")})),
    ),
)
TERRAIN = Shape(
    named_by_kind=True,
    folder_kind="survey",
    fields={"file": Shape(names_a="file"), "folder": Shape(names_a="folder")},
)
OBJECT = Shape(fields={"file": Shape(names_a="file")})
LAYER = Shape(fields={"file": Shape(names_a="file"), "function": Shape(names_a="plugin")})
WEATHER = Shape(fields={"layers": _each(LAYER)})
WORLD = Shape("world", fields={"terrain": TERRAIN, "objects": _each(OBJECT), "weather": WEATHER})
VEHICLE = Shape(
    "vehicle",
    fields={
        "visuals": _each(Shape(fields={"file": Shape(names_a="file")})),
        "hull": Shape(fields={"shapes": _each(Shape(fields={"file": Shape(names_a="file")}))}),
        "sensors": _each(SENSOR),
        "controller": CONTROLLER,
        "estimator": ESTIMATOR,
        "autopilot": AUTOPILOT,
        "command_timeout": Shape(null_is_a_value=True),
    },
)
SCENARIO = Shape(
    "scenario",
    fields={
        "engine": Shape(named_by_kind=True),
        "world": WORLD,
        "vehicles": _each(VEHICLE),
        "systems": _each(SYSTEM),
    },
)
