"""Terrain from point clouds: the same ground from every format, without birds, and as bare as is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.surveys import EAST, NORTH, UTM, cloud, real

from airloom.terrain.build import build_terrain
from airloom.terrain.thinning import evenly, have_neighbours, spacing_of
from airloom.world.survey import Surveyed

laspy = pytest.importorskip("laspy")


def built(file: Path, **options: Any) -> Surveyed:
    return Surveyed(build_terrain(file, file.with_suffix(".terrain"), **options))


def ground_points(count: int = 20_000, seed: int = 3) -> np.ndarray:
    """A slope of 40 m × 30 m."""
    x, y = np.random.default_rng(seed).uniform([0, 0], [40, 30], (count, 2)).T
    return np.column_stack([EAST + x, NORTH + y, 200 + 0.1 * x])


def write(file: Path, points: np.ndarray) -> Path:
    if file.suffix in (".las", ".laz"):
        return cloud(file, points)
    if file.suffix == ".ply":
        import trimesh

        file.write_bytes(trimesh.PointCloud(points - [EAST, NORTH, 0]).export(file_type="ply"))
    elif file.suffix == ".pcd":
        from pypcd4 import PointCloud

        PointCloud.from_xyz_points((points - [EAST, NORTH, 0]).astype(np.float32)).save(file)
    elif file.suffix == ".csv":
        np.savetxt(file, points, "%.4f", ",", header="# made up\nx,y,z", comments="")
    else:
        np.savetxt(file, points, "%.4f")
    return file


@pytest.mark.parametrize("kind", [".las", ".laz", ".ply", ".pcd", ".xyz", ".csv"])
def test_every_format_gives_the_same_ground(tmp_path, kind):
    file = write(tmp_path / f"field{kind}", ground_points())
    is_local = kind in (".ply", ".pcd")
    terrain = built(
        file, crs="local" if is_local else UTM, origin=(0, 0, 200) if is_local else None, cell=0.5, by="mean"
    )
    grid = terrain.grid
    assert grid.size == pytest.approx((40, 30), abs=1.5)
    middle = grid.heights[10:-10, 10:-10]
    slopes = np.diff(middle, axis=1) / 0.5
    assert slopes.mean() == pytest.approx(0.1, abs=0.005)
    assert np.abs(middle - middle.mean(axis=0)).max() < 0.15


def test_a_bird_and_an_echo_from_below_are_left_out(tmp_path):
    points = np.vstack([ground_points(), [[EAST + 20, NORTH + 15, 260.0], [EAST + 10, NORTH + 10, 150.0]]])
    terrain = built(cloud(tmp_path / "field.las", points))
    assert terrain.about.high - terrain.about.low < 4.6
    assert "of which 2 stand alone" in (terrain.folder / "report.md").read_text()


def test_a_point_on_another_continent_does_not_make_the_field_larger(tmp_path):
    points = np.vstack([ground_points(), [[EAST + 5e5, NORTH - 3e6, 200.0]]])
    assert built(write(tmp_path / "field.xyz", points), crs=UTM).grid.size == pytest.approx((40, 30), abs=2)


def test_classified_ground_is_bare_and_the_top_has_the_trees_on_it(tmp_path):
    ground = ground_points()
    tree = np.random.default_rng(4).normal([EAST + 20, NORTH + 15, 208], [1, 1, 1], (4000, 3))
    noise = ground_points(50) + np.array([0, 0, 30])
    classes = np.repeat([2, 5, 7], [len(ground), len(tree), len(noise)]).astype(np.uint8)
    file = cloud(tmp_path / "field.las", np.vstack([ground, tree, noise]), classes)
    bare = built(file, surface="ground", cell=0.5).about
    top = built(file, cell=0.5).about
    assert bare.high - bare.low == pytest.approx(4.0, abs=0.3)
    assert 6 < top.high - top.low < 16


def test_gaps_that_are_narrow_are_no_holes(tmp_path):
    points = ground_points(12_000)
    in_pond = np.hypot(points[:, 0] - EAST - 20, points[:, 1] - NORTH - 15) < 6
    terrain = built(cloud(tmp_path / "field.las", points[~in_pond]), cell=0.4, holes="keep")
    assert terrain.about.holes * 0.16 == pytest.approx(np.pi * 5.2**2, rel=0.15)


def test_points_become_evenly_dense():
    dense, sparse = ground_points(30_000), ground_points(3000) + np.array([40, 0, 0])
    points = np.vstack([dense, sparse])
    even = evenly(points, 1.0)
    left = np.count_nonzero(even[:, 0] < EAST + 40)
    assert left == pytest.approx(len(even) / 2, rel=0.25)
    assert spacing_of(dense) == pytest.approx(0.2, rel=0.1)
    assert have_neighbours(dense, 0.2).all()


def test_a_real_scan_in_feet(tmp_path):
    file = real("points/autzen_trim.las")
    about = Surveyed(build_terrain(file, tmp_path / "autzen")).about
    assert (about.latitude, about.longitude) == pytest.approx((44.05, -123.07), abs=0.01)  # Eugene, Oregon
    assert about.altitude == pytest.approx(130, abs=5)
    assert (about.columns * about.cell[0], about.rows * about.cell[1]) == pytest.approx((359, 159), abs=16)
    assert about.colour == "colour.jpg"
    assert "feet" in about.warnings[0]
