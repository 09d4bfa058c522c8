"""What somebody wants of a survey, and a terrain on its way."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap

from airloom.commands import EDGE
from airloom.scenario.terrain import TerrainError
from airloom.terrain.layout import Crop, Layout

Progress = Callable[[str, float], None]
"""Is told what is done, and the part of it that is."""
CHOICES = {"by": ("mean", "max", None), "holes": ("fill", "keep"), "surface": ("top", "ground")}


@dataclass(frozen=True)
class Wishes:
    """The options of `build_terrain`, checked."""

    survey: Path
    origin: Sequence[float] | None
    crs: str | None
    crop: Crop | None
    cell: float | None
    by: str | None
    holes: str
    units: str | None
    band: int | None
    surface: str
    colour: Path | None
    error: float | None
    overhangs: bool

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            if (value := getattr(self, name)) not in known:
                raise TerrainError(f"{name} is {' or '.join(filter(None, known))}, got {value!r}")
        for name in ("cell", "error"):
            if (number := getattr(self, name)) is not None and not 0.0 < number <= EDGE:
                raise TerrainError(f"--{name} is a length in metres above 0, got {number:g}")
        if self.origin is not None and not _is_place(self.origin):
            raise TerrainError(
                "an origin is latitude (−90 … 90°), longitude (−180 … 180°) and perhaps altitude, got "
                f"{', '.join(map(str, self.origin))}"
            )

    @property
    def place(self) -> Sequence[float] | None:
        """The origin; of a part that is named by degrees, its middle."""
        if self.origin is None and self.crop and self.crop.kind == "lonlat":
            west, south, east, north = self.crop.numbers
            return (south + north) / 2, (west + east) / 2
        return self.origin


def _is_place(origin: Sequence[float]) -> bool:
    is_good = len(origin) in (2, 3) and bool(np.isfinite(origin).all())
    return is_good and abs(origin[0]) <= 90 and abs(origin[1]) <= 180


@dataclass
class Work:
    """A folder in which a terrain is made, and what there is to tell of it."""

    folder: Path
    progress: Progress
    notes: list[tuple[str, str]] = field(default_factory=list)
    """what was read and done, for the report"""
    warnings: list[str] = field(default_factory=list)

    def array(self, name: str, shape: tuple[int, ...], kind: Any = np.float32) -> np.ndarray:
        """Mapped from a new file of the folder, whose room on the disk is its own."""
        array = open_memmap(self.folder / name, mode="w+", dtype=kind, shape=shape)
        with (self.folder / name).open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)
        return array

    def said(self, what: str) -> Callable[[float], None]:
        return lambda part: self.progress(what, part)


@dataclass(frozen=True)
class Gridded:
    """A survey on a grid."""

    layout: Layout
    heights: np.ndarray
    crs: Any
