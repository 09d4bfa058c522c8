"""The documentation as a site: no link is dead, nothing is missing, and it fetches nothing from anywhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import airloom
from airloom.scenario import known

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "figures" / "scenarios"
LARGEST = 60_000  # bytes of a picture
FETCHED = re.compile(r'<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"')


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder


def test_it_is_built_without_a_warning_and_can_be_searched(site):
    found = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    places = {entry["location"].partition("#")[0] for entry in found}
    assert {"index.html", "tutorial.html", "howto/fly.html", "reference/api.html", "contributing.html"} <= places


def test_it_needs_no_other_host(site):
    pages = list(site.rglob("*.html"))
    assert pages
    assert {str(page): FETCHED.findall(page.read_text()) for page in pages if FETCHED.search(page.read_text())} == {}
    assert not [sheet for sheet in site.rglob("*.css") if re.search(r"url\(['\"]?(https?:)?//", sheet.read_text())]


def test_every_public_name_is_explained(site):
    page = (site / "reference" / "api.html").read_text()
    assert [name for name in airloom.__all__ if f'id="airloom.{name}"' not in page] == []


def test_every_scenario_has_a_picture_that_is_soon_there():
    taken = {path.stem: path.stat().st_size for path in PICTURES.iterdir()}
    assert taken.keys() == known("scenario").keys()
    assert {name: size for name, size in taken.items() if size > LARGEST} == {}
