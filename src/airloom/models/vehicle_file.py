"""A description becomes a vehicle file: one body, its rotors, what is seen, its sensors, a stack that flies it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from airloom.basics.inertia import possible
from airloom.models.description import Description, ModelError, Shape
from airloom.models.lumping import Body, lumped
from airloom.models.meshes import FORMATS, copy_mesh, corners_of, unit_of
from airloom.models.plugins import facing_of, is_understood
from airloom.models.rotor import FoundRotor
from airloom.models.rotors import find_rotors
from airloom.models.sensing import clean_name, find_sensors, is_sensor_plugin
from airloom.models.stack import GRAVITY, SPARE_LIFT
from airloom.models.water import find_hull
from airloom.models.wings import Wings
from airloom.models.yaml_text import plain

SHARED = (
    "thrust_constant", "moment_constant", "drag_coefficient", "rolling_moment_coefficient", "time_constant_up",
    "time_constant_down", "max_speed", "radius", "in_water",
)  # fmt: skip
LEAST_SIDE, USUAL_SIDE = 0.01, 0.3  # m of the box that touches


def vehicle_from(description: Description, meshes: Path) -> dict[str, Any]:
    """What a vehicle file holds, but for the flight stack. Meshes are copied to the folder `meshes`."""
    rotors = find_rotors(description)
    spinning = {rotor.link for rotor in rotors if rotor.link}
    body = lumped(description, spinning, facing_of(description))
    wings, hull = Wings(description, body, spinning), find_hull(description, body, meshes)
    if not rotors and not wings.entries() and not hull and not description.beyond:
        _refuse(description)
    if hull is None:
        rotors = _reversed_if_needed(rotors, body, description)
    low, high = _extent(body, spinning, rotors, description)
    inertial = body.inertial
    vehicle: dict[str, Any] = {
        "description": f"{description.name}, imported from {description.format}",
        "mass": plain(inertial.mass),
        "center_of_mass": plain(inertial.center),
        "inertia": _moments(inertial.inertia, description),
        **(_share(_rotors(rotors, body)) if rotors else {}),
        **wings.entries(),
        **({"hull": hull} if hull else {}),
        "body": {"size": plain(high - low), "position": plain((low + high) / 2)},
    }
    if visuals := _visuals(body, spinning, meshes, description):
        vehicle["visuals"] = visuals
    vehicle["sensors"] = find_sensors(description, body)
    description.notes.understand(f"{len(rotors)} rotor{'s' * (len(rotors) != 1)}, {inertial.mass:.4g} kg")
    _tell_what_is_left(description, body, spinning, wings)
    return vehicle


def _refuse(description: Description) -> None:
    known = sorted({plugin.name or plugin.file for plugin in description.plugins})
    raise ModelError(
        f"{description.name}: no rotors were found, and nothing that lifts or floats, so it is no vehicle that moves "
        "here. Rotors come from the plugins MulticopterMotorModel and Thruster (Gazebo), gazebo_motor_model (RotorS) "
        "and ArduPilotPlugin, from <properties kf=…> or from MuJoCo's motors; its plugins are: "
        f"{', '.join(known) or 'none'}"
    )


def _tell_what_is_left(description: Description, body: Body, spinning: set, wings: Wings) -> None:
    """Joints that are held, and plugins that nobody here knows."""
    together = {link.name for link in body.links}
    held = [
        joint.name for joint in description.joints.values()
        if not joint.is_fixed and joint.child in together - spinning and joint.name not in wings.moved
    ]  # fmt: skip
    if held:
        description.notes.assume(f"these joints move in the model and are held at zero here: {', '.join(held)}")
    for plugin in description.plugins:
        if not is_understood(plugin) and not is_sensor_plugin(plugin):
            description.notes.ignore(f"the plugin {plugin.name or plugin.file}")


def _moments(inertia: np.ndarray, description: Description) -> dict[str, float]:
    small, middle, large = np.linalg.eigvalsh(inertia)
    if small <= 0:
        raise ModelError(
            f"{description.name}: all links together have the principal moment {small:.3g} kg m²; it must be positive"
        )
    if large > (small + middle) * (1 + 1e-9):
        inertia = possible(inertia)
        description.notes.assume(
            f"no rigid body has the principal moments {small:.4g}, {middle:.4g}, {large:.4g} kg m² that all links have "
            "together: the largest was lowered to the sum of the other two"
        )
    pairs = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
    moments = {key: plain(inertia[at]) for key, at in pairs.items()}
    least = 1e-12 * float(large)
    return {key: value for key, value in moments.items() if key in ("xx", "yy", "zz") or abs(value) > least}


def _reversed_if_needed(rotors: list[FoundRotor], body: Body, description: Description) -> list[FoundRotor]:
    """An omnicopter's rotors turn both ways; here they turn one way, so those that point down are taken the other way.

    Thrust and drag torque both change their sign with the speed, so a reversed rotor is one whose axis is reversed.
    """
    up = body.to_body.rotation[2]
    lift = sum(r.thrust_constant * r.max_speed**2 * float(up @ r.axis) for r in rotors)
    down = [r.name for r in rotors if up @ r.axis < -1e-6]
    if lift > SPARE_LIFT * body.inertial.mass * GRAVITY or not down:
        return rotors
    description.notes.assume(
        f"rotors that push down are taken as turning backwards, else it would not lift off: {', '.join(down)}"
    )
    return [replace(r, axis=-r.axis) if up @ r.axis < -1e-6 else r for r in rotors]


def _rotors(rotors: list[FoundRotor], body: Body) -> dict[str, dict[str, Any]]:
    named: dict[str, dict[str, Any]] = {}
    for rotor in rotors:
        axis = body.to_body.rotation @ rotor.axis
        values = {
            "position": plain(body.to_body.rotation @ rotor.position + body.to_body.position), "turns": rotor.turns,
            "thrust_constant": rotor.thrust_constant, "moment_constant": rotor.moment_constant, **rotor.more,
            "max_speed": rotor.max_speed, "radius": rotor.radius,
        }  # fmt: skip
        if np.abs(axis - [0.0, 0.0, 1.0]).max() > 1e-9:
            values["axis"] = plain(axis)
        named[clean_name(rotor.name, named)] = {
            key: plain(value) if isinstance(value, float) else value for key, value in values.items()
        }
    return named


def _share(rotors: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What all rotors have in common is written once."""
    first = next(iter(rotors.values()))
    common = {key: first[key] for key in SHARED if all(key in r and r[key] == first.get(key) for r in rotors.values())}
    own = {name: {key: value for key, value in r.items() if key not in common} for name, r in rotors.items()}
    return {"rotor": common, "rotors": own}


