"""A <world> of SDF becomes a world file: ground, sun, wind, place on Earth, static models as obstacles and objects.

Models that can move are handed on: they may be vehicles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import asin, atan2, degrees
from pathlib import Path
from typing import Any

import numpy as np

from airloom.basics.pictures import read_picture
from airloom.models.description import Description, Link, ModelError, Notes, Pose, Shape
from airloom.models.files import Library
from airloom.models.geometry import read_plugin, read_pose
from airloom.models.markup import Element, flag_of, local_name, number_of, numbers, text_of, where
from airloom.models.meshes import copy_mesh, corners_of, unit_of, write_obj
from airloom.models.plugins import is_buoyancy
from airloom.models.sdf import SdfReader, included, version_of
from airloom.models.sensing import clean_name
from airloom.models.water import water_of
from airloom.world.meshes import box, ngon, prism
from airloom.world.objects.mesh_file import LARGEST, SMALLEST

QUIET = {"physics", "gui", "audio", "model", "include", "light", "scene", "atmosphere", "gravity", "magnetic_field",
         "wind",          "spherical_coordinates", "frame"}  # fmt: skip
MOST_HEIGHTS = 20_000_000
GREY = (150, 150, 146)
FOUNDATION = 0.5  # m that things may reach into flat ground
LEVEL = 1e-4  # rad; what is tilted more is no obstacle that stands upright


@dataclass
class MadeWorld:
    world: dict[str, Any]
    movable: list[tuple[Description, Pose]]
    """Models that are no part of the land, and where they stand: perhaps vehicles."""
    notes: Notes


def world_from(root: Element, file: Path, library: Library, folder: Path) -> MadeWorld:
    """Meshes and heights are written to `folder`."""
    element, notes = root.find("world"), Notes()
    name = element.get("name") or file.stem
    world: dict[str, Any] = {"description": f"{name}, imported from SDF", **_air(element, file, notes)}
    if light := _light(element, file, notes):
        world["light"] = light
    plugins = [read_plugin(part) for part in element.iterfind("plugin")]
    for plugin in filter(is_buoyancy, plugins):
        water, told = water_of(plugin.values, f"{name}, plugin {plugin.name}")
        notes.understand(told)
        world |= {"water": water} if water else {}
    ground = _Ground(folder, notes)
    taken: dict[Path, str] = {}
    movable: list[tuple[Description, Pose]] = []
    for description, pose in _models(element, root, file, library, notes):
        if not description.is_static:
            movable.append((description, pose))
            continue
        for link in description.links.values():
            _add_link(link, pose @ link.pose, description.name, world, ground, folder, taken, notes)
    if not any(text_of(part, "uri").endswith("ground_plane") for part in element.iterfind("include")):
        ground.lie_below_all()
    world |= ground.terrain
    for tag in sorted({local_name(child) for child in element} - QUIET):
        what = [child.get("name", "") for child in element if local_name(child) == tag]
        if tag == "plugin":
            what = [plugin.name for plugin in plugins if not is_buoyancy(plugin)]
        if what:
            notes.ignore(f"<{tag}> of the world: {', '.join(filter(None, what)) or 'one'}")
    things = [len(world.get(key, ())) for key in ("obstacles", "objects")]
    notes.understand(f"{things[0]} obstacles, {things[1]} objects with meshes")
    return MadeWorld(world, movable, notes)


def _air(element: Element, file: Path, notes: Notes) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if text := text_of(element, "gravity"):
        gravity = np.array(numbers(text, 3, f"{file}: gravity"))
        values["gravity"] = float(np.linalg.norm(gravity))
        if np.abs(gravity[:2]).max() > 1e-9:
            notes.assume(f"gravity of {text.strip()} points straight down here")
    if text := text_of(element, "magnetic_field"):
        values["magnetic_field"] = numbers(text, 3, f"{file}: magnetic_field")
    if text := text_of(element, "wind/linear_velocity"):
        values["wind"] = numbers(text, 3, f"{file}: wind")
        notes.understand(f"wind of {text.strip()} m/s")
    air = element.find("atmosphere")
    for key in ("temperature", "pressure"):
        if air is not None and text_of(air, key):
            values[key] = number_of(air, key, 0.0, file)
    place = element.find("spherical_coordinates")
    if place is not None:
        values["origin"] = {
            "latitude": number_of(place, "latitude_deg", 0.0, file),
            "longitude": number_of(place, "longitude_deg", 0.0, file),
            "altitude": number_of(place, "elevation", 0.0, file),
        }  # fmt: skip
        notes.understand("where on Earth it is")
        if number_of(place, "heading_deg", 0.0, file):
            notes.assume("the world is turned by heading_deg on Earth; here x is east")
    return values


def _light(element: Element, file: Path, notes: Notes) -> dict[str, Any]:
    """The sun is the first light that shines in one direction; azimuth clockwise from north, in degrees."""
    light: dict[str, Any] = {}
    for lamp in element.iterfind("light"):
        if lamp.get("type") != "directional" or "sun" in light:
            notes.ignore(f"the light {lamp.get('name', '')}")
            continue
        towards = np.array(numbers(text_of(lamp, "direction") or "0 0 -1", 3, where(lamp, file)))
        east, north, up = -(read_pose(lamp, file).rotation @ towards) / max(float(np.linalg.norm(towards)), 1e-9)
        azimuth = degrees(atan2(east, north)) % 360
        light["sun"] = {"azimuth": round(azimuth, 4), "elevation": round(degrees(asin(np.clip(up, -1, 1))), 4)}
        notes.understand(f"the sun, {light['sun']['elevation']:.0f}° high")
    end = text_of(element.find("scene"), "fog/end")
    if end and 1 <= float(end) <= 1e5:
        light["fog"] = {"distance": float(end)}
    return light


def _models(
    element: Element, root: Element, file: Path, library: Library, notes: Notes
) -> Iterator[tuple[Description, Pose]]:
    """All models with where they stand; one that cannot be read is noted."""
    for child in element:
        tag = local_name(child)
        if tag not in ("model", "include"):
            continue
        try:
            if tag == "model":
                source, path, version, holder = child, file, version_of(root, file), child
            elif (
                text_of(child, "uri").rsplit("/", 1)[-1] in ("sun", "ground_plane")
                and library.package(text_of(child, "uri").rsplit("/", 1)[-1]) is None
            ):
                notes.assume(f"{text_of(child, 'uri')}, which every Gazebo has, is what a world has by itself here")
                continue
            else:
                path, source, version = included(child, file, library, (file,))
                holder = child if child.find("pose") is not None else source
            description = SdfReader(library).read_element(path, source, version)
        except ModelError as error:
            notes.ignore(str(error))
            continue
        description.is_static |= flag_of(child, "static")
        description.name = text_of(child, "name") or description.name
        for text in description.notes.ignored:
            notes.ignore(text)
        yield description, read_pose(holder, file)


class _Ground:
    """What the land is: a plane, or heights from a picture."""

    def __init__(self, folder: Path, notes: Notes) -> None:
        self.folder, self.notes = folder, notes
        self.terrain: dict[str, Any] = {}
        self._lowest = 0.0

    def bear(self, shape: Shape, pose: Pose) -> None:
        """Remember how low a mesh reaches that stands in a world perhaps without other ground."""
        if (corners := corners_of(shape)) is not None:
            own = (corners - shape.pose.position) @ shape.pose.rotation  # those of its own axes
            self._lowest = min(self._lowest, float((own @ pose.rotation.T + pose.position)[:, 2].min()))

    def lie_below_all(self) -> None:
        """A world without ground of its own gets none that would hide a sea bed or a pit."""
        if not self.terrain and self._lowest < -FOUNDATION:
            height = round(self._lowest - FOUNDATION, 3)
            self.terrain = {"terrain": {"kind": "plane", "height": height}}
            self.notes.assume(f"it has no ground of its own: a plane at {height:g} m, below all its meshes")

    def add_plane(self, pose: Pose) -> None:
        if pose.rotation[2, 2] < 1 - 1e-6:
            self.notes.ignore("a plane that is tilted")
        elif not self.terrain:
            self.terrain = {"terrain": {"kind": "plane", "height": round(float(pose.position[2]), 9)}}
            self.notes.understand("flat ground")

    def add_heights(self, shape: Shape, pose: Pose) -> None:
        assert shape.file is not None
        picture = read_picture(shape.file, ModelError, most=MOST_HEIGHTS)
        grey = np.asarray(picture.convert("I" if picture.mode.startswith("I") else "L"), dtype=float)
        full = 65535.0 if grey.max() > 255 else 255.0
        x, y, z = shape.size
        heights = grey[::-1] / full * z + pose.position[2]  # the first row of a picture is the northern edge
        np.save(self.folder / "heights.npy", heights)
        self.terrain = {
            "terrain": {
                "kind": "heightfield", "size": [x, y], "center": [float(pose.position[0]), float(pose.position[1])],
                "file": "heights.npy",
            }
        }  # fmt: skip
        self.notes.understand(f"ground of {grey.shape[1]} × {grey.shape[0]} heights")


def _add_link(
    link: Link, pose: Pose, model: str, world: dict[str, Any], ground: _Ground, folder: Path, taken: dict[Path, str],
    notes: Notes,
) -> None:  # fmt: skip
    seen = {shape.file for shape in link.visuals if shape.kind == "mesh"}
    for shape in link.collisions:
        where_ = pose @ shape.pose
        if shape.kind == "plane":
            ground.add_plane(where_)
        elif shape.kind == "heightmap":
            try:
                ground.add_heights(shape, where_)
            except ModelError as error:
                notes.ignore(str(error))
        elif shape.kind in ("box", "cylinder", "sphere"):
            _add_solid(shape, where_, model, world, folder, notes)
        elif shape.kind == "mesh" and shape.file not in seen:
            notes.assume(f"the mesh {shape.file.name if shape.file else '?'} of {model} is touched and seen")
            if _add_mesh(shape, where_, model, world, folder, taken, "boxes", notes):
                ground.bear(shape, where_)
    touched = {shape.file for shape in link.collisions if shape.kind == "mesh"}
    for shape in link.visuals:
        if shape.kind == "mesh":
            collision = "boxes" if shape.file in touched else "none"
            if _add_mesh(shape, pose @ shape.pose, model, world, folder, taken, collision, notes):
                ground.bear(shape, pose @ shape.pose)


def _add_solid(shape: Shape, pose: Pose, model: str, world: dict[str, Any], folder: Path, notes: Notes) -> None:
    """Upright ones are obstacles; a tilted one becomes a mesh of its own."""
    obstacles, objects = world.setdefault("obstacles", {}), world.setdefault("objects", {})
    roll, pitch, yaw = pose.euler
    s = shape.size
    sizes = {"box": lambda: s, "cylinder": lambda: (2 * s[0], 2 * s[0], s[1]), "sphere": lambda: (2 * s[0],) * 3}
    if shape.kind == "sphere" or (abs(roll) < LEVEL and abs(pitch) < LEVEL):
        entry = {
            "shape": shape.kind,
            "size": [float(x) for x in sizes[shape.kind]()],
            "position": [round(float(x), 9) for x in pose.position],
        }
        obstacles[clean_name(model, obstacles)] = {
            **entry,
            **({"yaw": round(float(yaw), 9)} if abs(yaw) > 1e-9 else {}),
        }
        return
    name = clean_name(model, objects)
    mesh = box(s, GREY) if shape.kind == "box" else prism(ngon(s[0], 24), -s[1] / 2, s[1] / 2, GREY)
    (folder / "meshes").mkdir(exist_ok=True)
    write_obj(folder / "meshes" / f"{name}.obj", mesh.vertices, mesh.faces)
    objects[name] = {"kind": "mesh", "file": f"meshes/{name}.obj", **_placed(pose), "collision": "hull"}


def _placed(pose: Pose) -> dict[str, Any]:
    angles = {
        key: round(float(a), 9) for key, a in zip(("roll", "pitch", "yaw"), pose.euler, strict=True) if abs(a) > 1e-9
    }
    return {"position": [round(float(x), 9) for x in pose.position], **angles}


def _add_mesh(
    shape: Shape, pose: Pose, model: str, world: dict[str, Any], folder: Path, taken: dict[Path, str], collision: str,
    notes: Notes,
) -> bool:  # fmt: skip
    """Whether it fits."""
    assert shape.file is not None
    if (why := _unfit(shape)) is not None:
        notes.ignore(f"the mesh {shape.file.name} of {model}: {why}")
        return False
    objects = world.setdefault("objects", {})
    entry: dict[str, Any] = {
        "kind": "mesh",
        "file": f"meshes/{copy_mesh(shape.file, folder / 'meshes', taken)}",
        **_placed(pose),
    }
    scale = [abs(x) * unit_of(shape.file) for x in shape.scale]
    if scale != [1.0, 1.0, 1.0]:
        entry["scale"] = scale
    if shape.colour is not None:
        entry["colour"] = list(shape.colour)
    objects[clean_name(model, objects)] = {**entry, "collision": collision}
    return True


def _unfit(shape: Shape) -> str | None:
    """Why a mesh cannot be an object."""
    try:
        corners = corners_of(shape)
    except ModelError as error:
        return str(error)
    longest = 0.0 if corners is None else float(np.ptp(corners, axis=0).max())
    if SMALLEST <= longest <= LARGEST:
        return None
    return f"it is {longest:.3g} m large, and objects may have {SMALLEST:g} to {LARGEST:g} m"
