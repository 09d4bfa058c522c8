"""Meshes of models: copied beside the vehicle file, and how large they are."""

from __future__ import annotations

import re
import shutil
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from airloom.basics.given import MEGABYTE, regular_file
from airloom.models.dae import dae_vertices
from airloom.models.description import ModelError, Shape
from airloom.reading.box import read_boxed
from airloom.reading.cad import KINDS as CAD
from airloom.reading.cad import facets
from airloom.reading.meshes import triangles
from airloom.world.objects.dae import check_dae

LARGEST_FILE = 60 * MEGABYTE
FORMATS = (".stl", ".obj", ".dae", ".glb", ".gltf", ".ply", ".off")


def check_file(file: Path) -> None:
    """That no reader can be led astray by it without end."""
    regular_file(file, ModelError, LARGEST_FILE, "simplify the mesh")
    if file.suffix.lower() == ".dae":
        check_dae(file, ModelError)


class Facets(NamedTuple):
    """Of a file, in its units."""

    vertices: np.ndarray
    faces: np.ndarray


def load(file: Path) -> Facets:
    """All that is in a file."""
    check_file(file)
    if file.suffix.lower() not in (*FORMATS, *CAD):
        raise ModelError(f"{file}: meshes are read as {', '.join(FORMATS)}, this is {file.suffix or 'something else'}")
    reader = facets if file.suffix.lower() in CAD else triangles
    mesh = Facets(**read_boxed(reader, file, refusal=ModelError))
    if len(mesh.faces) == 0 or not np.isfinite(mesh.vertices).all():
        raise ModelError(f"{file}: holds no triangles with finite corners")
    return mesh


@lru_cache(maxsize=64)
def bounds(file: Path) -> np.ndarray:
    """Lowest and highest corner, in the file's units; the usual formats without trimesh, whose import takes long."""
    check_file(file)
    reader = {".stl": _stl_vertices, ".obj": _obj_vertices, ".dae": dae_vertices}.get(file.suffix.lower())
    vertices = reader(file) if reader else None
    if vertices is None or len(vertices) == 0 or not np.isfinite(vertices).all():
        mesh = load(file)
        vertices = mesh.vertices[np.unique(mesh.faces)]
    return np.array([vertices.min(axis=0), vertices.max(axis=0)], dtype=float)


def _stl_vertices(file: Path) -> np.ndarray | None:
    """Of a binary one: 84 bytes, then 50 for each triangle: normal, three corners, a number."""
    data = file.read_bytes()
    if len(data) <= 84 or int.from_bytes(data[80:84], "little") * 50 + 84 != len(data):
        return None
    rows = np.frombuffer(data, dtype=np.dtype([("numbers", "<f4", 12), ("more", "<u2")]), offset=84)
    return rows["numbers"][:, 3:].reshape(-1, 3)


def _obj_vertices(file: Path) -> np.ndarray | None:
    lines = [line.split()[1:4] for line in file.read_bytes().splitlines() if line.startswith(b"v ")]
    try:
        return np.array(lines, dtype=float).reshape(-1, 3)
    except ValueError:
        return None


@lru_cache(maxsize=256)
def unit_of(file: Path) -> float:
    """Metres of a unit, which only a DAE says; readers of meshes leave it to us, Gazebo heeds it."""
    if file.suffix.lower() != ".dae":
        return 1.0
    with file.open("rb") as stream:
        found = re.search(rb"""<unit\b[^>]*\bmeter\s*=\s*["']([0-9.eE+-]+)["']""", stream.read(50_000))
    try:
        unit = float(found[1]) if found else 1.0
    except ValueError:
        return 1.0
    return unit if 0 < unit < 1e6 else 1.0


def write_obj(file: Path, vertices: np.ndarray, faces: np.ndarray) -> None:
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in vertices]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
    file.write_text("\n".join(lines) + "\n")


def corners_of(shape: Shape) -> np.ndarray | None:
    """Of a box around a shape, in its link's axes; None for what has no size."""
    if shape.kind != "mesh":
        return shape.corners()
    if shape.file is None:
        return None
    low, high = bounds(shape.file) * np.array(shape.scale) * unit_of(shape.file)
    grid = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    return grid @ shape.pose.rotation.T + shape.pose.position


def copy_mesh(file: Path, folder: Path, taken: dict[Path, str]) -> str:
    """Its name in the folder; the same file is copied once."""
    if file not in taken:
        check_file(file)
        folder.mkdir(exist_ok=True)
        name, number = file.name, 2
        while name in taken.values():
            name, number = f"{file.stem}_{number}{file.suffix}", number + 1
        shutil.copyfile(file, folder / name)
        taken[file] = name
    return taken[file]
