"""A description as URDF, with sensors and plugins in <gazebo> elements."""

from __future__ import annotations

import numpy as np

from airloom.basics.inertia import possible
from airloom.models.beyond import add_beyond
from airloom.models.description import Description, Joint, Link, ModelError, Pose, Shape
from airloom.models.markup import Element
from airloom.models.to_sdf import MeshName, add_sensor
from airloom.models.writing import add, add_values, root_element

MOMENTS = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}


def urdf_of(description: Description, mesh_name: MeshName) -> Element:
    """The <robot> element. A link's axes are those of its joint, so poses are from parent to child."""
    robot = root_element("robot", name=description.name)
    parents: dict[str, Joint] = {}
    for joint in description.joints.values():
        if joint.child in parents:
            raise ModelError(
                f"{description.name}: the link '{joint.child}' is held by two joints; URDF knows trees only"
            )
        parents[joint.child] = joint
    roots = [name for name in description.links if name not in parents]
    if len(roots) != 1:
        raise ModelError(f"{description.name}: has {len(roots)} links that no joint holds; URDF knows one tree only")
    for link in description.links.values():
        _add_link(robot, link, mesh_name)
    for joint in description.joints.values():
        _add_joint(robot, joint, description)
    for link in description.links.values():
        for sensor in link.sensors:
            add_sensor(add(robot, "gazebo", reference=link.name), sensor)
    for plugin in description.plugins:
        add_values(add(add(robot, "gazebo"), "plugin", filename=plugin.file, name=plugin.name), plugin.values)
    add_beyond(robot, description.beyond)
    return robot


def _origin(element: Element, pose: Pose) -> None:
    add(element, "origin", xyz=pose.position, rpy=pose.euler)


def _add_link(robot: Element, link: Link, mesh_name: MeshName) -> None:
    element = add(robot, "link", name=link.name)
    if link.inertial.mass > 0.0:
        inertial = add(element, "inertial")
        _origin(inertial, Pose(position=link.inertial.center))
        add(inertial, "mass", value=link.inertial.mass)
        moments = possible(link.inertial.inertia)
        add(inertial, "inertia", **{key: moments[at] for key, at in MOMENTS.items()})
    for tag, shapes in (("visual", link.visuals), ("collision", link.collisions)):
        for shape in shapes:
            _add_shape(element, tag, shape, mesh_name)


def _add_shape(link: Element, tag: str, shape: Shape, mesh_name: MeshName) -> None:
    sizes = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length")}
    if shape.kind not in sizes and (shape.kind != "mesh" or shape.file is None):
        return
    element = add(link, tag, **({"name": shape.name} if shape.name else {}))
    _origin(element, shape.pose)
    geometry = add(element, "geometry")
    if shape.kind == "mesh" and shape.file is not None:
        add(geometry, "mesh", filename=mesh_name(shape.file), scale=shape.scale)
    elif shape.kind == "box":
        add(geometry, "box", size=shape.size)
    else:
        add(geometry, shape.kind, **dict(zip(sizes[shape.kind], shape.size, strict=True)))
    if tag == "visual" and shape.colour is not None:
        shares = " ".join(f"{channel / 255:.4g}" for channel in shape.colour)
        add(add(element, "material", name="_".join(map(str, shape.colour))), "color", rgba=f"{shares} 1")


def _add_joint(robot: Element, joint: Joint, description: Description) -> None:
    parent, child = description.links[joint.parent].pose, description.links[joint.child].pose
    endless = joint.limits is None or joint.limits[0] < -1e15 or joint.limits[1] > 1e15
    kind = "continuous" if joint.kind == "revolute" and endless else joint.kind
    element = add(robot, "joint", name=joint.name, type=kind)
    _origin(element, parent.inverse() @ child)
    add(element, "parent", link=joint.parent)
    add(element, "child", link=joint.child)
    if kind != "fixed":
        add(element, "axis", xyz=np.round(child.rotation.T @ joint.axis, 15))
    if kind in ("revolute", "prismatic") and joint.limits is not None:
        add(element, "limit", lower=joint.limits[0], upper=joint.limits[1], effort="0",
            velocity=joint.fastest or "0")  # fmt: skip
    if joint.damping:
        add(element, "dynamics", damping=joint.damping)
