"""Numbers, names and the model that all models of a scenario file are made of."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict

from airloom.commands import EDGE

Number = Annotated[float, Strict()]
Whole = Annotated[int, Strict()]
Bounded = Annotated[Number, Field(ge=-EDGE, le=EDGE)]
Vector3 = tuple[Bounded, Bounded, Bounded]
FASTEST_WIND = 1000.0  # m/s
WindSpeed = Annotated[Number, Field(ge=-FASTEST_WIND, le=FASTEST_WIND)]
Wind = tuple[WindSpeed, WindSpeed, WindSpeed]
Positive = Annotated[Number, Field(gt=0)]
NonNegative = Annotated[Number, Field(ge=0)]
Extent = Annotated[Number, Field(gt=0, le=EDGE)]
Channel = Annotated[int, Strict(), Field(ge=0, le=255)]
Colour = tuple[Channel, Channel, Channel]
Point = tuple[Bounded, Bounded]


def _valid_name(name: str) -> str:
    if not name.replace("_", "a").isalnum() or not (name[0].isalpha() and name.isascii()):
        raise ValueError("a name starts with a letter and holds only letters, digits and underscores")
    return name


def _valid_title(name: str) -> str:
    """That of a scenario is no part of a topic, so it may have hyphens."""
    _valid_name(name.replace("-", "_"))
    return name


Name = Annotated[str, AfterValidator(_valid_name)]
Title = Annotated[str, AfterValidator(_valid_title)]


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True, defer_build=True)
