"""What is public: it is there, it costs nothing until it is used, and whoever reads our pages needs nothing else."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import airloom

ROOT = Path(__file__).parents[2]
SCENARIOS = Path(airloom.__file__).parent / "scenario" / "scenarios"
PUBLIC = (
    "airloom", "airloom.autopilots", "airloom.bus", "airloom.farm", "airloom.joystick", "airloom.kernels",
    "airloom.member", "airloom.plugin", "airloom.runs", "airloom.studio.sources", "airloom.swarm", "airloom.systems",
    "airloom.testing",
)  # fmt: skip
PROGRAMS = [*sorted((ROOT / "examples").rglob("*.py")), *sorted(SCENARIOS.rglob("*.py"))]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def trees_in(path: Path) -> Iterator[ast.Module]:
    """A program, or all blocks of a page that are Python, whatever they call themselves."""
    text = path.read_text(encoding="utf-8")
    for part in BLOCK.findall(text) if path.suffix == ".md" else [text]:
        try:
            yield ast.parse(part)
        except SyntaxError:
            assert path.suffix == ".md", path


def is_public(module: str, name: str) -> bool:
    return f"{module}.{name}" in PUBLIC or (module in PUBLIC and name in import_module(module).__all__)


def hidden_names(tree: ast.Module) -> Iterator[str]:
    """What this code takes from our package that is not public."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "airloom":
            yield from (f"{node.module}.{a.name}" for a in node.names if not is_public(node.module, a.name))
        elif isinstance(node, ast.Import):
            ours = [alias.name for alias in node.names if alias.name.partition(".")[0] == "airloom"]
            yield from (module for module in ours if module not in PUBLIC)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "al":
            yield from () if is_public("airloom", node.attr) else (f"al.{node.attr}",)


@pytest.mark.parametrize("path", [*PROGRAMS, *PAGES], ids=lambda path: path.name)
def test_examples_and_pages_need_public_names_only(path):
    assert [name for tree in trees_in(path) for name in hidden_names(tree)] == []


def test_what_is_hidden_is_found():
    code = (
        "import airloom.engines; from airloom.kernels import row, MEMORY; from airloom.group import Group; al.nothing"
    )
    assert list(hidden_names(ast.parse(code))) == [
        "airloom.engines", "airloom.kernels.MEMORY", "airloom.group.Group", "al.nothing",
    ]  # fmt: skip


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_there_and_named_in_the_package(module):
    public = import_module(module)
    assert [name for name in public.__all__ if not hasattr(public, name)] == []
    assert module == "airloom" or f"`{module.removeprefix('airloom.')}`" in airloom.__doc__.replace("airloom.", "")


@pytest.mark.parametrize(
    "module", ["airloom", "airloom.farm", "airloom.runs", "airloom.autopilots", "airloom.studio.sources"]
)
def test_names_are_imported_when_they_are_used(module):
    code = f"import sys, {module}; print([m for m in ('numba', 'numpy', 'matplotlib', 'viser') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'airloom' has no attribute 'Simulatoin'"):
        airloom.Simulatoin  # noqa: B018
