"""Asked against given: numbers by hand, and maps in their place."""

from __future__ import annotations

import numpy as np
import pytest
import rasterio
from affine import Affine
from pyproj import Transformer
from tests.fields import RECTANGLE, polygon, position, write

from airloom.farm import Deposit, FarmError, compare, draw_comparison, plan_field
from airloom.farm.comparison import deposit_in

UTM = "EPSG:32632"


def test_numbers_are_those_by_hand():
    """Four cells of 2500 m² in the field, asked 10 L/ha each, and one outside."""
    asked = np.array([[10.0, 10.0, 10.0, 10.0, np.nan]])
    found = compare(asked, np.array([[10.0, 11.9, 4.0, 0.0, 8.0]]), 2500.0)
    assert found.asked_litres == pytest.approx(10.0)
    assert found.given_litres == pytest.approx(25.9 / 4)
    assert found.over_litres == pytest.approx(1.9 / 4)
    assert found.under_litres == pytest.approx(16.0 / 4)
    assert found.outside_litres == pytest.approx(2.0)
    assert found.mean_error == pytest.approx((0 + 1.9 - 6 - 10) / 4)
    assert found.mean_deviation == pytest.approx((1.9 + 6 + 10) / 4)
    assert found.close_share == 0.5


def test_maps_must_fit():
    with pytest.raises(FarmError, match="cannot be compared"):
        compare(np.ones((2, 2)), np.ones((2, 3)), 1.0)
    with pytest.raises(FarmError, match="lies nowhere in the field"):
        compare(np.full((2, 2), np.nan), np.ones((2, 2)), 1.0)


def write_map(file, values):
    """Of 1 m pixels from 60 m west and 30 m north of the origin on: ground and canopy, half each."""
    east, north = Transformer.from_crs("EPSG:4326", UTM, always_xy=True).transform(*position(-60, 30))
    x, y = np.meshgrid(-60 + np.arange(120) + 0.5, 30 - np.arange(60) - 0.5)
    look = {"driver": "GTiff", "width": 120, "height": 60, "count": 2, "dtype": "float32"}
    with rasterio.open(file, "w", crs=UTM, transform=Affine(1, 0, east, 0, -1, north), **look) as data:
        for band in (1, 2):
            data.write(values(x, y).astype("f4") / 2, band)
    return file


def test_drops_here_and_there_are_compared_as_means_of_squares(tmp_path):
    """Every second pixel of 1 m has twice the rate: right in squares of 4 m, though nowhere right in itself."""
    plan = plan_field(write(tmp_path / "f.geojson", polygon(RECTANGLE)), rate=30)
    deposit = Deposit.read(write_map(tmp_path / "given.tif", lambda x, y: 60.0 * ((x - 0.5) % 2 == 0)))
    assert deposit.against(plan.field, plan.rates).close_share == 0.0
    squares = deposit.in_squares(4.0, plan.field)
    found = squares.against(plan.field, plan.rates)
    assert squares.given.shape == (15, 30)
    assert found.close_share == 1.0
    assert found.cell_area == pytest.approx(16, rel=1e-3)
    assert found.asked_litres == pytest.approx(12.0, rel=0.05)


def test_a_map_of_a_run_is_compared_where_it_lies(tmp_path):
    """All of the field but its western tenth has got the 30 L/ha, and five metres beyond its eastern edge too."""
    plan = plan_field(write(tmp_path / "f.geojson", polygon(RECTANGLE)), rate=30)
    given = write_map(tmp_path / "given.tif", lambda x, y: 30.0 * ((np.abs(y) < 20) & (x > -40) & (x < 55)))
    deposit = Deposit.read(deposit_in(tmp_path))
    found = deposit.against(plan.field, plan.rates)
    assert found.asked_litres == pytest.approx(12.0, rel=0.01)
    assert found.given_litres == pytest.approx(0.9 * 12.0, rel=0.02)
    assert found.under_litres == pytest.approx(0.1 * 12.0, rel=0.1)
    assert found.outside_litres == pytest.approx(0.05 * 12.0, rel=0.3)
    assert found.close_share == pytest.approx(0.9, abs=0.02)
    deposit.save(found, tmp_path / "difference.tif")
    with rasterio.open(tmp_path / "difference.tif") as data, rasterio.open(given) as source:
        assert data.transform == source.transform
        assert np.nanmin(data.read(1)) == pytest.approx(-30.0)
        assert np.isnan(data.read(1)).any()
    assert deposit_in(tmp_path) == given
    draw_comparison(found, tmp_path / "difference.png", "field")
    assert (tmp_path / "difference.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_without_a_map_is_told(tmp_path):
    with pytest.raises(FarmError, match="leaves one map there, a GeoTIFF; found: none"):
        deposit_in(tmp_path)
