"""Point clouds as surveys: where they lie, in which units, and which of their points count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from airloom.reading.box import read_boxed
from airloom.reading.clouds import NOISE, READERS, points_of
from airloom.scenario.terrain import TerrainError
from airloom.terrain.frame import LOCAL, crs_of, metres_in, vertical_unit
from airloom.terrain.raster import assumed_unit

GROUND = 2
FARTHEST = 1e9
"""In any unit: what is farther away than Earth is large is no coordinate."""


@dataclass
class Cloud:
    """Points in the coordinates of a survey, their heights in metres."""

    points: np.ndarray
    """[n, 3]"""
    classes: np.ndarray | None = None
    """uint8 [n], of LAS; None if none has one"""
    colours: np.ndarray | None = None
    """uint8 [n, 3]"""
    crs: Any = None
    warnings: list[str] = field(default_factory=list)

    def only(self, which: np.ndarray) -> Cloud:
        if which.all():
            return self
        classes = None if self.classes is None else self.classes[which]
        colours = None if self.colours is None else self.colours[which]
        return Cloud(self.points[which], classes, colours, self.crs, self.warnings)


def is_cloud(file: Path) -> bool:
    return file.suffix.lower() in READERS


def read_cloud(file: Path, crs: str | None, units: str | None, progress: Callable[[float], None]) -> Cloud:
    """All points that have finite coordinates and are not called noise."""
    cloud = Cloud(**read_boxed(points_of, file, refusal=TerrainError, progress=progress))
    if not len(cloud.points):
        raise TerrainError(f"{file} has no points")
    cloud.crs = _system(file, cloud.crs, crs)
    cloud.points[:, 2] *= _unit(cloud, units)
    wanted = (np.abs(cloud.points) < FARTHEST).all(axis=1)
    if (missing := int(np.count_nonzero(~wanted))) == len(wanted):
        raise TerrainError(f"{file}: none of its {missing} points has coordinates that are numbers")
    if missing:
        cloud.warnings.append(f"{missing:,} points without coordinates are left out")
    if cloud.classes is not None:
        wanted &= ~np.isin(cloud.classes, NOISE)
        if not wanted.any():
            raise TerrainError(f"{file}: all of its points are classified as noise")
    return cloud.only(wanted)


def _system(file: Path, own: Any, named: str | None) -> Any:
    if named is None and own is None:
        raise TerrainError(
            f"{file} does not say where on Earth it lies: name its coordinate system with --crs EPSG:NUMBER, or with "
            f"--crs {LOCAL} if its coordinates are metres east and north of --origin"
        )
    return crs_of(named or own, str(file))


def _unit(cloud: Cloud, units: str | None) -> float:
    said = units or vertical_unit(cloud.crs)
    if said and (known := metres_in(said)) is not None:
        return known
    if units:
        raise TerrainError(f"'{units}' is no unit of heights that is known: metres or feet")
    return assumed_unit(cloud.crs, cloud.warnings)
