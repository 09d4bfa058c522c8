"""Ground that is made up: kinds of land, and how large, rough and steep they are."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from .values import Bounded, Extent, Model, NonNegative, Number, Point, Positive, Whole

MOST_CELLS = 4_000_000


class Road(Model):
    """A strip of the ground that is paved or worn; it is seen, not felt."""

    path: Annotated[list[Point], Field(min_length=2, max_length=10_000)] = Field(
        description="points along its middle, east and north, m"
    )
    width: Positive = Field(4.0, le=100, description="m")
    surface: Literal["asphalt", "gravel", "track"] = Field("asphalt", description="a track is two wheels wide")


class Generated(Model):
    """What all made-up ground shares. It is low at its rim, so that it goes over into the plane around it."""

    size: tuple[Extent, Extent] = Field((400.0, 400.0), description="extent east and north, m")
    center: Point = Field((0.0, 0.0), description="east and north, m")
    cell: Extent = Field(4.0, description="between two heights, m")
    seed: Whole = Field(0, ge=0, lt=2**63, description="another one gives other land")
    roads: list[Road] = Field(default_factory=list)

    @model_validator(mode="after")
    def _is_of_sensible_size(self) -> Generated:
        cells = [side / self.cell for side in self.size]
        if min(cells) < 4:
            raise ValueError(f"a cell of {self.cell:g} m is too large for {self.size[0]:g} × {self.size[1]:g} m")
        if cells[0] * cells[1] > MOST_CELLS:
            raise ValueError(
                f"{cells[0] * cells[1]:.3g} cells are more than {MOST_CELLS:g}; "
                f"make the cell larger than {self.cell:g} m"
            )
        return self


class Meadow(Generated):
    """Gentle grassland."""

    kind: Literal["meadow"]
    relief: NonNegative = Field(5.0, le=1000, description="from the lowest to about the highest place, m")
    roughness: NonNegative = Field(0.04, le=10, description="of the soil, m")


class Vineyard(Generated):
    """A hillside with a field of vines: bare soil, worked along the rows, and grass around it."""

    kind: Literal["vineyard"]
    slope: Number = Field(0.12, ge=0, le=1, description="rise per metre in the middle of the field")
    uphill: Bounded = Field(1.5707963267948966, description="the way up, rad; 0 is east, counter-clockwise")
    field: tuple[Extent, Extent] = Field((160.0, 100.0), description="length and width of the field, m")
    heading: Bounded = Field(0.0, description="of the rows, rad; 0 is east, counter-clockwise")
    spacing: Extent = Field(2.2, ge=0.5, description="between rows, m")
    roughness: NonNegative = Field(0.05, le=10, description="of the soil, m")
    canopy: NonNegative = Field(
        0.0, le=10, description="height of the vines in the heights themselves, as a survey from the air has it, m"
    )


class Mountains(Generated):
    """Ridges and valleys with grass, rock and snow."""

    kind: Literal["mountains"]
    size: tuple[Extent, Extent] = Field((3000.0, 3000.0), description="extent east and north, m")
    cell: Extent = Field(20.0, description="between two heights, m")
    height: Positive = Field(700.0, le=9000, description="of the highest summit above the lowest valley, about, m")
    snow: Number = Field(0.6, ge=0, le=1, description="where it begins, as a share of the height")
