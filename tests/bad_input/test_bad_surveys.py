"""Surveys that cannot become terrain: one message that says what to do, and nothing is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.surveys import EAST, NORTH, cloud, raster, real

from airloom.scenario.terrain import TerrainError, read_terrain_file
from airloom.terrain import extras
from airloom.terrain.build import build_terrain
from airloom.world.survey import Surveyed

rasterio = pytest.importorskip("rasterio")
laspy = pytest.importorskip("laspy")

POINTS = np.random.default_rng(1).uniform([EAST, NORTH, 0], [EAST + 20, NORTH + 20, 1], (500, 3))
FLAT = np.full((20, 20), 100.0)


def refused(file: Path, **options: Any) -> str:
    """The message; nothing is left in the file's folder."""
    before = sorted(os.listdir(file.parent))
    with pytest.raises(TerrainError) as error:
        build_terrain(file, file.with_suffix(".terrain"), **options)
    assert sorted(os.listdir(file.parent)) == before
    return str(error.value)


@pytest.mark.parametrize(
    ("heights", "changes", "options", "message"),
    [
        (FLAT, {"crs": None}, {}, "does not say where on Earth it lies: name its coordinate system with --crs EPSG"),
        (FLAT, {"crs": None, "transform": rasterio.Affine.identity()}, {"crs": "local"}, "a picture without a georef"),
        (FLAT, {}, {"crs": "EPSG:1"}, "'EPSG:1' is no coordinate system that is known"),
        (FLAT, {}, {"crs": "EPSG:5703"}, "has no east and north"),
        (FLAT - 10099.0, {}, {}, "every pixel says that it has no height (nodata -9999.0); use another file or --band"),
        (FLAT[:1, :1], {}, {}, "a surface needs at least 2 × 2 pixels, and here are 1 × 1"),
        (FLAT[:1], {}, {}, "a surface needs at least 2 × 2 pixels, and here are 20 × 1"),
        (np.stack([FLAT] * 3), {}, {}, "has 3 bands (gray, undefined, undefined), and heights need one: choose it"),
        (np.stack([FLAT] * 3), {}, {"band": 4}, "has no band 4: they go from 1 to 3"),
        (FLAT, {}, {"crop": "metres:500,500,600,600"}, "lies outside"),
        (FLAT, {}, {"crop": "pixels:30,0,5,5"}, "which has 20 columns and 20 rows"),
        (FLAT, {}, {"crop": "pixels:3,3,1,9"}, "a surface needs at least 2 × 2 pixels, and here are 1 × 9"),
        (FLAT, {}, {"crop": "lonlat:20,20,21,21"}, "which reaches over 7."),
        (FLAT, {}, {"crop": "lonlat:20,20,21,21"}, "° east and 4"),
        (FLAT, {}, {"crop": "metres:5,5,1,1"}, "is no crop, or has nothing in it: expected pixels:COLUMN,ROW"),
        (FLAT, {}, {"crop": "all"}, "'all' is no crop: expected pixels:COLUMN,ROW,WIDTH,HEIGHT"),
        (FLAT, {}, {"units": "fathoms"}, "'fathoms' is no unit of heights that is known: metres or feet"),
        (FLAT, {}, {"cell": 50.0}, "and needs 2 × 2: take smaller cells than 50 × 50 m (--cell)"),
        (FLAT, {}, {"cell": 1e-300}, "cells of 1e-300 m are too small for a surface that reaches"),
        (FLAT, {}, {"cell": -1.0}, "--cell is a length in metres above 0, got -1"),
        (FLAT, {}, {"origin": (95.0, 7.0)}, "an origin is latitude (−90 … 90°)"),
        (FLAT, {}, {"origin": (-33.0, 151.0)}, "km away from"),
        (FLAT, {}, {"overhangs": True}, "is a raster, and has one height at each place"),
        (FLAT, {}, {"surface": "ground"}, "is a raster, whose heights have no classes: leave --surface out"),
        (FLAT, {"dtype": "complex64"}, {}, "band 1 has complex numbers"),
    ],
)
def test_a_raster_that_cannot_be_ground(tmp_path, heights, changes, options, message):
    assert message in refused(raster(tmp_path / "field.tif", heights, **changes), **options)


@pytest.mark.parametrize(("nothing", "warnings"), [(3e38, 0), (-9999.0, 1), (-32768.0, 1)])
def test_a_nodata_value_that_nobody_declared(tmp_path, nothing, warnings):
    file = raster(tmp_path / "field.tif", np.where(np.eye(20), nothing, 100.0), nodata=None)
    about = Surveyed(build_terrain(file, origin=(45.05, 7.67, 100.0))).about
    assert len(about.warnings) == warnings
    assert all("below all land: if that stands for no height, declare it" in text for text in about.warnings)
    assert (about.high < 1.0, about.low > -1.0) == (True, not warnings)


