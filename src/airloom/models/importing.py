"""A model file becomes a folder with a vehicle file or a world file, its meshes, and a report."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from airloom.basics.folders import made_beside
from airloom.models.beyond import merged
from airloom.models.description import Description, ModelError, Notes
from airloom.models.files import Library
from airloom.models.markup import local_name, read_xml
from airloom.models.sdf import SdfReader
from airloom.models.sensing import clean_name
from airloom.models.stack import choose_stack
from airloom.models.trial import PlacedVehicle, trial_of_vehicle, trial_of_world
from airloom.models.urdf import read_urdf
from airloom.models.vehicle_file import vehicle_from
from airloom.models.xacro import NAMESPACE, Xacro
from airloom.models.yaml_text import to_yaml
from airloom.scenario.loader import load_world
from airloom.scenario.models import Vehicle, World
from airloom.world.land import Land

if TYPE_CHECKING:
    from airloom.models.world_file import MadeWorld

REPORT = "import.md"
DIGEST = "Digest of this folder as it was written, by which a later import sees whether somebody has edited it: "
SKY = 1e4  # m
STACK: dict[str, Any] = {"estimator": {"kind": "ideal"}, "controller": None}
"""In full, as the loader writes them out."""


@dataclass(frozen=True)
class Imported:
    name: str
    kind: str
    file: Path
    """The vehicle or world file."""
    scenario: Path
    """One that flies it."""
    content: dict[str, Any]
    notes: Notes


def import_model(
    file: Path,
    out: Path | None = None,
    arguments: Mapping[str, str] | None = None,
    allowed: Iterable[Path] = (),
    replace: bool = False,
) -> Imported:
    """Whether it is a vehicle or a world is in the file.

    A folder that an import made before is replaced, one that was edited since only if told to `replace` it.
    """
    if file.is_dir():
        file = Library(file / "model.sdf", allowed).sdf_in(file.resolve(), str(file))
    library = Library(file, allowed)
    root = read_xml(file)
    if local_name(root) in ("sdf", "gazebo") and root.find("world") is not None:
        from airloom.models.world_file import world_from

        name = clean_name(root.find("world").get("name") or file.stem, {})
        target = Path(out or f"{name}_world")
        _refuse_to_lose_edits(target, replace)
        with made_beside(target, REPORT, "import", ModelError) as part:
            made = world_from(root, file.resolve(), library, part)
            _check(made.world, World, file)
            (part / f"{name}.yaml").write_text(_head(file) + to_yaml(made.world))
            vehicles = _add_vehicles(made, part, file)
            trial = trial_of_world(name, made.world, _top(made.world, part, name), vehicles)
            return _write(part, target, "world", name, made.world, trial, made.notes, file)
    description = read_description(file, arguments or {}, library, root)
    name = clean_name(description.name, {})
    target = Path(out or name)
    _refuse_to_lose_edits(target, replace)
    with made_beside(target, REPORT, "import", ModelError) as part:
        vehicle = _vehicle(description, part / "meshes", file)
        (part / f"{name}.yaml").write_text(_head(file) + to_yaml(vehicle))
        return _write(part, target, "vehicle", name, vehicle, trial_of_vehicle(name, vehicle), description.notes, file)


def _vehicle(description: Description, meshes: Path, source: Path) -> dict[str, Any]:
    vehicle = merged(vehicle_from(description, meshes), description.beyond)
    _check(vehicle | STACK, Vehicle, source)
    return vehicle | {"estimator": "ideal", "controller": _controller(vehicle, description)}


def _add_vehicles(made: MadeWorld, part: Path, source: Path) -> dict[str, PlacedVehicle]:
    """A file for each model of the world that flies, floats or dives; the others are noted."""
    found: dict[str, PlacedVehicle] = {}
    for description, pose in made.movable:
        name, notes = clean_name(description.name, found), made.notes
        try:
            vehicle = _vehicle(description, part / f"{name}_meshes", source)
        except ModelError as error:
            notes.ignore(f"the model {description.name}, which can move and is no vehicle: {error}")
            continue
        (part / f"{name}.yaml").write_text(_head(source) + to_yaml(vehicle))
        found[name] = PlacedVehicle(vehicle, pose)
        notes.understand(f"the vehicle {name}: {', '.join(description.notes.understood)}")
        for text in description.notes.assumed:
            notes.assume(f"{name}: {text}")
        for text in description.notes.ignored:
            notes.ignore(f"{name}: {text}")
    return found


def _controller(vehicle: dict[str, Any], description: Description) -> dict[str, Any] | None:
    if "controller" in description.beyond:
        return description.beyond["controller"]
    return choose_stack(vehicle | STACK, description.notes)


def read_description(
    file: Path, arguments: Mapping[str, str] | None = None, library: Library | None = None, root=None
) -> Description:
    """A model of any format that is read."""
    library = library or Library(file)
    root = read_xml(file) if root is None else root
    file = file.resolve()
    tag = local_name(root)
    if arguments and tag != "robot":
        raise ModelError(f"{file}: only xacro files take arguments, this is <{tag}>")
    if tag in ("sdf", "gazebo"):
        return SdfReader(library).read(file)
    if tag == "mujoco":
        from airloom.models.mjcf import read_mjcf

        return read_mjcf(file, library)
    if tag == "robot":
        if not arguments and not _is_xacro(root, file):
            return read_urdf(root, file, library)
        xacro = Xacro(library, dict(arguments or {}))
        description = read_urdf(xacro.process(root, file), file, library)
        for name in sorted(xacro.unused()):
            description.notes.ignore(f"the argument {name}, which nothing in the file asks for")
        return description
    raise ModelError(f"{file}: begins with <{tag}>; expected <sdf>, <robot> (URDF, xacro) or <mujoco>")


def _is_xacro(root, file: Path) -> bool:
    return ".xacro" in file.suffixes or any(NAMESPACE.match(str(element.tag)) for element in root.iter())


def _check(content: dict[str, Any], kind: type[Vehicle] | type[World], source: Path) -> None:
    """Numbers that no vehicle or world of ours may have are told here, not when it is flown."""
    try:
        kind.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        key, text = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
        value = "" if isinstance(first["input"], dict | list) else f" would be {str(first['input'])[:60]}"
        raise ModelError(f"{source}: {key}{value}: {text}") from None


def _head(source: Path) -> str:
    return f"# Made by `airloom import {source.name}`; what was understood, ignored and assumed is in {REPORT}.\n"


def _write(
    part: Path,
    target: Path,
    kind: str,
    name: str,
    content: dict[str, Any],
    trial: dict[str, Any],
    notes: Notes,
    source: Path,
) -> Imported:
    """What goes beside the file of the vehicle or the world."""
    (part / "try.yaml").write_text(to_yaml(trial))
    (part / REPORT).write_text(report(name, source, notes))
    digest = _digest(part)
    with (part / REPORT).open("a") as file:
        file.write(f"\n{DIGEST}{digest}\n")
    return Imported(name, kind, target / f"{name}.yaml", target / "try.yaml", content, notes)


def _refuse_to_lose_edits(target: Path, replace: bool) -> None:
    report = target / REPORT
    if not replace and report.is_file() and f"{DIGEST}{_digest(target)}" not in report.read_text():
        raise ModelError(
            f"{target} was edited since it was imported: choose another folder with --out, or lose what was edited by "
            "--replace"
        )


def _digest(folder: Path) -> str:
    """Of all files in it; of the report only what stands above its own digest."""
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = file.read_bytes()
        if file == folder / REPORT:
            content = content.split(DIGEST.encode())[0].rstrip()
        for part in (str(file.relative_to(folder)).encode(), content):
            digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def _top(world: dict[str, Any], folder: Path, name: str) -> float:
    """Of what lies in the middle of a world over ground below zero, as a sea bed may, m."""
    if world.get("terrain", {}).get("height", 0.0) >= 0.0:
        return -inf
    land = Land(load_world(str((folder / f"{name}.yaml").resolve())))
    return round(SKY - float(land.hit(np.array([0.0, 0.0, SKY]), np.array([0.0, 0.0, -1.0]), 2 * SKY)), 3)


def report(name: str, source: Path, notes: Notes) -> str:
    parts = [f"# {name}, from {source.name}\n"]
    for title, lines in (("Understood", notes.understood), ("Assumed", notes.assumed), ("Ignored", notes.ignored)):
        parts.append(f"## {title}\n\n" + ("".join(f"- {line}\n" for line in lines) or "nothing\n"))
    return "\n".join(parts)
