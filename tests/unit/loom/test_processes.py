"""What a scenario writes as the command of a member."""

from __future__ import annotations

import sys

import pytest

from airloom.loom.processes import resolved

PYTHON = sys.executable


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (["python", "logic.py"], [PYTHON, "logic.py"]),
        (["airloom", "exec", "logic.py"], [PYTHON, "-m", "airloom", "exec", "logic.py"]),
        (["python", "-m", "airloom", "exec", "python"], [PYTHON, "-m", "airloom", "exec", PYTHON]),
        (["env", "A=1", "airloom", "--name", "airloom"], ["env", "A=1", PYTHON, "-m", "airloom", "--name", "airloom"]),
        (["./airloom", "python3"], ["./airloom", "python3"]),
    ],
)
def test_no_environment_needs_to_be_active(written, meant):
    assert resolved(written) == meant
