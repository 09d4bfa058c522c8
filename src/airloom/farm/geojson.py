"""GeoJSON files (RFC 7946): their features, each with its geometry in the file's own coordinates.

The coordinates are longitude and latitude. Files of the older kind may name another system in a member `crs`, which
many programs still write: it is heeded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from airloom.basics.given import MEGABYTE, json_of
from airloom.errors import UserError
from airloom.terrain.extras import library
from airloom.terrain.frame import crs_of

LARGEST_FILE = 64 * MEGABYTE
DEGREES = "EPSG:4326"
LARGEST = 1e30
"""Of a number; JSON has whole numbers of any length, which NumPy does not take."""


class FarmError(UserError, ValueError):
    """A field, prescription or job cannot be used; the message is meant for the user."""


@dataclass(frozen=True)
class Feature:
    where: str
    """for messages: the file, and which feature of it"""
    geometry: Any
    """of shapely, in the file's coordinates"""
    properties: dict[str, Any]
    crs: Any

    @property
    def kind(self) -> str:
        return self.geometry.geom_type

    def number(self, key: str) -> float | None:
        """A property; None if it has none of the name."""
        value = self.properties.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < LARGEST:
            raise FarmError(f'{self.where}: "{key}" must be a number, got {_shown(value)}')
        return float(value)

    def has(self, key: str) -> bool:
        value = self.properties.get(key, False)
        if not isinstance(value, bool):
            raise FarmError(f'{self.where}: "{key}" must be true or false, got {_shown(value)}')
        return value


def shapely() -> Any:
    return library("shapely", "planning the work on a field", "farm")


def read_features(file: Path) -> list[Feature]:
    """Raises FarmError if a part of the file cannot be used."""
    content = _content(file)
    crs = _crs(content, file)
    return [
        Feature(where, _geometry(raw.get("geometry"), where, crs), _properties(raw, where), crs)
        for where, raw in _raw_features(content, str(file))
    ]


def _content(file: Path) -> dict[str, Any]:
    content = json_of(file, FarmError, LARGEST_FILE, "no field is that large")
    if not isinstance(content, dict) or not isinstance(content.get("type"), str):
        raise FarmError(f'{file} is no GeoJSON: it must be an object with a "type"')
    return content


def _crs(content: dict[str, Any], file: Path) -> Any:
    given = content.get("crs")
    if given is None:
        return crs_of(DEGREES, str(file))
    properties = given.get("properties") if isinstance(given, dict) else None
    name = properties.get("name") if isinstance(properties, dict) else None
    if not isinstance(name, str):
        known = 'such as {"type": "name", "properties": {"name": "EPSG:32632"}}'
        raise FarmError(f'{file}: "crs" must name a coordinate system, {known}, got {_shown(given)}')
    return crs_of(name, f'{file}, "crs"')


def _raw_features(content: dict[str, Any], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if content["type"] == "FeatureCollection":
        features = content.get("features")
        if not isinstance(features, list):
            raise FarmError(f'{name}: "features" must be a list, got {_shown(features)}')
        for number, raw in enumerate(features, start=1):
            where = f"{name}, feature {number}"
            if not isinstance(raw, dict) or raw.get("type") != "Feature":
                raise FarmError(f'{where}: must be an object whose "type" is "Feature", got {_shown(raw)}')
            yield where, raw
    elif content["type"] == "Feature":
        yield name, content
    else:
        yield name, {"geometry": content}


def _properties(raw: dict[str, Any], where: str) -> dict[str, Any]:
    properties = raw.get("properties") or {}
    if not isinstance(properties, dict):
        raise FarmError(f'{where}: "properties" must be an object, got {_shown(properties)}')
    return properties


def _geometry(raw: Any, where: str, crs: Any) -> Any:
    make = {
        "Point": lambda c: shapely().Point(_positions([c], where, crs)[0]),
        "LineString": lambda c: shapely().LineString(_positions(c, where, crs, 2)),
        "Polygon": lambda c: _polygon(c, where, crs),
        "MultiPolygon": lambda c: shapely().MultiPolygon([_polygon(part, where, crs) for part in _list(c, where)]),
    }
    kind = raw.get("type") if isinstance(raw, dict) else None
    if not isinstance(kind, str) or kind not in make:
        raise FarmError(f"{where}: a geometry must be a {', '.join(make)}, got {_shown(kind or raw)}")
    return make[kind](raw.get("coordinates"))


def _polygon(rings: Any, where: str, crs: Any) -> Any:
    if not _list(rings, where):
        raise FarmError(f"{where}: the polygon is empty")
    outer, *holes = (_positions(ring, where, crs, 4) for ring in rings)
    polygon = shapely().Polygon(outer, holes)
    if not polygon.is_valid:
        reason = shapely().is_valid_reason(polygon)
        if "Self-intersection" in reason:
            place = reason.partition("[")[2].rstrip("]").replace(" ", ", ")
            raise FarmError(f"{where}: the polygon crosses itself at ({place}); draw its corners one after the other")
        raise FarmError(f"{where}: this is no sound polygon: {reason}")
    return polygon


def _positions(raw: Any, where: str, crs: Any, fewest: int = 1) -> np.ndarray:
    """[n, 2]; a third number, the altitude, is left out."""
    try:
        points = np.array([position[:2] for position in _list(raw, where)], dtype=float)
    except (TypeError, ValueError, OverflowError):  # the last of whole numbers of 400 digits
        points = np.empty(0)
    if points.ndim != 2 or points.shape[1] != 2:
        raise FarmError(f"{where}: coordinates must be lists of two or three numbers, got {_shown(raw)}")
    if len(points) < fewest:
        raise FarmError(f"{where}: {len(points)} positions are too few, at least {fewest} are needed")
    if not np.isfinite(points).all():
        raise FarmError(f"{where}: coordinates must be finite numbers")
    if crs.is_geographic:
        _check_degrees(points, where)
    return points


def _check_degrees(points: np.ndarray, where: str) -> None:
    longitude, latitude = np.abs(points).max(axis=0)
    if longitude <= 180 and latitude <= 90:
        return
    worst = points[np.argmax(np.maximum(np.abs(points[:, 0]) / 180, np.abs(points[:, 1]) / 90))]
    why = 'these look like metres: name their system in a member "crs"'
    if longitude <= 90 and latitude <= 180:
        why = "longitude comes first, then latitude: these seem to be swapped"
    raise FarmError(f"{where}: ({worst[0]:g}, {worst[1]:g}) is no longitude and latitude; {why}")


def _list(raw: Any, where: str) -> list[Any]:
    if not isinstance(raw, list):
        raise FarmError(f'{where}: "coordinates" must be a list, got {_shown(raw)}')
    return raw


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:40]}…"
