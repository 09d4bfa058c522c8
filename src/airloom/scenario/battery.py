"""What a vehicle file may say of a battery: ampere hours, as the label has them; all else in SI units."""

from __future__ import annotations

from pydantic import Field

from .values import Model, NonNegative, Positive, Whole


class Battery(Model):
    """Lithium polymer cells in series that rotors live on. Its mass is a part of the vehicle's."""

    capacity: Positive = Field(le=1e5, description="Ah")
    cells: Whole = Field(ge=1, le=1000, description="in series, of 2.7 V empty to 4.1 V full")
    charge: NonNegative = Field(1.0, le=1, description="in it at the start, as a share of the capacity")
    resistance: NonNegative = Field(le=100, description="of all cells together with their wires, Ω")
    efficiency: Positive = Field(
        0.75, le=1, description="of the power taken, what motors with their controllers give to the rotors' shafts"
    )
    load: NonNegative = Field(0.0, le=1e6, description="what all else takes all the time, W")
