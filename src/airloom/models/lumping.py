"""Many links become one rigid body: mass, centre and inertia exactly, with rotors as what spins freely on it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from airloom.models.description import Description, Inertial, Link, ModelError, Pose


@dataclass(frozen=True)
class Body:
    """A model as one body."""

    root: str
    inertial: Inertial
    links: list[Link]
    to_body: Pose
    """From the model's axes to the body's."""

    def pose_of(self, link: Link) -> Pose:
        return self.to_body @ link.pose


def combined(parts: Iterable[Inertial]) -> Inertial:
    """J = Σ Jᵢ + mᵢ (|dᵢ|² 1 − dᵢ dᵢᵀ), dᵢ from the common centre: the theorem of Huygens and Steiner."""
    parts = list(parts)
    mass = sum(part.mass for part in parts)
    if mass <= 0.0:
        return Inertial()
    center = sum((part.mass * part.center for part in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        d = part.center - center
        inertia += part.inertia + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Inertial(mass, center, inertia)


def spinning(inertial: Inertial, axis: np.ndarray) -> Inertial:
    """A rotor as its vehicle feels it: the mean over a turn across its axis; about it nothing, for it spins freely."""
    across = (np.trace(inertial.inertia) - axis @ inertial.inertia @ axis) / 2.0
    return Inertial(inertial.mass, inertial.center, across * (np.eye(3) - np.outer(axis, axis)))


def lumped(description: Description, rotors: Collection[str], facing: np.ndarray | None = None) -> Body:
    """All links that hang together; joints that move are held at zero, rotors spin.

    Its axes are those of the root link, or `facing`, whose columns are ahead, left and up in the model's axes.
    """
    root, together = _tree(description)
    to_body = description.links[root].pose.inverse()
    if facing is not None:
        to_body = Pose(facing.T, -facing.T @ description.links[root].pose.position)
    turns = {joint.child: joint.axis for joint in description.joints.values()}
    parts = []
    for name in together:
        link = description.links[name]
        pose = to_body @ link.pose
        own = link.inertial.seen_from(pose)
        axis = to_body.rotation @ turns[name] if name in turns else pose.rotation[:, 2]
        parts.append(spinning(own, axis) if name in rotors else own)
    whole = combined(parts)
    if whole.mass <= 0.0:
        raise ModelError(f"{description.name}: all links together have no mass")
    _note(description, together, rotors)
    return Body(root, whole, [description.links[name] for name in together], to_body)


def _tree(description: Description) -> tuple[str, list[str]]:
    parent_of: dict[str, str] = {}
    for joint in description.joints.values():
        if joint.child in parent_of:
            description.notes.assume(
                f"the link {joint.child} is held by two joints, a loop; it stays where it is at the start"
            )
        parent_of.setdefault(joint.child, joint.parent)
    root, way = description.canonical, []
    if root not in description.links:
        raise ModelError(f"{description.name}: has no links")
    while root in parent_of:
        way.append(root)
        root = parent_of[root]
        if root in way:
            raise ModelError(f"{description.name}: the joints go in a circle: {' → '.join([*way, root])}")
    together, waiting = {root: None}, [root]
    while waiting:
        for joint in description.children(waiting.pop()):
            if joint.child not in together:
                together[joint.child] = None
                waiting.append(joint.child)
    for joint in description.joints.values():
        if joint.child in together and joint.parent not in together:
            together[joint.parent] = None
    return root, [name for name in description.links if name in together]


def _note(description: Description, together: Collection[str], rotors: Collection[str]) -> None:
    notes = description.notes
    loose = [name for name in description.links if name not in together]
    if loose:
        notes.ignore(f"links that no joint connects to the rest: {', '.join(loose)}")
    count = len(together) - len(rotors)
    notes.understand(f"{count} link{'s' * (count != 1)} lumped into one body, {len(rotors)} that spin")
