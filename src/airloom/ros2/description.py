"""A URDF of a vehicle as its file describes it, for /<vehicle>/robot_description and RViz."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as xml

import numpy as np

from airloom.basics.rotations import euler_from_quaternion
from airloom.ros2.frames import Frame, frames_of

if TYPE_CHECKING:
    from airloom.scenario.models import Visual
    from airloom.vehicle import Vehicle

COLOURS = {"body": "0.25 0.27 0.3 1", "ccw": "0.9 0.45 0.1 0.7", "cw": "0.1 0.5 0.85 0.7", "tank": "0.85 0.9 0.95 0.6"}
THICKNESS = 0.01  # m, of a rotor's disc


def urdf(vehicle: Vehicle) -> str:
    """Rotors are continuous joints, all else is fixed. The liquid of a tank is in the mass as it is now."""
    name, about = vehicle.name, vehicle.description
    robot = xml.Element("robot", name=name)
    base = _link(robot, f"{name}/base_link")
    _inertial(base, vehicle)
    for seen in about.visuals.values():
        _mesh(base, seen)
    for kind in ("collision",) if about.visuals else ("visual", "collision"):
        _box(base, kind, about.body.position, about.body.size, COLOURS["body"])
    if about.tank is not None:
        _box(base, "visual", about.tank.position, about.tank.size, COLOURS["tank"])
    rotors = {f"{name}/{rotor}": numbers for rotor, numbers in about.rotors.items()}
    for frame in frames_of(vehicle):
        link = _link(robot, frame.child)
        if (rotor := rotors.get(frame.child)) is None:
            _joint(robot, frame, "fixed")
        else:
            _disc(link, rotor)
            _joint(robot, frame, "continuous")
    xml.indent(robot)
    return '<?xml version="1.0"?>\n' + xml.tostring(robot, encoding="unicode") + "\n"


def joint_name(link: str) -> str:
    return f"{link}_joint"


def _link(robot: xml.Element, name: str) -> xml.Element:
    return xml.SubElement(robot, "link", name=name)


def _inertial(link: xml.Element, vehicle: Vehicle) -> None:
    """Nothing else has any: rotors and sensors are in the vehicle's own numbers."""
    about, inertial = vehicle.description, xml.SubElement(link, "inertial")
    xml.SubElement(inertial, "origin", xyz=_text(about.center_of_mass))
    xml.SubElement(inertial, "mass", value=_text([vehicle.mass]))
    numbers = {f"i{axes}": _text([getattr(about.inertia, axes)]) for axes in ("xx", "xy", "xz", "yy", "yz", "zz")}
    xml.SubElement(inertial, "inertia", numbers)


def _box(link: xml.Element, kind: str, position: Any, size: Any, colour: str) -> None:
    part = xml.SubElement(link, kind)
    xml.SubElement(part, "origin", xyz=_text(position))
    xml.SubElement(xml.SubElement(part, "geometry"), "box", size=_text(size))
    if kind == "visual":
        _paint(part, colour)


def _mesh(link: xml.Element, seen: Visual) -> None:
    """RViz takes a file by its URI, and its colours where none is given."""
    part = xml.SubElement(link, "visual")
    xml.SubElement(part, "origin", xyz=_text(seen.position), rpy=_text((seen.roll, seen.pitch, seen.yaw)))
    place = Path(seen.file).absolute().as_uri()
    xml.SubElement(xml.SubElement(part, "geometry"), "mesh", filename=place, scale=_text(seen.scale))
    if seen.colour is not None:
        _paint(part, _text([*(channel / 255 for channel in seen.colour), 1.0]))


def _disc(link: xml.Element, rotor: Any) -> None:
    part = xml.SubElement(link, "visual")
    shape = xml.SubElement(part, "geometry")
    xml.SubElement(shape, "cylinder", radius=_text([rotor.radius]), length=_text([THICKNESS]))
    _paint(part, COLOURS[rotor.turns])


def _paint(part: xml.Element, colour: str) -> None:
    xml.SubElement(xml.SubElement(part, "material", name=colour.replace(" ", "_")), "color", rgba=colour)


def _joint(robot: xml.Element, frame: Frame, kind: str) -> None:
    joint = xml.SubElement(robot, "joint", name=joint_name(frame.child), type=kind)
    xml.SubElement(joint, "parent", link=frame.parent)
    xml.SubElement(joint, "child", link=frame.child)
    angles = euler_from_quaternion(np.array(frame.attitude))
    xml.SubElement(joint, "origin", xyz=_text(frame.position), rpy=_text(angles))
    if kind == "continuous":
        xml.SubElement(joint, "axis", xyz="0 0 1")


def _text(numbers: Any) -> str:
    return " ".join(f"{float(number):.9g}" for number in numbers)
