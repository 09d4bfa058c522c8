"""A scenario that tries what was imported: what hovers or dives holds a place, aeroplanes circle, others are let go."""

from __future__ import annotations

from math import atan2, inf
from typing import Any, NamedTuple

from airloom.models.description import Pose
from airloom.models.stack import cruise_speed
from airloom.models.water import EVERYWHERE
from airloom.scenario.models import Vehicle

Values = dict[str, Any]
IDEAL = {"kind": "ideal"}
HOVERING = ("cascade", "modes", "rov")
STANDS = 0.06  # m of the x500's origin above the ground that it stands on
CLEARANCE = 0.002  # m between body and ground at the start
HEIGHT, HOVER_HEIGHT, DEPTH = 50.0, 2.0, 2.0  # m


class PlacedVehicle(NamedTuple):
    """A vehicle of a world, and where it stands there."""

    content: Values
    pose: Pose


def trial_of_world(name: str, world: Values, top: float, vehicles: dict[str, PlacedVehicle]) -> Values:
    """Its own vehicles rise from where they stand, if a flight stack of ours flies them.

    In a world without any, a drone hovers over its flat ground or its water, or over what stands there, up to `top`;
    over hills it waits for a program.
    """
    if vehicles:
        return _trial_of_vehicles(name, vehicles)
    flat = world.get("terrain", {"kind": "plane"})["kind"] == "plane"
    level = world.get("water", {}).get("level", EVERYWHERE)
    ground = max(world.get("terrain", {}).get("height", 0.0), level if level < EVERYWHERE else -inf, top)
    vehicle: Values = {"extends": "x500", "pose": {"position": [0.0, 0.0, ground + STANDS]}}
    scenario = {"name": f"try_{name}", "duration": 20.0, "world": f"./{name}.yaml", "vehicles": {"drone": vehicle}}
    return scenario | (_systems("hover", 0.0, ground + HOVER_HEIGHT) if flat else {})


def _trial_of_vehicles(name: str, vehicles: dict[str, PlacedVehicle]) -> Values:
    placed, systems = {}, {}
    for key, (content, pose) in vehicles.items():
        position = [round(float(x), 6) for x in pose.position]
        yaw = atan2(pose.rotation[1, 0], pose.rotation[0, 0])
        placed[key] = {"extends": f"./{key}.yaml", "pose": {"position": position, "yaw": round(yaw, 6)}}
        if (content["controller"] or {}).get("kind") in HOVERING:
            above = [*position[:2], round(position[2] + HOVER_HEIGHT, 6)]
            points = [{"at": 1.0, "position": above, "yaw": round(yaw, 6)}]
            systems[f"hover_{key}"] = {"kind": "waypoints", "vehicle": key, "points": points}
    return {
        "name": f"try_{name}", "duration": 20.0, "world": f"./{name}.yaml", "vehicles": placed, "systems": systems,
    }  # fmt: skip


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
