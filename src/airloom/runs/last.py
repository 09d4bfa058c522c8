"""Which runs were written elsewhere than in `runs` by commands given in this folder, so that `last` finds them too."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

import platformdirs

MOST_NOTES = 100
"""Of as many folders it is known which run was last."""


def remember(run: Path) -> None:
    """Note the folder of a run. Without a place to write, `last` finds only what is in `runs`."""
    note = _note()
    unfinished = note.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(os.fsencode(run.absolute()))
        unfinished.replace(note)
        _forget_the_oldest(note.parent)


def remembered() -> Path | None:
    """The folder that was noted last, if anything is there."""
    try:
        path = Path(os.fsdecode(_note().read_bytes()))
        return path if path.is_dir() else None
    except (OSError, ValueError):
        return None


def _note() -> Path:
    here = hashlib.blake2b(os.fsencode(Path.cwd()), digest_size=8).hexdigest()
    return Path(platformdirs.user_state_dir("airloom")) / "last_runs" / here


def _forget_the_oldest(notes: Path) -> None:
    by_age = sorted(notes.iterdir(), key=lambda note: note.stat().st_mtime_ns, reverse=True)
    for note in by_age[MOST_NOTES:]:
        note.unlink(missing_ok=True)
