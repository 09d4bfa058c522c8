"""What stands on the ground: fixed things with a shape that is seen and solids that are touched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from airloom.basics.rotations import matrix_from_quaternion
from airloom.world.meshes import Mesh


@dataclass(frozen=True)
class Solid:
    """Something that vehicles collide with, placed in the world."""

    shape: Literal["box", "cylinder", "sphere", "capsule", "hull", "exact"]
    half: tuple[float, float, float]
    """Half of its length, width and height; a round thing's radius stands first. A capsule's height has its caps."""
    position: tuple[float, float, float]
    attitude: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    mesh: Mesh | None = None
    """Of a hull, the points it is around, and of an exact one its triangles, from the position."""

    @property
    def rotation(self) -> np.ndarray:
        return matrix_from_quaternion(np.array(self.attitude))

    @property
    def extent(self) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and highest coordinates of a box around it."""
        reach = np.abs(self.rotation) @ np.array(self.half)
        return np.array(self.position) - reach, np.array(self.position) + reach


@dataclass(frozen=True)
class Thing:
    """An object of the world in its place."""

    name: str
    kind: str
    mesh: Mesh
    """In the axes of the world."""
    solids: tuple[Solid, ...] = ()
