"""The place of one object, and how a shape that is made at the origin comes there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import cos, sin

import numpy as np

from airloom.world.meshes import Mesh
from airloom.world.noise import uniform
from airloom.world.things import Solid

Run = tuple[tuple[float, float], tuple[float, float]]
Ground = Callable[[float, float], float]
"""Height of the ground at a place."""


@dataclass(frozen=True)
class Place:
    """Where, how large and, by its seed, how an object looks."""

    x: float
    y: float
    z: float | None = None
    """None for on the ground."""
    yaw: float = 0.0
    scale: float = 1.0
    seed: int = 0
    run: Run | None = None
    """Both ends of the row it fills, for what has a path of its own."""

    def chance(self, channel: int) -> float:
        """A random number of this object's own, 0 … 1."""
        return float(uniform(self.seed, channel))

    def choice(self, channel: int, options):
        return options[int(self.chance(channel) * len(options))]

    def height(self, ground: Ground, x: float | None = None, y: float | None = None) -> float:
        """What it stands on, at its own place or another of its path's."""
        return self.z if self.z is not None else ground(self.x if x is None else x, self.y if y is None else y)

    def path(self, points) -> np.ndarray:
        """A path of the object, in the world [point, xy]."""
        if self.run is not None:
            return np.array(self.run)
        c, s = np.cos(self.yaw), np.sin(self.yaw)
        return np.array(points, dtype=float) * self.scale @ np.array([[c, s], [-s, c]]) + [self.x, self.y]

    def put(self, mesh: Mesh, solids: list[Solid], ground: Ground) -> tuple[Mesh, tuple[Solid, ...]]:
        """A shape that stands at the origin comes to its place."""
        at = np.array([self.x, self.y, self.height(ground)])
        c, s = cos(self.yaw), sin(self.yaw)
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        placed = Mesh(mesh.vertices * self.scale @ turn.T + at, mesh.faces, mesh.colours)
        return placed, tuple(self._put_solid(solid, at, turn) for solid in solids)

    def _put_solid(self, solid: Solid, at: np.ndarray, turn: np.ndarray) -> Solid:
        middle = at + turn @ (self.scale * np.array(solid.position))
        w, x, y, z = solid.attitude
        c, s = cos(self.yaw / 2), sin(self.yaw / 2)
        attitude = (c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w)
        x_half, y_half, z_half = (self.scale * h for h in solid.half)
        mesh = None
        if solid.mesh is not None:
            mesh = Mesh(self.scale * solid.mesh.vertices, solid.mesh.faces, solid.mesh.colours)
        return replace(
            solid, half=(x_half, y_half, z_half), position=tuple(middle.tolist()), attitude=attitude, mesh=mesh
        )
