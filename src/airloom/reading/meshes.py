"""Meshes, as trimesh reads them: triangles, or with the colours of their pictures; and points in PLY files."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from airloom.reading.unreadable import Unreadable, told


def triangles(file: Path) -> dict[str, np.ndarray]:
    """Vertices in the file's units, and faces."""
    return _arrays_of(_mesh(file, process=False, skip_materials=True))


def coloured(file: Path) -> dict[str, Any]:
    """With `colours` of the vertices, where textures are sampled, or None; and what is odd in `notes`."""
    with _heard() as notes:
        mesh = _mesh(file)
    return _arrays_of(mesh) | {"colours": _colours(mesh), "notes": notes}


def points(file: Path) -> dict[str, np.ndarray | None]:
    """Of a PLY file; `colours` are uint8 [n, 3] or None."""
    with _refused_if_broken(file):
        found = _loaded(file, process=False)
        one: Any = next(iter(found.geometry.values()), None)
        vertices = np.array(getattr(one, "vertices", np.empty((0, 3))), dtype=float).reshape(-1, 3)
        colours = getattr(one, "colors", None) if not hasattr(one, "faces") else one.visual.vertex_colors
        has_colours = colours is not None and len(colours) == len(vertices)
        return {"points": vertices, "colours": np.array(colours, dtype=np.uint8)[:, :3] if has_colours else None}


def _mesh(file: Path, **how: Any) -> Any:
    with _refused_if_broken(file):
        mesh = _loaded(file, **how).to_mesh()
    if len(mesh.vertices) and mesh.vertices.shape[1:] != (3,):
        raise Unreadable(f"{file}: has corners that are not in space, but of {mesh.vertices.shape[1]} numbers")
    if len(mesh.faces) and not 0 <= mesh.faces.min() <= mesh.faces.max() < len(mesh.vertices):
        raise Unreadable(f"{file}: has triangles whose corners are not there")
    return mesh


def _loaded(file: Path, **how: Any) -> Any:
    import trimesh

    beside: Any = _Beside(file)
    with file.open("rb") as opened:
        return trimesh.load_scene(opened, file_type=file.suffix[1:].lower(), resolver=beside, **how)


@contextmanager
def _refused_if_broken(file: Path) -> Iterator[None]:
    try:
        yield
    except MemoryError:
        raise
    except ImportError:
        raise Unreadable(f'{file}: needs a package to be read: pip install "airloom[meshes]"') from None
    except Exception as error:  # readers of meshes raise whatever broken files lead them to
        raise Unreadable(f"{file}: cannot be read as {file.suffix[1:].upper()}: {told(error)}") from None


def _arrays_of(mesh: Any) -> dict[str, np.ndarray]:
    return {"vertices": np.asarray(mesh.vertices, dtype=float), "faces": np.asarray(mesh.faces, dtype=np.int64)}


def _colours(mesh: Any) -> np.ndarray | None:
    try:
        visual = mesh.visual if mesh.visual.kind != "texture" else mesh.visual.to_color()
        return np.array(visual.vertex_colors, dtype=float) if visual.defined else None
    except (AttributeError, TypeError, ValueError, IndexError):
        return None


class _Beside:
    """Files that a mesh names, as trimesh asks for them: those in its own folder, and below."""

    def __init__(self, file: Path) -> None:
        self._folder = file.resolve().parent

    def get(self, name: str) -> bytes:
        for each in (name.strip(), PurePath(name).name):
            file = (self._folder / each).resolve()
            if file.is_relative_to(self._folder) and file.is_file():
                return file.read_bytes()
        raise FileNotFoundError(name)

    __getitem__ = get


@contextmanager
def _heard() -> Iterator[list[str]]:
    """What trimesh logs of textures and materials that it does not find."""
    said: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = record.getMessage()
            if "image" in text or "material" in text:
                said.append(f"a texture or material is missing, so it is grey ({text})")

    logger, ear = logging.getLogger("trimesh"), Ear()
    before = logger.level
    logger.addHandler(ear)
    logger.setLevel(logging.DEBUG)
    try:
        yield said
    finally:
        logger.removeHandler(ear)
        logger.setLevel(before)
