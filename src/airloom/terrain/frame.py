"""Where a survey lies: its own coordinates, and metres east, north and up of an origin on Earth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import radians
from typing import Any

import numpy as np

from airloom.compiled import compiled
from airloom.scenario.terrain import TerrainError
from airloom.terrain.extras import library
from airloom.world.geodesy import geodetic_to_local, local_to_geodetic

LOCAL = "local"
"""The word for coordinates that are metres east and north of the origin already."""
FEET = {"foot": 0.3048, "feet": 0.3048, "ft": 0.3048, "us survey foot": 1200 / 3937, "us-ft": 1200 / 3937}
METRES = {"metre", "meter", "metres", "meters", "m"}


@dataclass(frozen=True)
class Place:
    """On Earth: degrees, and m above the sea."""

    latitude: float
    longitude: float
    altitude: float


def crs_of(text: Any, where: str) -> Any:
    """What pyproj makes of a name such as EPSG:32632 or of a file's own words; None for `local`."""
    if text == LOCAL:
        return None
    pyproj = library("pyproj", "coordinates of a survey")
    try:
        crs = pyproj.CRS.from_user_input(text)
    except pyproj.exceptions.CRSError as error:
        raise TerrainError(f"{where}: '{text}' is no coordinate system that is known: {error}") from None
    if not (crs.is_projected or crs.is_geographic or crs.is_compound):
        raise TerrainError(f"{where}: '{crs.name}' has no east and north: name a projected or geographic system")
    return crs


def name_of(crs: Any) -> str | None:
    """EPSG:32632, or a name where there is no such number."""
    if crs is None:
        return None
    code = crs.to_epsg()
    return f"EPSG:{code}" if code else crs.name


def vertical_unit(crs: Any) -> str | None:
    """The unit of its heights, if it has some."""
    axes = crs.axis_info if crs is not None else []
    return next((axis.unit_name for axis in axes if axis.direction == "up"), None)


def horizontal_unit(crs: Any) -> str | None:
    return crs.axis_info[0].unit_name if crs is not None and crs.axis_info else None


def metres_in(unit: str) -> float | None:
    """How long a unit is; None if it is not known here."""
    return 1.0 if unit.lower() in METRES else FEET.get(unit.lower())


@dataclass(frozen=True)
class Frame:
    """Local axes at an origin, exact on the WGS-84 ellipsoid, and the survey's coordinates."""

    origin: Place
    crs: Any
    """None if the survey's coordinates are local already."""

    @cached_property
    def _to_degrees(self) -> Any:
        return _transformer(self.crs, "EPSG:4326")

    @cached_property
    def _from_degrees(self) -> Any:
        return _transformer("EPSG:4326", self.crs)

    @property
    def _radians(self) -> tuple[float, float, float]:
        return radians(self.origin.latitude), radians(self.origin.longitude), self.origin.altitude

    def local(self, east, north, altitude) -> np.ndarray:
        """[n, 3] east, north and up of the origin, for the survey's own coordinates."""
        points = np.column_stack(np.broadcast_arrays(np.ravel(east), np.ravel(north), np.ravel(altitude))).astype(float)
        if self.crs is None:
            points[:, 2] -= self.origin.altitude
            return points
        points[:, 0], points[:, 1] = self._to_degrees.transform(points[:, 0], points[:, 1])
        _make_local(points, *self._radians)
        return points

    def survey(self, x, y, z) -> np.ndarray:
        """[n, 3] the survey's own coordinates and altitude, for local ones."""
        points = np.column_stack(np.broadcast_arrays(np.ravel(x), np.ravel(y), np.ravel(z))).astype(float)
        if self.crs is None:
            points[:, 2] += self.origin.altitude
            return points
        _make_geodetic(points, *self._radians)
        points[:, 0], points[:, 1] = self._from_degrees.transform(points[:, 0], points[:, 1])
        return points


def _transformer(source: Any, target: Any) -> Any:
    return library("pyproj", "coordinates of a survey").Transformer.from_crs(source, target, always_xy=True)


def degrees_of(crs: Any, east, north) -> tuple[np.ndarray, np.ndarray]:
    """Longitude and latitude."""
    longitude, latitude = _transformer(crs, "EPSG:4326").transform(np.asarray(east), np.asarray(north))
    return longitude, latitude


@compiled
def _make_local(points, latitude, longitude, altitude):
    """From longitude and latitude, degrees, and altitude."""
    for k in range(len(points)):
        points[k, 0], points[k, 1], points[k, 2] = geodetic_to_local(
            np.radians(points[k, 1]), np.radians(points[k, 0]), points[k, 2], latitude, longitude, altitude
        )


@compiled
def _make_geodetic(points, latitude, longitude, altitude):
    for k in range(len(points)):
        north, east, points[k, 2] = local_to_geodetic(
            points[k, 0], points[k, 1], points[k, 2], latitude, longitude, altitude
        )
        points[k, 0], points[k, 1] = np.degrees(east), np.degrees(north)
