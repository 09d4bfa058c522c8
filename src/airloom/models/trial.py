"""A scenario that tries what was imported: what hovers or dives holds a place, aeroplanes circle, others are let go."""

from __future__ import annotations

from math import inf
from typing import Any

from airloom.models.stack import cruise_speed
from airloom.models.water import EVERYWHERE
from airloom.scenario.models import Vehicle

Values = dict[str, Any]
IDEAL = {"kind": "ideal"}
STANDS = 0.06  # m of the x500's origin above the ground that it stands on
CLEARANCE = 0.002  # m between body and ground at the start
HEIGHT, HOVER_HEIGHT, DEPTH = 50.0, 2.0, 2.0  # m


def trial_of_world(name: str, world: Values, top: float) -> Values:
    """A drone hovers over its flat ground or its water, or over what stands there, up to `top`; over hills it waits for
    a program.
    """
    flat = world.get("terrain", {"kind": "plane"})["kind"] == "plane"
    level = world.get("water", {}).get("level", EVERYWHERE)
    ground = max(world.get("terrain", {}).get("height", 0.0), level if level < EVERYWHERE else -inf, top)
    vehicle: Values = {"extends": "x500", "pose": {"position": [0.0, 0.0, ground + STANDS]}}
    scenario = {"name": f"try_{name}", "duration": 20.0, "world": f"./{name}.yaml", "vehicles": {"drone": vehicle}}
    return scenario | (_systems("hover", 0.0, ground + HOVER_HEIGHT) if flat else {})


def trial_of_vehicle(name: str, vehicle: Values) -> Values:
    flown: Values = {"extends": f"{name}.yaml"}
    scenario: Values = {"name": f"try_{name}", "duration": 15.0, "vehicles": {name: flown}}
    controller = vehicle["controller"] or {}
    kind = controller.get("kind")
    if kind == "plane":
        speed = controller.get("cruise_speed") or cruise_speed(Vehicle.model_validate(vehicle | {"estimator": IDEAL}))
        flown |= {"pose": {"position": [0.0, 0.0, HEIGHT]}, "motion": {"velocity": [speed, 0.0, 0.0]}}
        scenario |= {"duration": 60.0, **_systems("circle", 0.0, HEIGHT)}
    elif vehicle.get("hull", {}).get("fluid") == "air":
        flown["pose"] = {"position": [0.0, 0.0, HEIGHT]}
        scenario |= {"duration": 60.0, **(_systems("hold", 1.0, HEIGHT) if kind == "airship" else {})}
    elif "hull" in vehicle:
        height = 0.0 if kind == "boat" else -DEPTH
        flown["pose"] = {"position": [0.0, 0.0, height]}
        sea = {"terrain": {"kind": "plane", "height": -100.0}, "water": {"density": 1000.0}}
        scenario |= {"duration": 30.0, "world": sea}
        scenario |= _systems("hold", 1.0, height) if kind in ("rov", "boat") else {}
    else:
        body = vehicle["body"]
        height = CLEARANCE - body["position"][2] + body["size"][2] / 2
        flown["pose"] = {"position": [0.0, 0.0, round(max(height, 0.0), 6)]}
        if vehicle["controller"]:
            scenario |= _systems("hover", 1.0, HOVER_HEIGHT)
    return scenario


def _systems(name: str, at: float, height: float) -> Values:
    points = [{"at": at, "position": [0.0, 0.0, height]}]
    return {"systems": {name: {"kind": "waypoints", "points": points}}}
