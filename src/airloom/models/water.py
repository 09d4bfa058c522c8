"""Water: hulls from collisions, their damping and the water that they drag along; the water of a world.

Signs are those of gz-sim (src/systems/hydrodynamics/Hydrodynamics.cc, which follows Fossen 2011): derivatives of
damping and of added mass are negative where they resist. Buoyancy is that of all collisions (src/systems/buoyancy).
"""

from __future__ import annotations

from math import pi
from pathlib import Path
from typing import Any

import numpy as np

from airloom.models.densities import WATER
from airloom.models.description import Description, ModelError, Notes, Plugin, Pose, Shape
from airloom.models.hulls import write_hull
from airloom.models.lumping import Body
from airloom.models.markup import numbers
from airloom.models.plugins import (
    is_buoyancy,
    is_floating_surface,
    is_hydrodynamics,
    is_thruster,
    is_underwater_object,
    link_in,
    many_in,
    number_in,
    place_of,
    positive_in,
    vector_in,
    word_in,
)
from airloom.models.sensing import clean_name
from airloom.models.yaml_text import plain

Values = dict[str, Any]
TO_FLU = np.array([1.0, -1.0, -1.0, 1.0, -1.0, -1.0])
FORCES, MOTIONS = "xyzkmn", "UVWPQR"
"""Axes of forces and of motions as SNAME (1950) names them."""
MOST_SHAPES = 64
LIGHTEST_WATER = 100.0  # kg/m³; what is lighter is air
EVERYWHERE = 1000.0  # m, the level of water that has no surface


def swims(description: Description) -> bool:
    kinds = (is_thruster, is_hydrodynamics, is_buoyancy, is_underwater_object, is_floating_surface)
    return any(is_kind(plugin) for plugin in description.plugins for is_kind in kinds)


def find_hull(description: Description, body: Body, meshes: Path) -> Values | None:
    """Meshes of it are written to the folder `meshes`."""
    if not swims(description):
        return None
    shapes = _shapes(description, body, meshes)
    if not shapes:
        description.notes.assume("it swims, but nothing that touches of it has a volume: it has no hull and sinks")
        return None
    hull: Values = {"shapes": shapes}
    if any(_is_of_air(plugin, description) for plugin in filter(is_hydrodynamics, description.plugins)):
        hull["fluid"] = "air"
    added = np.zeros((6, 6))
    for link in body.links:
        if link.added_mass is not None:
            added += moved(link.added_mass, body.pose_of(link), body.inertial.center)
    for plugin in filter(is_hydrodynamics, description.plugins):
        added += _add_hydrodynamics(plugin, description, body, hull)
    for plugin in filter(is_underwater_object, description.plugins):
        added += _add_underwater_object(plugin, description, body, hull)
    if added.any():
        off = np.abs(added - np.diag(np.diag(added))).max()
        hull["added_mass"] = plain(np.diag(added) if off < 1e-9 * np.abs(added).max() else (added + added.T) / 2)
    description.notes.understand(f"a hull of {len(shapes)} shape{'s' * (len(shapes) != 1)}, by what touches of it")
    return hull


def _is_of_air(plugin: Plugin, description: Description) -> bool:
    return positive_in(plugin.values, "water_density", WATER, place_of(description, plugin)) < LIGHTEST_WATER


def _shapes(description: Description, body: Body, meshes: Path) -> dict[str, Values]:
    """Of all links; by volume where a plugin gives one. UUV Simulator and VRX let nothing else float."""
    shapes: dict[str, Values] = {}
    given = _given_volumes(description) | _given_cylinders(description)
    alone = any(is_underwater_object(plugin) or is_floating_surface(plugin) for plugin in description.plugins)
    for link in body.links:
        pose = body.pose_of(link)
        if link.name in given:
            for shape in given[link.name]:
                name = clean_name(link.name, shapes)
                made = _hull_shape(shape, name, pose, description.notes, meshes)
                shapes |= {name: made} if made is not None else {}
            continue
        for shape in [] if alone else link.collisions:
            name = clean_name(shape.name or link.name, shapes)
            if (made := _hull_shape(shape, name, pose, description.notes, meshes)) is not None:
                shapes[name] = made
    if len(shapes) > MOST_SHAPES:
        names = list(shapes)[MOST_SHAPES:]
        description.notes.ignore(f"a hull has {MOST_SHAPES} shapes here, so these displace nothing: {', '.join(names)}")
    return dict(list(shapes.items())[:MOST_SHAPES])


