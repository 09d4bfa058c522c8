"""What users install: a wheel of these sources, in an environment of its own, holds all that it needs and flies."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from airloom.basics.version import VERSION
from airloom.runs.mcap import LogReader
from airloom.simulation import Simulation

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "airloom"
LOAD_PLUGINS = """
from importlib.metadata import distribution
for entry in distribution("airloom").entry_points:
    print(entry.group, entry.load().__name__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def programs(wheel, tmp_path_factory) -> Path:
    """Those of a new environment with nothing but the wheel, which borrows what Airloom needs from ours."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index", "--no-deps", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    site = next(folder.glob("lib/python*/site-packages"))
    borrowed = {str(one.locate_file("")) for one in metadata.distributions() if one.name != "airloom"}
    (site / "borrowed.pth").write_text("\n".join(sorted(borrowed - {str(PACKAGE.parent)})))
    return python.parent


def printed(*words: object, **options: object) -> str:
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, **options).stdout


def test_it_holds_every_file_of_the_package(wheel):
    with zipfile.ZipFile(wheel) as opened:
        held = {name for name in opened.namelist() if name.startswith("airloom/")}
    sources = {path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    pages = {name for name in held if name.startswith(("airloom/docs/", "airloom/examples/"))}
    assert held - pages == {path.relative_to(PACKAGE.parent).as_posix() for path in sources}
    assert {"airloom/py.typed", "airloom/studio/web/page.js", "airloom/scenario/scenarios/hover.yaml"} <= held


def test_it_is_the_one_that_is_imported(programs, tmp_path):
    file = printed(programs / "python", "-c", "import airloom; print(airloom.__file__)", cwd=tmp_path)
    assert Path(file).is_relative_to(programs.parent)


def test_its_plugins_are_found(programs, tmp_path):
    groups = {line.split()[0] for line in printed(programs / "python", "-c", LOAD_PLUGINS, cwd=tmp_path).splitlines()}
    assert {"console_scripts", "pytest11", "airloom.sensors", "airloom.systems", "airloom.controllers"} <= groups


def test_it_flies_as_the_sources_do_and_tells_one_version(wheel, programs, tmp_path):
    printed(programs / "airloom", "run", "hover", "--headless", "--until", 7, "--out", "flown", cwd=tmp_path)
    summary = json.loads((tmp_path / "flown" / "summary.json").read_text())
    here = Simulation.load("hover")
    here.run(until=7.0)
    assert summary["state_hash"] == here.state_hash()
    told = printed(programs / "airloom", "--version", cwd=tmp_path).split()[1]
    logged = LogReader(tmp_path / "flown" / "log.mcap").metadata["airloom"]
    assert {told, summary["airloom"], logged, wheel.name.split("-")[1]} == {VERSION}


def test_its_description_leads_nowhere_that_a_wheel_has_not(wheel):
    with zipfile.ZipFile(wheel) as opened:
        told = opened.read(next(name for name in opened.namelist() if name.endswith("/METADATA"))).decode()
    description = told.partition("\n\n")[2]
    assert description.startswith("# Airloom")
    assert re.findall(r"\]\((?!https?:)[^)]*\)", description) == []
    assert "scripts/setup &&" not in description
    assert "airloom docs tutorial" in description


def test_it_holds_the_pages_and_all_that_they_show(programs, tmp_path):
    listed = printed(programs / "airloom", "docs", cwd=tmp_path)
    assert {"tutorial", "field-work", "validation", "scenario"} <= {
        line.split()[0] for line in listed.splitlines()[:-1] if line.strip()
    }
    page = printed(programs / "airloom", "docs", "field-work", cwd=tmp_path)
    assert page.startswith("# ")
    folder = Path(listed.splitlines()[-1].partition(" are in ")[2].strip())
    assert folder.is_relative_to(programs.parent)
    links = {
        f"{file.name}: {target}"
        for file in folder.rglob("*.md")
        for target in re.findall(r"\]\((?!https?:|#)([^)#]*)", file.read_text())
        if not (file.parent / target).exists()
    }
    assert links == set()
