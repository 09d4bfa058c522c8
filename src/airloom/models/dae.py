"""Corners of a DAE file, to know how large it is: without trimesh, whose import and reading take seconds."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from airloom.models.markup import Element, library, local_name

DEEPEST = 64
FACES = {"triangles", "polylist", "polygons", "tristrips", "trifans"}


def dae_vertices(file: Path) -> np.ndarray | None:
    """As its scene has them, in the file's units; None for what only a full reader understands."""
    etree = library()
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # numpy only warns of words that are no numbers
            root = etree.parse(str(file), parser).getroot()
            named = {element.get("id"): element for element in root.iter() if element.get("id")}
            parts = list(_parts(root, named))
    except (etree.XMLSyntaxError, ValueError, KeyError, AttributeError, DeprecationWarning):
        return None
    return np.concatenate(parts) if parts else None


def _parts(root: Element, named: dict[str, Element]) -> Iterator[np.ndarray]:
    scene = next((named[_target(e)] for e in root.iter("{*}instance_visual_scene")), None)
    if scene is None or next(root.iter("{*}instance_controller"), None) is not None:
        raise ValueError
    corners: dict[str, np.ndarray] = {}
    for turn, geometry in _instances(scene, np.eye(4), named, 0):
        if geometry not in corners:  # it may be there many times
            corners[geometry] = _corners(named[geometry], named)
        yield corners[geometry] @ turn[:3, :3].T + turn[:3, 3]


def _instances(node: Element, turn: np.ndarray, named: dict, depth: int) -> Iterator[tuple[np.ndarray, str]]:
    if depth > DEEPEST:
        raise ValueError
    for element in node:
        tag = local_name(element)
        if tag == "matrix":
            turn = turn @ _numbers(element, 16).reshape(4, 4)
        elif tag == "translate":
            turn = turn @ _affine(np.eye(3), _numbers(element, 3))
        elif tag == "scale":
            turn = turn @ _affine(np.diag(_numbers(element, 3)))
        elif tag == "rotate":
            turn = turn @ _affine(_rotation(_numbers(element, 4)))
        elif tag in ("lookat", "skew"):
            raise ValueError
        elif tag == "instance_geometry":
            yield turn, _target(element)
        elif tag == "node":
            yield from _instances(element, turn, named, depth + 1)
        elif tag == "instance_node":
            yield from _instances(named[_target(element)], turn, named, depth + 1)


def _corners(geometry: Element, named: dict[str, Element]) -> np.ndarray:
    """Those of faces; lines, and corners that nothing has, are not seen."""
    found = []
    for faces in geometry.iterfind("{*}mesh/*"):
        if local_name(faces) not in FACES:
            continue
        inputs = {each.get("semantic"): each for each in faces.iterfind("{*}input")}
        stride = 1 + max(int(each.get("offset", 0)) for each in faces.iterfind("{*}input"))
        first = int(inputs["VERTEX"].get("offset", 0))
        vertices = named[_target(inputs["VERTEX"])].find("{*}input[@semantic='POSITION']")
        places = _numbers(named[_target(vertices)].find("{*}float_array")).reshape(-1, 3)
        for numbers in faces.iterfind("{*}p"):
            which = np.unique(_numbers(numbers, kind=int)[first::stride])
            if which[0] < 0 or which[-1] >= len(places):
                raise ValueError
            found.append(places[which])
    return np.concatenate(found) if found else np.empty((0, 3))


def _target(element: Element) -> str:
    return (element.get("url") or element.get("source") or "").removeprefix("#")


def _numbers(element: Element | None, count: int | None = None, kind: type = float) -> np.ndarray:
    text = "" if element is None else element.text or ""
    found: np.ndarray = np.fromstring(text, dtype=kind, sep=" ")
    if not len(found) or (count is not None and len(found) != count):
        raise ValueError
    return found


def _affine(linear: np.ndarray, moved: np.ndarray | None = None) -> np.ndarray:
    made = np.eye(4)
    made[:3, :3] = linear
    if moved is not None:
        made[:3, 3] = moved
    return made


def _rotation(values: np.ndarray) -> np.ndarray:
    """About an axis, by degrees (Rodrigues)."""
    x, y, z = values[:3] / (np.linalg.norm(values[:3]) or 1.0)
    across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = np.radians(values[3])
    return np.eye(3) + np.sin(angle) * across + (1 - np.cos(angle)) * across @ across
