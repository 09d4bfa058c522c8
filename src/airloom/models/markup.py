"""XML of others, read without trusting it: no entities, no network, no depth or size without end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from airloom.basics.given import MEGABYTE, bytes_of
from airloom.models.description import ModelError, Pose

LARGEST_FILE = 20 * MEGABYTE
MOST_ELEMENTS = 300_000
LARGEST = 1e30  # beyond, products of numbers would not be finite

FORGIVEN = ("NAMESPACE", "HYPHEN_IN_COMMENT")
"""Mistakes that Gazebo's reader passes over."""

Element = Any
"""lxml has no types."""


def library():
    try:
        from lxml import etree
    except ImportError:
        raise ModelError('models are read with lxml, which is not installed: pip install "airloom[models]"') from None
    return etree


def read_xml(file: Path) -> Element:
    """The root. Prefixes without a meaning and dashes in comments are forgiven; all else that is wrong is told."""
    return parsed(bytes_of(file, ModelError, LARGEST_FILE), str(file))


def parsed(text: bytes, name: str) -> Element:
    etree = library()
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True,
        remove_pis=True,
    )  # fmt: skip
    try:
        root = etree.fromstring(text, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise ModelError(f"{name} is no XML: {error}") from None
    wrong = [entry for entry in parser.error_log if not any(word in _kind(entry) for word in FORGIVEN)]
    if root is None or wrong:
        line, why = (wrong[0].line, wrong[0].message.strip()) if wrong else (1, "it is empty")
        raise ModelError(f"{name}, line {line}: is no well-formed XML: {why}")
    for count, _ in enumerate(root.iter()):
        if count > MOST_ELEMENTS:
            raise ModelError(f"{name} has more than {MOST_ELEMENTS} elements")
    return root


def _kind(entry: Any) -> str:
    return f"{entry.domain_name} {entry.type_name}"


def where(element: Element, file: Path | str) -> str:
    return f"{file}, line {element.sourceline}" if element.sourceline else str(file)


def text_of(element: Element | None, key: str, default: str = "") -> str:
    found = element.find(key) if element is not None else None
    return (found.text or "").strip() if found is not None else default


def flag_of(element: Element, key: str, default: bool = False) -> bool:
    return text_of(element, key, str(default)).lower() in ("1", "true")


def numbers(text: str, count: int | None, place: str) -> list[float]:
    """So many finite numbers, or any number of them."""
    expected = "a finite number" if count == 1 else f"{count or 'some'} finite numbers"
    try:
        found = [float(word) for word in text.replace(",", " ").split()]
    except ValueError:
        raise ModelError(f"{place}: expected {expected}, got '{text.strip()[:60]}'") from None
    if (count is not None and len(found) != count) or not (np.abs(found) < LARGEST).all():
        raise ModelError(f"{place}: expected {expected}, got '{text.strip()[:60]}'")
    return found


def number_of(element: Element | None, key: str, default: float, file: Path | str) -> float:
    text = text_of(element, key)
    return numbers(text, 1, f"{where(element, file)}: {key}")[0] if text else default


def values_of(element: Element) -> Any:
    """An element's contents as data: a text, or a mapping in which an element that is there twice is a list."""
    named = {f"@{key}": value for key, value in element.attrib.items()}
    if not len(element):
        text = (element.text or "").strip()
        return {**named, "": text} if named else text
    values: dict[str, Any] = named
    for child in element:
        tag, value = local_name(child), values_of(child)
        if tag not in values:
            values[tag] = value
        elif isinstance(values[tag], list):
            values[tag].append(value)
        else:
            values[tag] = [values[tag], value]
    return values


def local_name(element: Element) -> str:
    tag = element.tag if isinstance(element.tag, str) else ""
    return tag.rsplit("}", 1)[-1].split(":")[-1]


def origin_pose(element: Element | None, file: Path | str) -> Pose:
    """URDF's <origin xyz rpy>."""
    origin = element.find("origin") if element is not None else None
    if origin is None:
        return Pose()
    place = where(origin, file)
    return Pose.of(
        numbers(origin.get("xyz", "0 0 0"), 3, f"{place}: xyz"), numbers(origin.get("rpy", "0 0 0"), 3, f"{place}: rpy")
    )
