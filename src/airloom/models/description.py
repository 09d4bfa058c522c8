"""A model as all formats describe it: links, joints, what is seen and touched, sensors, plugins. It is data only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from airloom.basics.rotations import matrix_from_euler
from airloom.errors import UserError


class ModelError(UserError):
    """A model cannot be read or written; the message is meant for the user."""


@dataclass(frozen=True)
class Pose:
    """Where something is, as seen from something else: turned, then moved."""

    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))
    position: np.ndarray = field(default_factory=lambda: np.zeros(3))

    @classmethod
    def of(cls, position=(0.0, 0.0, 0.0), euler=(0.0, 0.0, 0.0)) -> Pose:
        """By roll, pitch and yaw about fixed axes, as SDF and URDF have them."""
        return cls(matrix_from_euler(*map(float, euler)), np.asarray(position, dtype=float))

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.rotation @ other.rotation, self.rotation @ other.position + self.position)

    def inverse(self) -> Pose:
        return Pose(self.rotation.T, -self.rotation.T @ self.position)

    @property
    def euler(self) -> np.ndarray:
        """Roll, pitch, yaw. Looking straight up or down leaves roll open: it is 0 then."""
        r = self.rotation
        level = float(np.hypot(r[0, 0], r[1, 0]))
        if level < 1e-9:
            return np.array([0.0, np.arctan2(-r[2, 0], level), np.arctan2(-r[0, 1], r[1, 1])])
        return np.array([np.arctan2(r[2, 1], r[2, 2]), np.arctan2(-r[2, 0], level), np.arctan2(r[1, 0], r[0, 0])])


@dataclass(frozen=True)
class Inertial:
    """Mass, centre, and inertia about the centre, along the axes of whoever holds it."""

    mass: float = 0.0
    center: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))

    def seen_from(self, pose: Pose) -> Inertial:
        """The same where its holder is at `pose`."""
        turn = pose.rotation
        return Inertial(self.mass, turn @ self.center + pose.position, turn @ self.inertia @ turn.T)


@dataclass(frozen=True)
class Shape:
    """A solid in its link's axes. Sizes: box x, y, z; cylinder, capsule radius, length; sphere radius; plane x, y."""

    kind: str
    pose: Pose = Pose()
    size: tuple[float, ...] = ()
    file: Path | None = None
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    colour: tuple[int, int, int] | None = None
    name: str = ""

    def corners(self) -> np.ndarray | None:
        """Of the smallest box along its own axes, in its link's axes; None for planes and meshes."""
        half = _half_extent(self.kind, self.size)
        if half is None:
            return None
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
        return (signs * half) @ self.pose.rotation.T + self.pose.position


def _half_extent(kind: str, size: tuple[float, ...]) -> np.ndarray | None:
    if kind in ("box", "ellipsoid"):
        return np.array(size) / (2 if kind == "box" else 1)
    if kind in ("cylinder", "cone"):
        return np.array([size[0], size[0], size[1] / 2])
    if kind == "capsule":
        return np.array([size[0], size[0], size[1] / 2 + size[0]])
    return np.full(3, size[0]) if kind == "sphere" else None


@dataclass(frozen=True)
class SensorPart:
    """A sensor as its file describes it; `values` are the contents of its element."""

    name: str
    kind: str
    pose: Pose
    """In its link's axes."""
    rate: float | None
    values: dict[str, Any]


@dataclass
class Link:
    name: str
    pose: Pose
    """In the model's axes, all joints at zero."""
    inertial: Inertial = Inertial()
    visuals: list[Shape] = field(default_factory=list)
    collisions: list[Shape] = field(default_factory=list)
    added_mass: np.ndarray | None = None
    """Of the water that moves along, 6 × 6, in its own axes."""
    sensors: list[SensorPart] = field(default_factory=list)


@dataclass(frozen=True)
class Joint:
    name: str
    kind: str
    parent: str
    child: str
    axis: np.ndarray
    """In the model's axes, all joints at zero."""
    limits: tuple[float, float] | None = None
    damping: float = 0.0
    """N m s, or N s/m"""
    fastest: float | None = None
    """rad/s, or m/s"""

    @property
    def is_fixed(self) -> bool:
        """Also if its limits leave it nowhere to go."""
        return self.kind == "fixed" or (self.limits is not None and self.limits[0] == self.limits[1])


@dataclass(frozen=True)
class Plugin:
    name: str
    file: str
    values: dict[str, Any]
    prefix: str = ""
    """Before the names of links and joints that it names: that of a model within the model."""


@dataclass
class Description:
    """A model; `notes` are what its reader ignored or assumed."""

    name: str
    format: str
    links: dict[str, Link] = field(default_factory=dict)
    joints: dict[str, Joint] = field(default_factory=dict)
    plugins: list[Plugin] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)
    """Numbers that a file holds beside its format: those of gym-pybullet-drones."""
    canonical: str = ""
    beyond: dict[str, Any] = field(default_factory=dict)
    """What of a vehicle of ours the format has no words for."""
    is_static: bool = False
    notes: Notes = field(default_factory=lambda: Notes())

    def children(self, link: str) -> Iterator[Joint]:
        return (joint for joint in self.joints.values() if joint.parent == link)


@dataclass
class Notes:
    """What an import understood, ignored, assumed: sentences for the report, each once."""

    understood: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)

    def understand(self, text: str) -> None:
        self._add(self.understood, text)

    def ignore(self, text: str) -> None:
        self._add(self.ignored, text)

    def assume(self, text: str) -> None:
        self._add(self.assumed, text)

    @staticmethod
    def _add(notes: list[str], text: str) -> None:
        if text not in notes:
            notes.append(text)