def _extent(
    body: Body, spinning: set, rotors: list[FoundRotor], description: Description
) -> tuple[np.ndarray, np.ndarray]:
    """Of the box that touches: around all that the model touches with, else around all that is seen of it."""
    for what in ("collisions", "visuals"):
        corners = []
        for link in body.links:
            pose = body.pose_of(link)
            for shape in [] if link.name in spinning else getattr(link, what):
                if (found := _corners(shape, description)) is not None:
                    corners.append(found @ pose.rotation.T + pose.position)
        if corners:
            together = np.concatenate(corners)
            count = f"{len(corners)} {what}" if len(corners) > 1 else f"the {what.removesuffix('s')}"
            description.notes.assume(f"what touches is one box, around {count} of the model")
            low, high = together.min(axis=0), together.max(axis=0)
            short = np.maximum(LEAST_SIDE - (high - low), 0.0) / 2
            return low - short, high + short
    if not rotors:
        description.notes.assume(f"nothing of the model touches or is seen: a box of {USUAL_SIDE} m was made up")
        return np.full(3, -USUAL_SIDE / 2), np.full(3, USUAL_SIDE / 2)
    hubs = np.array([body.to_body.rotation @ rotor.position + body.to_body.position for rotor in rotors])
    half = 0.7 * max(float(np.abs(hubs[:, :2]).max()), LEAST_SIDE)
    description.notes.assume("nothing of the model touches or is seen: a box between its rotors was made up")
    return np.array([-half, -half, -0.15 * half]), np.array([half, half, 0.15 * half])


def _corners(shape: Shape, description: Description) -> np.ndarray | None:
    try:
        return corners_of(shape)
    except ModelError as error:
        description.notes.ignore(str(error))
        return None


def _visuals(body: Body, spinning: set, folder: Path, description: Description) -> dict[str, dict[str, Any]]:
    """Meshes of all links but rotors, which Airloom draws itself; DAE files need pycollada to be seen."""
    visuals: dict[str, dict[str, Any]] = {}
    taken: dict[Path, str] = {}
    for link in body.links:
        for shape in [] if link.name in spinning else link.visuals:
            if shape.kind != "mesh" or shape.file is None:
                continue
            if shape.file.suffix.lower() not in FORMATS:
                description.notes.ignore(f"the mesh {shape.file.name}: a format that is not read")
                continue
            pose = body.pose_of(link) @ shape.pose
            entry: dict[str, Any] = {"file": f"{folder.name}/{copy_mesh(shape.file, folder, taken)}"}
            if np.abs(pose.position).max() > 1e-9:
                entry["position"] = plain(pose.position)
            entry |= {
                key: plain(angle)
                for key, angle in zip(("roll", "pitch", "yaw"), pose.euler, strict=True)
                if abs(angle) > 1e-9
            }
            scale = np.array(shape.scale) * unit_of(shape.file)
            if (scale != 1.0).any():
                entry["scale"] = plain(scale)
            if shape.colour is not None:
                entry["colour"] = list(shape.colour)
            visuals[clean_name(shape.name or shape.file.stem, visuals)] = entry
    if taken:
        description.notes.understand(f"{len(taken)} mesh{'es' * (len(taken) != 1)}, copied")
    return visuals
