"""QGroundControl's structure scan: layer by layer around a structure, at a distance from its walls.

A plan holds the structure, not the flight, which is made anew here: from the entrance altitude to the first layer,
around all corners and back to the first, to the next layer, and at the end to the entrance altitude again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import hypot
from typing import Any

from airloom.missions.fence import Point
from airloom.missions.plans.file import PlanFile, is_number, shown
from airloom.scenario.models import Vector3

MOST_LAYERS = 1000


def structure_scan(raw: dict[str, Any], plan: PlanFile) -> Iterator[Vector3]:
    """Places with their heights above home."""

    def number(holder: dict[str, Any], key: str) -> float:
        value = holder.get(key)
        if not is_number(value):
            raise plan.error(f'the StructureScan\'s "{key}" must be a number, got {shown(value)}')
        return float(holder[key])

    corners, camera = raw.get("polygon"), raw.get("CameraCalc")
    if not isinstance(corners, list) or len(corners) < 3 or not isinstance(camera, dict):
        raise plan.error('a StructureScan has a "polygon" of three points or more, and a "CameraCalc"')
    distance, layer_height = number(camera, "DistanceToSurface"), number(camera, "AdjustedFootprintFrontal")
    entrance, layers = number(raw, "EntranceAltitude"), number(raw, "Layers")
    if not (distance > 0 and layer_height > 0 and 1 <= layers <= MOST_LAYERS):
        raise plan.error(f"a StructureScan has a distance and a layer height above 0, and 1 to {MOST_LAYERS} layers")
    walls = widened([plan.point(corner) for corner in corners], distance)
    if raw.get("StartFromTop") is True:
        first, change = number(raw, "StructureHeight") - layer_height / 2, -layer_height
    else:
        first, change = number(raw, "ScanBottomAlt") + layer_height / 2, layer_height
    yield *walls[0], entrance
    for layer in range(int(layers)):
        for x, y in [*walls, walls[0]]:
            yield x, y, first + layer * change
    yield *walls[0], entrance


def widened(corners: list[Point], distance: float) -> list[Point]:
    """A polygon whose edges lie farther out by a distance; its corners are where the new edges meet."""
    area = sum(ax * by - bx * ay for (ax, ay), (bx, by) in pairwise([*corners, corners[0]]))
    side = distance if area > 0 else -distance
    found = []
    for (ax, ay), (bx, by), (cx, cy) in zip(
        [corners[-1], *corners[:-1]], corners, [*corners[1:], corners[0]], strict=True
    ):
        first, second = _outward((ax, ay), (bx, by)), _outward((bx, by), (cx, cy))
        share = 1.0 + first[0] * second[0] + first[1] * second[1]
        if share < 0.1:  # a corner sharper than about 25° is cut
            share = 0.1
        found.append((bx + side * (first[0] + second[0]) / share, by + side * (first[1] + second[1]) / share))
    return found


def _outward(a: Point, b: Point) -> Point:
    """Unit normal to the right of the way from a to b: outward, if the polygon goes round to the left."""
    length = hypot(b[0] - a[0], b[1] - a[1]) or 1.0
    return (b[1] - a[1]) / length, (a[0] - b[0]) / length
