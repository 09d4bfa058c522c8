"""Machine code on disk, as Numba keeps it, but for disks that fail: what is damaged is compiled anew, and where
nothing can be written Airloom works without.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

SUM = 16  # bytes


class _Summed(IndexDataCacheFile):
    """Files of machine code that begin with their checksum: whatever is loaded runs in this process."""

    def _load_data(self, name: str) -> Any:
        content = Path(self._data_path(name)).read_bytes()
        if content[:SUM] != _sum_of(content[SUM:]):
            raise ValueError(f"{name} is damaged")
        return pickle.loads(content[SUM:])

    def _save_data(self, name: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(_sum_of(content) + content)


class _Cache(FunctionCache):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _Summed(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )  # fmt: skip

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """None if there is nothing that can be used; it is replaced by what is compiled instead.

        One reason is a module that has another name by now: it may be found by its path, or imported.
        """
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever damaged files lead pickle and LLVM to
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _tell_once(f"{error.filename or self.cache_path}: {error.strerror}")


def cached(dispatcher: Any) -> Any:
    """A function of Numba's that keeps its machine code on disk, if there is a place for it."""
    try:
        dispatcher._cache = _Cache(dispatcher.py_func)
    except RuntimeError:  # Numba has found no folder that it can write to
        _tell_once("there is no folder that can be written to")
    return dispatcher


class _Trouble:
    """Of writing: it is the same for all functions, so it is told for the first one only."""

    told = False


def _tell_once(why: str) -> None:
    if not _Trouble.told:
        _Trouble.told = True
        print(f"Machine code cannot be kept, so the next start takes as long again: {why}", file=sys.stderr)


def _sum_of(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=SUM).digest()
