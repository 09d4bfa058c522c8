"""Files that end the process of the library that reads them, or lead it elsewhere: for users they are one message."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from tests import evil_rasters
from tests.fields import RECTANGLE, polygon, write
from tests.served import nobody_calls
from tests.step_files import StepBox
from tests.surveys import raster

from airloom.farm import Deposit, FarmError, plan_field
from airloom.scenario.terrain import TerrainError
from airloom.terrain.build import build_terrain
from airloom.world.survey import Surveyed

for library in ("cascadio", "rasterio"):
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
