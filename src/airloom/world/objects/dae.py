"""What a DAE file would become, before a reader unfolds it: nodes may be there many times, in nodes that are, too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from airloom.basics.given import MEGABYTE, Mistake, bytes_of

LARGEST_FILE = 256 * MEGABYTE
MOST_INSTANCES = 10_000
DEEPEST = 200
DECLARATION = b"<!"
"""Of a document type and of entities, which no DAE needs; what else begins so is a comment or plain text."""
HARMLESS = b"<!--", b"<![CDATA["


def check_dae(file: Path, mistake: Mistake) -> None:
    """Refuse what is no XML, or unfolds to more nodes than anybody has drawn."""
    data = bytes_of(file, mistake, LARGEST_FILE)
    if data.count(DECLARATION) > sum(map(data.count, HARMLESS)) or b"\0" in data[:200]:
        raise mistake(f"{file}: declares a document type or entities, which no DAE needs, or is no UTF-8; save it anew")
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise mistake(f"{file}: is no XML: {error}") from None
    found = _Nodes(root).most_in_a_scene(root)
    if found is None:
        raise mistake(f"{file}: its nodes are within themselves, or in each other more than {DEEPEST} deep")
    if found > MOST_INSTANCES:
        raise mistake(
            f"{file}: its nodes are in each other so often that they make {found:.3g}; {MOST_INSTANCES} are the most"
        )


class _Nodes:
    def __init__(self, root: ElementTree.Element) -> None:
        self._named = {element.get("id"): element for element in root.iter() if element.get("id")}
        self._counted: dict[ElementTree.Element, int] = {}

    def most_in_a_scene(self, root: ElementTree.Element) -> int | None:
        """Nodes and shapes, each as often as it is there; None if there is no end to them."""
        scenes = [element for element in root.iter() if _name(element) == "visual_scene"]
        try:
            return max((self._count(scene, 0) for scene in scenes), default=0)
        except RecursionError:
            return None

    def _count(self, node: ElementTree.Element, depth: int) -> int:
        if depth > DEEPEST:
            raise RecursionError
        if node not in self._counted:
            self._counted[node] = 1 + sum(self._count(child, depth + 1) for child in self._children(node))
        return self._counted[node]

    def _children(self, node: ElementTree.Element) -> Iterator[ElementTree.Element]:
        for element in node:
            if _name(element) in ("node", "instance_geometry", "instance_controller"):
                yield element
            elif _name(element) == "instance_node":
                target = self._named.get((element.get("url") or "").removeprefix("#"))
                if target is not None:
                    yield target


def _name(element: ElementTree.Element) -> str:
    """Without its namespace."""
    return element.tag.rpartition("}")[2]
