"""The rooms of the package: what imports what, and that nobody's guests are also his hosts."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import airloom

PACKAGE = Path(airloom.__file__).parent
HALL = {
    "__main__", "commands", "errors", "group", "kernels", "member", "plugin", "pytest_plugin", "simulation", "system",
    "testing", "vehicle",
}  # fmt: skip
LAWS = {"basics", "compiled", "world"}
"""What physics may know."""


def room_of(module: str) -> str:
    """The folder below the package, or a module of the hall; empty for the package itself."""
    return [*module.split("."), ""][1]


def is_for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports_in(tree: ast.AST) -> Iterator[str]:
    """Of our own modules, wherever they stand, in functions too; those for type checkers do not count."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "airloom":
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "airloom")
        elif not is_for_types_only(node):
            yield from imports_in(node)


def rooms() -> dict[str, set[str]]:
    """Each room, and those it needs. Bundled scenarios hold programs of users, not modules of ours."""
    there = {path.stem for path in PACKAGE.iterdir()}
    needs: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if "scenarios" not in parts and parts != ("__init__",):
            found = {room_of(name) for name in imports_in(ast.parse(path.read_text()))} & there
            needs.setdefault(parts[0], set()).update(found - {parts[0], "__init__"})
    return needs


def test_no_room_needs_one_that_needs_it():
    try:
        TopologicalSorter(rooms()).prepare()
    except CycleError as error:
        pytest.fail(" needs ".join(reversed(error.args[1])))


def test_physics_are_laws_only():
    assert rooms()["physics"] <= LAWS


def test_the_hall_holds_what_everybody_comes_for():
    assert {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"} <= HALL


def test_the_architecture_names_every_folder():
    text = (PACKAGE.parents[1] / "docs/architecture.md").read_text()
    layout = text[text.index("## Layout") : text.index("## Decisions")]
    folders = {path.parent for path in PACKAGE.rglob("*.py") if "scenarios" not in path.parts} - {PACKAGE}
    missing = [path.name for path in folders if f"{path.name}/" not in layout]
    assert not missing


def test_a_member_starts_without_the_compiler():
    """There may be many, and loading it takes longer than all else."""
    code = "import sys, airloom.member; print(sorted({'numba', 'mujoco', 'pydantic'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
