"""Inputs that are given as files, in memory, since a million are written."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from torture.guided import Guided
from torture.trial import Tally, feed

SHARED_MEMORY = Path("/dev/shm")


@contextmanager
def file_called(name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None) as folder:
        yield Path(folder) / name


def fed_as_file(
    name: str, read: Callable[[Path], object], guided: Guided, count: int, *refusals: type[Exception]
) -> Tally:
    """Whoever reads must refuse what is wrong with one of these exceptions, and leave nothing beside the file."""
    with file_called(name) as file:

        def take(data: bytes) -> None:
            file.write_bytes(data)
            read(file)

        tally = feed(guided.watched(take), guided.inputs(count), refusals)
        left = [path.name for path in file.parent.iterdir() if path.suffix == ".part"]
        if left:
            tally.surprise(f"unfinished folders were left: {left[:3]}")
    tally.note = f"{guided.learnt} inputs reached new code and were changed further"
    return tally
