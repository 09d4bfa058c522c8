"""The survey to begin with: a GeoTIFF with rows, posts and a slope, in metres of UTM."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.scenario.terrain import TerrainError
from airloom.terrain.example import ALTITUDE, EXAMPLES, FIELD, surface_of, write_example

rasterio = pytest.importorskip("rasterio")
SMALL = FIELD.model_copy(update={"size": (60.0, 48.0), "field": (50.0, 30.0)})


def test_a_vineyard_is_written_with_its_place_and_heights(tmp_path, monkeypatch):
    monkeypatch.setitem(EXAMPLES, "vineyard", SMALL)
    write_example("vineyard", tmp_path / "field.tif")
    with rasterio.open(tmp_path / "field.tif") as raster:
        heights = raster.read(1)
        assert raster.crs.to_epsg() == 32632
        assert raster.res == pytest.approx((FIELD.cell, FIELD.cell))
        assert heights.shape == (240, 300)
    assert heights[::-1] == pytest.approx(surface_of(SMALL) + ALTITUDE, abs=1e-4)
    assert [file.name for file in tmp_path.iterdir()] == ["field.tif"]


def test_rows_are_as_far_apart_as_told_and_posts_stick_out():
    surface, low = surface_of(SMALL), surface_of(SMALL.model_copy(update={"canopy": 0.0}))
    leaves = surface - low
    across = leaves[:, leaves.shape[1] // 2]
    rows = np.sum(np.diff((across > 0.8).astype(int)) == 1)
    assert rows == pytest.approx(SMALL.field[1] / SMALL.spacing / np.cos(SMALL.heading), abs=3)
    bare = surface_of(SMALL.model_copy(update={"canopy": 0.0, "roughness": 0.0}))
    assert np.sum(bare - np.minimum.accumulate(bare, axis=1) > 1.5) > 60, "posts"


def test_nothing_is_written_where_nothing_can_be(tmp_path, monkeypatch):
    monkeypatch.setitem(EXAMPLES, "vineyard", SMALL)
    with pytest.raises(TerrainError, match="no example is called 'lake'"):
        write_example("lake", tmp_path / "field.tif")
    with pytest.raises(TerrainError, match="cannot be written"):
        write_example("vineyard", tmp_path / "gone" / "field.tif")
    assert not list(tmp_path.iterdir())