def _given_volumes(description: Description) -> dict[str, list[Shape]]:
    """By links: a ball, or a box whose proportions are given, as UUV Simulator has them."""
    given = {}
    for plugin in description.plugins:
        if not (is_buoyancy(plugin) or is_underwater_object(plugin)):
            continue
        place = place_of(description, plugin)
        for entry in many_in(plugin.values, "link"):
            if word_in(entry, "volume"):
                keys = ("center_of_volume", "center_of_buoyancy")
                center = vector_in(entry, next((key for key in keys if key in entry), keys[0]), "0 0 0", place)
                volume, pose = positive_in(entry, "volume", None, place), Pose(position=center)
                given[plugin.prefix + word_in(entry, "@name")] = [_of_volume(entry, volume, pose, place)]
    return given


def _of_volume(entry: Values, volume: float, pose: Pose, place: str) -> Shape:
    box = entry.get("box")
    if not isinstance(box, dict):
        return Shape("sphere", pose, ((3 * volume / (4 * pi)) ** (1 / 3),))
    sides = np.array([positive_in(box, key, None, place) for key in ("length", "width", "height")])
    return Shape("box", pose, tuple(sides * (volume / sides.prod()) ** (1 / 3)))


def _given_cylinders(description: Description) -> dict[str, list[Shape]]:
    """VRX's Surface: cylinders along x, whose lowest line goes through the points."""
    given: dict[str, list[Shape]] = {}
    for plugin in filter(is_floating_surface, description.plugins):
        v, place = plugin.values, place_of(description, plugin)
        length, radius = (positive_in(v, f"hull_{key}", None, place) for key in ("length", "radius"))
        points = v.get("points")
        texts = many_in(points, "point") if isinstance(points, dict) else []
        if not texts:
            raise ModelError(f"{place}: <points> is missing")
        lowest = np.mean([vector_in(text, "", "0 0 0", place) for text in texts], axis=0)
        link = link_in(description, plugin, "link_name")
        along = Pose.of(np.add(lowest, (0.0, 0.0, radius)), (0.0, pi / 2, 0.0))
        given.setdefault(link.name, []).append(Shape("cylinder", along, (radius, length)))
    return given


def _hull_shape(shape: Shape, name: str, link: Pose, notes: Notes, meshes: Path) -> Values | None:
    pose = link @ shape.pose
    where: Values = {"position": plain(pose.position)}
    where |= {k: plain(a) for k, a in zip(("roll", "pitch", "yaw"), pose.euler, strict=True) if abs(a) > 1e-9}
    if shape.kind == "box":
        return {"kind": "box", "size": plain(shape.size), **where}
    if shape.kind == "sphere":
        return {"kind": "ball", "radius": plain(shape.size[0]), "position": plain(pose.position)}
    if shape.kind in ("cylinder", "capsule"):
        return {"kind": shape.kind, "radius": plain(shape.size[0]), "length": plain(shape.size[1]), **where}
    if shape.kind == "ellipsoid":
        return {"kind": "ellipsoid", "size": plain(2 * np.array(shape.size)), **where}
    if shape.kind == "mesh" and shape.file is not None:
        try:
            return {"kind": "mesh", "file": write_hull(shape, name, meshes, notes), **where}
        except ModelError as error:
            notes.ignore(f"the collision {name} displaces no water: {error}")
            return None
    notes.ignore(f"the collision {name}, a {shape.kind}, displaces no water")
    return None


def _add_hydrodynamics(plugin: Plugin, description: Description, body: Body, hull: Values) -> np.ndarray:
    """Its damping goes to the hull; the added mass about the vehicle's centre of mass is given back."""
    v, place, notes = plugin.values, place_of(description, plugin), description.notes
    pose = body.pose_of(link_in(description, plugin, "link_name"))
    names = [(a + b, a + b + b, a + b + "abs" + b) for a, b in zip(FORCES, MOTIONS, strict=True)]
    linear = np.array([number_in(v, name, 0.0, place) for name, _, _ in names])
    square = np.array([number_in(v, old, 0.0, place) + number_in(v, new, 0.0, place) for _, old, new in names])
    known = {name for each in names for name in each}
    across = sorted(key for key in v if key[:1] in FORCES and key[1:2] in MOTIONS and key not in known)
    if across:
        notes.ignore(f"damping of one motion by another: {', '.join(across)}")
    _add_damping(hull, linear, square, pose, description)
    added = np.array([[number_in(v, f"{a}Dot{b}", 0.0, place) for b in MOTIONS] for a in FORCES])
    if word_in(v, "disable_added_mass").lower() in ("1", "true"):
        return np.zeros((6, 6))
    if np.trace(added) > 0:
        notes.assume("added mass is positive in the file, as older Gazebos had it: it resists")
        added = -added
    return moved(-(added + added.T) / 2, pose, body.inertial.center)


