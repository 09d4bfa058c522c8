"""A description as MJCF: one free body, and a motor for each rotor that pushes and twists at its hub."""

from __future__ import annotations

from typing import Any

import numpy as np

from airloom.basics.inertia import possible
from airloom.models.actuators import USER
from airloom.models.beyond import NAME, written_beyond
from airloom.models.description import Description, Pose, Shape
from airloom.models.from_vehicle import turn_to
from airloom.models.lumping import lumped
from airloom.models.markup import Element
from airloom.models.rotor import FoundRotor
from airloom.models.rotors import find_rotors
from airloom.models.to_sdf import MeshName
from airloom.models.writing import add, root_element

MESHES = (".stl", ".obj")


def mjcf_of(description: Description, pose: Pose, mesh_name: MeshName) -> Element:
    rotors = find_rotors(description)
    spinning = {rotor.link for rotor in rotors if rotor.link}
    body = lumped(description, spinning)
    root = root_element("mujoco", model=description.name)
    add(root, "compiler", angle="radian", inertiafromgeom="false", autolimits="true")
    add(root, "size", nuser_actuator=str(len(USER)))
    if description.beyond:
        add(add(root, "custom"), "text", name=NAME, data=written_beyond(description.beyond))
    asset, world = add(root, "asset"), add(root, "worldbody")
    main = add(world, "body", name=description.canonical or description.name, pos=pose.position, quat=_quaternion(pose))
    add(main, "freejoint")
    inertial, j = body.inertial, possible(body.inertial.inertia)
    full = np.array([j[0, 0], j[1, 1], j[2, 2], j[0, 1], j[0, 2], j[1, 2]])
    add(main, "inertial", pos=inertial.center, mass=inertial.mass, fullinertia=full)
    for link in body.links:
        if link.name in spinning:
            continue
        for touches, shapes in ((True, link.collisions), (False, link.visuals)):
            for shape in shapes:
                _add_geom(main, asset, shape, body.pose_of(link) @ shape.pose, touches, mesh_name, description)
        for sensor in link.sensors:
            if sensor.kind == "imu":
                where = body.pose_of(link) @ sensor.pose
                add(main, "site", name=sensor.name, pos=where.position, quat=_quaternion(where))
    actuator, sensors = add(root, "actuator"), add(root, "sensor")
    for rotor in rotors:
        _add_rotor(main, actuator, rotor, body.to_body)
    for link in body.links:
        for sensor in link.sensors:
            if sensor.kind == "imu":
                add(sensors, "gyro", name=f"{sensor.name}_gyro", site=sensor.name)
                add(sensors, "accelerometer", name=f"{sensor.name}_accelerometer", site=sensor.name)
            elif not description.beyond:
                description.notes.ignore(f"the sensor {sensor.name} ({sensor.kind}), which is not written to MJCF")
    return root


def _quaternion(pose: Pose) -> np.ndarray:
    import mujoco

    q = np.zeros(4)
    mujoco.mju_mat2Quat(q, np.ascontiguousarray(pose.rotation).ravel())
    return q


def _add_rotor(main: Element, actuator: Element, rotor: FoundRotor, to_body: Pose) -> None:
    where = to_body @ Pose(turn_to(rotor.axis), rotor.position)
    sign = -1.0 if rotor.turns == "ccw" else 1.0
    name = rotor.name.split("/")[-1]
    add(main, "site", name=name, pos=where.position, quat=_quaternion(where))
    values = {
        "thrust_constant": rotor.thrust_constant,
        "max_speed": rotor.max_speed,
        "radius": rotor.radius,
        **rotor.more,
    }
    thrust = rotor.thrust_constant * rotor.max_speed**2
    back = rotor.more.get("in_water", {}).get("reverse", 0.0)
    add(
        actuator, "motor", name=name, site=name, gear=np.array([0.0, 0.0, 1.0, 0.0, 0.0, sign * rotor.moment_constant]),
        ctrlrange=np.array([-back * thrust, thrust]),
        user=np.array([values.get(key, 0.0) for key in USER]),
    )  # fmt: skip


def _add_geom(
    main: Element,
    asset: Element,
    shape: Shape,
    pose: Pose,
    touches: bool,
    mesh_name: MeshName,
    description: Description,
) -> None:
    common: dict[str, Any] = {"pos": pose.position, "quat": _quaternion(pose)}
    if shape.colour is not None:
        common["rgba"] = np.array([*(channel / 255 for channel in shape.colour), 1.0])
    if not touches:
        common |= {"contype": "0", "conaffinity": "0", "group": "2"}
    halves = {
        "box": lambda s: np.array(s) / 2,
        "cylinder": lambda s: np.array([s[0], s[1] / 2]),
        "capsule": lambda s: np.array([s[0], s[1] / 2]),
    }
    if shape.kind in ("box", "cylinder", "capsule", "sphere", "ellipsoid"):
        size = halves.get(shape.kind, np.array)(shape.size)
        add(main, "geom", type=shape.kind, size=size, **common)
    elif shape.kind == "mesh" and shape.file is not None:
        if shape.file.suffix.lower() not in MESHES:
            description.notes.ignore(f"the mesh {shape.file.name}: MuJoCo reads {' and '.join(MESHES)}")
            return
        file = mesh_name(shape.file)
        name = f"mesh_{len(asset)}"
        add(asset, "mesh", name=name, file=file, scale=np.array(shape.scale))
        add(main, "geom", type="mesh", mesh=name, **common)
