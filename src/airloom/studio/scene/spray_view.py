"""Drops as points, and the map of what has landed as coloured squares that lie on the ground."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import trimesh
import viser

from airloom.spray.shown import CoarseMap

DROP = (110, 172, 240)
ABOVE = 0.04  # m, so that it is seen and not the ground
LEAST = 0.04  # of the most: less is not drawn
LITTLE, MUCH = np.array([140, 198, 222, 150]), np.array([18, 49, 150, 235])
CORNERS = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])


class SprayView:
    def __init__(self, server: viser.ViserServer, height: Callable[[float, float], float]) -> None:
        self._scene, self._height = server.scene, height
        self._cloud: viser.PointCloudHandle | None = None
        self._map: viser.SceneNodeHandle | None = None

    def show_drops(self, points: np.ndarray | None) -> None:
        if self._cloud is None:
            self._cloud = self._scene.add_point_cloud(
                "/world/spray_drops",
                np.zeros((1, 3)),
                np.array([DROP]),
                point_size=0.02,
                point_shape="circle",
                visible=False,
            )
        self._cloud.visible = points is not None and len(points) > 0
        if points is not None and len(points):
            self._cloud.points, self._cloud.colors = points, np.tile(np.array(DROP, dtype=np.uint8), (len(points), 1))

    def show_map(self, found: CoarseMap | None) -> None:
        mesh = None if found is None else squares(found, self._height)
        if mesh is not None:
            self._map = self._scene.add_mesh_trimesh("/world/spray_map", mesh, cast_shadow=False)
        elif self._map is not None:
            self._map.remove()
            self._map = None


def squares(found: CoarseMap, height: Callable[[float, float], float]) -> trimesh.Trimesh | None:
    """One for each cell with something in it, on the ground; None if there is none."""
    litres = found.litres_per_hectare
    if not litres.size or litres.max() <= 0.0:
        return None
    top = float(np.percentile(litres[litres > 0.0], 98))
    rows, columns = np.nonzero(litres > LEAST * top)
    corners = np.stack([columns, rows], axis=1)[:, None] + CORNERS
    keys, inverse = np.unique(corners.reshape(-1, 2), axis=0, return_inverse=True)
    places = keys * found.cell + found.corner
    heights = np.array([height(float(x), float(y)) for x, y in places]) + ABOVE
    vertices = np.column_stack([places, heights])[inverse.ravel()]
    first = 4 * np.arange(len(rows))[:, None]
    faces = (first[:, None] + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)
    share = np.clip(litres[rows, columns] / top, 0.0, 1.0)[:, None]
    colours = np.repeat((LITTLE + share * (MUCH - LITTLE)).astype(np.uint8), 4, axis=0)
    return trimesh.Trimesh(vertices, faces, vertex_colors=colours, process=False)
