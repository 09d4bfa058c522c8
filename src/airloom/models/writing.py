"""XML that we write: elements from names and values, numbers with all their digits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from airloom.models.description import Pose
from airloom.models.markup import Element, library


def root_element(tag: str, **attributes: str) -> Element:
    return library().Element(tag, attributes)


def add(parent: Element, tag: str, text: Any = None, **attributes: Any) -> Element:
    """A child; a trailing underscore of an attribute's name is for words that Python keeps."""
    element = library().SubElement(parent, tag, {key.rstrip("_"): written(value) for key, value in attributes.items()})
    if text is not None:
        element.text = written(text)
    return element


def add_values(parent: Element, values: dict[str, Any]) -> None:
    """What `values_of` reads."""
    for key, value in values.items():
        if key == "":
            parent.text = written(value)
        elif key.startswith("@"):
            parent.set(key[1:], written(value))
        else:
            for each in value if isinstance(value, list) else [value]:
                child = add(parent, key)
                if isinstance(each, dict):
                    add_values(child, each)
                elif each != "":
                    child.text = written(each)


def written(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return repr(float(value) + 0.0)
    if isinstance(value, (tuple, np.ndarray)):
        return " ".join(written(float(number)) for number in value)
    return str(value)


def six(pose: Pose) -> str:
    return f"{written(pose.position)} {written(pose.euler)}"


def save(root: Element, file: Path) -> None:
    etree = library()
    etree.indent(root)
    file.write_bytes(etree.tostring(root, xml_declaration=True, encoding="utf-8", pretty_print=True))
