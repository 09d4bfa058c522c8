"""Write what in these pages follows from the code: `python docs/make_reference.py`. A test says when that is due.

- reference/scenario.md, every key of the scenario files, from the models that check them;
- reference/kernels.md, what `airloom.kernels` has, from its groups, docstrings and rows;
- scenarios.md, the bundled scenarios, from the comments above them (docs/make_pictures.py takes the pictures);
- the files from examples/ that pages show, below a line such as `<!-- file: my_force.py from examples -->`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from itertools import groupby, takewhile
from math import isinf
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from airloom import kernels, plugin
from airloom.commands import EDGE
from airloom.compiled import rows
from airloom.scenario import (
    figures,
    foxglove,
    generated,
    light,
    load,
    models,
    nozzles,
    ns3_radio,
    objects,
    radio,
    ros2,
    scatter,
    surfaces,
    water,
    weather,
    wheels,
)
from airloom.scenario.keys import fields
from airloom.scenario.library import describe, known
from airloom.sensors.sensor_errors import SensorErrors

DOCS = Path(__file__).parent
EXAMPLES = DOCS.parent / "examples"
REFERENCE = DOCS / "reference" / "scenario.md"
KERNELS = DOCS / "reference" / "kernels.md"
PUBLIC_NAME = re.compile(r'    # (?P<group>.+)|    "(?P<name>\w+)",(?:  # (?P<note>.+))?')
ROWS = re.compile(r"(?P<names>[A-Z].*?|\(\w+,\)) = _rows\(.*?\)(?P<first>\[0\])?(?:  # (?P<note>.+))?")
SCENARIOS = DOCS / "scenarios.md"
SHOWN_FILE = re.compile(r"(<!-- file: (\S+) from examples -->\n+```\w+\n).*?(^```$)", re.DOTALL | re.MULTILINE)

HEAD = """# Every key of a scenario file

<!-- Written by docs/make_reference.py from the models that check the files. Do not edit. -->

All units are SI and all angles are in radians unless a line says otherwise. The world's axes are x east, y north, z up;
a body's are x forward, y left, z up. Times are in seconds.

How files are put together:

- A vehicle, world, sensor, controller, estimator or system can be written in place, or named: by the name of a bundled
  one (`airloom list`), or by the path of a YAML file, relative to the file that names it.
- `extends: NAME` lies over another definition of the same category. Mappings merge, lists and single values replace,
  `null` removes a key.
