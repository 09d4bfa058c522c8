"""Files that end the process of the library that reads them, or lead it elsewhere: for users they are one message."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.step_files import StepBox

pytest.importorskip("cascadio")


def airloom(*arguments):
    """Code, and what it says."""
    done = subprocess.run(
        [sys.executable, "-m", "airloom", *map(str, arguments)], capture_output=True, text=True, timeout=300
    )
    assert "Traceback" not in done.stderr
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def test_a_step_file_whose_edge_has_no_direction(tmp_path):
    """Open CASCADE follows the pointer that is not there."""
    file = tmp_path / "plate.step"
    file.write_text(str(StepBox((10, 20, 30))).replace("#17=DIRECTION", "#17=DCTION"))
    code, said = airloom("weigh", file, "--density", "1000")
    assert code == 2
    assert "plate.step cannot be read: the process that reads it was ended by SIGSEGV" in said
    assert "get it anew" in said
