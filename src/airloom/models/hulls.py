"""Meshes that displace water: closed as they are, open ones by their convex hull, fine ones in fewer triangles."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from airloom.models.description import Notes, Shape
from airloom.models.meshes import load, unit_of, write_obj
from airloom.models.solids import diagnose, hull_of, measure_solid, welded
from airloom.vehicles.hull import MOST_TRIANGLES

COARSEST = 4
"""Cells along the longest side, of a mesh that is made of fewer triangles."""

Triangles = tuple[np.ndarray, np.ndarray]


def write_hull(shape: Shape, name: str, folder: Path, notes: Notes) -> str:
    """The file of a closed mesh in metres, in the shape's own axes; ModelError if nothing of it encloses anything."""
    assert shape.file is not None
    mesh = load(shape.file)
    scale = np.array(shape.scale) * unit_of(shape.file)
    vertices, faces = welded(np.asarray(mesh.vertices, dtype=float) * scale, np.asarray(mesh.faces))
    found = diagnose(vertices, faces)
    what = f"the collision {name} ({shape.file.name})"
    if found.is_solid:
        faces = faces[:, ::-1] if found.volume < 0 else faces
        notes.understand(f"{what} displaces {1000 * abs(found.volume):.4g} litres, as the mesh that it is")
    else:
        vertices, faces = _used(*hull_of(vertices))
        litres = 1000 * measure_solid(vertices, faces).amount
        notes.assume(f"{what} is {found}; a foil around it displaces {litres:.4g} litres instead")
    if len(faces) > MOST_TRIANGLES:
        before = len(faces)
        vertices, faces = coarser(vertices, faces, MOST_TRIANGLES)
        notes.assume(
            f"{what} has {before} triangles; a hull of {len(faces)} with the same volume and middle stands for it"
        )
    folder.mkdir(exist_ok=True)
    file = f"{name}_hull.obj"
    write_obj(folder / file, vertices, faces)
    return f"{folder.name}/{file}"


def coarser(vertices: np.ndarray, faces: np.ndarray, most: int) -> Triangles:
    """A closed mesh in at most so many triangles: corners of one cell become one, then volume and middle are restored.

    That leaves a closed mesh closed: each edge goes where both of its triangles go.
    """
    low, longest = vertices.min(axis=0), float(np.ptp(vertices, axis=0).max())
    wanted = measure_solid(vertices, faces)
    cells = 256
    while True:
        made = _used(*_clustered(vertices, faces, low, longest / cells))
        if len(made[1]) <= most or cells <= COARSEST:
            break
        cells = cells * 4 // 5
    found = measure_solid(*made)
    if found.amount <= 0.0:
        return _used(*hull_of(made[0]))
    grown = (wanted.amount / found.amount) ** (1 / 3)
    return (made[0] - found.center) * grown + wanted.center, made[1]


def _clustered(vertices: np.ndarray, faces: np.ndarray, low: np.ndarray, side: float) -> Triangles:
    cell = np.floor((vertices - low) / side).astype(np.int64)
    _, which, count = np.unique(cell, axis=0, return_inverse=True, return_counts=True)
    which = which.ravel()
    middles = np.column_stack([np.bincount(which, vertices[:, k]) / count for k in range(3)])
    faces = which[faces]
    a, b, c = faces.T
    return middles, _without_pairs(faces[(a != b) & (b != c) & (c != a)])


def _without_pairs(faces: np.ndarray) -> np.ndarray:
    """Without triangles that lie on each other and face opposite ways: nothing is between them."""
    first = faces.argmin(axis=1)
    turned = np.take_along_axis(faces, (first[:, None] + np.arange(3)) % 3, axis=1)
    ahead = turned[:, 1] < turned[:, 2]
    corners, which = np.unique(np.sort(turned, axis=1), axis=0, return_inverse=True)
    surplus = np.bincount(which.ravel(), np.where(ahead, 1, -1)).astype(int)
    kept = np.repeat(corners, np.abs(surplus), axis=0)
    back = np.repeat(surplus < 0, np.abs(surplus))
    kept[back] = kept[back][:, [0, 2, 1]]
    return kept


def _used(vertices: np.ndarray, faces: np.ndarray) -> Triangles:
    """Without corners that no triangle has."""
    which, faces = np.unique(faces, return_inverse=True)
    return vertices[which], faces.reshape(-1, 3)