- Every sensor has the keys of its plugin and those of [Sensor](#sensor); every system those of [System](#system).
- A plugin's `kind` is a registered name, or `path/to/file.py:ClassName`, relative to the file that names it. `null` as
  a controller means none.
- `--set KEY=VALUE` on the command line, and `overrides` in Python, change any key by its dotted path.

Places, vectors, angles, sizes and masses may be a million at most, in whatever unit: what is greater is a mistake.

"required" means that the file, or the one it extends, must give the value.
"""

SECTIONS: dict[type[BaseModel], str] = {
    models.Scenario: "Scenario",
    models.Engine: "Engine",
    models.World: "World",
    models.Origin: "Origin",
    models.Plane: "Terrain: plane",
    models.HeightField: "Terrain: heightfield",
    models.Survey: "Terrain: survey",
    generated.Meadow: "Terrain: meadow",
    generated.Vineyard: "Terrain: vineyard",
    generated.Mountains: "Terrain: mountains",
    generated.Road: "Road",
    models.Obstacle: "Obstacle",
    objects.Tree: "Object: tree",
    objects.House: "Object: house",
    objects.Car: "Object: car",
    objects.Post: "Object: post",
    objects.Fence: "Object: fence",
    objects.PowerLine: "Object: power line",
    objects.VineRow: "Object: vine row",
    objects.MeshObject: "Object: mesh",
    scatter.InGrid: "Scatter: grid",
    scatter.InRows: "Scatter: rows",
    scatter.AtRandom: "Scatter: random",
    light.Light: "Light",
    light.Sun: "Sun",
    light.Fog: "Fog",
    weather.Weather: "Weather",
    weather.Constant: "Layer: constant",
    weather.Wave: "Layer: wave",
    weather.Gust: "Layer: gust",
    weather.Dryden: "Layer: dryden",
    weather.Profile: "Layer: profile",
    weather.Shelter: "Layer: shelter",
    weather.ShelterRow: "Row that gives shelter",
    weather.FieldOfWind: "Layer: field",
    weather.Function: "Layer: function",
    water.Water: "Water",
    water.Layer: "Layer of water",
    water.Current: "Current",
    water.Wave: "Wave",
    water.Sea: "Sea",
    models.Vehicle: "Vehicle",
    models.Inertia: "Inertia",
    models.Rotor: "Rotor",
    models.DragPart: "Part with drag",
    models.Advance: "Advance",
    models.InWater: "In water",
    surfaces.Surface: "Surface",
    surfaces.Slipstream: "Slipstream",
    surfaces.Mixer: "Mixer",
    surfaces.Aerodynamics: "Aerodynamics",
    surfaces.Coefficient: "Coefficient",
    surfaces.Servo: "Servo",
    wheels.Wheel: "Wheel",
    water.Hull: "Hull",
    water.BoxShape: "Shape: box",
    water.BallShape: "Shape: ball",
    water.CylinderShape: "Shape: cylinder",
    water.CapsuleShape: "Shape: capsule",
    water.EllipsoidShape: "Shape: ellipsoid",
    water.MeshShape: "Shape: mesh",
    models.Tank: "Tank",
    models.Battery: "Battery",
    nozzles.Nozzle: "Nozzle",
    nozzles.Drops: "Drops",
    models.Body: "Body",
    models.Visual: "Visual",
    models.Pose: "Pose",
    models.Motion: "Motion",
    models.Copies: "Copies",
    models.SensorChoice: "Sensor",
    models.PluginChoice: "Estimator, controller",
    models.SystemChoice: "System",
    models.Member: "Member",
    radio.Radio: "Radio",
    radio.Band: "Band",
    radio.Station: "Station",
    radio.RadioChannel: "Channel",
    radio.LogDistance: "Path loss: log-distance",
    radio.FreeSpace: "Path loss: free-space",
    radio.TwoRay: "Path loss: two-ray",
    radio.Shadowing: "Shadowing",
    radio.Nakagami: "Fading: nakagami",
    radio.Rician: "Fading: rician",
    radio.Obstruction: "Obstruction",
    ns3_radio.Ns3Radio: "ns-3",
    ns3_radio.LogDistance: "Loss of ns-3: log-distance",
    ns3_radio.ThreeLogDistance: "Loss of ns-3: three-log-distance",
    ns3_radio.FreeSpace: "Loss of ns-3: free-space",
    ns3_radio.TwoRay: "Loss of ns-3: two-ray",
    ns3_radio.Reach: "Loss of ns-3: range",
    ns3_radio.Street: "Loss of ns-3: street",
    ns3_radio.Built: "Loss of ns-3: among houses",
    ns3_radio.Nakagami: "Loss of ns-3: nakagami",
    ns3_radio.Normal: "Loss of ns-3: normal",
    ros2.Ros2: "ROS 2",
    ros2.Quality: "Quality of service",
    ros2.Lockstep: "Lockstep with a node",
    foxglove.Foxglove: "Foxglove",
    models.Log: "Log",
    figures.Figure: "Figure",
    figures.Panel: "Panel",
    SensorErrors: "Sensor errors",
}

KERNELS_HEAD = """# What compiled code of your own can use

<!-- Written by docs/make_reference.py from airloom/kernels.py and airloom/compiled/rows.py. Do not edit. -->

All of it is imported from `airloom.kernels`. The pages on [controllers](../howto/write-a-controller.md#compiled),
[forces](../howto/write-a-system.md#a-compiled-force) and [sensors](../howto/sensors.md#a-sensor-of-your-own) show it at
work; the classes that bring a kernel, such as `Controller`, are in `airloom` itself.

Units are SI, angles are in radians. The world's axes are x east, y north, z up; a body's are x forward, y left, z up.
Functions with `w` and `i` are about vehicle `i` of the block `w`. Places such as `W_GRAVITY` are indices:
`world[W_GRAVITY]`.
"""

ROWS_HEAD = """## Rows

`w[row.PX + i]` is the x position of vehicle `i` of a block. "Origin" is the vehicle's reference point, "centre" its
centre of mass. Of rows with … only the first has a name; the next is `LANES` further on. Rows of a rotor are used as
`rotors[r * row.ROTOR_WIDTH + row.SPEED + i]`.
"""

NOTES = {
    "Scenario.name": "letters, digits, underscores; names the run folder",
    "Scenario.description": "one line for people",
    "Scenario.seed": "of all noise",
    "Scenario.engine": "its `kind` alone may stand here: `engine: batch`",
    "Scenario.world": "the name of a bundled one may stand here: `world: lab`",
    "Scenario.log": "what the log holds",
    "Scenario.vehicles": "by name; the name is the vehicle's namespace",
    "Scenario.systems": "by name; they act in this order",
    "Scenario.members": "by name; other processes in lockstep",
    "Engine.kind": "`mujoco`: contact with ground, obstacles, one another; `batch`: ground contact only, for thousands",
    "World.description": "one line for people",
    "World.terrain": "its `kind` alone may stand here: `terrain: plane`",
    "World.obstacles": "by name",
    "Plane.kind": "flat ground without end",
    "HeightField.kind": "ground from a grid of heights",
    "Survey.kind": "ground from a survey",
    "Survey.folder": "path of a terrain folder, which may stand here alone: `terrain: field.terrain/`",
    "Generated.kind": "ground that is made up",
    "Generated.roads": "strips of another surface",
    "World.light": "sun, sky and haze",
    "Light.sun": "where it stands",
    "Light.fog": "how far one sees",
    "Placed.kind": "what it is",
    "Tree.form": "its shape",
    "House.roof": "its shape",
    "Fence.form": "what is between its posts",
    "PowerLine.wires": "how many, side by side",
    "Scatter.kind": "the rule",
    "Constant.kind": "the law",
    "Wave.kind": "the law",
    "Gust.kind": "the law",
    "Dryden.kind": "the law",
    "Dryden.standard": "whose heights and intensities hold",
    "Profile.kind": "the law",
    "Profile.law": "how the wind grows with the height",
    "Shelter.kind": "the law",
    "FieldOfWind.kind": "the law",
    "Function.kind": "the law",
    "LogDistance.kind": "the law",
    "FreeSpace.kind": "the law",
    "TwoRay.kind": "the law",
    "Nakagami.kind": "the law",
    "Rician.kind": "the law",
    "ThreeLogDistance.kind": "the law",
    "Reach.kind": "the law",
    "Street.kind": "the law",
    "Built.kind": "the law",
    "Normal.kind": "the law",
    "LogDistance.exponent": "how fast it fades",
    "ThreeLogDistance.exponents": "beyond each distance",
    "Built.environment": "how densely it is built",
    "Built.city": "its size",
    "Hull.shapes": "by name; together they are the hull",
    "BoxShape.kind": "what it is",
    "BallShape.kind": "what it is",
    "CylinderShape.kind": "what it is",
    "CapsuleShape.kind": "what it is",
    "EllipsoidShape.kind": "what it is",
    "MeshShape.kind": "what it is",
    "Water.current": "how the water moves",
    "Water.waves": "they add up",
    "Aerodynamics.lift": "across the air, upwards",
    "Tank.shape": "of its inside",
    "Drops.law": "of their volume over their diameters",
    "Figure.title": "above it",
    "Panel.title": "above it",
    "InGrid.rows": "how many rows",
    "AtRandom.count": "how many",
    "Obstacle.shape": "upright",
    "Plane.height": "m",
    "HeightField.center": "of the grid, east and north, m",
    "HeightField.file": "path of a .npy or .csv file with the heights",
    "Obstacle.size": "m, see above",
    "Obstacle.position": "of its middle, world, m",
    "Obstacle.yaw": "rad",
    "Vehicle.description": "one line for people",
    "Vehicle.sensors": "by name; the name is the topic: /VEHICLE/SENSOR",
    "Vehicle.estimator": "its `kind` alone may stand here: `estimator: ideal`",
    "Vehicle.controller": "its `kind` alone may stand here; `null` for none",
    "Vehicle.pose": "at time 0",
    "Vehicle.motion": "at time 0",
    "Inertia.xx": "kg m²",
    "Inertia.yy": "kg m²",
    "Inertia.zz": "kg m²",
    "Inertia.xy": "kg m²",
    "Inertia.xz": "kg m²",
    "Inertia.yz": "kg m²",
    "Rotor.turns": "seen from above",
    "Pose.position": "of the vehicle's origin, world, m",
    "Pose.roll": "rad",
    "Pose.pitch": "rad",
    "Pose.yaw": "rad, 0 is east, counter-clockwise",
    "Copies.count": "number of vehicles",
    "SensorChoice.kind": "registered name or path/to/file.py:ClassName",
    "SensorChoice.description": "one line for people",
    "PluginChoice.kind": "registered name or path/to/file.py:ClassName",
    "PluginChoice.description": "one line for people",
    "SystemChoice.kind": "registered name or path/to/file.py:ClassName",
    "SystemChoice.description": "one line for people",
    "SystemChoice.enabled": "false leaves the system out",
    "Mounted.roll": "of its axes, rad",
    "Mounted.pitch": "of its axes, rad",
    "Mounted.yaw": "of its axes, rad",
    "ImuParameters.gyroscope": "rad/s",
    "ImuParameters.accelerometer": "m/s²",
    "OdometryParameters.position_errors": "m",
    "OdometryParameters.attitude_errors": "small rotation about each axis, rad",
    "OdometryParameters.velocity_errors": "m/s",
    "OdometryParameters.rate_errors": "rad/s",
    "GnssParameters.position_errors": "east, north, up, m",
    "GnssParameters.velocity_errors": "east, north, up, m/s",
    "GnssParameters.earth": "how metres become degrees: on the WGS-84 ellipsoid or on a sphere",
    "BarometerParameters.pressure_errors": "Pa",
    "BarometerParameters.temperature_errors": "K",
    "MagnetometerParameters.field_errors": "T",
    "RangefinderParameters.distance_errors": "m",
    "RangefinderParameters.min_distance": "below it the reading is −∞, m",
    "RangefinderParameters.max_distance": "above it the reading is +∞, m",
    "IdealParameters.rate": "Hz",
    "TrajectoryParameters.shape": "a lying eight or an ellipse",
    "TrajectoryParameters.center": "east and north, m",
    "WaypointsParameters.points": "in order of time",
    "Waypoint.position": "world, m",
    "Waypoint.yaw": "rad",
}
"""Meanings of keys whose field in the model has no description."""

FIRST = "hover"
"""The scenario that everybody begins with; the others follow by name."""

SCENARIOS_HEAD = """# Scenarios to begin with

<!-- Written by docs/make_reference.py from the files of the scenarios. Do not edit. -->

`airloom run NAME` flies one, seen in [the studio](howto/studio.md); `--headless` flies it as fast as your machine can.
Each is a file that you may start from: a run leaves it in its folder as `scenario.yaml`, with nothing left to look up.
"""


def reference() -> str:
    """The page of all keys."""
    parts = [HEAD]
    for model, title in SECTIONS.items():
        parts += [f"## {title}", _own_doc(model), _table(model)]
    for category in plugin.GROUPS:
        parts += [f"## Bundled {category}s", _bundled(category)]
        for name, found in _plugins(category):
            parameters = found.Parameters
            parts += [f"### {category} `{name}`", found.summary(), _own_doc(parameters), _table(parameters)]
            for nested in _nested(parameters):
                parts += [f"#### {_heading(nested)}", _table(nested)]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def kernels_reference() -> str:
    """The page of all that compiled code of a user can use."""
    parts, public = [KERNELS_HEAD.rstrip()], inspect.getsource(kernels).partition("__all__ = [")[2]
    for line in PUBLIC_NAME.finditer(public):
        if line["group"]:
            parts += [f"\n## {line['group']}\n", "| name | meaning |\n|---|---|"]
        else:
            name = line["name"]
            parts.append(f"| `{name}{_arguments(name)}` | {line['note'] or _first_words(name)} |")
    return "\n".join([*parts, "", ROWS_HEAD, *_rows(), ""])


def scenarios() -> str:
    """The page of all bundled scenarios."""
    kinds: dict[str, list[str]] = {"One vehicle": [], "Several vehicles": [], "With programs of their own": []}
    for name, path in sorted(known("scenario").items(), key=lambda item: item[0] != FIRST):
        kinds[_kind_of(name)].append(_scenario_section(name, path))
    parts = [SCENARIOS_HEAD, *(part for kind, sections in kinds.items() for part in (f"## {kind}", *sections))]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def with_examples(page: str) -> str:
    """The page with every file from examples/ that it shows as that file is now."""

    def as_it_is(match: re.Match[str]) -> str:
        return match[1] + (EXAMPLES / match[2]).read_text(encoding="utf-8") + match[3]

    return SHOWN_FILE.sub(as_it_is, page)


def pages() -> Iterator[tuple[Path, str]]:
    """Each page that is written, in whole or in part, with the text it should have."""
    yield REFERENCE, reference()
    yield KERNELS, kernels_reference()
    yield SCENARIOS, scenarios()
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if SHOWN_FILE.search(text):
            yield page, with_examples(text)


# -- parts ---------------------------------------------------------------------------------------------------------


def _arguments(name: str) -> str:
    """Of a compiled function."""
    function = getattr(getattr(kernels, name), "py_func", None)
    return str(inspect.signature(function)) if function else ""


def _first_words(name: str) -> str:
    return " ".join((inspect.getdoc(getattr(kernels, name)) or "").split("\n\n")[0].split())


def _rows() -> Iterator[str]:
    """A table of the rows, from the lines that make them and the comments behind or above."""
    said: list[str] = []
    yield "| rows | meaning |\n|---|---|"
    for line in inspect.getsource(rows).splitlines():
        if found := ROWS.fullmatch(line):
            names = found["names"].strip("(,)") + (" …" if found["first"] else "")
            yield f"| `{names}` | {found['note'] or ' '.join(said)} |"
        said = [*said, line.removeprefix("# ")] if line.startswith("# ") else []


def _kind_of(name: str) -> str:
    scenario = load(name)
    if scenario.members:
        return "With programs of their own"
    several = sum(len(vehicle.names(name)) for name, vehicle in scenario.vehicles.items()) > 1
    return "Several vehicles" if several else "One vehicle"


def _scenario_section(name: str, path: Path) -> str:
    picture = f"figures/scenarios/{name}.webp"
    shown = f"![{describe(path)}]({picture})\n\n" if (DOCS / picture).exists() else ""
    return f"### {name}\n\n{shown}{_comment_above(path.read_text(encoding='utf-8'))}"


def _comment_above(text: str) -> str:
    """What a scenario's file says of itself, its indented lines as commands with what they show as their comments."""
    above = takewhile(lambda line: line.startswith("#"), text.splitlines())
    parts = groupby((line.removeprefix("#").removeprefix(" ") for line in above), lambda line: line.startswith("  "))
    return "\n\n".join(_commands(lines) if indented else "\n".join(lines) for indented, lines in parts)


def _commands(lines: Iterable[str]) -> str:
    commented = (re.sub(r"(?<=\S) {2,}", "  # ", line.strip()) for line in lines)
    return "\n".join(["```sh", *commented, "```"])


def _plugins(category: str) -> list[tuple[str, Any]]:
    """The plugins that come with Airloom."""
    own = {name: entry for name, entry in plugin.names(category).items() if entry.value.startswith("airloom.")}
    return [(name, own[name].load()) for name in sorted(own)]


def _bundled(category: str) -> str:
    lines = [f"- `{name}`: {describe(path)}" for name, path in known(category).items()]
    return "\n".join(["Files, ready with numbers:", "", *lines, "", "Plugins:"]) if lines else "Plugins:"


def _own_doc(model: type[BaseModel]) -> str:
    return (vars(model).get("__doc__") or "").strip()


def _nested(model: type[BaseModel]) -> list[type[BaseModel]]:
    """Models inside a plugin's parameters that have no section yet."""
    inside = {part: None for field in model.model_fields.values() for part in _models_in(field.annotation)}
    return [part for part in inside if part not in SECTIONS]


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]


def _table(model: type[BaseModel]) -> str:
    rows = [_row(model, name, field) for name, field in fields(model).items()]
    return "\n".join(["| key | value | default | meaning |", "|---|---|---|---|", *rows]) if rows else "No parameters."


def _row(model: type[BaseModel], name: str, field: FieldInfo) -> str:
    value = f"{_type(field.annotation)}{_limits(field)}"
    return f"| `{name}` | {value} | {_default(field)} | {meaning(model, name, field)} |"


def meaning(model: type[BaseModel], name: str, field: FieldInfo) -> str:
    """What a key is, in words, with its unit."""
    if field.description:
        return field.description
    notes = [NOTES[key] for parent in model.__mro__ if (key := f"{parent.__name__}.{name}") in NOTES]
    inside = [_own_doc(part) for part in _models_in(field.annotation)]
    return next(filter(None, [*notes, *inside]), "").split("\n")[0]


def useless_notes() -> list[str]:
    """Notes for keys that are gone, or that have a description of their own."""
    used = {
        key
        for model in _all_models()
        for name, field in model.model_fields.items()
        for parent in model.__mro__
        if not field.description and (key := f"{parent.__name__}.{name}") in NOTES
    }
    return sorted(set(NOTES) - used)


def _all_models() -> list[type[BaseModel]]:
    parameters = [found.Parameters for category in plugin.GROUPS for _, found in _plugins(category)]
    return [*SECTIONS, *parameters, *(nested for one in parameters for nested in _nested(one))]


def _type(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in (None, NoneType):
        return "nothing"
    if origin is Annotated:
        return _type(arguments[0])
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_type(part) for part in arguments if part is not NoneType))
    if origin is Literal:
        return " or ".join(f"`{word}`" for word in arguments)
    if origin is dict:
        return "mapping" if arguments[1] is Any else f"mapping of {_type(arguments[1])}"
    if origin is list:
        return {list[models.Number]: "rows of numbers", float: "list of numbers"}.get(
            arguments[0], f"list of {_type(arguments[0])}"
        )
    if origin is tuple:
        return f"{len(arguments)} {_type(arguments[0])}s"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        heading = _heading(annotation)
        return f"[{heading.lower()}](#{re.sub(r'[^a-z0-9 -]', '', heading.lower()).replace(' ', '-')})"
    return {float: "number", int: "whole number", bool: "true or false", str: "text"}.get(annotation, str(annotation))


def _heading(model: type[BaseModel]) -> str:
    return SECTIONS.get(model) or model.__name__


def _limits(field: FieldInfo) -> str:
    signs = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}
    metadata = [*field.metadata, *_inner_metadata(field.annotation)]
    limits = [(sign, getattr(one, key)) for one in metadata for key, sign in signs.items() if hasattr(one, key)]
    found = [f"{sign} {_number(limit)}" for sign, limit in limits if abs(limit) != EDGE]
    return f", {', '.join(dict.fromkeys(found))}" if found else ""


