"""Light in a world file: where the sun stands, how bright it is, how far one sees."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from .values import Colour, Extent, Model, Number, Positive


def _moment(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"must be a date and time such as 2026-06-21T14:30+02:00, got '{text}'") from None
    return text


class Sun(Model):
    """By date and time at the world's origin, or by its angles."""

    time: Annotated[str, AfterValidator(_moment)] | None = Field(
        None, description="date and time such as 2026-06-21T14:30+02:00; without an offset it is UTC"
    )
    azimuth: Number | None = Field(None, ge=-360, le=360, description="degrees clockwise from north; 200 by itself")
    elevation: Number | None = Field(None, ge=-90, le=90, description="degrees above the horizon; 49 by itself")

    @model_validator(mode="after")
    def _is_given_one_way(self) -> Sun:
        if self.time is not None and (self.azimuth is not None or self.elevation is not None):
            raise ValueError("give either the time or the sun's azimuth and elevation")
        return self


class Fog(Model):
    """Haze: nothing is seen beyond its distance."""

    distance: Extent = Field(700.0, ge=1, description="m")
    colour: Colour | None = Field(None, description="red, green, blue, 0 … 255; that of the horizon if left out")


class Light(Model):
    """Daylight."""

    sun: Sun = Sun()
    brightness: Positive = Field(1.0, le=10, description="of the sun, as a share of a clear day's")
    fog: Fog = Fog()
    sky: Colour | None = Field(None, description="red, green, blue of the sky above; as high as the sun is if left out")
