"""What files of strangers are read with: one reader a format, which no other module passes by."""

from __future__ import annotations

import re
from pathlib import Path

import airloom

PACKAGE = Path(airloom.__file__).parent


def modules_with(pattern: str) -> set[str]:
    """Those whose text has it; bundled scenarios hold programs of users, not modules of ours."""
    files = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    return {name for name, path in files.items() if "scenarios/" not in name and re.search(pattern, path.read_text())}


def test_one_module_reads_yaml():
    loaders = r"yaml\.(\w*load\w*|\w*Loader|parse|scan|compose|reader)\b|from yaml\b"
    assert modules_with(loaders) == {"scenario/document.py"}


def test_one_module_reads_arrays():
    assert modules_with(r"np\.(load|fromfile|lib\.format|memmap|genfromtxt)\b|ZipFile") == {"basics/arrays.py"}


def test_one_module_decodes_pictures():
    """Those in the messages of a camera are ours."""
    assert modules_with(r"Image\.open\b") == {"basics/pictures.py", "eyes/shown.py"}


def test_one_module_unpickles():
    """Machine code that Airloom has written itself, and checks."""
    assert modules_with(r"import (\w*pickle|dill)|pickle import") == {"compiled/cache.py"}
