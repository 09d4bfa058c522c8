"""URDF as a description, with what Gazebo's <gazebo> elements add to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from airloom.models.beyond import is_beyond, read_beyond
from airloom.models.description import Description, Inertial, Joint, Link, ModelError, Pose, Shape
from airloom.models.files import Library
from airloom.models.geometry import (
    MeshFinder,
    checked_inertial,
    mesh_finder,
    read_plugin,
    read_pose,
    read_sensor,
    read_shape,
)
from airloom.models.markup import Element, local_name, numbers, origin_pose, where

QUIET = {"link", "joint", "gazebo", "material", "transmission", "properties"}
MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")


def read_urdf(root: Element, file: Path, library: Library) -> Description:
    if local_name(root) != "robot":
        raise ModelError(f"{file}: begins with <{local_name(root)}>, expected <robot>")
    description = Description(root.get("name", "") or file.stem, "URDF")
    find = mesh_finder(library, file, description.notes)
    for element in root.iterfind("link"):
        link = _link(element, file, find, description)
        if link.name in description.links:
            raise ModelError(f"{where(element, file)}: there are two links of the name '{link.name}'")
        description.links[link.name] = link
    if not description.links:
        raise ModelError(f"{file}: has no links")
    description.canonical = _place_links(root, file, description)
    for element in root.iterfind("gazebo"):
        _add_gazebo(element, file, description)
    properties = root.find("properties")
    if properties is not None:
        description.properties = dict(properties.attrib)
    for element in root:
        if is_beyond(element):
            description.beyond |= read_beyond(element.text or "", where(element, file))
        elif local_name(element) not in QUIET:
            description.notes.ignore(f"<{local_name(element)}> of a robot ({where(element, file)})")
    return description


def _link(element: Element, file: Path, find: MeshFinder, description: Description) -> Link:
    link = Link(element.get("name", ""), Pose())
    inertial = element.find("inertial")
    if inertial is not None:
        link.inertial = _inertial(inertial, link.name, file)
    for tag, shapes in (("visual", link.visuals), ("collision", link.collisions)):
        for part in element.iterfind(tag):
            shape: Shape | None = read_shape(part, origin_pose(part, file), find, file, description.notes)
            if shape is not None:
                shapes.append(shape)
    return link


def _inertial(element: Element, name: str, file: Path) -> Inertial:
    place, mass, inertia = where(element, file), element.find("mass"), element.find("inertia")
    kilograms = numbers(mass.get("value", "0"), 1, f"{place}: mass")[0] if mass is not None else 0.0
    moments = {
        key: numbers(inertia.get(key, "0"), 1, f"{place}: {key}")[0] if inertia is not None else 0.0 for key in MOMENTS
    }
    return checked_inertial(kilograms, origin_pose(element, file), moments, place, name)


def _place_links(root: Element, file: Path, description: Description) -> str:
    """Poses of all links, all joints at zero, in the axes of the root link, whose name is returned."""
    origins: dict[str, tuple[str, Pose, Element]] = {}
    for element in root.iterfind("joint"):
        place, name = where(element, file), element.get("name", "")
        ends = []
        for key in ("parent", "child"):
            end = element.find(key)
            link = end.get("link", "") if end is not None else ""
            if link not in description.links:
                raise ModelError(f"{place}: the joint '{name}' has the {key} '{link}', and there is no such link")
            ends.append(link)
        parent, child = ends
        if child in origins:
            raise ModelError(f"{place}: the link '{child}' is the child of two joints; a URDF must be a tree")
        origins[child] = (parent, origin_pose(element, file), element)
    roots = [name for name in description.links if name not in origins]
    if not roots:
        raise ModelError(f"{file}: the joints go in a circle; a URDF must be a tree with one root link")
    if len(roots) > 1:
        raise ModelError(f"{file}: the links {', '.join(map(repr, roots[:5]))} have no parent; a URDF must be one tree")
    placed = {roots[0]: Pose()}

    def place_of(name: str, way: tuple[str, ...] = ()) -> Pose:
        if name in way:
            raise ModelError(f"{file}: the joints go in a circle: {' → '.join([*way, name])}")
        if name not in placed:
            parent, origin, _ = origins[name]
            placed[name] = place_of(parent, (*way, name)) @ origin
        return placed[name]

    for name, link in description.links.items():
        link.pose = place_of(name)
    for child, (parent, _, element) in origins.items():
        joint = _joint(element, file, parent, child, description.links[child].pose)
        description.joints[joint.name] = joint
    return roots[0]


def _joint(element: Element, file: Path, parent: str, child: str, pose: Pose) -> Joint:
    place, name = where(element, file), element.get("name", "")
    axis, limit = element.find("axis"), element.find("limit")
    direction = np.array(numbers(axis.get("xyz", "1 0 0") if axis is not None else "1 0 0", 3, f"{place}: axis"))
    kind = element.get("type", "fixed")
    if kind != "fixed" and np.linalg.norm(direction) < 1e-9:
        raise ModelError(f"{place}: the joint '{name}' has an axis of length zero")
    limits = None
    if limit is not None and kind in ("revolute", "prismatic"):
        lower, upper = (numbers(limit.get(key, "0"), 1, f"{place}: {key}")[0] for key in ("lower", "upper"))
        limits = (lower, upper)
    dynamics = element.find("dynamics")
    damping = numbers(dynamics.get("damping", "0"), 1, f"{place}: damping")[0] if dynamics is not None else 0.0
    turn = pose.rotation @ direction / max(float(np.linalg.norm(direction)), 1e-9)
    fastest = numbers(limit.get("velocity", "0"), 1, f"{place}: velocity")[0] if limit is not None else 0.0
    return Joint(name, kind, parent, child, turn, limits, damping, fastest if fastest > 0.0 else None)


def _add_gazebo(element: Element, file: Path, description: Description) -> None:
    """Sensors of the link it refers to, and plugins."""
    link = description.links.get(element.get("reference", ""))
    for part in element:
        if local_name(part) == "plugin":
            plugin = read_plugin(part)
            if link is not None:
                plugin.values.setdefault("linkName", link.name)
            description.plugins.append(plugin)
        elif local_name(part) == "sensor" and link is not None:
            link.sensors.append(read_sensor(part, read_pose(part, file), file))
