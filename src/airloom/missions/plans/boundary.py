"""The fence in a plan: read, and obeyed before the flight. Rally points are told."""

from __future__ import annotations

from typing import Any

from airloom.missions.fence import Disc, Fence, Point, Polygon, way_of
from airloom.missions.plans.file import PlanFile, is_number, shown
from airloom.missions.plans.order import Flown
from airloom.scenario.models import Vector3


def read_fence(plan: PlanFile) -> Fence:
    given, fence = plan.content.get("geoFence") or {}, Fence()
    plan.at("geoFence")
    if not isinstance(given, dict):
        raise plan.error(f"must be an object, got {shown(given)}")
    before_version_2 = [{"polygon": given["polygon"], "inclusion": True}] if given.get("polygon") else []
    for raw in [*_objects(plan, given, "polygons"), *before_version_2]:
        _side(plan, fence, raw).append(_polygon(plan, raw.get("polygon")))
    for raw in _objects(plan, given, "circles"):
        _side(plan, fence, raw).append(_disc(plan, raw.get("circle")))
    plan.at("geoFence")
    if given.get("breachReturn"):
        plan.warn("the place to return to after a breach is left out: who leaves the fence holds there")
    _tell_of_rally_points(plan)
    return fence


def _objects(plan: PlanFile, given: dict[str, Any], key: str) -> Any:
    shapes = given.get(key) or []
    if not isinstance(shapes, list):
        raise plan.error(f'"{key}" must be a list, got {shown(shapes)}')
    for number, raw in enumerate(shapes, start=1):
        plan.at(f"geoFence, {key} {number}")
        if not isinstance(raw, dict):
            raise plan.error(f"must be an object, got {shown(raw)}")
        yield raw


def _side(plan: PlanFile, fence: Fence, raw: dict[str, Any]) -> list[Any]:
    if not isinstance(raw.get("inclusion"), bool):
        raise plan.error('"inclusion" must be true or false')
    return fence.stay_in if raw["inclusion"] else fence.keep_out


def _polygon(plan: PlanFile, corners: Any) -> Polygon:
    if not isinstance(corners, list) or len(corners) < 3:
        raise plan.error('"polygon" must be three points or more')
    return Polygon([plan.point(corner) for corner in corners])


def _disc(plan: PlanFile, circle: Any) -> Disc:
    if not isinstance(circle, dict) or not is_number(circle.get("radius")) or not circle["radius"] > 0:
        raise plan.error('"circle" must have a center and a radius above 0')
    return Disc(*plan.point(circle.get("center")), circle["radius"])


def _tell_of_rally_points(plan: PlanFile) -> None:
    rally = plan.content.get("rallyPoints")
    points = rally.get("points") if isinstance(rally, dict) else None
    if points:
        plan.at("rallyPoints")
        count = len(points) if isinstance(points, list) else 1
        plan.warn(
            f"{count} rally point{'s are' if count > 1 else ' is'} left out: no flight here is broken off to go there"
        )


def check_fence(plan: PlanFile, flown: Flown, fence: Fence) -> None:
    """Refuse what leads out, be it on the way to a place."""
    if not fence:
        return
    here: Vector3 = (*plan.home, plan.home_height)
    plan.at("plannedHomePosition")
    _must_hold(plan, fence, [here[:2], here[:2]])
    for plan.where, item in [
        *flown.items,
        *(flown.items[flown.again_from :][:1] if flown.again_from is not None else []),
    ]:
        points = way_of(item, here)
        _must_hold(plan, fence, points)
        here = (*points[-1], getattr(item, "goto", here)[2])


def _must_hold(plan: PlanFile, fence: Fence, points: list[Point]) -> None:
    breach = fence.first_breach(points)
    if breach is not None:
        raise plan.error(f"leads out of the plan's fence, at ({breach[0]:.1f}, {breach[1]:.1f}) m from the origin")
