"""Rules by which one object of a world file stands in many places."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from .values import Bounded, Extent, Model, NonNegative, Point, Positive, Whole

MOST = 20_000
"""Places a rule may give, so that a slip of the pen does not fill the memory."""


def _has_an_inside(polygon: list[Point]) -> list[Point]:
    if abs(area(polygon)) < 1e-6:
        raise ValueError("the corners of a polygon must lie around something; these have no area between them")
    return polygon


def area(polygon: list[Point]) -> float:
    """m², positive if its corners run counterclockwise."""
    after = [*polygon[1:], polygon[0]]
    return 0.5 * sum(x * v - u * y for (x, y), (u, v) in zip(polygon, after, strict=True))


def _goes_up(scale: tuple[float, float]) -> tuple[float, float]:
    if scale[0] > scale[1]:
        raise ValueError("the smaller size comes first")
    return scale


Polygon = Annotated[list[Point], Field(min_length=3), AfterValidator(_has_an_inside)]
Scale = Annotated[Positive, Field(le=100)]


class Scatter(Model):
    """What all rules share. Equal seeds give equal places, on any machine."""

    seed: Whole = Field(0, ge=0, lt=2**63, description="another one gives other places, sizes and looks")
    shift: NonNegative = Field(0.0, description="how far each may stand from its place, m")
    turn: NonNegative = Field(0.0, description="how far each may be turned either way, rad")
    scale: Annotated[tuple[Scale, Scale], AfterValidator(_goes_up)] = Field(
        (1.0, 1.0), description="the smallest and the largest of them, as shares of the object's own size"
    )


class InGrid(Scatter):
    """Rows and columns around the position, turned by the object's yaw."""

    kind: Literal["grid"]
    columns: Whole = Field(ge=1, le=MOST, description="how many stand in a row")
    rows: Whole = Field(1, ge=1, le=MOST)
    spacing: tuple[Extent, Extent] = Field(description="between columns and between rows, m")


class InRows(Scatter):
    """Rows across a polygon. What has a path of its own, such as a vine row, runs along the whole of each row."""

    kind: Literal["rows"]
    polygon: Polygon = Field(description="corners, east and north, m")
    between: Extent = Field(description="one row and the next, m")
    spacing: Extent = Field(5.0, description="along a row, m")
    heading: Bounded = Field(0.0, description="of the rows, rad; 0 is east, counter-clockwise")


class AtRandom(Scatter):
    """Anywhere in a polygon."""

    kind: Literal["random"]
    polygon: Polygon = Field(description="corners, east and north, m")
    count: Whole = Field(ge=1, le=MOST)
    apart: NonNegative = Field(0.0, description="the least distance between two of them, m; fewer stand if all is full")


Rule = Annotated[InGrid | InRows | AtRandom, Field(discriminator="kind")]
