"""Radio in a scenario file: what nodes send with, and what becomes of it on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isclose, log10
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from airloom.basics.patterns import Pattern, matches

from .ns3_radio import Ns3Radio
from .values import Extent, Model, Name, NonNegative, Number, Positive, Vector3, Whole

RATES = (6, 9, 12, 18, 24, 36, 48, 54)
"""Mb/s at 20 MHz."""
BANDWIDTH = 20e6
SENSITIVITY = -82.0
"""dBm at 20 MHz."""
MOST_STRETCHED = 1000
BUILTIN_KEYS = (
    "rate", "broadcast_rate", "power", "bandwidth", "frequency", "noise_figure", "sensitivity", "antenna", "queue",
    "lifetime", "attempts", "slot", "channel", "pcap",
)  # fmt: skip
"""What ns-3 has its own keys for, or does not know."""


class LogDistance(Model):
    """Reference loss + 10 × exponent × log₁₀(distance / 1 m)."""

    kind: Literal["log-distance"]
    exponent: Positive = Field(3.0, le=10, description="2 is free space, 3 a suburb, 4 a city")
    reference_loss: Number = Field(46.6777, ge=0, le=200, description="at 1 m, dB")


class FreeSpace(Model):
    """Friis' law: nothing but the two antennas."""

    kind: Literal["free-space"]


class TwoRay(Model):
    """Free space nearby; far away the reflection from the ground makes the power fall with the fourth power."""

    kind: Literal["two-ray"]


def _goes_up(distances: tuple[float, float]) -> tuple[float, float]:
    if distances[0] > distances[1]:
        raise ValueError("the nearer distance comes first")
    return distances


class Nakagami(Model):
    """Fading of each frame at each receiver."""

    kind: Literal["nakagami"]
    m: tuple[Positive, Positive, Positive] = Field(
        (1.5, 0.75, 0.75), description="below the first distance, below the second, beyond; 1 is Rayleigh, more is less"
    )
    distances: Annotated[tuple[NonNegative, NonNegative], AfterValidator(_goes_up)] = Field(
        (80.0, 200.0), description="m"
    )


class Rician(Model):
    """Fading of each frame at each receiver, with one ray that stands out."""

    kind: Literal["rician"]
    k: NonNegative = Field(6.0, le=1e6, description="power of that ray over the power of all others; 0 is Rayleigh")


class Shadowing(Model):
    """A loss that changes slowly with the places of both ends."""

    deviation: NonNegative = Field(0.0, le=30, description="standard deviation, dB; 0 is none")
    distance: Extent = Field(20.0, description="after which it is another, m: correlation e^(−moved / distance)")


class Obstruction(Model):
    """What ground, obstacles and things in the way take."""

    kind: Literal["ignored", "fixed", "diffraction"] = Field(
        "diffraction", description="nothing, `loss`, or that of a knife edge where the shortest way around bends"
    )
    loss: NonNegative = Field(20.0, le=200, description="dB, if it is fixed")


PathLoss = Annotated[LogDistance | FreeSpace | TwoRay, Field(discriminator="kind")]
Fading = Annotated[Nakagami | Rician, Field(discriminator="kind")]


class RadioChannel(Model):
    """The way from antenna to antenna."""

    path_loss: PathLoss = LogDistance(kind="log-distance")
    shadowing: Shadowing = Shadowing()
    fading: Fading | None = Field(None, description="none if left out")
    obstruction: Obstruction = Obstruction()


class Station(Model):
    """A radio at a fixed place, such as a base station's."""

    position: Vector3 = Field(description="of its antenna, world, m")


def _divides(bandwidth: float) -> float:
    parts = BANDWIDTH / bandwidth
    if not (1 <= round(parts) <= MOST_STRETCHED and isclose(parts, round(parts), rel_tol=1e-6)):
        raise ValueError(f"must be 20 MHz over a whole number up to {MOST_STRETCHED}, such as 20e6, 5e6 or 200e3")
    return bandwidth


