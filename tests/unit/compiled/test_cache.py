"""Machine code on disk: damaged, missing, and where nothing can be written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from airloom.compiled import compiled
from airloom.compiled.notice import noticing_compilation

@compiled
def twice(x):
    return inner(x) + x

@compiled
def inner(x):
    return 1.0 * x

with noticing_compilation(lambda name: print("compiles", name)):
    print(twice(21.0))
"""
DAMAGE = {
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "zeros, as after a power cut": lambda data: bytes(len(data)),
    "one bit": lambda data: data[:-200] + bytes([data[-200] ^ 4]) + data[-199:],
}


def run(folder: Path, cache: Path, before: str = "") -> subprocess.CompletedProcess[str]:
    program = folder / "program.py"
    program.write_text(before + PROGRAM)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def warm(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("warm")
    first, second = run(folder, folder / "cache"), run(folder, folder / "cache")
    assert (first.stdout, first.stderr) == ("compiles twice\ncompiles inner\n42.0\n", "")
    assert (second.stdout, second.stderr) == ("42.0\n", "")
    return folder, folder / "cache"


@pytest.mark.parametrize(
    ("suffix", "damage"),
    [("nbi", "cut"), ("nbi", "empty"), ("nbc", "cut"), ("nbc", "zeros, as after a power cut"), ("nbc", "one bit")],
)
def test_a_damaged_file_is_compiled_anew_and_replaced(warm, suffix, damage):
    folder, cache = warm
    file = next(cache.rglob(f"*twice*.{suffix}"))
    file.write_bytes(DAMAGE[damage](file.read_bytes()))
    mended, again = run(folder, cache), run(folder, cache)
    assert (mended.returncode, mended.stderr) == (0, "")
    assert mended.stdout.endswith("42.0\n")
    assert (again.stdout, again.stderr) == ("42.0\n", "")


NO_ROOM = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"


def test_without_room_for_it_airloom_works_and_says_so_once(tmp_path):
    done = run(tmp_path, tmp_path / "cache", NO_ROOM)
    assert done.stdout == "compiles twice\ncompiles inner\n42.0\n"
    assert done.stderr.startswith("Machine code cannot be kept, so the next start takes as long again: ")
    assert done.stderr.endswith("File too large\n")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.rglob("*.tmp.*"))


def test_without_a_folder_for_it_airloom_works_and_says_so_once(tmp_path):
    nowhere = "import os, tempfile\ndef refuse(*_, **__): raise OSError(30, 'Read-only file system')\n"
    done = run(tmp_path, tmp_path / "cache", nowhere + "tempfile.TemporaryFile = refuse\n")
    assert done.stdout == "compiles twice\ncompiles inner\n42.0\n"
    assert done.stderr.count("\n") == 1
