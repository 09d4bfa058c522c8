"""Folders that are there whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def part_of(out: Path) -> Path:
    """The folder in which another is made, before it is where it belongs."""
    return out.absolute().with_name(f".{out.name}.{os.getpid()}.part")


@contextmanager
def made_beside(out: Path, mark: str, kind: str, mistake: type[Exception]) -> Iterator[Path]:
    """A folder that takes its place when all went well, and else is gone.

    One that is there already is replaced if a file called `mark` in it shows that it is of the same kind.
    """
    if out.exists() and not (out / mark).exists():
        raise mistake(f"{out} is there already and is no {kind} folder: choose another with --out")
    if not out.absolute().parent.is_dir():
        raise mistake(f"there is no folder {out.absolute().parent} to make {out.name} in")
    part = part_of(out)
    try:
        part.mkdir()
        yield part
        if out.exists():
            shutil.rmtree(out)
        part.rename(out)
    except OSError as error:
        raise mistake(f"{out} cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