def _add_underwater_object(plugin: Plugin, description: Description, body: Body, hull: Values) -> np.ndarray:
    """Of UUV Simulator: Fossen's, along axes ahead, right and down."""
    place, whole = place_of(description, plugin), np.zeros((6, 6))
    for entry in many_in(plugin.values, "link"):
        model, link = entry.get("hydrodynamic_model"), description.links.get(plugin.prefix + word_in(entry, "@name"))
        if not isinstance(model, dict) or link is None:
            continue
        pose = body.pose_of(link)
        linear, square = (_six_of(model, f"{key}_damping", place, description) for key in ("linear", "quadratic"))
        _add_damping(hull, linear, square, pose, description)
        added = _numbers_in(model, "added_mass", place)
        if len(added) == 36:
            whole += moved(added.reshape(6, 6) * np.outer(TO_FLU, TO_FLU), pose, body.inertial.center)
        elif len(added):
            raise ModelError(f"{place}: added_mass must be 36 numbers, got {len(added)}")
    return (whole + whole.T) / 2


def _six_of(values: Values, key: str, place: str, description: Description) -> np.ndarray:
    found = _numbers_in(values, key, place)
    if len(found) == 36:
        across = found.reshape(6, 6) - np.diag(np.diag(found.reshape(6, 6)))
        if across.any():
            description.notes.ignore(f"damping of one motion by another: {key}")
        return np.diag(found.reshape(6, 6))
    if len(found) not in (0, 6):
        raise ModelError(f"{place}: {key} must be 6 or 36 numbers, got {len(found)}")
    return found if len(found) else np.zeros(6)


def _numbers_in(values: Values, key: str, place: str) -> np.ndarray:
    return np.array(numbers(text, None, f"{place}: {key}") if (text := word_in(values, key)) else [])


def _add_damping(hull: Values, linear: np.ndarray, square: np.ndarray, pose: Pose, description: Description) -> None:
    for key, values in (("damping", linear), ("quadratic_damping", square)):
        if values.any():
            own = _turned(_resisting(values, key, description), pose.rotation)
            hull[key] = plain(np.array(hull.get(key, np.zeros(6))) + own)


def _resisting(values: np.ndarray, what: str, description: Description) -> np.ndarray:
    if values.sum() > 0:
        description.notes.assume(f"{what} is positive in the file: it resists")
        return values
    return -values


def _turned(six: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Resistances along a link's axes as seen along the vehicle's."""
    return np.concatenate([np.diag(rotation @ np.diag(part) @ rotation.T) for part in (six[:3], six[3:])])


def moved(matrix: np.ndarray, pose: Pose, to: np.ndarray) -> np.ndarray:
    """An added mass about a link's origin, about another point of the vehicle (Fossen 2011, eq. 7.30)."""
    turn = np.kron(np.eye(2), pose.rotation)
    x, y, z = to - pose.position
    shift = np.eye(6)
    shift[:3, 3:] = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return shift.T @ turn @ matrix @ turn.T @ shift


def water_of(values: Values, place: str) -> tuple[Values, str]:
    """The world's water by Gazebo's Buoyancy plugin, and what it is in words."""
    graded = values.get("graded_buoyancy")
    if not isinstance(graded, dict):
        density = positive_in(values, "uniform_fluid_density", 1000.0, place)
        return {"level": EVERYWHERE, "density": density}, f"water all over, whose level is {EVERYWHERE:g} m here"
    changes = sorted(
        (number_in(change, "above_depth", None, place), positive_in(change, "density", None, place))
        for change in many_in(graded, "density_change")
    )
    # From below: each density reaches up to the height of the next change.
    densities = [positive_in(graded, "default_density", 1000.0, place), *(density for _, density in changes)]
    tops = [*(height for height, _ in changes), EVERYWHERE]
    wet = [(top, density) for top, density in zip(tops, densities, strict=True) if density >= LIGHTEST_WATER]
    if not wet:
        return {}, "air of another density, which is that of the world's weather here"
    (level, density), *layers = reversed(wet)
    water: Values = {"level": level, "density": density}
    if layers:
        water["layers"] = [{"below": top, "density": each} for top, each in layers]
    return water, f"water below {level:g} m"
