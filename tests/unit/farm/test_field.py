"""Fields that somebody has drawn: what is taken, and what is refused with one clear message."""

from __future__ import annotations

import json

import pytest
from tests.fields import RECTANGLE, line, point, polygon, position, ring, write

from airloom.farm import FarmError, plan_field, read_field
from airloom.scenario.models import Origin
from airloom.scenario.terrain import TerrainError


def raw(content):
    return lambda file: file.write_text(content if isinstance(content, str) else json.dumps(content))


def geometry(kind, coordinates, **more):
    return raw({"type": kind, "coordinates": coordinates, **more})


def features(*all_of_them, **more):
    return lambda file: write(file, *all_of_them, **more)


LARGER = [(x * 2, y * 2) for x, y in RECTANGLE]
BAD = {
    "nothing": (lambda file: None, "no such file"),
    "no json": (raw("field: 1"), "is no valid JSON"),
    "a list": (raw("[]"), "is no GeoJSON: it must be an object"),
    "deep": (raw("[" * 100_000), "nested too deeply"),
    "no features": (raw({"type": "FeatureCollection", "features": 3}), '"features" must be a list, got 3'),
    "none of them": (features(), "there is no polygon in it"),
    "a point": (geometry("Point", [7, 47]), "there is no polygon in it"),
    "a curve": (geometry("Circle", [7, 47]), 'a Point, LineString, Polygon, MultiPolygon, got "Circle"'),
    "of no kind": (raw({"type": "Feature", "geometry": {"type": ["Polygon"]}}), "must be a Point, LineString"),
    "empty": (geometry("Polygon", []), "the polygon is empty"),
    "two corners": (geometry("Polygon", [[[7, 47], [8, 47]]]), "2 positions are too few, at least 4"),
    "words": (geometry("Polygon", [[["a", 47]] * 4]), "lists of two or three numbers"),
    "one number": (geometry("Polygon", [[[7], [7], [7], [7]]]), "lists of two or three numbers"),
    "nan": (raw('{"type": "Polygon", "coordinates": [[[NaN, 47], [7, 47], [7, 48], [7, 47]]]}'), "finite numbers"),
    "swapped": (geometry("Polygon", [[[47, 107], [47.1, 107], [47, 107.1], [47, 107]]]), "seem to be swapped"),
    "metres": (geometry("Polygon", [[[2e5, 5e6], [2.1e5, 5e6], [2e5, 5.1e6], [2e5, 5e6]]]), "look like metres"),
    "bow tie": (features(polygon([(0, 0), (50, 50), (50, 0), (0, 50)])), "the polygon crosses itself at (8.5"),
    "two fields": (features(polygon(RECTANGLE), polygon(RECTANGLE)), "2 polygons in it could be the field"),
    "small": (features(polygon([(0, 0), (3, 0), (3, 3), (0, 3)])), "is smaller than a swath of 4 m"),
    "a continent": (features(polygon([(-9e3, -9e3), (9e3, -9e3), (9e3, 9e3), (-9e3, 9e3)])), "divide the field"),
    "all marked": (features(polygon(RECTANGLE), polygon(LARGER, no_spray=True)), "nothing is left"),
    "odd mark": (features(polygon(RECTANGLE, no_fly="yes")), '"no_fly" must be true or false, got "yes"'),
    "odd rows": (features(polygon(RECTANGLE, rows="north")), '"rows" must be a number, got "north"'),
    "two lines": (features(polygon(RECTANGLE), line((0, 0), (1, 1)), line((0, 0), (1, 1))), "there are 2"),
    "no line": (features(polygon(RECTANGLE), line((0, 0), (0, 0))), "ends where it begins"),
    "two points": (features(polygon(RECTANGLE), point(0, 0), point(0, 0)), "there are 2"),
    "unknown crs": (features(polygon(RECTANGLE), crs={"properties": {"name": "EPSG:1"}}), "no coordinate system"),
    "odd crs": (features(polygon(RECTANGLE), crs="EPSG:4326"), '"crs" must name a coordinate system'),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_field_is_refused(tmp_path, name):
    file = tmp_path / "field.geojson"
    make, message = BAD[name]
    make(file)
    with pytest.raises((FarmError, TerrainError)) as error:
        plan_field(file)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


WISHES = {
    "swath": (0, "swath must be above 0, got 0"),
    "speed": (-1, "speed must be above 0, got -1"),
    "height": (float("nan"), "height must be above 0, got nan"),
    "rate": (-5, "rate must be 0 or more, got -5"),
    "headland": (-1, "headland must be 0 or more"),
    "flow": ((3, 2), "a least and a greatest value"),
    "refill": ((200, 0), "a longitude and a latitude, got 200,0"),
    "rows": (float("inf"), "a direction in degrees"),
}


@pytest.mark.parametrize("key", WISHES)
def test_wishes_that_cannot_be_are_refused(tmp_path, key):
    value, message = WISHES[key]
    with pytest.raises(FarmError, match=message):
        plan_field(write(tmp_path / "f.geojson", polygon(RECTANGLE)), **{key: value})


def test_more_that_cannot_be(tmp_path):
    file = write(tmp_path / "f.geojson", polygon(RECTANGLE))
    for wishes, message in (
        ({"speed": 40}, "too fast"),
        ({"rate": 0}, "the rate is 0 all over"),
        ({"refill": (8.0, 40.0)}, "more than 20 km from the field"),
        ({"swath": 0.001}, "more than 20,000"),
        ({"world": "vineyard"}, "from the world's origin"),
        ({"world": "vineyard", "terrain": "x"}, "not both"),
    ):
        with pytest.raises(FarmError, match=message):
            plan_field(file, **wishes)


def test_a_folder_that_is_no_terrain_is_refused(tmp_path):
    with pytest.raises(FarmError, match=r"--terrain: .*there is no terrain\.json in it"):
        plan_field(write(tmp_path / "field.geojson", polygon(RECTANGLE)), terrain=tmp_path)


def test_a_field_must_lie_on_the_terrain(tmp_path):
    origin = Origin(latitude=47.04, longitude=7.12, altitude=450)
    file = write(tmp_path / "f.geojson", polygon([(x + 150, y) for x, y in RECTANGLE], origin=origin))
    with pytest.raises(FarmError, match="20% of the field lie off the terrain, which has 360 × 360 m"):
        plan_field(file, world="vineyard")


def test_bare_geometries_altitudes_and_parts_are_taken(tmp_path):
    file = tmp_path / "f.geojson"
    outer = [[*place, 480.0] for place in ring(RECTANGLE)]
    file.write_text(json.dumps({"type": "Polygon", "coordinates": [outer]}))
    assert read_field(file).hectares == pytest.approx(0.4, rel=3e-4)
    file.write_text(json.dumps({"type": "MultiPolygon", "coordinates": [[outer]]}))
    assert read_field(file).hectares == pytest.approx(0.4, rel=3e-4)


def test_a_field_in_metres_is_where_it_says(tmp_path):
    """As older programs write it, with a member crs."""
    import pyproj

    move = pyproj.Transformer.from_crs("EPSG:4326", "EPSG:32632", always_xy=True)
    corners = [list(move.transform(*place)) for place in ring(RECTANGLE)]
    file, name = tmp_path / "f.geojson", "urn:ogc:def:crs:EPSG::32632"
    content = {"type": "Polygon", "coordinates": [corners], "crs": {"type": "name", "properties": {"name": name}}}
    file.write_text(json.dumps(content))
    outline = read_field(file, Origin()).outline
    assert outline.bounds == pytest.approx((-50, -20, 50, 20), abs=1e-3)


def test_without_a_world_the_field_itself_is_the_origin(tmp_path):
    field = read_field(write(tmp_path / "f.geojson", polygon([(x + 900, y) for x, y in RECTANGLE])))
    longitude, latitude = position(900, 0)
    assert (field.origin.longitude, field.origin.latitude) == pytest.approx((longitude, latitude), abs=1e-7)
    assert field.outline.bounds == pytest.approx((-50, -20, 50, 20), abs=0.05)
