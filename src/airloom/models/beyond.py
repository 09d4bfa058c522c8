"""What of a vehicle a format has no words for, as a merge patch (RFC 7386): only Airloom reads it back.

SDF and URDF have it in an element of our namespace, which their readers pass over; MJCF in a <text>. It is found by
reading what was written, so it holds exactly what would come back differently.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from airloom.models.description import ModelError, Notes
from airloom.models.markup import Element, library
from airloom.scenario.models import Vehicle

NAME = "airloom"
SPACE = "urn:airloom"
TAG = f"{{{SPACE}}}vehicle"
ELSEWHERE = {"rotor", "visuals", "pose", "motion", "copies", "estimator", "autopilot"}
"""Keys of a vehicle file that are no matter of a model, or that every format has words for."""
UNTOLD = {"description", "controller", "body", "shapes"}
ALIKE, NESTED = {"rotors", "surfaces", "wheels"}, {"sensors", "hull", "aerodynamics"}
WHOLE = {"hull": "fluid", "aerodynamics": "area"}
"""What is in a patch only if all of it is."""
FILES = {"file", "polar"}
MESH = {"vertices", "faces", "file", "scale"}
CLOSE = 1e-8
PLAIN_NAME = re.compile(r"\w+", re.ASCII)

Values = dict[str, Any]


def beyond(wanted: Vehicle, back: Vehicle, notes: Notes) -> Values:
    """What makes of the vehicle that came back the one that was wanted, and by which stack it flies."""
    there, here = _content(wanted), _content(back)
    _forget_corners(there, here)
    patch = _difference(there, here)
    _leave_out_files(patch, notes)
    return patch | {"controller": wanted.controller and wanted.controller.model_dump(mode="json")}


def _leave_out_files(values: Values, notes: Notes, way: str = "") -> None:
    for key, value in list(values.items()):
        if key in FILES and value is not None:
            notes.ignore(f"{way}{key}, a table in the file {Path(value).name}")
            del values[key]
        elif isinstance(value, dict):
            _leave_out_files(value, notes, f"{way}{key}.")


def _content(vehicle: Vehicle) -> Values:
    """A vehicle so that equal ones are equal: directions of length 1, added mass and chord in full."""
    made = vehicle.model_dump(mode="json", exclude=ELSEWHERE)
    for part, keys in ((made["rotors"], ("axis",)), (made["surfaces"], ("forward", "up"))):
        for each in part.values():
            each |= {key: (np.array(each[key]) / np.linalg.norm(each[key])).tolist() for key in keys}
    if vehicle.hull is not None:
        made["hull"]["added_mass"] = vehicle.hull.matrix(vehicle.center_of_mass).tolist()
    if (it := vehicle.aerodynamics) is not None:
        made["aerodynamics"]["chord"] = it.chord or it.area / it.span
    return made


def _forget_corners(there: Values, here: Values) -> None:
    """Of a mesh that the format has as a file of its own."""
    shapes, others = ((vehicle["hull"] or {}).get("shapes", {}) for vehicle in (there, here))
    for name, shape in shapes.items():
        if shape["kind"] == others.get(name, {}).get("kind") == "mesh":
            for key in MESH:
                del shape[key], others[name][key]


def _difference(wanted: Values, there: Values) -> Values:
    patch: Values = {key: None for key in there if key not in wanted}
    for key, value in wanted.items():
        own = there.get(key)
        if isinstance(value, dict) and isinstance(own, dict):
            if inner := _difference(value, own):
                patch[key] = inner
        elif not _is_same(value, own):
            patch[key] = value
    return patch


def _is_same(a: Any, b: Any) -> bool:
    if isinstance(a, bool | str | dict | None) or isinstance(b, bool | str | dict | None):
        return a == b
    a, b = np.array(a, dtype=object), np.array(b, dtype=object)
    if a.shape != b.shape:
        return False
    try:
        x, y = a.astype(float), b.astype(float)
    except (TypeError, ValueError):
        return bool((a == b).all())
    least = CLOSE * float(np.abs(x).max(initial=0.0)) + (1e-9 if x.ndim else 1e-15)
    return bool((np.abs(x - y) <= least).all())


def merged(content: Values, patch: Values) -> Values:
    made = dict(content)
    for key, value in patch.items():
        if value is None:
            made.pop(key, None)
        else:
            own = made.get(key)
            made[key] = merged(own if isinstance(own, dict) else {}, value) if isinstance(value, dict) else value
    return made


def words(patch: Values, way: str = "") -> Iterator[str]:
    """The keys in a patch that say something of the vehicle itself; those of entries alike are told once."""
    for key, value in patch.items():
        if key in UNTOLD or value is None:
            continue
        if key in ALIKE:
            inner = {
                f"{key}.*.{each}" for entry in value.values() if entry for each in entry if "position" not in entry
            }
            yield from inner or {key}
        elif key in NESTED and WHOLE.get(key) not in value:
            yield from words(value, f"{key}.")
        else:
            yield f"{way}{key}"


def is_beyond(element: Element) -> bool:
    return element.tag == TAG


def add_beyond(parent: Element, patch: Values) -> None:
    if patch:
        etree = library()
        etree.SubElement(parent, TAG, nsmap={NAME: SPACE}).text = written_beyond(patch)


def written_beyond(patch: Values) -> str:
    return json.dumps(patch)


def read_beyond(text: str, place: str) -> Values:
    """A model is data: it names no program, no file and no code."""
    try:
        patch = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{place}: what Airloom kept here is no JSON: {str(error)[:100]}") from None
    if not isinstance(patch, dict):
        raise ModelError(f"{place}: expected a mapping of a vehicle's keys, got {type(patch).__name__}")
    for key in patch:
        if key in ELSEWHERE or key not in Vehicle.model_fields:
            raise ModelError(f"{place}: '{key}' is nothing that a model may say of a vehicle")
    _refuse_files(patch, place)
    return patch


def _refuse_files(values: Any, place: str) -> None:
    for key, value in values.items() if isinstance(values, dict) else enumerate(values):
        if key in FILES and value is not None:
            raise ModelError(f"{place}: a model may not name files here ({key}: {str(value)[:60]})")
        if key == "kind" and not (isinstance(value, str) and PLAIN_NAME.fullmatch(value)):
            raise ModelError(f"{place}: '{str(value)[:60]}' is no kind that Airloom brings along")
        if isinstance(value, dict | list):
            _refuse_files(value, place)
