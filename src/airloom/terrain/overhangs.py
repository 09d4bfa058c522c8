"""What a grid of heights cannot hold: a mesh of points by Ball Pivoting (Bernardini et al., 1999), as an extra."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from airloom.scenario.terrain import TerrainError
from airloom.terrain.extras import library
from airloom.terrain.layout import Layout
from airloom.terrain.thinning import evenly

BALLS = 1.0, 1.6, 2.5  # radii in cells; points are about a cell apart
NEIGHBOURS = 24  # points a normal is found from


def write_overhangs(points: np.ndarray, layout: Layout, heights: np.ndarray, file: Path) -> int:
    """The mesh of all that stands out of the ground by more than a cell; the number of its triangles."""
    o3d = library("open3d", "a mesh with overhangs", "overhangs")
    side = max(layout.cell)
    cloud = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(evenly(points, side)))
    cloud.estimate_normals(o3d.geometry.KDTreeSearchParamKNN(NEIGHBOURS))
    cloud.orient_normals_consistent_tangent_plane(NEIGHBOURS)
    radii = o3d.utility.DoubleVector([side * ball for ball in BALLS])
    mesh = o3d.geometry.TriangleMesh.create_from_point_cloud_ball_pivoting(cloud, radii)
    vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.triangles)
    above = vertices[:, 2] - _ground_at(vertices, layout, heights)
    faces = faces[(above[faces] > side).any(axis=1)]
    if not len(faces):
        raise TerrainError("nothing here stands out of the ground by more than a cell: leave --overhangs out")
    _write(vertices, faces, file)
    return len(faces)


def _ground_at(points: np.ndarray, layout: Layout, heights: np.ndarray) -> np.ndarray:
    c = np.clip(np.rint((points[:, 0] - layout.corner[0]) / layout.cell[0]).astype(int), 0, layout.columns - 1)
    r = np.clip(np.rint((points[:, 1] - layout.corner[1]) / layout.cell[1]).astype(int), 0, layout.rows - 1)
    return heights[r, c]


def _write(vertices: np.ndarray, faces: np.ndarray, file: Path) -> None:
    import trimesh

    used, numbers = np.unique(faces, return_inverse=True)
    trimesh.Trimesh(vertices[used], numbers.reshape(-1, 3), process=False).export(file)
