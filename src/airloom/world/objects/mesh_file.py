"""The user's own shapes, from files that trimesh reads, and what is touched of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np

from airloom.basics.given import MEGABYTE, regular_file
from airloom.basics.rotations import matrix_from_euler
from airloom.commands import EDGE
from airloom.reading.box import read_boxed
from airloom.reading.meshes import coloured
from airloom.scenario.objects import MeshObject, ObjectError
from airloom.world.meshes import Colour, Mesh
from airloom.world.objects.boxes import boxes_within
from airloom.world.objects.dae import check_dae
from airloom.world.objects.place import Ground, Place
from airloom.world.things import Solid

LARGEST_FILE = 256 * MEGABYTE
FORMATS = (".obj", ".stl", ".ply", ".glb", ".gltf", ".off", ".dae")
GREY: Colour = (170, 170, 166)
MOST_TRIANGLES, MOST_EXACT = 500_000, 2_000
LARGEST, SMALLEST = 5_000.0, 1e-3  # m


def build_mesh(own: MeshObject, place: Place, ground: Ground) -> tuple[Mesh, tuple[Solid, ...]]:
    """Put with its origin on the ground, as it is in the file."""
    mesh = _standing(own)
    return place.put(mesh, list(_solids(own, mesh)), ground)


def _standing(own: MeshObject) -> Mesh:
    """In metres and turned, with the colour it is to have."""
    read = read_mesh(own.file)
    turn = matrix_from_euler(own.roll, own.pitch, 0.0)
    mesh = Mesh(read.vertices * np.array(own.scale) @ turn.T, read.faces, read.colours)
    longest = float(np.ptp(mesh.vertices, axis=0).max())
    if not SMALLEST < longest < LARGEST or np.abs(mesh.vertices).max() > EDGE:
        raise ObjectError(
            f"{own.file}: is {longest:.3g} m large at a scale of {own.scale}; it may be between {SMALLEST:g} and "
            f"{LARGEST:g} m. Files in millimetres need scale: 0.001"
        )
    if own.colour is not None:
        mesh.colours[:, :3] = own.colour
    return mesh


def _solids(own: MeshObject, mesh: Mesh) -> Iterator[Solid]:
    if own.collision == "none":
        return
    low, high = mesh.extent
    if own.collision == "boxes":
        yield from boxes_within(mesh)
        return
    half, middle = (high - low) / 2, (low + high) / 2
    if own.collision == "exact" and len(mesh.faces) > MOST_EXACT:
        raise ObjectError(
            f"{own.file}: has {len(mesh.faces)} triangles; {MOST_EXACT} can be touched as they are. "
            "Make it coarser, or give collision: boxes"
        )
    if own.collision == "hull" and np.linalg.matrix_rank(mesh.vertices - mesh.vertices[0], tol=1e-6) < 3:
        raise ObjectError(f"{own.file}: is flat, and has no hull; give collision: exact")
    yield Solid(own.collision, tuple(half.tolist()), tuple(middle.tolist()), mesh=mesh.moved(-middle))


def complaints_of(own: MeshObject) -> list[str]:
    """What is odd about a file, though it can be used."""
    mesh = _standing(own)
    odd = [f"{own.file}: {text}" for text in _notes.get(own.file, ())]
    if own.collision == "boxes" and not is_watertight(mesh):
        odd.append(
            f"{own.file}: is not watertight, so what is inside is a guess; check its boxes or give collision: exact"
        )
    return odd


def is_watertight(mesh: Mesh) -> bool:
    """Whether each edge belongs to two triangles, those at one point counting as one vertex."""
    _, same = np.unique(mesh.vertices.round(9), axis=0, return_inverse=True)
    faces = same.ravel()[mesh.faces.astype(np.int64)]
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    return bool((np.unique(edges, axis=0, return_counts=True)[1] == 2).all())


# -- reading -----------------------------------------------------------------------------------------------------------

_notes: dict[str, tuple[str, ...]] = {}
"""What trimesh said while it read a file."""


def read_mesh(file: str) -> Mesh:
    """As it is in the file, in the file's units."""
    return _read(file, os.path.getmtime(file) if os.path.exists(file) else 0.0)


@lru_cache(maxsize=16)
def _read(file: str, changed: float) -> Mesh:
    """`changed` is when the file was, so that a later version is read anew."""
    path = Path(file)
    if path.suffix.lower() not in FORMATS:
        raise ObjectError(f"{file}: is no mesh that can be read; known are {', '.join(FORMATS)}")
    regular_file(path, ObjectError, LARGEST_FILE, "make the mesh coarser")
    if path.suffix.lower() == ".dae":
        check_dae(path, ObjectError)
    whole = read_boxed(coloured, path, refusal=ObjectError)
    _notes[file] = tuple(whole["notes"])
    vertices, faces = whole["vertices"], whole["faces"]
    if not 0 < len(faces) <= MOST_TRIANGLES:
        amount = f"{len(faces)} triangles; {MOST_TRIANGLES} are the most" if len(faces) else "no triangles"
        raise ObjectError(f"{file}: has {amount}")
    if not np.isfinite(vertices).all():
        raise ObjectError(f"{file}: has vertices that are not finite numbers")
    return Mesh(vertices, faces.astype(np.uint32), _colours(whole["colours"], len(vertices)))


def _colours(found: np.ndarray | None, count: int) -> np.ndarray:
    """One for each vertex; grey if there are none or they cannot be read."""
    colours = np.tile([*GREY, 255.0], (count, 1)) if found is None or found.shape != (count, 4) else found
    colours[:, 3] = 255.0
    return colours
