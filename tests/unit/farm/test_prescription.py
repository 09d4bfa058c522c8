"""Rates by place: zones, rasters in any coordinates, gaps in them, and what pump and nozzles cannot give."""

from __future__ import annotations

import numpy as np
import pytest
import rasterio
from affine import Affine
from pyproj import Transformer
from tests.fields import RECTANGLE, polygon, position, write

from airloom.farm import FarmError, plan_field

WEST = [(-60, -30), (0, -30), (0, 30), (-60, 30)]
EAST = [(0, -30), (60, -30), (60, 30), (0, 30)]
UTM = "EPSG:32632"


@pytest.fixture
def field(tmp_path):
    return write(tmp_path / "field.geojson", polygon(RECTANGLE))


def rates(plan):
    """By the metres that have them."""
    found = {}
    for line in plan.job.lines:
        for stretch in line.spray:
            found[round(stretch.rate, 1)] = found.get(round(stretch.rate, 1), 0.0) + stretch.length
    return found


def raster(file, values, crs=UTM, nodata=None):
    """Of 2 m pixels around the field, with the values of functions of x and y."""
    to_utm = Transformer.from_crs("EPSG:4326", UTM, always_xy=True)
    east, north = to_utm.transform(*position(-60, 30))
    x, y = np.meshgrid(-60 + 2 * np.arange(60) + 1, 30 - 2 * np.arange(30) - 1)
    look = {"driver": "GTiff", "width": 60, "height": 30, "count": 1, "dtype": "float32", "nodata": nodata}
    with rasterio.open(file, "w", crs=crs, transform=Affine(2, 0, east, 0, -2, north), **look) as data:
        data.write(values(x, y).astype("f4"), 1)
    return file


def test_zones_change_the_rate_along_the_lines(field, tmp_path):
    zones = write(tmp_path / "zones.geojson", polygon(WEST, litres_per_hectare=20), polygon(EAST, rate=50))
    plan = plan_field(field, prescription=zones)
    assert rates(plan) == pytest.approx({20.0: 500.0, 50.0: 500.0}, rel=0.01)
    assert plan.job.totals.litres == pytest.approx(0.2 * 20 + 0.2 * 50, rel=0.01)
    for stretch in plan.job.lines[0].spray:
        assert stretch.flow == pytest.approx(stretch.rate * 4 * 4 * 60 / 1e4, rel=1e-3)


def test_zones_get_their_rate_exactly(field, tmp_path):
    zones = write(tmp_path / "zones.geojson", polygon(WEST, rate=20), polygon(EAST, rate=55))
    assert {20.0, 55.0} <= set(rates(plan_field(field, prescription=zones)))


def test_where_the_map_says_nothing_the_rate_or_nothing_is_given(field, tmp_path):
    zones = write(tmp_path / "zones.geojson", polygon(WEST, rate=40))
    assert rates(plan_field(field, prescription=zones, rate=10)) == pytest.approx({40.0: 500, 10.0: 500}, rel=0.01)
    assert rates(plan_field(field, prescription=zones, elsewhere="none")) == pytest.approx({40.0: 500}, rel=0.01)


def test_a_raster_in_other_coordinates_lies_where_it_is(field, tmp_path):
    file = raster(tmp_path / "map.tif", lambda x, y: np.where(x < 10, 30.0, 60.0))
    plan = plan_field(field, prescription=file)
    found = rates(plan)
    assert found[30.0] == pytest.approx(600, abs=40)
    assert found[60.0] == pytest.approx(400, abs=40)
    assert plan.job.totals.litres == pytest.approx(0.24 * 30 + 0.16 * 60, rel=0.02)


def test_gaps_in_a_raster_and_zeros_are_told_apart(field, tmp_path):
    file = raster(tmp_path / "m.tif", lambda x, y: np.where(x < -10, -1.0, np.where(x < 10, 0.0, 60.0)), nodata=-1)
    found = rates(plan_field(field, prescription=file, rate=15))
    assert found[15.0] == pytest.approx(400, abs=40)
    assert found[60.0] == pytest.approx(400, abs=40)
    assert sum(found.values()) == pytest.approx(800, abs=40)


def test_what_pump_and_nozzles_cannot_give_is_told(field, tmp_path):
    zones = write(tmp_path / "zones.geojson", polygon(WEST, rate=2), polygon(EAST, rate=100))
    plan = plan_field(field, prescription=zones, flow=(0.96, 4.8))
    assert rates(plan) == pytest.approx({10.0: 500, 50.0: 500}, rel=0.01)
    assert {one.asked for one in plan.shortfalls} == {2, 100}
    assert sum(one.square_metres(4.0) for one in plan.shortfalls) == pytest.approx(4000, rel=0.01)
    assert {one.line for one in plan.shortfalls} == set(range(1, 11))


def test_a_smooth_raster_gives_steps_that_are_worth_a_change(field, tmp_path):
    file = raster(tmp_path / "map.tif", lambda x, y: 50 + 0.3 * x)
    plan = plan_field(field, prescription=file)
    assert plan.job.totals.litres == pytest.approx(0.4 * 50, rel=0.01)
    assert max(len(line.spray) for line in plan.job.lines) < 70


def test_maps_that_cannot_be_used_are_refused(field, tmp_path):
    def refused(message, prescription, **more):
        with pytest.raises(FarmError, match=message):
            plan_field(field, prescription=prescription, **more)

    far = [(x + 5000, y) for x, y in WEST]
    refused("lies nowhere in the field", write(tmp_path / "a.geojson", polygon(far, rate=3)))
    refused('needs a property "litres_per_hectare" or "rate"', write(tmp_path / "b.geojson", polygon(WEST)))
    refused("between 0 and 10000 litres per hectare, got -3", write(tmp_path / "c.geojson", polygon(WEST, rate=-3)))
    refused("between 0 and 10000", write(tmp_path / "e.geojson", polygon(WEST, rate=10**30)))
    refused('"rate" must be a number', write(tmp_path / "e.geojson", polygon(WEST, rate=10**400)))
    refused("there is no zone in it", write(tmp_path / "d.geojson"))
    refused("no such file", tmp_path / "nothing.tif")
    nowhere = raster(tmp_path / "map.tif", lambda x, y: 0 * x + 30, crs=None)
    refused("names no coordinate system; give it by --crs", nowhere)
    assert rates(plan_field(field, prescription=nowhere, crs=UTM)).keys() == {30.0}
    refused("lies nowhere in the field", nowhere, crs="EPSG:32633")
