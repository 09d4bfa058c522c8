"""For tests of your own with pytest: the fixture `airloom_run`, there wherever Airloom is installed."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="session")
def airloom_run() -> Any:
    """`airloom.testing.run_scenario`: fly a scenario for some steps with hooks, and get what it did."""
    from airloom.testing import run_scenario

    return run_scenario
