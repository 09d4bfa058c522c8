"""Files that end the process of the library that reads them, or lead it elsewhere: for users they are one message."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
from tests import evil_rasters, models
from tests.fields import RECTANGLE, polygon, write
from tests.served import nobody_calls
from tests.step_files import StepBox
from tests.surveys import EAST, NORTH, cloud, raster

from airloom.farm import Deposit, FarmError, plan_field
from airloom.scenario.objects import ObjectError
from airloom.scenario.terrain import TerrainError
from airloom.scenario.weather import WeatherError
from airloom.terrain.build import build_terrain
from airloom.weather.field_file import read_field
from airloom.world.objects.mesh_file import read_mesh
from airloom.world.survey import Surveyed

for library in ("cascadio", "rasterio", "lazrs"):
    pytest.importorskip(library)


def airloom(*arguments):
    """Code, and what it says."""
    done = subprocess.run(
        [sys.executable, "-m", "airloom", *map(str, arguments)], capture_output=True, text=True, timeout=300
    )
    assert "Traceback" not in done.stderr
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def test_a_step_file_whose_edge_has_no_direction(tmp_path):
    """Open CASCADE follows the pointer that is not there."""
    file = tmp_path / "plate.step"
    file.write_text(str(StepBox((10, 20, 30))).replace("#17=DIRECTION", "#17=DCTION"))
    code, said = airloom("weigh", file, "--density", "1000")
    assert code == 2
    assert "plate.step cannot be read: the process that reads it was ended by SIGSEGV" in said
    assert "get it anew" in said


# -- rasters that lead elsewhere ---------------------------------------------------------------------------------------

TEXTS = ("vrt", "wms", "another file", "overviews")
"""Refused; the others are sound rasters, and what is beside them is not looked at."""


@pytest.mark.parametrize("name", evil_rasters.ALL)
def test_a_raster_that_would_call_somebody_makes_no_ground(tmp_path, name):
    (tmp_path / "survey").mkdir()
    with nobody_calls() as callers:
        file = evil_rasters.ALL[name](tmp_path / "survey", callers.url)
        if name in TEXTS:
            with pytest.raises(TerrainError, match=r"no raster that can be read \(GeoTIFF, .*\): |are in another file"):
                build_terrain(file, tmp_path / "out")
            with pytest.raises(TerrainError, match=r"no raster that can be read|are in another file"):
                build_terrain(raster(tmp_path / "sound.tif"), tmp_path / "out", colour=file)
            assert not (tmp_path / "out").exists()
        else:
            about = Surveyed(build_terrain(file, tmp_path / "out", cell=5.0, colour=file)).about
            assert about.high > about.low


@pytest.mark.parametrize("name", TEXTS)
def test_a_prescription_or_a_deposit_that_would_call_somebody(tmp_path, name):
    field = write(tmp_path / "field.geojson", polygon(RECTANGLE))
    with nobody_calls() as callers:
        file = evil_rasters.ALL[name](tmp_path, callers.url)
        with pytest.raises(FarmError, match=r"no raster that can be read|are in another file"):
            plan_field(field, prescription=file)
        with pytest.raises(FarmError, match=r"no raster that can be read|are in another file"):
            Deposit.read(file)


def test_a_world_file_is_the_only_one_beside_a_raster_that_is_read(tmp_path):
    import rasterio

    turned = rasterio.Affine(0.4, 0.3, 395_000.0, 0.3, -0.4, 4_990_000.0)
    whole = raster(tmp_path / "whole.tif", np.add.outer(np.arange(60.0), np.arange(80.0)), transform=turned)
    parted = raster(
        tmp_path / "parted.tif", np.add.outer(np.arange(60.0), np.arange(80.0)), transform=rasterio.Affine.identity()
    )
    x, y = turned @ (0.5, 0.5)
    (tmp_path / "parted.tfw").write_text(f"0.4\n0.3\n0.3\n-0.4\n{x:.6f}\n{y:.6f}\n")
    one, other = (Surveyed(build_terrain(file, file.with_suffix(".terrain"))) for file in (whole, parted))
    assert (one.about.latitude, one.about.longitude) == (other.about.latitude, other.about.longitude)
    np.testing.assert_allclose(one.grid.heights, other.grid.heights, atol=1e-4)
    (tmp_path / "parted.tfw").write_text("north")
    with pytest.raises(TerrainError, match=r"parted\.tfw: a world file is six numbers"):
        build_terrain(parted)


# -- points ------------------------------------------------------------------------------------------------------------


def test_a_laz_file_that_asks_for_more_memory_than_there_is(tmp_path):
    """Its chunk table has four thousand million entries; nothing of the folder stays."""
    points = np.random.default_rng(1).uniform([EAST, NORTH, 0], [EAST + 20, NORTH + 20, 1], (500, 3))
    file = cloud(tmp_path / "field.laz", points)
    data = bytearray(file.read_bytes())
    (begin,) = struct.unpack_from("<I", data, 96)
    (table,) = struct.unpack_from("<q", data, begin)
    struct.pack_into("<I", data, table + 4, 2**32 - 1)
    file.write_bytes(data)
    code, said = airloom("terrain", "build", file)
    assert code == 2
    assert "field.laz" in said
    assert "get it anew" in said
    assert [file.name for file in tmp_path.iterdir()] == ["field.laz"]


# -- fields of wind ----------------------------------------------------------------------------------------------------


def linked(file, secret, h5py):
    file["u"] = h5py.ExternalLink(secret.name, "u")


def linked_by_a_detour(file, secret, h5py):
    file["more"] = h5py.ExternalLink(secret.name, "/")
    file["u"] = h5py.SoftLink("/more/u")


def stored_elsewhere(file, secret, h5py):
    file.create_dataset("u", (8,), "f8", external=[(str(secret), 2048, 64)])


def virtual(file, secret, h5py):
    layout = h5py.VirtualLayout((8,), "f8")
    layout[:] = h5py.VirtualSource(str(secret), "u", (8,))
    file.create_virtual_dataset("u", layout)


@pytest.mark.parametrize("make", [linked, linked_by_a_detour, stored_elsewhere, virtual])
def test_a_field_whose_wind_is_in_another_file(tmp_path, make):
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("h5netcdf")
    secret = tmp_path / "secret.h5"
    with h5py.File(secret, "w") as other:
        other["u"] = np.full(8, 42.0)
    with h5py.File(tmp_path / "wind.nc", "w") as file:
        make(file, secret, h5py)
    with pytest.raises(WeatherError, match=r"is a link to somewhere else|what 'u' holds is in other files"):
        read_field(str(tmp_path / "wind.nc"))


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}/wind.nc", "http://127.0.0.1:{port}/wind.nc#mode=bytes"])
def test_a_field_at_an_address_is_no_file(tmp_path, url):
    with nobody_calls() as callers, pytest.raises(WeatherError, match="no such file"):
        read_field(url.format(port=callers.url.rpartition(":")[2]))


# -- meshes ------------------------------------------------------------------------------------------------------------

TRIANGLE = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)


def gltf(uri):
    position = {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}
    return json.dumps({
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}], "accessors": [position],
        "bufferViews": [{"buffer": 0, "byteLength": 36}], "buffers": [{"uri": uri, "byteLength": 36}],
    })  # fmt: skip


@pytest.mark.parametrize(
    "uri", ["{outside}", "../secret.bin", "%2e%2e/secret.bin", "file://{outside}", "{url}/secret.bin"]
)
def test_a_mesh_names_nothing_outside_of_its_folder(tmp_path, uri):
    (tmp_path / "secret.bin").write_bytes(TRIANGLE)
    (tmp_path / "meshes").mkdir()
    file = tmp_path / "meshes/roof.gltf"
    with nobody_calls() as callers:
        file.write_text(gltf(uri.format(outside=tmp_path / "secret.bin", url=callers.url)))
        with pytest.raises(ObjectError, match=r"cannot be read as GLTF"):
            read_mesh(str(file))
    (tmp_path / "meshes/own.bin").write_bytes(TRIANGLE)
    file.write_text(gltf("own.bin"))
    assert len(read_mesh(str(file)).faces) == 1


def test_a_dae_does_not_fetch_its_doctype_or_pictures(tmp_path):
    with nobody_calls() as callers:
        text = models.DAE.replace("<COLLADA", f'<!DOCTYPE COLLADA SYSTEM "{callers.url}/c.dtd"><COLLADA', 1)
        (tmp_path / "wedges.dae").write_text(text)
        with suppress(ObjectError):
            read_mesh(str(tmp_path / "wedges.dae"))
        picture = f'<library_images><image id="i"><init_from>{callers.url}/a.png</init_from></image></library_images>'
        (tmp_path / "more.dae").write_text(
            models.DAE.replace("<library_geometries", picture + "<library_geometries", 1)
        )
        assert len(read_mesh(str(tmp_path / "more.dae")).faces)


def test_a_mesh_whose_triangle_has_a_corner_that_is_not_there(tmp_path):
    (tmp_path / "roof.off").write_text("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 99\n")
    with pytest.raises(ObjectError, match=r"roof\.off: .*(cannot be read as OFF|corners are not there)"):
        read_mesh(str(tmp_path / "roof.off"))


@pytest.mark.parametrize("place", [float("nan"), float("inf"), 1e300])
def test_a_raster_that_lies_nowhere(tmp_path, place):
    import rasterio

    file = raster(tmp_path / "field.tif", transform=rasterio.Affine(0.5, 0, place, 0, -0.5, place))
    with pytest.raises(TerrainError, match=r"field\.tif: where its pixels lie|nowhere on Earth"):
        build_terrain(file)


def test_a_prescription_whose_pixels_have_no_area(tmp_path):
    import rasterio

    file = raster(tmp_path / "rates.tif", transform=rasterio.Affine(0.5, 0.5, EAST, 0.5, 0.5, NORTH))
    with pytest.raises(FarmError, match=r"rates\.tif: its pixels have no area"):
        plan_field(write(tmp_path / "field.geojson", polygon(RECTANGLE)), prescription=file)
    with pytest.raises(FarmError, match=r"rates\.tif: its pixels have no area"):
        Deposit.read(file)


# -- models ------------------------------------------------------------------------------------------------------------


def test_a_model_that_asks_mujoco_for_all_memory(tmp_path):
    (tmp_path / "model.xml").write_text(
        '<mujoco><size memory="900G"/><worldbody><body><freejoint/><geom size="1"/></body></worldbody></mujoco>'
    )
    code, said = airloom("import", tmp_path / "model.xml", "--out", tmp_path / "made")
    assert code == 2
    assert "model.xml" in said
    assert not (tmp_path / "made").exists()
