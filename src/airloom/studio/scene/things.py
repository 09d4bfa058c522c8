"""Things of the world, drawn: all in two nodes, since each node costs a browser more than many triangles do.

They stand still and so does the sun, so the light on them is worked out here, once, and not in browsers, many times.
"""

from __future__ import annotations

import numpy as np

from airloom.studio.scene.daylight import Daylight
from airloom.studio.scene.gltf import glb
from airloom.studio.scene.tones import light_seen_as
from airloom.world.land import Land
from airloom.world.meshes import Mesh, joined
from airloom.world.rays import parallel_rays

LEAFY = ("tree", "vine_row")
"""Kinds whose faces go over into one another, and that shade themselves; those of others have edges."""
CLEAR = 0.12  # m that sunlight goes from a leaf before it is looked for what keeps it off
NEAR = 12.0  # m that it is followed: a crown shades itself, and its neighbours hardly
LEAF_SHADE = 0.55  # of the sunlight: some comes through
BRIGHTEST_SEEN = 250.0  # of sRGB: the film's curve has no end


def thing_nodes(land: Land, light: Daylight) -> dict[str, bytes]:
    """Names of nodes and what they are, as glTF."""
    leafy = [thing.mesh for thing in land.things if thing.kind in LEAFY]
    edged = [thing.mesh for thing in land.things if thing.kind not in LEAFY]
    nodes = {}
    if leafy:
        mesh = joined(leafy)
        normals = vertex_normals(mesh)
        nodes["leafy"] = _lit(mesh, normals, _leaf_shade(land, mesh, normals, light), light)
    if edged:
        mesh = _with_edges(joined(edged))
        nodes["edged"] = _lit(mesh, vertex_normals(mesh), np.zeros(len(mesh.vertices)), light)
    return nodes


def _lit(mesh: Mesh, normals: np.ndarray, shade: np.ndarray, light: Daylight) -> bytes:
    seen = np.clip(mesh.colours[:, :3] * light.falling_on(normals, shade), 0.0, BRIGHTEST_SEEN)
    return glb(mesh, light=light_seen_as(seen))


def _leaf_shade(land: Land, mesh: Mesh, normals: np.ndarray, light: Daylight) -> np.ndarray:
    if not light.casts_shadows:
        return np.zeros(len(mesh.vertices))
    start = mesh.vertices + CLEAR * (light.sun + normals)
    return LEAF_SHADE * (parallel_rays(land.array, start, light.sun, NEAR) < NEAR)


def _with_edges(mesh: Mesh) -> Mesh:
    """Each triangle with corners of its own, so that its neighbours may be lit otherwise."""
    corners = mesh.faces.ravel().astype(np.int64)
    faces = np.arange(len(corners), dtype=np.uint32).reshape(-1, 3)
    return Mesh(mesh.vertices[corners], faces, mesh.colours[corners])


def vertex_normals(mesh: Mesh) -> np.ndarray:
    """Means of the faces around each vertex; up where they cancel, as those of leaves with two sides do."""
    corners = mesh.vertices[mesh.faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    total = np.stack(
        [np.bincount(mesh.faces.ravel(), np.repeat(across[:, k], 3), len(mesh.vertices)) for k in range(3)], axis=1
    )
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.where(length > 1e-9, total / np.maximum(length, 1e-9), [0.0, 0.0, 1.0])