def test_coordinates_of_a_map_are_not_taken_for_local_ones_without_a_word(tmp_path):
    for file in (raster(tmp_path / "field.tif", FLAT), cloud(tmp_path / "field.las", POINTS)):
        about = Surveyed(build_terrain(file, crs="local")).about
        assert ["km from (0, 0), where vehicles usually start" in text for text in about.warnings] == [True]
        assert "(--crs EPSG:NUMBER)" in about.warnings[0]


def test_a_file_that_is_cut_off_or_none_at_all(tmp_path):
    file = raster(tmp_path / "field.tif", shape=(300, 300), compress="deflate")
    file.write_bytes(file.read_bytes()[:60_000])
    assert "cannot be read to its end: it is cut off or damaged; get it anew" in refused(file)
    file.write_bytes(b"GIF89a, or so")
    assert "is no raster that can be read" in refused(file)
    file.write_bytes(b"")
    assert "is no raster that can be read" in refused(file)
    file.unlink()
    assert "no such file" in refused(file)


def test_more_pixels_than_can_be_held_are_refused_at_once_and_larger_cells_are_proposed(tmp_path):
    """A file of 40 000 × 40 000 pixels of which none is stored."""
    profile = {
        "driver": "GTiff",
        "width": 40_000,
        "height": 40_000,
        "count": 1,
        "dtype": "float32",
        "crs": "EPSG:32632",
    }
    corner = rasterio.transform.from_origin(EAST, NORTH, 0.5, 0.5)
    file = tmp_path / "huge.tif"
    with rasterio.open(file, "w", transform=corner, tiled=True, sparse_ok="TRUE", **profile):
        pass
    message = refused(file)
    assert "corners of 0.5 m, and may have 268,435,456: take larger cells (--cell 1.2" in message


def test_a_photo_of_another_place_or_a_damaged_one(tmp_path):
    file = raster(tmp_path / "field.tif", FLAT)
    colours = np.full((3, 9, 9), 99, dtype=np.uint8)
    away = rasterio.transform.from_origin(EAST + 5000, NORTH, 1, 1)
    photo = raster(tmp_path / "photo.tif", colours, transform=away, dtype="uint8", nodata=None)
    assert "shows nothing of the terrain: it lies elsewhere" in refused(file, colour=photo)
    assert "no such file" in refused(file, colour=tmp_path / "none.tif")


def test_real_files_that_cannot_be_read():
    for name, options, message in [
        ("terrain/all-nodata.tif", {"band": 1}, "every pixel says that it has no height"),
        ("terrain/autzen-height.tif", {}, "does not say where on Earth it lies"),
        ("terrain/autzen-height.tif", {"crs": "local"}, "a picture without a georeference"),
        ("terrain/corrupt.tif", {"band": 1}, "cannot be read to its end"),
        ("terrain/rotated.tif", {}, "does not say where on Earth it lies"),
        ("points/no-points.las", {}, "has no points"),
    ]:
        file = real(name)
        with pytest.raises(TerrainError, match=message):
            build_terrain(file, Path(os.environ.get("TMPDIR", "/tmp")) / "never.terrain", **options)


# -- points ------------------------------------------------------------------------------------------------------------


def test_clouds_that_cannot_be_ground(tmp_path):
    file = tmp_path / "field.las"
    assert "has no points" in refused(cloud(file, np.empty((0, 3))))
    assert "does not say where on Earth it lies" in refused(cloud(file, POINTS, crs=None))
    assert "a surface needs at least 4 points, and here are 3" in refused(cloud(file, POINTS[:3]))
    assert "a point cloud has no pixels" in refused(cloud(file, POINTS), crop="pixels:0,0,5,5")
    assert "has no points classified as ground (class 2): use --surface top" in refused(file, surface="ground")
    assert "lies outside" in refused(file, crop="metres:500,500,600,600")
    assert "° east, 20 … 21° north) lies outside" in refused(file, crop="lonlat:20,20,21,21")
    assert "km away from" in refused(file, origin=(-33.0, 151.0))
    assert "a point cloud has no bands" in refused(file, band=1)
    cloud(file, POINTS, np.full(len(POINTS), 7, dtype=np.uint8))
    assert "all of its points are classified as noise" in refused(file)


def test_a_las_that_is_cut_off_or_whose_header_is_garbage(tmp_path):
    file = cloud(tmp_path / "field.las", POINTS)
    whole = file.read_bytes()
    file.write_bytes(whole[:-3000])
    assert "is cut off: it promises 500 points and has 400; get it anew" in refused(file)
    file.write_bytes(whole[:100])
    assert "is damaged, or no LAS file" in refused(file)
    file.write_bytes(b"LASF" + bytes(np.random.default_rng(2).integers(0, 256, 500, dtype=np.uint8)))
    assert "is damaged, or no LAS file" in refused(file)
    file.write_bytes(b"nothing")
    assert "is damaged, or no LAS file" in refused(file)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("field.ply", b"ply\nformat", "cannot be read as PLY: what is in it makes no sense"),
        ("field.pcd", b"VERSION .7\nFIELDS x", "is damaged, or no PCD file"),
        ("field.xyz", b"one two three\nfour", "is damaged, or no XYZ file"),
        ("field.xyz", b"", "has no points"),
        ("field.xyz", b"nan nan nan\n" * 9, "none of its 9 points has coordinates that are numbers"),
    ],
)
def test_points_of_other_formats(tmp_path, name, content, message):
    file = tmp_path / name
    file.write_bytes(content)
    assert message in refused(file, crs="local")


