"""Definitions that come with Airloom, and how a name or a path finds its file."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from .document import read
from .tree import BUNDLED

FOLDERS = {
    "scenario": "scenarios",
    "vehicle": "vehicles",
    "world": "worlds",
    "sensor": "sensors",
    "controller": "controllers",
    "estimator": "estimators",
    "autopilot": "autopilots",
    "system": "systems",
}


@cache
def _known(category: str) -> dict[str, Path]:
    return {file.stem: file for file in sorted((BUNDLED / FOLDERS[category]).glob("*.yaml"))}


def known(category: str) -> dict[str, Path]:
    """The bundled definitions of a category (scenario, vehicle, world, sensor, …): name → file."""
    return dict(_known(category))


def describe(path: Path) -> str:
    """The first line of a definition's description."""
    description = read(path).value.get("description")
    text = str(description.value) if description and description.value else ""
    return text.strip().split("\n")[0]


def looks_like_path(name: str) -> bool:
    return "/" in name or name.endswith((".yaml", ".yml"))


def file_of(name: str, category: str, folder: Path) -> Path | None:
    """The file that `name` means, or None if it is no bundled name; a path is taken from `folder`."""
    if looks_like_path(name):
        return Path(os.path.abspath(folder / name))
    return _known(category).get(name)
