"""What of a model is not flown yet, as data for later: wings, water, joints that move."""

from __future__ import annotations

from typing import Any

import numpy as np

from airloom.models.description import Description
from airloom.models.lumping import Body
from airloom.models.motors import is_ardupilot, is_lift_drag, is_motor_model
from airloom.models.sensing import is_sensor_plugin

KEPT = (
    "liftdrag",
    "lift-drag",
    "lift_drag",
    "buoyancy",
    "hydrodynamics",
    "thruster",
    "genericmotormodel",
    "fw_dynamics",
    "uuv",
    "added_mass",
)


def plain(values: Any) -> Any:
    """Numbers for a file: 12 digits, and no −0."""
    if np.ndim(values):
        return [plain(value) for value in values]
    return float(f"{float(values):.12g}") + 0.0


def kept_of(description: Description, body: Body, spinning: set) -> dict[str, Any]:
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
            entry |= {"link": name, "position": plain(pose.position), "euler": plain(pose.euler)}
        plugins.append(entry)
    joints = [
        {
            "name": joint.name, "kind": joint.kind, "parent": joint.parent, "child": joint.child,
            "position": plain(body.pose_of(description.links[joint.child]).position),
            "axis": plain(body.to_body.rotation @ joint.axis),
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
