"""Channel models of ns-3 3.37 that a scenario can choose, with ns-3's own values where it leaves them out.

The equations and their sources are in ns-3's model library (chapter Propagation); the reference loss of `log_distance`
is that of free space at 1 m and 5.15 GHz.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from airloom.plugin import Parameters

FREQUENCY = 5.15e9  # Hz, ns-3's


class _Loss(Parameters):
    """A model: the type of ns-3, and its attributes by the names of our keys."""

    type: ClassVar[str]
    attributes: ClassVar[dict[str, str]]

    def told(self) -> str:
        values = (f"{attribute}={getattr(self, key)}" for key, attribute in self.attributes.items())
        return " ".join([f"ns3::{self.type}", *values])


class Fading(_Loss):
    """One that changes what another has left."""


class LogDistance(_Loss):
    """L = L0 + 10 n log10(d / d0)"""

    type = "LogDistancePropagationLossModel"
    attributes = {"exponent": "Exponent", "distance": "ReferenceDistance", "loss": "ReferenceLoss"}

    model: Literal["log_distance"]
    exponent: float = Field(3.0, gt=0, description="n")
    distance: float = Field(1.0, gt=0, description="d0, m")
    loss: float = Field(46.6777, description="L0, at d0, dB")


class ThreeLogDistance(_Loss):
    """Log-distance with three exponents, beyond three distances."""

    type = "ThreeLogDistancePropagationLossModel"
    attributes = {
        "distance_0": "Distance0", "distance_1": "Distance1", "distance_2": "Distance2", "exponent_0": "Exponent0",
        "exponent_1": "Exponent1", "exponent_2": "Exponent2", "loss": "ReferenceLoss",
    }  # fmt: skip

    model: Literal["three_log_distance"]
    distance_0: float = Field(1.0, gt=0, description="where it begins, m")
    distance_1: float = Field(200.0, gt=0, description="where the second exponent begins, m")
    distance_2: float = Field(500.0, gt=0, description="where the third exponent begins, m")
    exponent_0: float = Field(1.9, ge=0)
    exponent_1: float = Field(3.8, ge=0)
    exponent_2: float = Field(3.8, ge=0)
    loss: float = Field(46.6777, description="at the first distance, dB")


class Friis(_Loss):
    """Free space."""

    type = "FriisPropagationLossModel"
    attributes = {"frequency": "Frequency", "system_loss": "SystemLoss", "least": "MinLoss"}

    model: Literal["friis"]
    frequency: float = Field(FREQUENCY, gt=0, description="Hz")
    system_loss: float = Field(1.0, ge=1, description="factor")
    least: float = Field(0.0, ge=0, description="loss at any distance at least, dB")


class TwoRayGround(_Loss):
    """Free space near by, and beyond a crossover the ray that the ground reflects; by the nodes' own heights."""

    type = "TwoRayGroundPropagationLossModel"
    attributes = {
        "frequency": "Frequency", "system_loss": "SystemLoss", "least_distance": "MinDistance",
        "antenna_height": "HeightAboveZ",
    }  # fmt: skip

    model: Literal["two_ray_ground"]
    frequency: float = Field(FREQUENCY, gt=0, description="Hz")
    system_loss: float = Field(1.0, ge=1, description="factor")
    least_distance: float = Field(0.5, gt=0, description="no loss below, m")
    antenna_height: float = Field(0.0, ge=0, description="of the antenna above its node, m")


class Range(_Loss):
    """No loss up to a distance, nothing beyond."""

    type = "RangePropagationLossModel"
    attributes = {"distance": "MaxRange"}

    model: Literal["range"]
    distance: float = Field(250.0, gt=0, description="m")


class ItuStreet(_Loss):
    """ITU-R P.1411, line of sight in a street, between the lower and the upper bound."""

    type = "ItuR1411LosPropagationLossModel"
    attributes = {"frequency": "Frequency"}

    model: Literal["itu_r_1411_los"]
    frequency: float = Field(2.16e9, gt=0, description="Hz")


class _Built(_Loss):
    attributes = {"frequency": "Frequency", "environment": "Environment", "city": "CitySize"}

    frequency: float = Field(2.16e9, gt=0, description="Hz")
    environment: Literal["Urban", "SubUrban", "OpenAreas"] = "Urban"
    city: Literal["Small", "Medium", "Large"] = "Large"


class ItuRooftop(_Built):
    """ITU-R P.1411, without line of sight over roofs."""

    type = "ItuR1411NlosOverRooftopPropagationLossModel"
    model: Literal["itu_r_1411_nlos"]


class OkumuraHata(_Built):
    """Okumura and Hata, COST 231 above 1.5 GHz: base stations above roofs, distances over 1 km."""

    type = "OkumuraHataPropagationLossModel"
    model: Literal["okumura_hata"]


class Nakagami(Fading):
    """Nakagami-m fading, a fresh draw a frame and receiver; m by distance."""

    type = "NakagamiPropagationLossModel"
    attributes = {"distance_1": "Distance1", "distance_2": "Distance2", "m_0": "m0", "m_1": "m1", "m_2": "m2"}

    model: Literal["nakagami"]
    distance_1: float = Field(80.0, ge=0, description="where the second m begins, m")
    distance_2: float = Field(200.0, ge=0, description="where the third m begins, m")
    m_0: float = Field(1.5, ge=0.5)
    m_1: float = Field(0.75, ge=0.5)
    m_2: float = Field(0.75, ge=0.5)


class Shadowing(Fading):
    """A normal loss, a fresh draw a frame and receiver."""

    type = "RandomPropagationLossModel"
    attributes = {}

    model: Literal["normal"]
    deviation: float = Field(4.0, ge=0, description="standard deviation, dB")

    def told(self) -> str:
        return f"ns3::{self.type} Variable=ns3::NormalRandomVariable[Mean=0|Variance={self.deviation**2}]"


Loss = Annotated[
    LogDistance
    | ThreeLogDistance
    | Friis
    | TwoRayGround
    | Range
    | ItuStreet
    | ItuRooftop
    | OkumuraHata
    | Nakagami
    | Shadowing,
    Field(discriminator="model"),
]
