"""Walls and pillars that vehicles keep off by themselves, drawn so that one looks through them."""

from __future__ import annotations

import numpy as np
import viser

from airloom.scenario.models import Scenario
from airloom.studio.scene.gltf import glb
from airloom.system import boundaries_in
from airloom.world.boundaries import Boundary
from airloom.world.land import Land
from airloom.world.meshes import Colour, Mesh, joined, painted, prism

WALL: Colour = (70, 120, 170)
PILLAR: Colour = (176, 110, 70)
WALL_SEEN, PILLAR_SEEN = 0.1, 0.55  # opacity


def boundary_nodes(scene: viser.SceneApi, root: str, scenario: Scenario, land: Land) -> list[viser.SceneNodeHandle]:
    """All in three nodes: walls, pillars, and the edges of both."""
    found = list(boundaries_in(scenario))
    parts = {
        "walls": [_wall(one, land) for one in found if one.encloses],
        "pillars": [_pillar(one, land) for one in found if not one.encloses],
    }
    nodes: list[viser.SceneNodeHandle] = [
        scene.add_glb(f"{root}/{name}", glb(joined(meshes)), cast_shadow=False)
        for name, meshes in parts.items()
        if meshes
    ]
    if found:
        edges = np.concatenate([_edges(one, land) for one in found])
        colours = np.concatenate([np.full((2 * len(one.corners), 2, 3), _colour(one)) for one in found])
        nodes.append(scene.add_line_segments(f"{root}/edges", edges, colours, thickness=2.0, thickness_units="screen"))
    return nodes


def _colour(boundary: Boundary) -> Colour:
    return WALL if boundary.encloses else PILLAR


def _foot(boundary: Boundary, land: Land) -> float:
    """z from which it is drawn: the lowest ground below its corners."""
    return min(land.height(float(x), float(y)) for x, y in boundary.corners)


def _wall(boundary: Boundary, land: Land) -> Mesh:
    """Its sides, to be seen from within and from outside."""
    n = len(boundary.corners)
    around, after = np.arange(n), (np.arange(n) + 1) % n
    outside = np.concatenate([np.stack([around, after, after + n], 1), np.stack([around, after + n, around + n], 1)])
    heights = np.repeat([_foot(boundary, land), boundary.top], n)
    vertices = np.column_stack([np.tile(boundary.corners, (2, 1)), heights])
    return painted(vertices, np.concatenate([outside, outside[:, ::-1]]), WALL, WALL_SEEN)


def _pillar(boundary: Boundary, land: Land) -> Mesh:
    solid = prism(boundary.corners, _foot(boundary, land), boundary.top, PILLAR)
    return painted(solid.vertices, solid.faces, PILLAR, PILLAR_SEEN)


def _edges(boundary: Boundary, land: Land) -> np.ndarray:
    """Around its foot and its top: [edge, 2, 3]."""
    rings = [
        np.column_stack([boundary.corners, np.full(len(boundary.corners), z)])
        for z in (_foot(boundary, land), boundary.top)
    ]
    return np.concatenate([np.stack([ring, np.roll(ring, -1, axis=0)], axis=1) for ring in rings])
