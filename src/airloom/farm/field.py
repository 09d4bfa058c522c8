"""A field: what is to be treated, where not, which way the rows run, and where the tank is filled.

In its GeoJSON the field is the polygon without a mark; holes in it are not sprayed. Further polygons may be marked by
a property `no_spray` (flown over) or `no_fly` (flown around). A line gives the direction of the rows, a point the place
of refilling.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, degrees, hypot, pi, radians
from pathlib import Path
from typing import Any

import numpy as np

from airloom.farm.geojson import FarmError, Feature, read_features, shapely
from airloom.farm.routes import CLEARANCE, Point
from airloom.scenario.models import Origin
from airloom.terrain.frame import Frame, degrees_of
from airloom.terrain.frame import Place as OnEarth

FARTHEST = 20_000.0  # m of a field from the origin
LARGEST = 20e6  # m²
SMOOTHED = 0.02  # of a field's diameter: what is less is no edge that rows would follow


@dataclass(frozen=True)
class Field:
    """In metres east and north of an origin."""

    name: str
    origin: Origin
    area: Any
    """what is to be sprayed, of shapely: without holes and marked places"""
    outline: Any
    """the polygon as it was drawn, without holes"""
    no_fly: Any
    rows: float
    """the direction of the rows, rad, counter-clockwise from east"""
    refill: Point | None

    @property
    def hectares(self) -> float:
        return self.area.area / 1e4


def read_field(file: str | Path, origin: Origin | None = None, rows: float | None = None) -> Field:
    """The field in a GeoJSON file.

    Args:
        file: a Polygon, a Feature with one, or a FeatureCollection.
        origin: of the local coordinates; the middle of the field, at the height of the sea, if left out.
        rows: compass direction of the rows, degrees; by the file, or along the longest edge, if left out.
    """
    file = Path(file)
    features = read_features(file)
    drawn = _the_field(features, file)
    origin = origin or _middle(drawn)
    local = {id(feature): _local(feature, origin) for feature in features}
    outline, holes = _parts(local[id(drawn)])
    _check_place(outline, origin, file)
    no_spray = [*holes, *(local[id(f)] for f in features if _is_polygon(f) and f.has("no_spray"))]
    no_fly = shapely().union_all([local[id(f)] for f in features if _is_polygon(f) and f.has("no_fly")])
    area = outline.difference(shapely().union_all([*no_spray, no_fly.buffer(CLEARANCE, join_style="mitre")]))
    if area.area <= 0:
        raise FarmError(f"{file}: nothing is left of the field: all of it is marked not to be sprayed")
    return Field(
        str(drawn.properties.get("name") or file.stem), origin, area, outline, no_fly,
        _rows(features, local, drawn, outline, rows), _refill(features, local),
    )  # fmt: skip


def _is_polygon(feature: Feature) -> bool:
    return feature.kind in ("Polygon", "MultiPolygon")


def _the_field(features: list[Feature], file: Path) -> Feature:
    drawn = [f for f in features if _is_polygon(f) and not (f.has("no_spray") or f.has("no_fly"))]
    if not drawn:
        raise FarmError(f"{file}: there is no polygon in it, which a field must be")
    if len(drawn) > 1:
        marks = 'mark those that are not to be sprayed by "no_spray": true or "no_fly": true'
        raise FarmError(f"{file}: {len(drawn)} polygons in it could be the field; {marks}, and plan one field a time")
    if drawn[0].kind == "MultiPolygon" and len(drawn[0].geometry.geoms) != 1:
        count = len(drawn[0].geometry.geoms)
        raise FarmError(f"{drawn[0].where}: a field is one polygon, and this has {count} parts: plan one a time")
    return drawn[0]


def _parts(polygon: Any) -> tuple[Any, list[Any]]:
    """The polygon without holes, and its holes as polygons."""
    polygon = polygon.geoms[0] if polygon.geom_type == "MultiPolygon" else polygon
    return shapely().Polygon(polygon.exterior), [shapely().Polygon(ring) for ring in polygon.interiors]


def _middle(drawn: Feature) -> Origin:
    x, y = drawn.geometry.centroid.coords[0]
    longitude, latitude = degrees_of(drawn.crs, x, y)
    return Origin(latitude=float(latitude), longitude=float(longitude), altitude=0.0)


def frame_of(origin: Origin, crs: Any) -> Frame:
    return Frame(OnEarth(origin.latitude, origin.longitude, origin.altitude), crs)


def to_local(geometry: Any, frame: Frame) -> Any:
    """A geometry of shapely in metres east and north."""
    return shapely().transform(geometry, lambda xy: frame.local(xy[:, 0], xy[:, 1], frame.origin.altitude)[:, :2])


def _local(feature: Feature, origin: Origin) -> Any:
    return to_local(feature.geometry, frame_of(origin, feature.crs))


def _check_place(outline: Any, origin: Origin, file: Path) -> None:
    x, y = outline.centroid.coords[0]
    if not np.isfinite([x, y]).all() or hypot(x, y) > FARTHEST:
        where = f"{origin.latitude:g}°, {origin.longitude:g}°"
        raise FarmError(
            f"{file}: the field lies {hypot(x, y) / 1000:,.0f} km from the world's origin ({where}); "
            "choose the world it lies in, or look whether longitude comes first in the file"
        )
    if outline.area > LARGEST:
        raise FarmError(f"{file}: {outline.area / 1e4:,.0f} ha are more than {LARGEST / 1e4:,.0f}; divide the field")


def _rows(features: list[Feature], local: dict[int, Any], drawn: Feature, outline: Any, given: float | None) -> float:
    lines = [feature for feature in features if feature.kind == "LineString"]
    if len(lines) > 1:
        raise FarmError(f"{lines[1].where}: one line gives the direction of the rows, and there are {len(lines)}")
    compass = given if given is not None else drawn.number("rows")
    if compass is not None:
        if not np.isfinite(compass):
            raise FarmError(f"the rows have a direction in degrees, got {compass}")
        return radians(90.0 - compass) % pi
    if lines:
        (ax, ay), *_, (bx, by) = local[id(lines[0])].coords
        if hypot(bx - ax, by - ay) < 1e-3:
            raise FarmError(f"{lines[0].where}: the line ends where it begins, and so has no direction")
        return atan2(by - ay, bx - ax) % pi
    return _longest_edge(outline)


def _longest_edge(outline: Any) -> float:
    diameter = hypot(outline.bounds[2] - outline.bounds[0], outline.bounds[3] - outline.bounds[1])
    corners = np.array(outline.simplify(SMOOTHED * diameter).exterior.coords)
    edges = np.diff(corners, axis=0)
    x, y = edges[np.argmax(np.linalg.norm(edges, axis=1))]
    return float(np.arctan2(y, x) % pi)


def _refill(features: list[Feature], local: dict[int, Any]) -> Point | None:
    points = [feature for feature in features if feature.kind == "Point"]
    if len(points) > 1:
        raise FarmError(f"{points[1].where}: one point is the place of refilling, and there are {len(points)}")
    return (local[id(points[0])].x, local[id(points[0])].y) if points else None


def compass(direction: float) -> float:
    """Degrees clockwise from north, of radians counter-clockwise from east."""
    return (90.0 - degrees(direction)) % 360.0
