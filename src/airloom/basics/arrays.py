"""NumPy's files, .npy and .npz, from anybody: the one reader of them there is.

What a header promises is held against the size of the file before memory is taken for it, and no objects are made:
NumPy's own reader takes what the header says, be it terabytes.
"""

from __future__ import annotations

import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import IO, Any

import numpy as np

from airloom.basics.given import Mistake, regular_file

NUMBERS = "fiub"
"""Kinds of NumPy's types."""
HEADERS: dict[Any, Any] = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class _Wrong(Exception):
    """The text says what is wrong with a file, without its name."""


def read_array(file: Path | str, mistake: Mistake, most: int, advice: str = "", mapped: bool = False) -> np.ndarray:
    """The numbers in a .npy file, at most so many; if `mapped` they stay in the file, and cannot be written."""
    path = regular_file(file, mistake)
    try:
        with path.open("rb") as stream:
            shape = _shape_in(stream, path.stat().st_size, most)
        if mapped and 0 not in shape:
            return np.load(path, mmap_mode="r", allow_pickle=False)
        return np.load(path, allow_pickle=False)
    except _Wrong as wrong:
        raise mistake(_told(path, str(wrong), advice)) from None
    except Exception as error:  # whatever damaged files lead NumPy to
        raise mistake(_told(path, f"cannot be read as .npy, it may be damaged: {_first_line(error)}", advice)) from None


def read_arrays(file: Path | str, names: Collection[str], mistake: Mistake, most: int) -> dict[str, np.ndarray]:
    """Those of the named arrays that are in a .npz file, each of at most so many numbers."""
    path = regular_file(file, mistake)
    found = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                name = entry.filename.removesuffix(".npy")
                if name in names:
                    found[name] = _array_in(archive, entry, name, most)
    except _Wrong as wrong:
        raise mistake(_told(path, str(wrong))) from None
    except Exception as error:  # whatever damaged files lead Python's reader of archives to
        raise mistake(_told(path, f"cannot be read as .npz, it may be damaged: {_first_line(error)}")) from None
    return found


def _array_in(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, most: int) -> np.ndarray:
    try:
        with archive.open(entry) as stream:
            _shape_in(stream, entry.file_size, most)
        with archive.open(entry) as stream:
            return np.lib.format.read_array(stream, allow_pickle=False)
    except _Wrong as wrong:
        raise _Wrong(f"{name} {wrong}") from None


def _shape_in(stream: IO[bytes], size: int, most: int) -> tuple[int, ...]:
    """By the header, if the file is as large as that says."""
    if not size:
        raise _Wrong("is empty")
    version = np.lib.format.read_magic(stream)
    if version not in HEADERS:
        raise _Wrong("is no .npy file that holds numbers only")
    shape, _, kind = HEADERS[version](stream)
    if kind.kind not in NUMBERS or kind.itemsize > 8:
        raise _Wrong(f"must hold numbers of up to 64 bits, got {kind}")
    count = 1
    for length in shape:
        if length < 0:
            raise _Wrong(f"says that its shape is {shape}")
        count *= length
    if count > most:
        raise _Wrong(f"holds {count:,} numbers; {most:,} are the most that are read")
    if count * kind.itemsize > size - stream.tell():
        there = max(size - stream.tell(), 0) // kind.itemsize
        raise _Wrong(f"is cut off: it promises {count:,} numbers and has {there:,}")
    return shape


def _told(path: Path, what: str, advice: str = "") -> str:
    return f"{path}: {what}" + (f"; {advice}" if advice else "")


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
