"""Points from files: LAS, LAZ, PLY, PCD and text, with what they say of themselves."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from airloom.reading.meshes import points
from airloom.reading.unreadable import Unreadable, library, told

CHUNK = 2_000_000  # points of a LAS file at once
NOISE = (7, 18)
"""Classes of LAS 1.4, table 17."""
TEXTS = (".xyz", ".txt", ".csv")

Found = dict[str, Any]
"""`points` float [n, 3] and, if the file has them, `classes` uint8 [n], `colours` uint8 [n, 3] and `crs`, WKT."""


def points_of(file: Path, progress: Callable[[float], None]) -> Found:
    try:
        return READERS[file.suffix.lower()](file, progress)
    except (Unreadable, MemoryError):
        raise
    except Exception as error:  # readers of others raise whatever comes up when a file is damaged
        kind = file.suffix.lower()[1:].upper()
        raise Unreadable(f"{file} is damaged, or no {kind} file: {told(error)}") from None


def _check_las(file: Path) -> None:
    """Whether a header's numbers can be true (LAS 1.4, tables 3 and 9): its reader would follow them anywhere."""
    size = file.stat().st_size
    with file.open("rb") as data:
        header = data.read(375).ljust(375, b"\0")
    length, begin, records, kind, width, count = struct.unpack_from("<HIIBHI", header, 94)
    first_extended, extended, long_count = struct.unpack_from("<QIQ", header, 235)
    is_long = header[24:26] == b"\x01\x04"
    if header[:4] != b"LASF" or header[24] != 1 or not 227 <= length <= begin <= size:
        raise ValueError("its header makes no sense")
    if records * 54 > begin - length or (is_long and extended and first_extended + extended * 60 > size):
        raise ValueError("its header promises more records than there is room for")
    count = (long_count or count) if is_long else count
    if not kind & 0x80 and begin + count * width > size:
        has = (size - begin) // max(width, 1)
        raise Unreadable(f"{file} is cut off: it promises {count:,} points and has {has:,}; get it anew")


def _las(file: Path, progress: Callable[[float], None]) -> Found:
    laspy = library("laspy", "a LAS or LAZ file", "terrain")
    if file.suffix.lower() == ".laz":
        library("lazrs", "a LAZ file", "terrain")
    _check_las(file)
    with laspy.open(file) as reader:
        header = reader.header
        count = header.point_count
        has_colours = "red" in header.point_format.dimension_names
        found, classes = np.empty((count, 3)), np.empty(count, dtype=np.uint8)
        colours = np.zeros((count, 3), dtype=np.uint16) if has_colours else None
        done = 0
        for chunk in reader.chunk_iterator(CHUNK):
            part = slice(done, done + len(chunk))
            found[part] = np.column_stack([chunk.x, chunk.y, chunk.z])
            classes[part] = np.where(np.asarray(chunk.withheld, dtype=bool), NOISE[0], np.asarray(chunk.classification))
            if colours is not None:
                colours[part] = np.column_stack([chunk.red, chunk.green, chunk.blue])
            done += len(chunk)
            progress(done / max(count, 1))
        if done < count:
            raise ValueError(f"it promises {count:,} points and has {done:,}")
        crs = header.parse_crs()
    return {
        "points": found, "classes": classes if classes.any() else None, "colours": _eight_bits(colours),
        "crs": crs.to_wkt() if crs is not None else None,
    }  # fmt: skip


def _eight_bits(colours: np.ndarray | None) -> np.ndarray | None:
    """LAS has 16 bits a colour, but many files use only 8 of them."""
    if colours is None or not colours.any():
        return None
    return (colours if colours.max() < 256 else colours >> 8).astype(np.uint8)


def _ply(file: Path, progress: Callable[[float], None]) -> Found:
    return points(file)


def _pcd(file: Path, progress: Callable[[float], None]) -> Found:
    pypcd4 = library("pypcd4", "a PCD file", "terrain")
    return {"points": np.array(pypcd4.PointCloud.from_path(file).numpy(("x", "y", "z")), dtype=float)}


def _text(file: Path, progress: Callable[[float], None]) -> Found:
    """Three or more numbers a line, with commas, semicolons or spaces between; a line of names may come first."""
    with file.open(encoding="utf-8", errors="replace") as lines:
        numbered = enumerate(lines, 1)
        number, first = next(((n, line) for n, line in numbered if line.strip() and not line.startswith("#")), (0, ""))
    if not first:
        return {"points": np.empty((0, 3))}
    between = next((sign for sign in ",;" if sign in first), None)
    has_names = not all(_is_number(word) for word in first.split(between) if word.strip())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a file without points, of which we tell ourselves
        numbers = np.loadtxt(file, delimiter=between, skiprows=number if has_names else 0, ndmin=2, usecols=(0, 1, 2))
    return {"points": numbers}


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


READERS: dict[str, Callable[[Path, Callable[[float], None]], Found]] = {
    ".las": _las, ".laz": _las, ".ply": _ply, ".pcd": _pcd, **dict.fromkeys(TEXTS, _text),
}  # fmt: skip
