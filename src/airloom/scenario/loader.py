"""A scenario's name or path → a validated Scenario."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from .checks import (
    check_autopilots,
    check_copies,
    check_parts,
    check_plugins,
    check_radio,
    check_systems,
    check_time,
    check_vehicles,
    check_water,
)
from .definitions import Definitions, Place, unknown_name
from .errors import ScenarioError, all_in_one
from .library import file_of
from .models import Scenario, Vehicle, World
from .overrides import apply_overrides
from .tree import InOverride, Node, origin_of, plain, planted, without
from .validation import complaints

INDEPENDENT = (check_copies, check_plugins)
"""Checks of each part by itself."""
DEPENDENT = (check_vehicles, check_radio, check_autopilots, check_systems, check_parts, check_water, check_time)
"""Checks of parts against one another, each of which takes for granted what those before it have checked."""
MOST_LAYERS = 4
"""What is wrong may leave its parent incomplete, and so on, when it is taken out."""


def load(name_or_path: str | Path, overrides: Mapping[str, Any] | None = None) -> Scenario:
    """The scenario with every definition resolved and every value checked; raises ScenarioError."""
    definitions = Definitions()
    root = definitions.from_file(_file_of(name_or_path), Place())
    return _validated(apply_overrides(root, overrides or {}, definitions), definitions.mistakes)


def load_vehicle(name: str) -> Vehicle:
    """A bundled vehicle by its name."""
    _must_be_there(name, "vehicle")
    described = {"name": "hangar", "world": {"water": {}}, "vehicles": {"vehicle": name}}
    tree = planted(described, InOverride("vehicle", name))
    return _completed(tree).vehicles["vehicle"]


def load_world(name_or_path: str) -> World:
    """A bundled world by its name, or a file."""
    _must_be_there(name_or_path, "world")
    described = {"name": "land", "world": name_or_path, "vehicles": {"nobody": "multirotor"}}
    tree = planted(described, InOverride("world", name_or_path))
    return _completed(tree).world


def _completed(tree: Node) -> Scenario:
    definitions = Definitions()
    return _validated(definitions.complete(tree, None, Place()), definitions.mistakes)


def _must_be_there(name: str, category: str) -> None:
    file = file_of(name, category, Path.cwd())
    if file is None:
        raise ScenarioError(unknown_name(name, category))
    if not file.exists():
        raise ScenarioError(f"there is no file '{name}'")


def _file_of(name_or_path: str | Path) -> Path:
    if isinstance(name_or_path, Path):
        return name_or_path.absolute()
    file = file_of(name_or_path, "scenario", Path.cwd())
    if file is None:
        raise ScenarioError(unknown_name(name_or_path, "scenario"))
    return file


def _validated(root: Node, mistakes: Sequence[str] = ()) -> Scenario:
    """All mistakes are told at once, as far as one does not follow from another."""
    scenario, wrong_values = _parsed(root)
    told = [*mistakes, *wrong_values]
    for checks in (INDEPENDENT, *([check] for check in DEPENDENT)):
        if scenario is not None:
            told += [complaint for check in checks for complaint in check(scenario, root)]
        if told:
            raise all_in_one(told)
    assert scenario is not None
    return _with_folders(scenario, root)


def _parsed(root: Node) -> tuple[Scenario | None, list[str]]:
    """The scenario without its wrong values, and what is wrong with them; None if nothing can be parsed."""
    told: list[str] = []
    sound = root
    for _ in range(MOST_LAYERS):
        try:
            return Scenario.model_validate(plain(sound)), told
        except ValidationError as error:
            wrong = complaints(error, sound, Scenario)
        told = told or list(wrong.values())
        for path in wrong:
            sound = without(sound, path)
    return None, told


def _with_folders(scenario: Scenario, root: Node) -> Scenario:
    """Members run in the folder of the file that describes them, or in one that it names as seen from there."""
    members = {
        name: member.model_copy(update={"folder": os.path.normpath(_folder_of(root, name) / (member.folder or ""))})
        for name, member in scenario.members.items()
    }
    return scenario.model_copy(update={"members": members}) if members else scenario


def _folder_of(root: Node, member: str) -> Path:
    return origin_of(root, ("members", member)).folder.absolute()
