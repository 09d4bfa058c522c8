"""A description becomes a vehicle file: one body, its rotors, what is seen, its sensors, a stack that flies it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from airloom.models.description import Description, ModelError, Shape
from airloom.models.lumping import Body, lumped
from airloom.models.meshes import FORMATS, copy_mesh, corners_of, unit_of
from airloom.models.rotors import FoundRotor, find_rotors, is_ardupilot, is_lift_drag, is_motor_model
from airloom.models.sensing import clean_name, find_sensors, is_sensor_plugin

KEPT = (
    "liftdrag",
    "lift-drag",
    "lift_drag",
    "buoyancy",
    "hydrodynamics",
    "thruster",
    "fw_dynamics",
    "uuv",
    "added_mass",
)
SHARED = (
    "thrust_constant", "moment_constant", "drag_coefficient", "rolling_moment_coefficient", "time_constant_up",
    "time_constant_down", "max_speed", "radius",
)  # fmt: skip
LEAST_SIDE = 0.01  # m of the box that touches


@dataclass(frozen=True)
class Made:
    """What a vehicle file and the file beside it hold."""

    vehicle: dict[str, Any]
    kept: dict[str, Any]
    bottom: float
    """Lowest point of the body below the origin, m."""


def vehicle_from(description: Description, meshes: Path) -> Made:
    """Meshes are copied to the folder `meshes`."""
    rotors = find_rotors(description)
    if not rotors:
        known = sorted({plugin.name or plugin.file for plugin in description.plugins})
        raise ModelError(
            f"{description.name}: no rotors were found, so it is no vehicle that flies here. Rotors come from the "
            "plugins MulticopterMotorModel (Gazebo), gazebo_motor_model (RotorS) and ArduPilotPlugin, from "
            "<properties kf=…> or "
            f"from MuJoCo's motors; its plugins are: {', '.join(known) or 'none'}"
        )
    spinning = {rotor.link for rotor in rotors if rotor.link}
    body = lumped(description, spinning)
    named = _rotors(_reversed_if_needed(rotors, body, description), body)
    low, high = _extent(body, spinning, rotors, description)
    inertial = body.inertial
    vehicle: dict[str, Any] = {
        "description": f"{description.name}, imported from {description.format}",
        "mass": _plain(inertial.mass),
        "center_of_mass": _plain(inertial.center),
        "inertia": _moments(inertial.inertia, description),
        **_share(named),
        "body": {"size": _plain(high - low), "position": _plain((low + high) / 2)},
    }
    if visuals := _visuals(body, spinning, meshes, description):
        vehicle["visuals"] = visuals
    vehicle["sensors"] = find_sensors(description, body)
    vehicle |= {"estimator": "ideal", "controller": _controller(named, inertial, description)}
    description.notes.understand(f"{len(rotors)} rotors, {inertial.mass:.4g} kg")
    return Made(vehicle, _kept(description, body, spinning), float(low[2]))


def _plain(values: Any) -> Any:
    """Numbers for a file: 12 digits, and no −0."""
    if np.ndim(values):
        return [_plain(value) for value in values]
    return float(f"{float(values):.12g}") + 0.0


def _moments(inertia: np.ndarray, description: Description) -> dict[str, float]:
    small, middle, large = np.linalg.eigvalsh(inertia)
    if small <= 0:
        raise ModelError(
            f"{description.name}: all links together have the principal moment {small:.3g} kg m²; it must be positive"
        )
    if large > (small + middle) * (1 + 1e-9):
        inertia = _possible(inertia)
        description.notes.assume(
            f"no rigid body has the principal moments {small:.4g}, {middle:.4g}, {large:.4g} kg m² that all links have "
            "together: the largest was lowered to the sum of the other two"
        )
    pairs = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
    moments = {key: _plain(inertia[at]) for key, at in pairs.items()}
    least = 1e-12 * float(large)
    return {key: value for key, value in moments.items() if key in ("xx", "yy", "zz") or abs(value) > least}


def _possible(inertia: np.ndarray) -> np.ndarray:
    """With the largest principal moment lowered to what the others allow."""
    moments, axes = np.linalg.eigh(inertia)
    moments[2] = (moments[0] + moments[1]) * (1 - 1e-9)
    return axes @ np.diag(moments) @ axes.T


def _reversed_if_needed(rotors: list[FoundRotor], body: Body, description: Description) -> list[FoundRotor]:
    """An omnicopter's rotors turn both ways; here they turn one way, so those that point down are taken the other way.

    Thrust and drag torque both change their sign with the speed, so a reversed rotor is one whose axis is reversed.
    """
    up = body.to_body.rotation[2]
    lift = sum(r.thrust_constant * r.max_speed**2 * float(up @ r.axis) for r in rotors)
    down = [r.name for r in rotors if up @ r.axis < -1e-6]
    if lift > 1.1 * body.inertial.mass * 9.80665 or not down:
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
            "position": _plain(body.to_body.rotation @ rotor.position + body.to_body.position), "turns": rotor.turns,
            "thrust_constant": rotor.thrust_constant, "moment_constant": rotor.moment_constant, **rotor.more,
            "max_speed": rotor.max_speed, "radius": rotor.radius,
        }  # fmt: skip
        if np.abs(axis - [0.0, 0.0, 1.0]).max() > 1e-9:
            values["axis"] = _plain(axis)
        named[clean_name(rotor.name, named)] = {
            key: _plain(value) if isinstance(value, float) else value for key, value in values.items()
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
            description.notes.assume(f"what touches is one box, around {len(corners)} {what} of the model")
            low, high = together.min(axis=0), together.max(axis=0)
            short = np.maximum(LEAST_SIDE - (high - low), 0.0) / 2
            return low - short, high + short
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
                entry["position"] = _plain(pose.position)
            entry |= {
                key: _plain(angle)
                for key, angle in zip(("roll", "pitch", "yaw"), pose.euler, strict=True)
                if abs(angle) > 1e-9
            }
            scale = np.array(shape.scale) * unit_of(shape.file)
            if (scale != 1.0).any():
                entry["scale"] = _plain(scale)
            if shape.colour is not None:
                entry["colour"] = list(shape.colour)
            visuals[clean_name(shape.name or shape.file.stem, visuals)] = entry
    if taken:
        description.notes.understand(f"{len(taken)} mesh{'es' * (len(taken) != 1)}, copied")
    return visuals


def _controller(rotors: dict[str, dict[str, Any]], inertial, description: Description) -> str | None:
    """The built-in one if the rotors can hold it: thrust and three torques, and a tenth more than its weight."""
    rows, lift = [], 0.0
    for rotor in rotors.values():
        axis = np.array(rotor.get("axis", (0.0, 0.0, 1.0)))
        sign = 1.0 if rotor["turns"] == "ccw" else -1.0
        torque = (
            np.cross(np.subtract(rotor["position"], inertial.center), axis) - sign * rotor["moment_constant"] * axis
        )
        rows.append([axis[2], *torque])
        lift += rotor["thrust_constant"] * rotor["max_speed"] ** 2 * axis[2]
    wrench = np.array(rows).T
    scale = np.abs(wrench).max(axis=1, initial=0.0)
    steers = bool((scale > 1e-9).all()) and np.linalg.matrix_rank(wrench / scale[:, None], tol=1e-6) == 4
    if steers and lift > 1.1 * inertial.mass * 9.80665:
        return "cascade"
    why = "lift too little" if steers else "do not give thrust and all three torques independently"
    description.notes.assume(
        f"its rotors {why}: controller is null, it is no multicopter that the built-in stack can fly"
    )
    return None


def _typed(value: Any) -> Any:
    """Texts of XML as the numbers they are."""
    if isinstance(value, dict):
        return {key: _typed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_typed(each) for each in value]
    try:
        numbers = [float(word) for word in str(value).split()]
    except ValueError:
        return value
    return numbers[0] if len(numbers) == 1 else numbers or value


def _kept(description: Description, body: Body, spinning: set) -> dict[str, Any]:
    """Plugins and joints that are data for later: wings, water, what moves."""
    plugins = []
    for plugin in description.plugins:
        text = f"{plugin.file} {plugin.name}".lower()
        if plugin.file == "mujoco" or is_motor_model(plugin) or is_sensor_plugin(plugin):
            continue
        if not any(word in text for word in KEPT) and not is_ardupilot(plugin):
            description.notes.ignore(f"the plugin {plugin.name or plugin.file}")
            continue
        name = plugin.prefix + str(plugin.values.get("link_name") or plugin.values.get("linkName") or "")
        if is_lift_drag(plugin) and name in spinning:
            continue  # a blade, whose lift is in its rotor
        entry: dict[str, Any] = {"name": plugin.name, "file": plugin.file, "values": _typed(plugin.values)}
        if name in description.links:
            pose = body.pose_of(description.links[name])
            entry |= {"link": name, "position": _plain(pose.position), "euler": _plain(pose.euler)}
        plugins.append(entry)
    joints = [
        {
            "name": joint.name, "kind": joint.kind, "parent": joint.parent, "child": joint.child,
            "position": _plain(body.pose_of(description.links[joint.child]).position),
            "axis": _plain(body.to_body.rotation @ joint.axis),
            **({"limits": list(joint.limits)} if joint.limits else {}),
        }
        for joint in description.joints.values() if not joint.is_fixed and joint.child not in spinning
    ]  # fmt: skip
    if plugins:
        description.notes.understand(
            f"{len(plugins)} plugins kept in kept.yaml, not flown yet: wings, water and the like"
        )
    kept = {"plugins": plugins, "joints": joints}
    return {key: value for key, value in kept.items() if value}
