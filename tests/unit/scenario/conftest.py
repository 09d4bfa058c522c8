"""A folder to write scenario files in, with a plugin of each category beside them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airloom.scenario import Scenario, load

PLUGINS = '''
from pydantic import Field

from airloom.plugin import Parameters, Plugin


class Gains(Parameters):
    kp: float = Field(1.0, gt=0)
    kd: float = 0.5


class Tuned(Parameters):
    gains: Gains = Gains()
    bias: float | list[float] = 0.0


class Pilot(Plugin):
    """A controller to test with."""

    category = "controller"
    Parameters = Tuned


class Probe(Plugin):
    """A sensor to test with."""

    category = "sensor"
    Parameters = Tuned


class Helper(Plugin):
    """A system to test with."""

    category = "system"
    Parameters = Tuned
    rate = 50.0
'''

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a file in a fresh folder, which is the working directory too."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plugins.py").write_text(PLUGINS)

    def write_file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"))
        return path

    return write_file


@pytest.fixture
def loaded(write: Write) -> Callable[..., Scenario]:
    """Load a scenario from its text."""

    def load_text(text: str, overrides: dict[str, Any] | None = None) -> Scenario:
        return load(write("scenario.yaml", text), overrides)

    return load_text