def _inner_metadata(annotation: Any) -> list[Any]:
    if get_origin(annotation) is Annotated:
        inner = [one.metadata if isinstance(one, FieldInfo) else [one] for one in get_args(annotation)[1:]]
        return [one for part in inner for one in part]
    if get_origin(annotation) in (Union, UnionType, tuple):
        return [one for part in get_args(annotation) for one in _inner_metadata(part)]
    return []


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, models.PluginChoice):
        return f"`{value.kind}`"
    if isinstance(value, models.Plane):
        return "`plane`"
    if isinstance(value, models.Engine):
        return "`mujoco`"
    if isinstance(value, BaseModel) or value in ({}, None, ""):
        return "none" if value in ({}, None, "") else "its defaults"
    return _number(value) if isinstance(value, int | float) and not isinstance(value, bool) else f"`{_written(value)}`"


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return f"[{', '.join(_number(one) if isinstance(one, int | float) else _written(one) for one in value)}]"
    return value.kind if isinstance(value, BaseModel) else str(value)


def _number(value: Any) -> str:
    if isinstance(value, int) and value > 10**12:
        return f"2^{value.bit_length() - 1}"
    return "∞" if isinstance(value, float) and isinf(value) else f"{value:.10g}"


if __name__ == "__main__":
    for page, text in pages():
        page.parent.mkdir(exist_ok=True)
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")
            print(f"written: {page.relative_to(DOCS.parent)}")
