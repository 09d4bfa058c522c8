"""A radio that ns-3 carries, in a scenario file: the link, its channel models, and what is written down.

Values that are left out are ns-3's own. The equations of its channel models and their sources are in ns-3's model
library, chapter Propagation.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from .values import Model, Name, NonNegative, Number, Positive, Whole

RATES: dict[str, tuple[float, ...]] = {
    "a": (6, 9, 12, 18, 24, 36, 48, 54),
    "b": (1, 2, 5.5, 11),
    "g": (6, 9, 12, 18, 24, 36, 48, 54),
    "n": (6.5, 13, 19.5, 26, 39, 52, 58.5, 65),
}
"""Mb/s of each standard; of `n` those of one stream in 20 MHz with the long guard interval."""
FREQUENCY = 5.15e9  # Hz
LONGEST = {"adhoc": 2296, "infrastructure": 2296, "lr-wpan": 114}
USUAL_POWER = {"adhoc": 16.0206, "infrastructure": 16.0206, "lr-wpan": 0.0}
ONLY_WIFI = ("standard", "rate", "broadcast_rate", "lifetime", "attempts", "base")


class LogDistance(Model):
    """Reference loss + 10 × exponent × log₁₀(distance / reference distance)."""

    kind: Literal["log-distance"]
    exponent: Positive = 3.0
    reference_loss: Number = Field(46.6777, description="dB; that of free space at 1 m and 5.15 GHz")
    reference_distance: Positive = Field(1.0, description="m")


class ThreeLogDistance(Model):
    """Log-distance with an exponent beyond each of three distances."""

    kind: Literal["three-log-distance"]
    distances: tuple[Positive, Positive, Positive] = Field((1.0, 200.0, 500.0), description="m")
    exponents: tuple[NonNegative, NonNegative, NonNegative] = (1.9, 3.8, 3.8)
    reference_loss: Number = Field(46.6777, description="at the first distance, dB")


class FreeSpace(Model):
    """Friis' law."""

    kind: Literal["free-space"]
    frequency: Positive = Field(FREQUENCY, description="Hz")
    system_loss: Number = Field(1.0, ge=1, description="factor")
    least: NonNegative = Field(0.0, description="loss at any distance at least, dB")


class TwoRay(Model):
    """Free space nearby; far away the ray that the ground reflects. The ground is at height 0."""

    kind: Literal["two-ray"]
    frequency: Positive = Field(FREQUENCY, description="Hz")
    system_loss: Number = Field(1.0, ge=1, description="factor")
    least_distance: Positive = Field(0.5, description="no loss below, m")
    antenna: NonNegative = Field(0.0, description="above its node, m")


class Reach(Model):
    """No loss up to a distance, nothing beyond."""

    kind: Literal["range"]
    distance: Positive = Field(250.0, description="m")


class Street(Model):
    """ITU-R P.1411: line of sight in a street."""

    kind: Literal["itu-r-1411-los"]
    frequency: Positive = Field(2.16e9, description="Hz")


class Built(Model):
    """Among houses: ITU-R P.1411 over roofs, or Okumura and Hata (COST 231 from 1.5 GHz), for distances over 1 km."""

    kind: Literal["itu-r-1411-nlos", "okumura-hata"]
    frequency: Positive = Field(2.16e9, description="Hz")
    environment: Literal["urban", "suburban", "open"] = "urban"
    city: Literal["small", "medium", "large"] = "large"


class Nakagami(Model):
    """Fading, drawn anew for each frame and receiver."""

    kind: Literal["nakagami"]
    m: tuple[Positive, Positive, Positive] = Field(
        (1.5, 0.75, 0.75), description="below the first distance, below the second, beyond; 1 is Rayleigh, more is less"
    )
    distances: tuple[NonNegative, NonNegative] = Field((80.0, 200.0), description="m")


class Normal(Model):
    """A loss in dB with a normal distribution, drawn anew for each frame and receiver."""

    kind: Literal["normal"]
    deviation: NonNegative = Field(4.0, description="standard deviation, dB")


Loss = Annotated[
    LogDistance | ThreeLogDistance | FreeSpace | TwoRay | Reach | Street | Built | Nakagami | Normal,
    Field(discriminator="kind"),
]


class Ns3Radio(Model):
    """One link for all nodes."""

    link: Literal["adhoc", "infrastructure", "lr-wpan"] = Field(
        "adhoc", description="802.11 between equals or through a base station; 802.15.4 at 2.4 GHz and 250 kb/s"
    )
    standard: Literal["a", "b", "g", "n"] = Field("g", description="of 802.11")
    rate: Positive | Literal["aarf", "ideal", "minstrel"] = Field(
        6.0, description="of frames for one node, Mb/s, or who chooses it: a rate manager of ns-3"
    )
    broadcast_rate: Positive | None = Field(
        None, description="of frames for everybody, Mb/s; `rate` if left out, with `n` and managers the lowest"
    )
    base: Name | None = Field(None, description="the node that is the base station of `infrastructure`")
    power: Number | None = Field(None, ge=-50, le=60, description="transmitted, dBm; 16.0206 if left out, of lr-wpan 0")
    losses: tuple[Loss, ...] = Field(
        (LogDistance(kind="log-distance"),), min_length=1, description="channel models, one after the other"
    )
    queue: Whole = Field(500, ge=1, le=100_000, description="frames that wait at a radio; more are dropped")
    lifetime: Positive = Field(0.5, le=3600, description="of a frame in the queue, s")
    attempts: Whole = Field(7, ge=1, le=255, description="at a frame for one node")
    pcap: bool = Field(False, description="write a pcap file for each node")
    flow_monitor: bool = Field(False, description="count and time frames from each node to each")
    timeout: Positive = Field(60.0, description="silence after which ns-3 is taken as hung, s")

    @field_validator("losses")
    @classmethod
    def _begin_with_distance(cls, losses: tuple[Loss, ...]) -> tuple[Loss, ...]:
        if isinstance(losses[0], Nakagami | Normal):
            raise ValueError(f"'{losses[0].kind}' has no loss by distance: put a model that has before it")
        return losses

    @model_validator(mode="after")
    def _fit_together(self) -> Ns3Radio:
        if self.link == "lr-wpan" and (wrong := [key for key in ONLY_WIFI if key in self.model_fields_set]):
            raise ValueError(f"lr-wpan has no {', '.join(map(repr, wrong))}: it is 250 kb/s between equals")
        if (self.link == "infrastructure") != (self.base is not None):
            raise ValueError("a base station ('base: NODE') belongs to 'link: infrastructure', and to no other")
        for key, standard in (("rate", self.standard), ("broadcast_rate", self.broadcast_standard)):
            rate = getattr(self, key)
            if isinstance(rate, float) and rate not in RATES[standard]:
                known = ", ".join(f"{one:g}" for one in RATES[standard])
                raise ValueError(f"802.11{standard} has no {key} of {rate:g} Mb/s, only {known}")
        if self.rate == "aarf" and self.standard == "n":
            raise ValueError("'aarf' knows no 802.11n: use 'minstrel' or 'ideal'")
        return self

    @property
    def broadcast_standard(self) -> str:
        """Frames for everybody are such that every station understands them."""
        return "g" if self.standard == "n" else self.standard

    @property
    def longest(self) -> int:
        """Bytes of payload that fit into a frame."""
        return LONGEST[self.link]

    @property
    def transmitted(self) -> float:
        """dBm"""
        return USUAL_POWER[self.link] if self.power is None else self.power
