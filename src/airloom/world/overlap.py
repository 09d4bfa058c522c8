"""Whether two things would be in one place: boxes turned about the vertical, upright cylinders and balls."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, hypot, sin

import numpy as np

from airloom.scenario.models import Obstacle, Vehicle
from airloom.world.things import Solid, Thing

ROUNDNESS = ("box", "cylinder", "sphere")
TOUCH = 1e-3  # m that things may share, or nothing could stand on anything


def thing_within(things: list[Thing], body: Upright) -> str | None:
    """The name of a thing whose solids, as boxes, share some place with a body."""
    for thing in things:
        for solid in thing.solids:
            if not _are_apart(solid, body):
                return thing.name
    return None


def _are_apart(solid: Solid, body: Upright) -> bool:
    """Two boxes are apart if their shadows on an axis of one, or across an axis of each, are (Gottschalk 1996)."""
    to = np.array(solid.position) - body.middle
    if np.linalg.norm(to) > np.linalg.norm(solid.half) + np.linalg.norm(body.half):
        return True
    mine = np.vstack([np.column_stack([body._axes, [0.0, 0.0]]), [0.0, 0.0, 1.0]])
    theirs = solid.rotation.T
    across = np.cross(mine[:, None], theirs[None]).reshape(9, 3)
    for axis in (*mine, *theirs, *across[np.linalg.norm(across, axis=1) > 1e-6]):
        reach = np.abs(mine @ axis) @ body.half + np.abs(theirs @ axis) @ solid.half
        if abs(float(to @ axis)) > reach - TOUCH * np.linalg.norm(axis):
            return True
    return False


@dataclass(frozen=True)
class Upright:
    shape: str
    middle: np.ndarray
    half: np.ndarray
    """Half of its length, width and height; a round thing's radius stands first."""
    yaw: float

    @staticmethod
    def of_vehicle(vehicle: Vehicle, position: np.ndarray, yaw: float) -> Upright:
        """Its body, upright."""
        x, y, z = vehicle.body.position
        offset = np.array([x * cos(yaw) - y * sin(yaw), x * sin(yaw) + y * cos(yaw), z])
        return Upright("box", position + offset, np.array(vehicle.body.size) / 2, yaw)

    @staticmethod
    def of_obstacle(obstacle: Obstacle) -> Upright:
        return Upright(obstacle.shape, np.array(obstacle.position), np.array(obstacle.size) / 2, obstacle.yaw)

    @property
    def _axes(self) -> np.ndarray:
        c, s = cos(self.yaw), sin(self.yaw)
        return np.array([[c, s], [-s, c]])

    @property
    def _corners(self) -> np.ndarray:
        signs = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
        return self.middle[:2] + (signs * self.half[:2]) @ self._axes

    def overlaps(self, other: Upright) -> bool:
        if ROUNDNESS.index(other.shape) < ROUNDNESS.index(self.shape):
            return other.overlaps(self)
        height = abs(self.middle[2] - other.middle[2]) - self.half[2] - other.half[2]
        if height > -TOUCH:
            return False
        if other.shape == "box":
            return self._overlaps_box(other)
        return bool(self._gap_to(other) < -TOUCH)

    def _overlaps_box(self, other: Upright) -> bool:
        """Seen from above: two rectangles are apart if their shadows on a side of one of them are."""
        for axis in (*self._axes, *other._axes):
            mine, theirs = self._corners @ axis, other._corners @ axis
            if min(mine.max(), theirs.max()) - max(mine.min(), theirs.min()) < TOUCH:
                return False
        return True

    def _gap_to(self, rounded: Upright) -> float:
        """From this to something at least as round; negative if they overlap."""
        to = rounded.middle - self.middle
        if self.shape == "sphere":
            return float(np.linalg.norm(to)) - self.half[0] - rounded.half[0]
        if self.shape == "box":
            aside = np.maximum(np.abs(self._axes @ to[:2]) - self.half[:2], 0.0)
            flat = hypot(*aside)
        else:
            flat = max(hypot(*to[:2]) - self.half[0], 0.0)
        above = max(abs(to[2]) - self.half[2], 0.0)
        if rounded.shape == "sphere":
            return hypot(flat, above) - rounded.half[0]
        return flat - rounded.half[0]
