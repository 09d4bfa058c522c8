"""What a world file may say of its air: layers of wind, one after the other, humidity and density."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from airloom.errors import UserError

from .values import Bounded, Extent, Model, Name, NonNegative, Number, Point, Positive, Wind


class WeatherError(UserError, ValueError):
    """The weather cannot be used; the message is meant for the user."""


class Constant(Model):
    """The same everywhere and always, on top of `world.wind`."""

    kind: Literal["constant"]
    velocity: Wind = Field(description="world, m/s")


class Wave(Model):
    """V (1 − A cos ωt) on x and y, V on z: it starts from the least wind if V and A are positive."""

    kind: Literal["wave"]
    velocity: Wind = Field(description="V, its mean, world, m/s")
    amplitude: NonNegative = Field(0.5, le=100, description="A, as a share of the mean")
    pulsation: Positive = Field(0.5, description="ω, rad/s")


class Gust(Model):
    """A gust that swells as 1 − cosine, holds, and dies away as it came."""

    kind: Literal["gust"]
    velocity: Wind = Field(description="at its height, world, m/s")
    start: NonNegative = Field(0.0, description="s")
    rise: Positive = Field(1.0, description="from nothing to its height, and back, s")
    hold: NonNegative = Field(0.0, description="at its height, s")
    every: Positive | None = Field(None, description="time from one gust to the next, s; only one if left out")
    carried_by: Wind | None = Field(
        None, description="how its front moves, starting at the origin, m/s; everywhere at once if left out"
    )

    @model_validator(mode="after")
    def _is_over_before_the_next(self) -> Gust:
        if self.every is not None and self.every < 2 * self.rise + self.hold:
            raise ValueError(
                f"a gust lasts {2 * self.rise + self.hold:g} s, longer than the {self.every:g} s of 'every'"
            )
        return self


class Dryden(Model):
    """Dryden turbulence, as a field that the mean wind carries along: MIL-F-8785C or MIL-HDBK-1797."""

    kind: Literal["dryden"]
    standard: Literal["MIL-F-8785C", "MIL-HDBK-1797"] = "MIL-F-8785C"
    intensity: Literal["light", "moderate", "severe"] | None = Field(
        None, description="15, 30 or 45 knots at 20 feet; light if neither this nor wind_at_20_feet is given"
    )
    wind_at_20_feet: NonNegative | None = Field(None, le=200, description="instead of an intensity, m/s")
    carried_by: Wind | None = Field(
        None, description="the mean wind, m/s; world.wind and constant layers together if left out"
    )

    @model_validator(mode="after")
    def _is_of_one_intensity(self) -> Dryden:
        if self.intensity is not None and self.wind_at_20_feet is not None:
            raise ValueError("give either intensity or wind_at_20_feet")
        return self


class Profile(Model):
    """The wind so far is that at the reference height, and less below it."""

    kind: Literal["profile"]
    law: Literal["logarithmic", "power"] = "logarithmic"
    reference_height: Extent = Field(10.0, description="above the ground, m")
    roughness: Positive = Field(0.03, description="roughness length of the logarithmic law, m; 0.03 for short grass")
    displacement: NonNegative = Field(0.0, description="height that counts as ground of the logarithmic law, m")
    exponent: NonNegative = Field(1 / 7, le=2, description="of the power law")

    @model_validator(mode="after")
    def _is_above_what_is_rough(self) -> Profile:
        if self.law == "logarithmic" and self.reference_height <= self.displacement + self.roughness:
            raise ValueError("reference_height must be above displacement + roughness, where the wind is zero")
        return self


class ShelterRow(Model):
    """A hedge, or another row that lets some wind through."""

    path: Annotated[list[Point], Field(min_length=2, max_length=10_000)] = Field(description="east and north, m")
    height: Extent = Field(description="m")
    width: NonNegative = Field(0.6, le=100, description="m")


class Shelter(Model):
    """Rows take away from the wind so far: behind them, a little before them, and up to twice their height."""

    kind: Literal["shelter"]
    porosity: Number = Field(0.4, ge=0, le=0.9, description="share of a row, seen from the side, that is open")
    rows: list[ShelterRow] | None = Field(None, description="the world's vine rows if left out")


class FieldOfWind(Model):
    """Wind on a grid, from an .npz or NetCDF file, linear in between."""

    kind: Literal["field"]
    file: str = Field(description="variables x, y, z (m), time (s), and u, v, w (m/s) in the order time, z, y, x")
    heights: Literal["above ground", "world"] = Field("above ground", description="what z counts from")
    at_end: Literal["refuse", "hold", "repeat"] = Field(
        "refuse",
        description="what comes after the file's last time: such a run is refused, or its wind stays, or begins anew",
    )


class Function(Model):
    """A function of your own, `wind(t, position)`, or a kernel made with `airloom.kernels.wind_law`."""

    kind: Literal["function"]
    function: str = Field(description="path/to/file.py:name, as seen from the folder of the file it is written in")
    numbers: list[Bounded] = Field(default_factory=list, description="`p` of a kernel")


Layer = Annotated[
    Constant | Wave | Gust | Dryden | Profile | Shelter | FieldOfWind | Function, Field(discriminator="kind")
]


class Weather(Model):
    """Wind in layers, in the order of the file, after `world.wind`; and how humid and dense the air is."""

    rate: Positive = Field(100.0, description="how often vehicles feel the wind anew, Hz")
    layers: dict[Name, Layer] = Field(
        default_factory=dict, description="by name; each adds to the wind so far or changes it"
    )
    humidity: Number = Field(0.5, ge=0, le=1, description="relative, 1 for saturated air")
    density: Literal["standard", "actual"] = Field(
        "standard",
        description="drag and rotors are those of 1.225 kg/m³, or follow the air at the vehicle's altitude",
    )

    @property
    def is_plain(self) -> bool:
        """Nothing but `world.wind`."""
        return not self.layers and self.density == "standard"
