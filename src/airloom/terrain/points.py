"""Point clouds from files: LAS, LAZ, PLY, PCD and text."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from airloom.basics.given import regular_file
from airloom.scenario.terrain import TerrainError
from airloom.terrain.extras import library
from airloom.terrain.frame import LOCAL, crs_of, metres_in, vertical_unit
from airloom.terrain.raster import assumed_unit

CHUNK = 2_000_000  # points of a LAS file at once
GROUND = 2
NOISE = (7, 18)
"""Classes of LAS 1.4, table 17."""
LOST = IndexError, KeyError, AttributeError, TypeError, AssertionError, struct.error
"""Of a reader that has lost its way: their texts are for programmers."""
TEXTS = (".xyz", ".txt", ".csv")


@dataclass
class Cloud:
    """Points in the coordinates of a survey, their heights in metres."""

    points: np.ndarray
    """[n, 3]"""
    classes: np.ndarray | None = None
    """uint8 [n], of LAS; None if none has one"""
    colours: np.ndarray | None = None
    """uint8 [n, 3]"""
    crs: Any = None
    warnings: list[str] = field(default_factory=list)

    def only(self, which: np.ndarray) -> Cloud:
        if which.all():
            return self
        classes = None if self.classes is None else self.classes[which]
        colours = None if self.colours is None else self.colours[which]
        return Cloud(self.points[which], classes, colours, self.crs, self.warnings)


def is_cloud(file: Path) -> bool:
    return file.suffix.lower() in READERS


def read_cloud(file: Path, crs: str | None, units: str | None, progress: Callable[[float], None]) -> Cloud:
    """All points that have finite coordinates and are not called noise."""
    regular_file(file, TerrainError)
    try:
        cloud = READERS[file.suffix.lower()](file, progress)
    except TerrainError:
        raise
    except Exception as error:  # readers of others raise whatever comes up when a file is damaged
        why = "what is in it makes no sense" if isinstance(error, LOST) else error
        raise TerrainError(f"{file} is damaged, or no {file.suffix.lower()[1:].upper()} file: {why}") from None
    if not len(cloud.points):
        raise TerrainError(f"{file} has no points")
    cloud.crs = _system(file, cloud.crs, crs)
    cloud.points[:, 2] *= _unit(cloud, units)
    wanted = np.isfinite(cloud.points).all(axis=1)
    if (missing := int(np.count_nonzero(~wanted))) == len(wanted):
        raise TerrainError(f"{file}: none of its {missing} points has coordinates that are numbers")
    if missing:
        cloud.warnings.append(f"{missing:,} points without coordinates are left out")
    if cloud.classes is not None:
        wanted &= ~np.isin(cloud.classes, NOISE)
        if not wanted.any():
            raise TerrainError(f"{file}: all of its points are classified as noise")
    return cloud.only(wanted)


def _system(file: Path, own: Any, named: str | None) -> Any:
    if named is None and own is None:
        raise TerrainError(
            f"{file} does not say where on Earth it lies: name its coordinate system with --crs EPSG:NUMBER, or with "
            f"--crs {LOCAL} if its coordinates are metres east and north of --origin"
        )
    return crs_of(named or own, str(file))


def _unit(cloud: Cloud, units: str | None) -> float:
    said = units or vertical_unit(cloud.crs)
    if said and (known := metres_in(said)) is not None:
        return known
    if units:
        raise TerrainError(f"'{units}' is no unit of heights that is known: metres or feet")
    return assumed_unit(cloud.crs, cloud.warnings)


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
        raise TerrainError(f"{file} is cut off: it promises {count:,} points and has {has:,}; get it anew")


def _read_las(file: Path, progress: Callable[[float], None]) -> Cloud:
    laspy = library("laspy", "a LAS or LAZ file")
    if file.suffix.lower() == ".laz":
        library("lazrs", "a LAZ file")
    _check_las(file)
    with laspy.open(file) as reader:
        header = reader.header
        count = header.point_count
        has_colours = "red" in header.point_format.dimension_names
        points, classes = np.empty((count, 3)), np.empty(count, dtype=np.uint8)
        colours = np.zeros((count, 3), dtype=np.uint16) if has_colours else None
        done = 0
        for chunk in reader.chunk_iterator(CHUNK):
            part = slice(done, done + len(chunk))
            points[part] = np.column_stack([chunk.x, chunk.y, chunk.z])
            classes[part] = np.where(np.asarray(chunk.withheld, dtype=bool), NOISE[0], np.asarray(chunk.classification))
            if colours is not None:
                colours[part] = np.column_stack([chunk.red, chunk.green, chunk.blue])
            done += len(chunk)
            progress(done / max(count, 1))
        if done < count:
            raise ValueError(f"it promises {count:,} points and has {done:,}")
        crs = header.parse_crs()
    return Cloud(points, classes if classes.any() else None, _eight_bits(colours), crs)


def _eight_bits(colours: np.ndarray | None) -> np.ndarray | None:
    """LAS has 16 bits a colour, but many files use only 8 of them."""
    if colours is None or not colours.any():
        return None
    return (colours if colours.max() < 256 else colours >> 8).astype(np.uint8)


def _read_ply(file: Path, progress: Callable[[float], None]) -> Cloud:
    import trimesh

    found: Any = trimesh.load(file, process=False)
    points = np.array(getattr(found, "vertices", np.empty((0, 3))), dtype=float).reshape(-1, 3)
    colours = getattr(found, "colors", None) if not hasattr(found, "faces") else found.visual.vertex_colors
    has_colours = colours is not None and len(colours) == len(points)
    return Cloud(points, colours=np.array(colours, dtype=np.uint8)[:, :3] if has_colours else None)


def _read_pcd(file: Path, progress: Callable[[float], None]) -> Cloud:
    pypcd4 = library("pypcd4", "a PCD file")
    return Cloud(np.array(pypcd4.PointCloud.from_path(file).numpy(("x", "y", "z")), dtype=float))


def _read_text(file: Path, progress: Callable[[float], None]) -> Cloud:
    """Three or more numbers a line, with commas, semicolons or spaces between; a line of names may come first."""
    with file.open(encoding="utf-8", errors="replace") as lines:
        numbered = enumerate(lines, 1)
        number, first = next(((n, line) for n, line in numbered if line.strip() and not line.startswith("#")), (0, ""))
    if not first:
        return Cloud(np.empty((0, 3)))
    between = next((sign for sign in ",;" if sign in first), None)
    has_names = not all(_is_number(word) for word in first.split(between) if word.strip())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a file without points, of which we tell ourselves
        numbers = np.loadtxt(file, delimiter=between, skiprows=number if has_names else 0, ndmin=2, usecols=(0, 1, 2))
    return Cloud(np.ascontiguousarray(numbers))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


READERS: dict[str, Callable[[Path, Callable[[float], None]], Cloud]] = {
    ".las": _read_las, ".laz": _read_las, ".ply": _read_ply, ".pcd": _read_pcd, **dict.fromkeys(TEXTS, _read_text),
}  # fmt: skip
