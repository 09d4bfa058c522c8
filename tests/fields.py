"""Fields as GeoJSON, drawn in metres east and north of an origin."""

from __future__ import annotations

import json

import numpy as np

from airloom.scenario.models import Origin
from airloom.world.geodesy import local_to_geodetic

HERE = Origin()
RECTANGLE = [(-50, -20), (50, -20), (50, 20), (-50, 20)]


def position(x, y, origin=HERE):
    place = np.radians(origin.latitude), np.radians(origin.longitude), float(origin.altitude)
    latitude, longitude, _ = local_to_geodetic(float(x), float(y), 0.0, *place)
    return [float(np.degrees(longitude)), float(np.degrees(latitude))]


def ring(corners, origin=HERE):
    return [position(x, y, origin) for x, y in [*corners, corners[0]]]


def polygon(*rings, origin=HERE, **properties):
    coordinates = [ring(corners, origin) for corners in rings]
    return {
        "type": "Feature", "properties": properties, "geometry": {"type": "Polygon", "coordinates": coordinates},
    }  # fmt: skip


def line(*points):
    coordinates = [position(x, y) for x, y in points]
    return {"type": "Feature", "properties": {}, "geometry": {"type": "LineString", "coordinates": coordinates}}


def point(x, y):
    return {"type": "Feature", "properties": {}, "geometry": {"type": "Point", "coordinates": position(x, y)}}


def write(file, *features, **more):
    file.write_text(json.dumps({"type": "FeatureCollection", "features": list(features), **more}))
    return file
