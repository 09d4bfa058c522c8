"""Nozzles of a vehicle: where they are, where they point, and which drops they make."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

import numpy as np
from pydantic import Field, model_validator

from .values import Model, Number, Positive

DropClass = Literal["very_fine", "fine", "medium", "coarse", "very_coarse", "extremely_coarse"]
MEDIANS: dict[DropClass, tuple[float, float]] = {
    "very_fine": (61.0, 105.0), "fine": (106.0, 235.0), "medium": (236.0, 340.0), "coarse": (341.0, 403.0),
    "very_coarse": (404.0, 502.0), "extremely_coarse": (503.0, 665.0),
}  # fmt: skip
"""Volume medians of the classes of ANSI/ASABE S572.1, µm, as Virginia Cooperative Extension 442-031 estimates them. The
standard itself compares with reference nozzles: laboratories with other instruments find other numbers."""
USUAL_SPREAD = 2.4
"""Rosin–Rammler exponent of flat-fan nozzles: 80 % of the volume within 1.2 medians."""


Reach = Annotated[Number, Field(ge=-50.0, le=50.0)]


class Drops(Model):
    """How the volume of a spray is spread over the sizes of its drops."""

    law: Literal["rosin_rammler", "log_normal"] = "rosin_rammler"
    median: Number = Field(ge=5.0, le=3000.0, description="half of the volume is in drops below this diameter, µm")
    spread: Number = Field(
        USUAL_SPREAD,
        gt=1.0,
        le=50.0,
        description="rosin_rammler: its exponent, larger is narrower; log_normal: geometric standard deviation",
    )


class Nozzle(Model):
    """One nozzle. Its cone is evenly filled."""

    position: tuple[Reach, Reach, Reach] = Field(description="from the vehicle's origin, m")
    direction: tuple[Reach, Reach, Reach] = Field((0.0, 0.0, -1.0), description="of the cone's axis, normalised")
    angle: Number = Field(80.0, ge=0.0, le=180.0, description="of the whole cone, degrees")
    size: Positive = Field(1.0, description="share of the flow, relative to that of the other nozzles")
    drops: DropClass | Drops = Field(
        "medium", description=f"a class ({', '.join(get_args(DropClass))}) or a distribution"
    )
    speed: Number = Field(15.0, ge=0.0, le=100.0, description="of the liquid when it leaves, m/s")

    @model_validator(mode="after")
    def _points_somewhere(self) -> Nozzle:
        if np.linalg.norm(self.direction) < 1e-6:
            raise ValueError("direction must not be zero")
        return self

    @property
    def distribution(self) -> Drops:
        """Of a class, the one in the middle of its medians."""
        if isinstance(self.drops, Drops):
            return self.drops
        low, high = MEDIANS[self.drops]
        return Drops(median=0.5 * (low + high))
