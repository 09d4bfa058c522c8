"""Terrain from rasters: every corner has the height and the place on Earth that the survey says."""

from __future__ import annotations

from math import degrees, radians
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.surveys import EAST, NORTH, UTM, raster, real, slope

from airloom.terrain.build import build_terrain
from airloom.terrain.frame import Frame, Place
from airloom.world.geodesy import local_to_geodetic
from airloom.world.survey import Surveyed

pyproj = pytest.importorskip("pyproj")
rasterio = pytest.importorskip("rasterio")


def built(file: Path, **options: Any) -> Surveyed:
    return Surveyed(build_terrain(file, file.with_suffix(".terrain"), **options))


def survey_coordinates(terrain: Surveyed, crs: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of all corners, by our own geodesy and pyproj."""
    about, grid = terrain.about, terrain.grid
    x, y = np.meshgrid(grid.east, grid.north)
    origin = radians(about.latitude), radians(about.longitude), about.altitude
    places = np.array(
        [local_to_geodetic(*point, *origin) for point in zip(x.flat, y.flat, grid.heights.flat, strict=True)]
    )
    to = pyproj.Transformer.from_crs("EPSG:4326", crs, always_xy=True)
    east, north = to.transform(np.degrees(places[:, 1]), np.degrees(places[:, 0]))
    return east, north, places[:, 2]


@pytest.mark.parametrize(
    ("crs", "corner", "pixel", "height"),
    [
        (UTM, (EAST, NORTH), 0.5, slope),
        ("EPSG:4326", (7.67, 45.05), 1e-5, lambda e, n: 300 + 4e3 * (e - 7.67) - 2e3 * (n - 45.05)),
        ("EPSG:4326", (189.9999, -40.0), 1e-5, lambda e, n: 300 + 4e3 * (e % 360 - 190) - 2e3 * (n + 40)),
        ("EPSG:3857", (853_000.0, 5_630_000.0), 0.7, lambda e, n: 250 + 0.03 * (e - 853_000) + 0.04 * (n - 5_630_000)),
        ("EPSG:2992", (636_000.0, 849_000.0), 2.0, lambda e, n: 400 + 0.02 * (e - 636_000)),
    ],
    ids=["utm", "degrees", "degrees to 360", "web mercator", "feet"],
)  # fmt: skip
def test_every_corner_is_where_the_survey_has_its_height_to_a_millimetre(tmp_path, crs, corner, pixel, height):
    file = raster(
        tmp_path / "field.tif",
        height,
        (30, 40),
        crs=crs,
        transform=rasterio.transform.from_origin(*corner, pixel, pixel),
    )
    terrain = built(file, units="metres")
    east, north, altitude = survey_coordinates(terrain, crs)
    east = east % 360 if corner[0] == 189.9999 else east
    inside = (
        (east > corner[0] + pixel) & (east < corner[0] + 39 * pixel)
        & (north < corner[1] - pixel) & (north > corner[1] - 29 * pixel)
    )  # fmt: skip
    assert inside.mean() > 0.8
    np.testing.assert_allclose(altitude[inside], height(east, north)[inside], atol=1e-3)


def test_the_origin_is_on_the_ground_in_the_middle(tmp_path):
    about = built(raster(tmp_path / "field.tif")).about
    longitude, latitude = pyproj.Transformer.from_crs(UTM, "EPSG:4326", always_xy=True).transform(EAST + 20, NORTH - 15)
    assert (about.latitude, about.longitude) == pytest.approx((latitude, longitude), abs=1e-7)
    assert about.altitude == pytest.approx(slope(EAST + 20, NORTH - 15), abs=0.05)
    assert about.crs == UTM
    assert about.cell == (0.5, 0.5)


def test_an_origin_can_be_given(tmp_path):
    about = built(raster(tmp_path / "field.tif"), origin=(45.05, 7.66, 100.0)).about
    assert (about.latitude, about.longitude, about.altitude) == (45.05, 7.66, 100.0)
    assert about.low > 150
    assert about.corner[0] > 0


def test_a_survey_in_local_metres_is_taken_as_it_is(tmp_path):
    file = raster(
        tmp_path / "field.tif",
        lambda e, n: e + 10 * n,
        (20, 30),
        crs=None,
        transform=rasterio.transform.from_origin(-5, 3, 0.5, 0.25),
    )
    terrain = built(file, crs="local", origin=(10.0, 20.0, 0.0))
    assert terrain.about.cell == (0.5, 0.25)
    assert terrain.about.corner == pytest.approx((-4.75, 3 - 19.5 * 0.25))
    grid = terrain.grid
    assert grid.heights.shape == (20, 30)
    np.testing.assert_allclose(grid.heights, grid.east + 10 * grid.north[:, None], atol=1e-4)


def test_a_rotated_raster_is_turned(tmp_path):
    turned = rasterio.Affine.translation(EAST, NORTH) @ rasterio.Affine.rotation(30) @ rasterio.Affine.scale(0.5, -0.5)
    terrain = built(raster(tmp_path / "field.tif", transform=turned), holes="keep")
    east, north, altitude = survey_coordinates(terrain, UTM)
    known = np.isfinite(altitude)
    assert 0.3 < known.mean() < 0.7
    columns, rows = np.array([~turned @ point for point in zip(east[known], north[known], strict=True)]).T
    within = (columns > 1) & (columns < 79) & (rows > 1) & (rows < 59)
    np.testing.assert_allclose(altitude[known][within], slope(east, north)[known][within], atol=1e-3)


def test_rows_of_vines_survive_by_the_maximum_and_not_by_the_mean(tmp_path):
    heights = np.zeros((200, 200))
    heights[:, ::25] = 1.5  # rows of 0.1 m every 2.5 m
    file = raster(tmp_path / "vines.tif", heights, pixel=0.1, crs=None)
    rows = built(file, crs="local", cell=0.5, by="max", origin=(0, 0, 0)).grid.heights
    flat = built(file, crs="local", cell=0.5, by="mean", origin=(0, 0, 0)).grid.heights
    assert rows.max() == 1.5
    assert ((rows == 1.5).mean(axis=0) > 0.99).sum() >= 7
    assert flat.max() < 0.5
    assert flat.mean() == pytest.approx(heights.mean(), abs=0.02)


@pytest.mark.parametrize(
    ("crop", "size"),
    [
        ("pixels:10,20,30,20", (14.5, 9.5)), ("metres:-5,-4,5,6", (10.0, 10.0)), ("metres:-1000,-4,5,6", (24.5, 10.0)),
    ],
)  # fmt: skip
def test_a_part_is_taken(tmp_path, crop, size):
    grid = built(raster(tmp_path / "field.tif"), crop=crop).grid
    assert grid.size == pytest.approx(size, abs=1.01)
    x, y = np.meshgrid(grid.east, grid.north)
    assert np.nanstd(grid.heights - 0.05 * x + 0.02 * y) < 0.01


def test_a_part_by_longitude_and_latitude_has_its_origin_in_its_middle(tmp_path):
    file = raster(
        tmp_path / "field.tif",
        lambda e, n: 100 + 0 * e,
        crs="EPSG:4326",
        transform=rasterio.transform.from_origin(7.67, 45.05, 1e-5, 1e-5),
    )
    about = built(file, crop="lonlat:7.6702,45.0495,7.6704,45.0498").about
    assert (about.latitude, about.longitude) == pytest.approx((45.04965, 7.6703))
    assert about.columns * about.cell[0] == pytest.approx(15.8, abs=1.0)


@pytest.mark.parametrize("kind", ["nodata", "alpha"])
def test_holes_are_filled_or_kept(tmp_path, kind):
    x, y = np.meshgrid(np.arange(80.0), np.arange(60.0))
    heights = 5 + 0.1 * x + 0.2 * y
    hole = (x - 40) ** 2 + (y - 30) ** 2 < 10**2
    if kind == "nodata":
        bands, more = np.where(hole, -9999.0, heights), {}
    else:
        bands, more = np.stack([heights, np.where(hole, 0.0, 255.0)]), {"nodata": None, "alpha": "yes"}
    file = raster(tmp_path / "field.tif", bands, pixel=1.0, crs=None, **more)
    if kind == "alpha":
        with rasterio.open(file, "r+") as data:
            data.colorinterp = (rasterio.enums.ColorInterp.gray, rasterio.enums.ColorInterp.alpha)
    kept = built(file, crs="local", origin=(0, 0, 0), holes="keep")
    assert kept.about.holes == hole.sum()
    assert np.isnan(kept.grid.heights[::-1][hole]).all()
    filled = built(file, crs="local", origin=(0, 0, 0))
    assert filled.about.holes == 0
    np.testing.assert_allclose(filled.grid.heights[::-1], heights, atol=0.02)  # a slope goes on through the hole


@pytest.mark.parametrize("how", [{"unit": "ft"}, {"units": "feet"}, {"crs": "EPSG:2992"}])
def test_feet_become_metres(tmp_path, how):
    changes = {key: how[key] for key in ("unit", "crs") if key in how}
    terrain = built(raster(tmp_path / "field.tif", np.full((20, 20), 1000.0), **changes), units=how.get("units"))
    assert terrain.about.altitude == pytest.approx(304.8, abs=0.01)
    assert ("they are taken as feet" in "".join(terrain.about.warnings)) == ("crs" in how)


def test_whole_numbers_scale_and_offset_are_heights_too(tmp_path):
    file = raster(tmp_path / "field.tif", np.full((9, 9), 120), dtype="int16", nodata=-32768)
    with rasterio.open(file, "r+") as data:
        data.scales, data.offsets = (0.1,), (200.0,)
    assert built(file).about.altitude == pytest.approx(212.0)


def test_colours_lie_where_the_photo_has_them(tmp_path):
    """The north-western quarter of the photo is red, all else green; it is finer than the survey and larger."""
    file = raster(tmp_path / "field.tif")
    colours = np.zeros((3, 400, 400), dtype=np.uint8)
    colours[1] = 200
    colours[:, :200, :200] = np.array([220, 0, 0])[:, None, None]
    corner = rasterio.transform.from_origin(EAST + 20 - 40, NORTH - 15 + 40, 0.2, 0.2)
    photo = raster(tmp_path / "photo.tif", colours, transform=corner, dtype="uint8", nodata=None, photometric="RGB")
    terrain = built(file, colour=photo)
    from PIL import Image

    picture = np.asarray(Image.open(terrain.folder / terrain.about.colour)).astype(int)
    rows, columns, _ = picture.shape
    assert columns / rows == pytest.approx(np.divide(*terrain.grid.size), rel=0.02)
    assert picture[rows // 4, columns // 4] == pytest.approx([220, 0, 0], abs=12)
    for row, column in [(rows // 4, 3 * columns // 4), (3 * rows // 4, columns // 4), (-9, -9)]:
        assert picture[row, column] == pytest.approx([0, 200, 0], abs=12)


def test_the_folder_holds_all_that_was_promised(tmp_path):
    parts: list[tuple[str, float]] = []
    terrain = built(raster(tmp_path / "field.tif"), progress=lambda what, part: parts.append((what, part)))
    names = {path.name for path in terrain.folder.iterdir()}
    meshes = {f"{kind}_{k}.npy" for kind in ("triangles", "tiles") for k in range(4)}
    assert names == {"terrain.json", "heights.npy", "ceilings.npy", "preview.png", "report.md"} | meshes
    assert [level.largest <= level.error for level in terrain.levels] == [True] * 4
    assert terrain.levels[0].faces.max() < terrain.grid.heights.size
    assert "| 0 |" in (terrain.folder / "report.md").read_text()
    assert {what for what, _ in parts} == {"Reading heights", "Filling holes", "Finding triangles", "Drawing"}
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_block_ends_where_the_next_begins(tmp_path, monkeypatch):
    """The survey is read in parts, and nothing tells where."""
    file = raster(tmp_path / "field.tif", lambda e, n: 10 * np.sin(e / 9) * np.cos(n / 7), (150, 300))
    whole = np.array(built(file).grid.heights)
    monkeypatch.setattr("airloom.terrain.from_raster.BLOCK", 64)
    np.testing.assert_allclose(built(file).grid.heights, whole, atol=1e-4)


def test_a_real_survey_in_degrees():
    file = real("terrain/dem.tif")
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        terrain = Surveyed(build_terrain(file, Path(folder) / "dem", crop="pixels:100,100,60,50"))
        east, north, altitude = survey_coordinates(terrain, "EPSG:4326")
        with rasterio.open(file) as data:
            found = np.array([value[0] for value in data.sample(zip(east, north, strict=True))], dtype=float)
    # A pixel is 85 m and a whole number of metres high: neighbours differ by some metres at most.
    assert np.median(np.abs(altitude - found)) < 1.0
    assert terrain.about.altitude == pytest.approx(200, abs=50)
    assert degrees(radians(terrain.about.latitude)) == pytest.approx(32.7175, abs=0.03)


def test_a_vehicle_on_a_surveyed_corner_reads_its_coordinates_to_a_centimetre(tmp_path):
    """And stands on the ground there: height, rangefinder's ray and survey agree."""
    from validation.case import body, simulate

    terrain = built(raster(tmp_path / "field.tif"))
    about = terrain.about
    corner = EAST + 10.25, NORTH - 12.25  # the middle of a pixel
    ground = float(slope(*corner))
    frame = Frame(Place(about.latitude, about.longitude, about.altitude), pyproj.CRS(UTM))
    [(x, y, z)] = frame.local(*corner, ground)
    vehicle = body(
        pose={"position": (x, y, z + 2.0)},
        sensors={"odometry": {"kind": "odometry"}, "gnss": {"kind": "gnss", "rate": 10}},
    )
    sim = simulate(vehicle, world={"terrain": {"kind": "survey", "folder": str(terrain.folder)}, "gravity": 0.0})
    assert sim.fleet.land.height(x, y) == pytest.approx(z, abs=0.01)
    assert sim.fleet.land.hit((x, y, z + 2.0), (0.0, 0.0, -1.0), 10.0) == pytest.approx(2.0, abs=0.01)
    fixes: list[Any] = []
    sim.bus.subscribe("/body/gnss", lambda topic, message, time: fixes.append(message))
    sim.run(until=0.3)
    to = pyproj.Transformer.from_crs("EPSG:4326", UTM, always_xy=True)
    assert to.transform(fixes[-1].longitude, fixes[-1].latitude) == pytest.approx(corner, abs=0.01)
    assert fixes[-1].altitude == pytest.approx(ground + 2.0, abs=0.01)
