"""Terrain from surveys: heights, places, areas and volumes against rasterio, PROJ and closed forms."""

from __future__ import annotations

from functools import cache
from math import atan, degrees, hypot, pi, radians
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import rasterio
from matplotlib.figure import Figure
from pyproj import Transformer
from rasterio.enums import Resampling
from rasterio.windows import Window

from airloom.scenario.models import World
from airloom.terrain.build import build_terrain
from airloom.world.geodesy import geodetic_to_local, local_to_geodetic
from airloom.world.grid import Grid
from airloom.world.land import Land
from airloom.world.triangulation import Level, triangulate
from validation.case import Outcome, Row, case

UTM, EAST, NORTH, PIXEL, PIXELS = "EPSG:32632", 395_000.0, 4_990_000.0, 0.5, 400
PLACES = 1000


def hills(east: np.ndarray, north: np.ndarray) -> np.ndarray:
    return 250 + 5 * np.sin((east - EAST) / 10) * np.cos((north - NORTH) / 13) + 0.05 * (east - EAST)


def write_raster(file: Path, heights: np.ndarray, pixel: float, crs: str | None, east: float, north: float) -> Path:
    rows, columns = heights.shape
    with rasterio.open(
        file, "w", driver="GTiff", width=columns, height=rows, count=1, dtype="float32", crs=crs,
        transform=rasterio.Affine(pixel, 0, east, 0, -pixel, north),
    ) as data:  # fmt: skip
        data.write(heights.astype(np.float32), 1)
    return file


class Field:
    """Hills of 200 m × 200 m near Turin, surveyed every 0.5 m, and the land made of them."""

    def __init__(self) -> None:
        self.folder = TemporaryDirectory()
        middles = PIXEL * (np.arange(PIXELS) + 0.5)
        east, north = np.meshgrid(EAST + middles, NORTH - middles)
        self.file = write_raster(Path(self.folder.name) / "hills.tif", hills(east, north), PIXEL, UTM, EAST, NORTH)
        terrain = build_terrain(self.file)
        self.land = Land(World.model_validate({"terrain": {"kind": "survey", "folder": str(terrain)}}))
        about = self.land.survey.about  # type: ignore[union-attr]
        self.origin = radians(about.latitude), radians(about.longitude), about.altitude
        self.to_utm = Transformer.from_crs("EPSG:4326", UTM, always_xy=True)

    def surveyed(self, x: float, y: float, z: float) -> tuple[float, float, float]:
        """East and north in the survey's own coordinates, by PROJ, and altitude, as a vehicle's GNSS has them."""
        latitude, longitude, altitude = local_to_geodetic(x, y, z, *self.origin)
        return *self.to_utm.transform(degrees(longitude), degrees(latitude)), altitude

    def gap_to_rasterio(self, data: rasterio.DatasetReader, x: float, y: float) -> float:
        """Our height less what rasterio interpolates there, m."""
        east, north, altitude = self.surveyed(x, y, self.land.height(x, y))
        column, row = (east - EAST) / PIXEL, (NORTH - north) / PIXEL
        window = Window(column - 0.5, row - 0.5, 1, 1)
        [[there]] = data.read(1, window=window, out_shape=(1, 1), resampling=Resampling.bilinear)
        return altitude - float(there)


@cache
def field() -> Field:
    return Field()


def _gaps(is_at_corners: bool) -> np.ndarray:
    """At random places, 5 m within the border."""
    here, rng = field(), np.random.default_rng(5)
    places = rng.uniform(-90, 90, (PLACES, 2))
    if is_at_corners:
        places = np.rint(places / PIXEL) * PIXEL
    with rasterio.open(here.file) as data:
        return np.array([here.gap_to_rasterio(data, x, y) for x, y in places])


