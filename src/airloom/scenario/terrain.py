"""`terrain.json`: what a terrain folder says about itself. `airloom terrain build` writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from airloom.basics.given import MEGABYTE, json_of
from airloom.errors import UserError

FILE, HEIGHTS, CEILINGS = "terrain.json", "heights.npy", "ceilings.npy"
TRIANGLES, TILES = "triangles_{}.npy", "tiles_{}.npy"  # of each level, and where those of each tile begin
COLOUR, OVERHANGS, PREVIEW, REPORT = "colour.jpg", "overhangs.ply", "preview.png", "report.md"
VERSION = 1


class TerrainError(UserError, ValueError):
    """The ground cannot be used; the message is meant for the user."""


class TerrainLevel(BaseModel):
    """A mesh of the whole ground at one fineness."""

    model_config = ConfigDict(frozen=True)
    error: float = Field(description="that was asked for, m")
    largest: float = Field(description="error against the grid, m")
    mean: float = Field(description="error against the grid, m")
    triangles: int


class TerrainFile(BaseModel):
    model_config = ConfigDict(frozen=True)
    version: Literal[1] = 1
    source: str
    crs: str | None = None
    latitude: float = Field(ge=-90, le=90)
    longitude: float = Field(ge=-180, le=180)
    altitude: float
    rows: int = Field(ge=2)
    columns: int = Field(ge=2)
    cell: tuple[float, float] = Field(description="m east and north")
    corner: tuple[float, float] = Field(description="x and y of the south-west, m")
    low: float
    high: float
    holes: int = Field(0, description="corners without a height")
    tile: int = Field(64, description="cells of a mesh's tile each way")
    levels: list[TerrainLevel] = Field(default_factory=list, description="from fine to coarse")
    colour: str | None = Field(None, description="a picture of the ground from above, as wide and long as the grid")
    warnings: list[str] = Field(default_factory=list, description="what its maker was not sure of")
    overhangs: str | None = Field(None, description="a mesh of what a grid of heights cannot hold")


def read_terrain_file(folder: str | Path) -> TerrainFile:
    """What a terrain folder says about itself."""
    file = Path(folder) / FILE
    build = "make it anew with: airloom terrain build"
    if not file.exists():
        raise TerrainError(f"{folder} is no terrain folder: there is no {FILE} in it; {build}")
    numbers = json_of(file, TerrainError, MEGABYTE, build)
    version = numbers.get("version") if isinstance(numbers, dict) else None
    if version != VERSION:
        raise TerrainError(f"{folder} has version {version!r} of terrain folders, version {VERSION} is needed; {build}")
    try:
        return TerrainFile.model_validate(numbers)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise TerrainError(f"{file}: {where}: {first['msg']}; {build}") from None