class RadioKind(Model):
    """What the radios of a band are like, and which vehicles have one: 802.11g, ad hoc, or what ns-3 has."""

    vehicles: Pattern = Field("*", description="name or pattern of those that have a radio")
    jitter: NonNegative = Field(
        0.01, le=10, description="how much later than asked a frame may leave, s: onboard clocks do not tick together"
    )
    rate: Positive | None = Field(
        None,
        description="of frames for one node, Mb/s: 6, 9, 12, 18, 24, 36, 48 or 54 at 20 MHz, in proportion with less "
        "bandwidth; the slowest if left out",
    )
    broadcast_rate: Positive | None = Field(None, description="of frames for everybody, Mb/s; `rate` if left out")
    power: Number = Field(16.0206, ge=-50, le=60, description="transmitted, dBm")
    bandwidth: Annotated[Positive, AfterValidator(_divides)] = Field(
        BANDWIDTH, description="Hz: 20 MHz over a whole number n; times are n times as long, rates and noise a n-th"
    )
    frequency: Number = Field(2.437e9, ge=1e8, le=1e11, description="Hz")
    noise_figure: NonNegative = Field(7.0, le=50, description="of the receivers, dB")
    sensitivity: Number | None = Field(
        None, ge=-150, le=0, description="weakest signal that is followed, dBm; −82 over n if left out"
    )
    antenna: Number = Field(0.0, ge=-100, le=100, description="above a vehicle's origin, m")
    queue: Whole = Field(500, ge=1, le=10_000, description="frames that wait at a radio; more are dropped")
    lifetime: Positive = Field(0.5, le=3600, description="of a frame in the queue, s")
    attempts: Whole = Field(7, ge=1, le=255, description="at a frame for one node")
    slot: Literal["long", "short"] = Field("long", description="20 µs, or 9 µs if nobody here speaks 802.11b")
    channel: RadioChannel = RadioChannel()
    pcap: bool = Field(False, description="write a pcap file for each node")
    ns3: Ns3Radio | None = Field(None, description="if given, ns-3 carries the frames, with what is said here")

    @model_validator(mode="after")
    def _fit_together(self) -> RadioKind:
        if self.ns3 is not None and (wrong := [key for key in BUILTIN_KEYS if key in self.model_fields_set]):
            raise ValueError(f"{', '.join(wrong)}: with ns3, say below it what it shall do; it has keys of its own")
        for key in ("rate", "broadcast_rate"):
            if (rate := getattr(self, key)) is not None and not any(
                isclose(rate, one, rel_tol=1e-4) for one in self.rates
            ):
                known = ", ".join(f"{one:g}" for one in self.rates)
                raise ValueError(f"{key}: {rate:g} Mb/s is none of 802.11g at this bandwidth; {known}")
        return self

    @property
    def rates(self) -> list[float]:
        """Mb/s that there are at this bandwidth."""
        return [rate / self.stretch for rate in RATES]

    @property
    def rate_indices(self) -> tuple[int, int]:
        """Of the rates of frames for one node and for everybody."""
        rate = self.rate or self.rates[0]
        nearest = [
            min(range(len(RATES)), key=lambda k: abs(self.rates[k] - one))
            for one in (rate, self.broadcast_rate or rate)
        ]
        return nearest[0], nearest[1]

    @property
    def stretch(self) -> int:
        """How many times longer all takes than at 20 MHz."""
        return round(BANDWIDTH / self.bandwidth)

    @property
    def least_followed(self) -> float:
        """dBm"""
        return SENSITIVITY - 10.0 * log10(self.stretch) if self.sensitivity is None else self.sensitivity


class Band(RadioKind):
    """Radios of another kind, which some nodes have besides or instead, such as a base station's long-range link."""

    stations: tuple[Name, ...] = Field((), description="names of those that have one, of the radio's `stations`")


class Radio(RadioKind):
    """What nodes talk with: radios of one kind, and those of other bands."""

    stations: dict[Name, Station] = Field(default_factory=dict, description="radios at fixed places, by name")
    period: Positive = Field(0.01, le=10, description="between two network phases, s")
    bands: dict[Name, Band] = Field(default_factory=dict, description="radios of other kinds, by name")

    @property
    def kinds(self) -> dict[str, RadioKind]:
        """All bands by name; the first is called ''."""
        return {"": self, **self.bands}

    def members(self, band: str, vehicles: Iterable[str]) -> Iterator[str]:
        """Who has a radio for a band, of these vehicles and of the stations."""
        kind = self.kinds[band]
        yield from (name for name in vehicles if matches(name, kind.vehicles))
        yield from (name for name in self.stations if not isinstance(kind, Band) or name in kind.stations)
