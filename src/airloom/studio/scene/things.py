"""Things of the world, drawn: all in two nodes, since each node costs a browser more than many triangles."""

from __future__ import annotations

import numpy as np

from airloom.studio.scene.gltf import glb
from airloom.world.meshes import Mesh, joined
from airloom.world.things import Thing

ROUND = ("tree", "vine_row")
"""Kinds whose faces go over into one another; those of others have edges."""


def thing_nodes(things: list[Thing]) -> dict[str, bytes]:
    """Names of nodes and what they are, as glTF."""
    leafy = [thing.mesh for thing in things if thing.kind in ROUND]
    edged = [thing.mesh for thing in things if thing.kind not in ROUND]
    nodes = {}
    if leafy:
        mesh = joined(leafy)
        nodes["leafy"] = glb(mesh, roughness=1.0, normals=vertex_normals(mesh))
    if edged:
        nodes["edged"] = glb(joined(edged), roughness=0.85)
    return nodes


def vertex_normals(mesh: Mesh) -> np.ndarray:
    """Means of the faces around each vertex."""
    corners = mesh.vertices[mesh.faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    total = np.zeros_like(mesh.vertices)
    for k in range(3):
        np.add.at(total, mesh.faces[:, k].astype(np.int64), across)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.where(length > 1e-12, total / np.maximum(length, 1e-12), [0.0, 0.0, 1.0])