def test_times_that_are_no_numbers_harm_nobody(tmp_path):
    file = cloud(tmp_path / "field.las", POINTS)
    las = laspy.read(file)
    las.gps_time = np.full(len(POINTS), np.nan)
    las.write(file)
    assert Surveyed(build_terrain(file)).about.rows > 2


def test_points_without_coordinates_are_left_out_and_counted(tmp_path):
    file = tmp_path / "field.xyz"
    np.savetxt(file, np.vstack([POINTS, [[np.nan, 0, 0]]]))
    assert Surveyed(build_terrain(file, crs="EPSG:32632")).about.warnings == [
        "1 points without coordinates are left out"
    ]


# -- folders -----------------------------------------------------------------------------------------------------------


def test_what_is_no_terrain_folder_is_not_replaced(tmp_path):
    file = raster(tmp_path / "field.tif", FLAT)
    (tmp_path / "mine").mkdir()
    with pytest.raises(TerrainError, match="is there already and is no terrain folder: choose another with --out"):
        build_terrain(file, tmp_path / "mine")
    with pytest.raises(TerrainError, match="there is no folder"):
        build_terrain(file, tmp_path / "none" / "field")


def test_a_folder_of_another_version_or_whose_files_do_not_fit(tmp_path):
    folder = build_terrain(raster(tmp_path / "field.tif", FLAT))
    whole = json.loads((folder / "terrain.json").read_text())
    (folder / "terrain.json").write_text(json.dumps(whole | {"version": 7}))
    with pytest.raises(TerrainError, match=r"has version 7 of terrain folders, version 1 is needed; make it anew"):
        read_terrain_file(folder)
    (folder / "terrain.json").write_text(json.dumps(whole))
    np.save(folder / "triangles_0.npy", np.zeros((5, 3), dtype=np.uint32))
    with pytest.raises(TerrainError, match=r"triangles_0.npy does not fit terrain.json: expected \(\d+, 3\) of uint32"):
        Surveyed(folder).levels  # noqa: B018
    (folder / "heights.npy").write_bytes(b"?")
    with pytest.raises(TerrainError, match=r"heights.npy: cannot be read as .npy.*; build the terrain anew"):
        Surveyed(folder).grid  # noqa: B018


@pytest.mark.parametrize(
    ("file", "missing", "extra"),
    [("field.tif", "rasterio", "terrain"), ("field.las", "laspy", "terrain"), ("field.pcd", "pypcd4", "terrain")],
)
def test_a_missing_extra_is_named(tmp_path, without, file, missing, extra):
    without(missing)
    (tmp_path / file).write_bytes(b"")
    assert f"needs {missing}: pip install 'airloom[{extra}]'" in refused(tmp_path / file)


def test_overhangs_need_an_extra_of_their_own(tmp_path, monkeypatch):
    def gone(name: str) -> Any:
        if name == "open3d":
            raise ImportError("No module named 'open3d'")
        return sys.modules[name]

    file = cloud(tmp_path / "field.las", POINTS)
    monkeypatch.setattr(extras, "import_module", gone)
    assert "a mesh with overhangs needs open3d: pip install 'airloom[overhangs]'" in refused(file, overhangs=True)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_leaves_nothing(tmp_path, number):
    raster(tmp_path / "field.tif", shape=(3000, 3000), compress="deflate")
    program = subprocess.Popen(
        [sys.executable, "-m", "airloom", "terrain", "build", "field.tif"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 60
    while len(os.listdir(tmp_path)) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    program.send_signal(number)
    _, told = program.communicate(timeout=60)
    assert program.returncode == 128 + number
    assert told == "Stopped.\n"
    assert os.listdir(tmp_path) == ["field.tif"]


def test_the_command_tells_it_in_one_line_with_code_2(tmp_path):
    raster(tmp_path / "field.tif", FLAT, crs=None)
    command = [sys.executable, "-m", "airloom", "terrain", "build", "field.tif"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.startswith("Error: field.tif does not say where on Earth it lies")
    assert len(told.stderr.splitlines()) == 1


def test_a_photo_of_nowhere_on_earth(tmp_path):
    far = rasterio.Affine(1e300, 0.0, EAST, 0.0, -1e300, NORTH)
    photo = raster(tmp_path / "photo.tif", np.full((3, 20, 20), 99.0), transform=far, dtype="uint8", nodata=None)
    told = refused(raster(tmp_path / "field.tif", FLAT), colour=photo)
    assert "photo.tif shows nothing of the terrain: its pixels are nowhere on Earth" in told
