"""Shapes, inertia and sensors of a link as SDF writes them; URDF has some of it in the same words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from airloom.basics.rotations import matrix_from_quaternion
from airloom.models.description import Inertial, ModelError, Notes, Plugin, Pose, SensorPart, Shape
from airloom.models.files import Library
from airloom.models.markup import Element, local_name, number_of, numbers, text_of, values_of, where

SIZES = {
    "box": ("size",),
    "ellipsoid": ("radii",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "cone": ("radius", "length"),
}
MeshFinder = Callable[[str, str], "Path | None"]


def mesh_finder(library: Library, file: Path, notes: Notes) -> MeshFinder:
    """What finds a mesh by its address, and notes one that is not there."""

    def find(uri: str, place: str) -> Path | None:
        found = library.find(uri, file.parent, place)
        if found is None or not found.is_file():
            notes.ignore(f"the mesh {uri} is not there ({place})")
            return None
        return found

    return find


def read_pose(element: Element | None, file: Path) -> Pose:
    """SDF's <pose>, in radians or degrees, by Euler angles or a quaternion."""
    pose = element.find("pose") if element is not None else None
    text = (pose.text or "").strip() if pose is not None else ""
    if pose is None or not text:
        return Pose()
    place = f"{where(pose, file)}: pose"
    if pose.get("rotation_format") == "quat_xyzw":
        x, y, z, a, b, c, w = numbers(text, 7, place)
        q = np.array([w, a, b, c])
        if np.linalg.norm(q) < 1e-9:
            raise ModelError(f"{place}: a quaternion of zeros is no rotation")
        return Pose(matrix_from_quaternion(q / np.linalg.norm(q)), np.array([x, y, z]))
    values = np.array(numbers(text, 6, place))
    angles = np.radians(values[3:]) if pose.get("degrees") in ("true", "1") else values[3:]
    return Pose.of(values[:3], angles)


def relative_to(element: Element | None) -> str:
    pose = element.find("pose") if element is not None else None
    return "" if pose is None else pose.get("relative_to") or pose.get("frame") or ""


def read_shape(element: Element, pose: Pose, find: MeshFinder, file: Path, notes: Notes) -> Shape | None:
    """Of a <visual> or <collision>; None if it has no shape that is known."""
    geometry = element.find("geometry")
    for solid in geometry if geometry is not None else ():
        kind, place = local_name(solid), where(solid, file)
        name, colour = element.get("name", ""), _colour(element)
        if kind == "mesh":
            uri = text_of(solid, "uri") or solid.get("filename", "")
            mesh = find(uri, place) if uri else None
            scale = numbers(text_of(solid, "scale") or solid.get("scale") or "1 1 1", None, f"{place}: scale")
            if mesh is None:
                return None
            x, y, z = scale if len(scale) == 3 else [scale[0]] * 3
            return Shape("mesh", pose, file=mesh, scale=(x, y, z), colour=colour, name=name)
        if kind in SIZES:
            size = [
                number
                for key in SIZES[kind]
                for number in numbers(solid.get(key) or text_of(solid, key) or "0", None, f"{place}: {key}")
            ]
            if min(size) <= 0 or len(size) != {"box": 3, "ellipsoid": 3, "sphere": 1}.get(kind, 2):
                raise ModelError(f"{place}: a {kind} needs {' and '.join(SIZES[kind])} greater than zero")
            return Shape(kind, pose, tuple(size), colour=colour, name=name)
        if kind == "plane":
            return Shape("plane", pose, tuple(numbers(text_of(solid, "size") or "1 1", 2, place)), name=name)
        if kind == "heightmap":
            uri = text_of(solid, "uri")
            picture = find(uri, place) if uri else None
            if picture is None:
                return None
            x, y, z = numbers(text_of(solid, "size") or "1 1 1", 3, f"{place}: size")
            moved = pose @ Pose(position=np.array(numbers(text_of(solid, "pos") or "0 0 0", 3, f"{place}: pos")))
            return Shape("heightmap", moved, (x, y, z), picture, name=name)
        if kind != "empty":
            notes.ignore(f"a shape of the kind {kind} ({place})")
    return None


def _colour(element: Element) -> tuple[int, int, int] | None:
    text = text_of(element, "material/diffuse") or text_of(element, "material/ambient")
    colour = element.find("material/color")
    text = text or (colour.get("rgba", "") if colour is not None else "")
    try:
        shares = [min(max(float(word), 0.0), 1.0) for word in text.split()[:3]]
    except ValueError:
        return None
    return (round(255 * shares[0]), round(255 * shares[1]), round(255 * shares[2])) if len(shares) == 3 else None


def checked_inertial(mass: float, pose: Pose, moments: dict[str, float], place: str, name: str) -> Inertial:
    """Six moments about the centre along the axes of `pose`, in the link's axes; refuses what no mass can have."""
    xx, yy, zz, xy, xz, yz = (moments[key] for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if mass < 0:
        raise ModelError(f"{place}: the link '{name}' has a mass of {mass:g} kg; it must not be negative")
    least = float(np.linalg.eigvalsh(inertia)[0])
    if least < -1e-9 * max(abs(inertia).max(), 1e-12):
        raise ModelError(
            f"{place}: the link '{name}' has an inertia with the principal moment {least:.3g} kg m²; "
            "none may be negative"
        )
    return Inertial(mass, np.zeros(3), inertia).seen_from(pose)


def read_inertial(link: Element, pose: Pose, file: Path, notes: Notes) -> Inertial:
    """SDF's; what is left out is 1 kg and 1 kg m², by its specification."""
    element, name = link.find("inertial"), link.get("name", "")
    inertia = element.find("inertia") if element is not None else None
    if element is None or element.find("mass") is None:
        notes.assume(f"the link {name} has no mass in the file: 1 kg, as SDF says")
    if inertia is None:
        notes.assume(f"the link {name} has no inertia in the file: 1 kg m² about all axes, as SDF says")
    mass = number_of(element, "mass", 1.0, file)
    default = {"ixx": 1.0, "iyy": 1.0, "izz": 1.0, "ixy": 0.0, "ixz": 0.0, "iyz": 0.0}
    moments = {key: number_of(inertia, key, value, file) for key, value in default.items()}
    return checked_inertial(mass, pose, moments, where(link if element is None else element, file), name)


def read_added_mass(inertial: Element | None, file: Path) -> np.ndarray | None:
    """SDF 1.11: the upper half of a symmetric matrix, of motions x, y, z and turns p, q, r in the link's axes."""
    element = inertial.find("fluid_added_mass") if inertial is not None else None
    if element is None:
        return None
    letters = "xyzpqr"
    upper = [[number_of(element, a + b, 0.0, file) if j >= i else 0.0 for j, b in enumerate(letters)]
             for i, a in enumerate(letters)]  # fmt: skip
    half = np.array(upper)
    return half + half.T - np.diag(np.diag(half))


def read_plugin(element: Element, prefix: str = "") -> Plugin:
    values = values_of(element)
    own = (
        {key: value for key, value in values.items() if key not in ("@name", "@filename")}
        if isinstance(values, dict)
        else {}
    )
    return Plugin(element.get("name", ""), element.get("filename", ""), own, prefix)


def read_sensor(element: Element, pose: Pose, file: Path) -> SensorPart:
    """SDF's, which URDF has within <gazebo>."""
    rate = number_of(element, "update_rate", 0.0, file)
    values = values_of(element)
    kind = element.get("type", "")
    return SensorPart(element.get("name", kind), kind, pose, rate or None, values if isinstance(values, dict) else {})