@case("Heights of a terrain made of a survey", "rasterio's interpolation (GDAL's RasterIO, bilinear)")
def terrain_heights() -> Outcome:
    """A GeoTIFF in UTM becomes a grid in local metres, and a flight sees the flat triangles between its corners. At
    1 000 random places the height is compared with what rasterio interpolates in the file itself. At corners of the
    grid both interpolate once, and must agree; elsewhere ours is interpolated twice, and on these hills, which are
    curved by up to 0.05 m⁻¹, may be wrong by twice ⅛ · 0.05 · 0.5² m, and as much again across a cell's diagonal.
    """
    corners, anywhere = np.abs(_gaps(True)), np.abs(_gaps(False))
    rows = [
        Row("largest difference, 1 000 corners", float(corners.max()), 0.0, 1e-3, "m"),
        Row("largest difference, 1 000 places", float(anywhere.max()), 0.0, 0.01, "m"),
        Row("mean difference, 1 000 places", float(anywhere.mean()), 0.0, 0.002, "m"),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.hist([1000 * _gaps(False), 1000 * _gaps(True)], bins=60, label=["anywhere", "at corners"])
        axes.set(xlabel="our height less rasterio's, mm", ylabel="places")
        axes.legend()

    return Outcome(rows, draw, "Differences at 1 000 places each.")


@case("Places of a terrain on Earth", "PROJ (pyproj)")
def terrain_places() -> Outcome:
    """Whoever stands on a surveyed corner must read its coordinates. For the four corners of the survey, and one 4 km
    away and 300 m higher, local coordinates are found by PROJ's topocentric conversion; our GNSS turns them into
    latitude and longitude, and PROJ these into the survey's own coordinates again.
    """
    here = field()
    latitude, longitude, altitude = here.origin
    frame = f"+lat_0={degrees(latitude):.12f} +lon_0={degrees(longitude):.12f} +h_0={altitude}"
    local = Transformer.from_pipeline(
        "+proj=pipeline +step +inv +proj=utm +zone=32 +ellps=WGS84 "
        f"+step +proj=cart +ellps=WGS84 +step +proj=topocentric +ellps=WGS84 {frame}"
    )
    size, rows = PIXEL * PIXELS, []
    corners = {
        "south-west": (0, -size, 0), "south-east": (size, -size, 0), "north-west": (0, 0, 0),
        "north-east": (size, 0, 0), "4 km away, 300 m higher": (4000, 200, 300),
    }  # fmt: skip
    for name, (east, north, rise) in corners.items():
        wanted = EAST + east, NORTH + north, altitude + rise
        found = here.surveyed(*local.transform(*wanted))
        rows.append(Row(f"distance, {name}", hypot(*np.subtract(found, wanted)), 0.0, 0.01, "m"))
    back = geodetic_to_local(*local_to_geodetic(4000.0, 0.0, 300.0, *here.origin), *here.origin)
    rows.append(Row("there and back again", back[0], 4000.0, 1e-6, "m"))
    return Outcome(rows)


def _cone(file: Path, radius: float, height: float) -> Land:
    pixel = 0.25
    middles = pixel * (np.arange(480) + 0.5) - 60
    x, y = np.meshgrid(middles, -middles)
    heights = np.maximum(0.0, height * (1 - np.hypot(x, y) / radius))
    terrain = build_terrain(write_raster(file, heights, pixel, None, -60, 60), crs="local", origin=(45, 7, 0))
    return Land(World.model_validate({"terrain": {"kind": "survey", "folder": str(terrain)}}))


@case("Areas and volumes of a terrain", "closed forms of a cone")
def terrain_volume() -> Outcome:
    """A cone of 40 m radius and 15 m height, surveyed every 0.25 m, becomes a terrain. With all corners of the grid its
    mesh has the cone's volume and area to 0.1 %. Coarser meshes may differ in volume by their error all over the base.
    """
    radius, height = 40.0, 15.0
    base, volume = pi * radius**2, pi * radius**2 * height / 3
    with TemporaryDirectory() as folder:
        land = _cone(Path(folder) / "cone.tif", radius, height)
        assert land.grid is not None
        [whole] = triangulate(land.grid, [0.0])
        flat = land.grid.size[0] * land.grid.size[1]
        area = flat - base + pi * radius * hypot(radius, height)
        ours = _volume_and_area(land.grid, whole)
        rows = [
            Row("volume, all corners", ours[0], volume, 1e-3 * volume, "m³"),
            Row("area, all corners", ours[1], area, 1e-3 * area, "m²"),
        ]
        for level in land.levels[:3]:
            ours = _volume_and_area(land.grid, level)
            rows.append(Row(f"volume, error {level.error:.3g} m", ours[0], volume, level.error * base, "m³"))
        slope = degrees(atan((land.height(10.0, 0.0) - land.height(30.0, 0.0)) / 20.0))
        rows.append(Row("slope", slope, degrees(atan(height / radius)), 0.05, "°"))
    return Outcome(rows)


def _volume_and_area(grid: Grid, level: Level) -> tuple[float, float]:
    """Between the mesh and z = 0, and of the mesh."""
    x, y = np.meshgrid(grid.east, grid.north)
    corners = np.column_stack([x.ravel(), y.ravel(), np.ravel(grid.heights)])
    a, b, c = (corners[level.faces[:, k].astype(int)] for k in range(3))
    normals = np.cross(b - a, c - a) / 2
    return float((normals[:, 2] * (a + b + c)[:, 2] / 3).sum()), float(np.linalg.norm(normals, axis=1).sum())
