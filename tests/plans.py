"""Plans as QGroundControl writes them, with places given in metres from home."""

from __future__ import annotations

import json

import numpy as np

from airloom.scenario.models import Origin
from airloom.world.geodesy import local_to_geodetic

HOME = Origin()


def degrees(east, north):
    latitude, longitude, _ = local_to_geodetic(
        float(east), float(north), 0.0, np.radians(HOME.latitude), np.radians(HOME.longitude), float(HOME.altitude)
    )
    return [float(np.degrees(latitude)), float(np.degrees(longitude))]


def simple(command, *params, frame=2, **others):
    numbers = [*params, *[0] * (7 - len(params))]
    return {
        "autoContinue": True, "command": command, "frame": frame, "params": numbers, "type": "SimpleItem", **others,
    }  # fmt: skip


def at(command, east=0.0, north=0.0, altitude=10.0, *, p1=0, p2=0, p3=0, p4=None, frame=3, **others):
    mode = {"AMSLAltAboveTerrain": None, "Altitude": altitude, "AltitudeMode": 1}
    return simple(command, p1, p2, p3, p4, *degrees(east, north), altitude, frame=frame, **mode, **others)


def numbered(items):
    """With the doJumpId that QGroundControl gives."""
    return [{**item, "doJumpId": k} if item["type"] == "SimpleItem" else item for k, item in enumerate(items, 1)]


def survey(items, kind="survey", **others):
    transects = {
        "CameraCalc": {"AdjustedFootprintFrontal": 25, "AdjustedFootprintSide": 25, "DistanceToSurface": 30},
        "CameraShots": 12, "HoverAndCapture": False, "Items": numbered(items), "Refly90Degrees": False,
        "TurnAroundDistance": 0, "VisualTransectPoints": [], "version": 2,
    }  # fmt: skip
    area = {"polygon": [degrees(0, 0), degrees(60, 0), degrees(60, 40)], "angle": 0, "entryLocation": 0}
    return {
        "TransectStyleComplexItem": transects, "complexItemType": kind, "type": "ComplexItem", "version": 5, **area,
        **others,
    }  # fmt: skip


def structure(corners, distance=5.0, layer=4.0, layers=2, height=8.0, bottom=0.0, entrance=15.0, from_top=False):
    return {
        "CameraCalc": {"AdjustedFootprintFrontal": layer, "AdjustedFootprintSide": 5, "DistanceToSurface": distance},
        "EntranceAltitude": entrance, "GimbalPitch": 0, "Layers": layers, "ScanBottomAlt": bottom,
        "StartFromTop": from_top, "StructureHeight": height, "complexItemType": "StructureScan",
        "polygon": [degrees(*corner) for corner in corners], "type": "ComplexItem", "version": 3,
    }  # fmt: skip


def polygon(*corners, inclusion=True):
    return {"inclusion": inclusion, "polygon": [degrees(*corner) for corner in corners], "version": 1}


def disc(east, north, radius, inclusion=True):
    circle = {"center": degrees(east, north), "radius": radius}
    return {"circle": circle, "inclusion": inclusion, "version": 1}


def content(*items, polygons=(), circles=(), rally=(), **mission):
    home = [HOME.latitude, HOME.longitude, HOME.altitude]
    return {
        "fileType": "Plan",
        "geoFence": {"circles": list(circles), "polygons": list(polygons), "version": 2},
        "groundStation": "QGroundControl",
        "mission": {
            "cruiseSpeed": 15, "firmwareType": 12, "globalPlanAltitudeMode": 1, "hoverSpeed": 5,
            "items": numbered(items), "plannedHomePosition": home, "vehicleType": 2, "version": 2, **mission,
        },
        "rallyPoints": {"points": list(rally), "version": 2},
        "version": 1,
    }  # fmt: skip


def write(folder, *items, **others):
    file = folder / "m.plan"
    file.write_text(json.dumps(content(*items, **others), indent=4))
    return file
