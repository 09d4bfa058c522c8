"""What may stand in a world: things with a kind, a place, and perhaps a rule that puts many of them there."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from airloom.errors import UserError

from .scatter import InRows, Rule
from .values import Bounded, Colour, Extent, Model, NonNegative, Number, Point, Positive, Vector3, Whole

Side = Annotated[Positive, Field(ge=0.5, le=200)]
Size = tuple[Side, Side, Side]
Path = Annotated[list[Point], Field(min_length=2, max_length=10_000)]


class ObjectError(UserError, ValueError):
    """An object cannot be put into the world; the message is meant for the user."""


class Placed(Model):
    """Where an object stands."""

    position: Point | Vector3 = Field(
        (0.0, 0.0), description="east and north, m; on the ground unless a third number says how high"
    )
    yaw: Bounded = Field(0.0, description="rad, 0 is east, counter-clockwise")
    scatter: Rule | None = Field(None, description="a rule that puts many of them there")


class Tree(Placed):
    """Trunk and crown; both are solid."""

    kind: Literal["tree"]
    form: Literal["broadleaf", "conifer", "poplar", "bush"] = "broadleaf"
    height: Extent | None = Field(None, le=150, description="m; usual for its form if left out")
    width: Extent | None = Field(None, le=100, description="of the crown, m; usual for its form if left out")
    colour: Colour | None = Field(
        None, description="of the leaves: red, green, blue, 0 … 255; usual for its form if left out"
    )


class House(Placed):
    """Walls with doors and windows, and a roof."""

    kind: Literal["house"]
    size: Size = Field((10.0, 8.0, 5.0), description="length, width, height of the walls, m")
    roof: Literal["gable", "hip", "flat"] = "gable"
    roof_height: Positive = Field(3.0, le=100, description="above the walls, m; a flat one has none")
    wall_colour: Colour | None = Field(None, description="red, green, blue, 0 … 255; each its own if left out")
    roof_colour: Colour | None = Field(None, description="red, green, blue, 0 … 255; each its own if left out")


class Car(Placed):
    """A parked car, its front to x."""

    kind: Literal["car"]
    size: Size = Field((4.3, 1.8, 1.5), description="length, width, height, m")
    colour: Colour | None = Field(None, description="red, green, blue, 0 … 255; each its own if left out")


class Post(Placed):
    """An upright pole."""

    kind: Literal["post"]
    height: Positive = Field(2.0, le=500, description="m")
    diameter: Positive = Field(0.1, le=50, description="m")
    colour: Colour = Field((120, 98, 74), description="red, green, blue, 0 … 255")


class Along(Placed):
    """What stands along a path, from its position and turned by its yaw."""

    path: Path | None = Field(None, description="points, east and north, m; needed unless it is scattered in rows")

    @model_validator(mode="after")
    def _has_a_path(self) -> Along:
        if self.path is None and not isinstance(self.scatter, InRows):
            raise ValueError("needs a path: at least two points, such as [[0, 0], [20, 0]]")
        for a, b in zip(self.path or [], (self.path or [])[1:], strict=False):
            if a == b:
                raise ValueError(f"two points of the path that follow each other are the same: {list(a)}")
        return self


class Fence(Along):
    """Posts with rails, pickets or wires between them."""

    kind: Literal["fence"]
    form: Literal["rails", "pickets", "wire"] = "rails"
    height: Positive = Field(1.2, le=50, description="m")
    spacing: Extent = Field(2.5, ge=0.2, description="between posts, m")
    colour: Colour | None = Field(None, description="red, green, blue, 0 … 255; wood if left out")


class PowerLine(Along):
    """Poles at the points of the path, wires that sag between them."""

    kind: Literal["power_line"]
    height: Positive = Field(9.0, le=200, description="of the poles, m")
    wires: Whole = Field(3, ge=1, le=12)
    sag: NonNegative = Field(0.8, le=50, description="of the wires in the middle between two poles, m")


class VineRow(Along):
    """Vines on a trellis, with posts."""

    kind: Literal["vine_row"]
    height: Positive = Field(1.9, le=10, description="of the leaves' upper edge, m")
    width: Positive = Field(0.6, le=5, description="m")
    spacing: Extent = Field(5.0, ge=0.5, description="between posts, m")
    missing: Number = Field(0.0, ge=0, le=0.9, description="share of the row where plants have died, in gaps of 3 m")


class MeshObject(Placed):
    """The user's own shape from an OBJ, STL, PLY, GLB, glTF, OFF or DAE file."""

    kind: Literal["mesh"]
    file: str = Field(description="path, as seen from the folder of the file it is written in")
    scale: Positive | tuple[Positive, Positive, Positive] = Field(
        1.0, description="m for a unit of the file, or one each for x, y, z; 0.001 for millimetres"
    )
    roll: Bounded = Field(0.0, description="rad; π/2 for files whose y is up")
    pitch: Bounded = Field(0.0, description="rad")
    colour: Colour | None = Field(None, description="red, green, blue, 0 … 255; the file's own if left out")
    collision: Literal["hull", "boxes", "exact", "none"] = Field(
        "hull", description="what is touched: one convex hull, boxes that fill it, its very triangles, or nothing"
    )


Object = Annotated[Tree | House | Car | Post | Fence | PowerLine | VineRow | MeshObject, Field(discriminator="kind")]
