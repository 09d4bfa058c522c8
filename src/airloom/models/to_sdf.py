"""A description as SDF 1.9, a model's folder that Gazebo takes as it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from airloom.basics.inertia import possible
from airloom.models.beyond import add_beyond
from airloom.models.description import Description, Inertial, Link, Pose, SensorPart, Shape
from airloom.models.markup import Element
from airloom.models.writing import add, add_values, root_element, save, six

SENSORS = {
    "air_pressure", "altimeter", "camera", "contact", "depth", "depth_camera", "force_torque", "gps", "gpu_lidar",
    "gpu_ray",
    "imu", "lidar", "logical_camera", "magnetometer", "multicamera", "navsat", "ray", "rgbd", "rgbd_camera", "sonar",
    "thermal_camera", "wideanglecamera",
}  # fmt: skip
"""Kinds that sdformat knows; a file with another is refused by it."""
MeshName = Callable[[Path], str]
MOMENTS = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
KINDS = {"continuous": "revolute", "floating": "ball", "planar": "ball"}


def write_sdf(description: Description, pose: Pose, mesh_name: MeshName, folder: Path) -> Path:
    sdf = root_element("sdf", version="1.9")
    model = add(sdf, "model", name=description.name, canonical_link=description.canonical)
    add(model, "pose", six(pose))
    if description.is_static:
        add(model, "static", "true")
    for link in description.links.values():
        _add_link(model, link, mesh_name)
    for joint in description.joints.values():
        element = add(model, "joint", name=joint.name, type=KINDS.get(joint.kind, joint.kind))
        add(element, "parent", joint.parent)
        add(element, "child", joint.child)
        if joint.kind != "fixed":
            axis = add(element, "axis")
            add(axis, "xyz", joint.axis, expressed_in="__model__")
            lower, upper = joint.limits or (-1e16, 1e16)
            limit = add(axis, "limit")
            add(limit, "lower", lower)
            add(limit, "upper", upper)
            if joint.fastest is not None:
                add(limit, "velocity", joint.fastest)
            if joint.damping:
                add(add(axis, "dynamics"), "damping", joint.damping)
    for plugin in description.plugins:
        add_values(add(model, "plugin", filename=plugin.file, name=plugin.name), plugin.values)
    add_beyond(model, description.beyond)
    save(sdf, folder / "model.sdf")
    config = root_element("model")
    add(config, "name", description.name)
    add(config, "version", "1.0")
    add(config, "sdf", "model.sdf", version="1.9")
    add(config, "description", f"{description.name}, written by Airloom")
    save(config, folder / "model.config")
    return folder / "model.sdf"


def _add_link(model: Element, link: Link, mesh_name: MeshName) -> None:
    element = add(model, "link", name=link.name)
    add(element, "pose", six(link.pose))
    _add_inertial(element, link.inertial)
    for tag, shapes in (("visual", link.visuals), ("collision", link.collisions)):
        taken: set[str] = set()
        for number, shape in enumerate(shapes):
            name = shape.name if shape.name and shape.name not in taken else f"{shape.name or tag}_{number}"
            taken.add(name)
            _add_shape(element, tag, name, shape, mesh_name)
    for sensor in link.sensors:
        if sensor.kind in SENSORS:
            add_sensor(element, sensor)


def _add_inertial(element: Element, inertial: Inertial) -> None:
    """Formats ask for some mass; a link that has none is a speck."""
    speck = inertial.mass <= 0.0
    part = add(element, "inertial")
    add(part, "pose", six(Pose(position=inertial.center)))
    add(part, "mass", 1e-6 if speck else inertial.mass)
    moments = np.eye(3) * 1e-10 if speck or not inertial.inertia.any() else possible(inertial.inertia)
    inertia = add(part, "inertia")
    for key, at in MOMENTS.items():
        add(inertia, key, moments[at])


def _add_shape(link: Element, tag: str, name: str, shape: Shape, mesh_name: MeshName) -> None:
    if shape.kind == "mesh" and shape.file is None:
        return
    element = add(link, tag, name=name)
    add(element, "pose", six(shape.pose))
    add_geometry(add(element, "geometry"), shape, mesh_name)
    if tag == "visual" and shape.colour is not None:
        shares = " ".join(f"{channel / 255:.4g}" for channel in shape.colour)
        material = add(element, "material")
        add(material, "ambient", f"{shares} 1")
        add(material, "diffuse", f"{shares} 1")


def add_geometry(geometry: Element, shape: Shape, mesh_name: MeshName) -> None:
    solid = add(geometry, shape.kind)
    if shape.kind == "mesh" and shape.file is not None:
        add(solid, "uri", mesh_name(shape.file))
        add(solid, "scale", shape.scale)
    elif shape.kind == "box":
        add(solid, "size", shape.size)
    elif shape.kind == "plane":
        add(solid, "normal", "0 0 1")
        add(solid, "size", shape.size)
    elif shape.kind == "ellipsoid":
        add(solid, "radii", shape.size)
    else:
        add(solid, "radius", shape.size[0])
        if shape.kind != "sphere":
            add(solid, "length", shape.size[1])


def add_sensor(element: Element, sensor: SensorPart) -> None:
    part = add(element, "sensor", name=sensor.name, type=sensor.kind)
    add(part, "pose", six(sensor.pose))
    if sensor.rate:
        add(part, "update_rate", sensor.rate)
    add(part, "always_on", "true")
    skip = ("pose", "update_rate", "always_on", "@name", "@type")
    add_values(part, {key: value for key, value in sensor.values.items() if key not in skip})
