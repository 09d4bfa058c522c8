"""What a vehicle file may say of a tank: litres and litres per minute, as growers count; all else in SI units."""

from __future__ import annotations

from math import pi
from typing import Literal

from pydantic import Field, model_validator

from .values import Extent, Model, NonNegative, Positive, Vector3

ROUNDING = 1e-3  # of a size or a volume


class Tank(Model):
    """A tank with liquid. The vehicle's own mass, centre of mass and inertia are those with the tank empty."""

    capacity: Positive = Field(le=1e6, description="L")
    litres: NonNegative | None = Field(None, description="in it at the start, L; full if left out")
    density: Positive = Field(1000.0, le=25_000, description="of the liquid, kg/m³")
    viscosity: NonNegative = Field(1.0e-6, le=1.0, description="of the liquid, kinematic, m²/s; water has 1e-6")
    shape: Literal["box", "upright_cylinder", "lying_cylinder"] = "box"
    size: tuple[Extent, Extent, Extent] = Field(
        description="length, width, height inside, m; an upright cylinder is as long as wide, one that lies along x as "
        "high as wide, one that lies along y as high as long"
    )
    position: Vector3 = Field((0.0, 0.0, 0.0), description="its middle from the vehicle's origin, m")
    sloshing: bool = Field(True, description="false for a liquid that does not move in its tank")
    baffles: NonNegative = Field(
        0.0, le=1, description="what they add to the damping ratio of the sloshing, 0.02 to 0.1 for usual ones"
    )
    max_flow: Positive = Field(10.0, le=1e6, description="what the pump gives with all nozzles open, L/min")
    lag: NonNegative = Field(0.2, le=60, description="time constant from command to flow, of pump and valves, s")

    @property
    def at_start(self) -> float:
        """Litres."""
        return self.capacity if self.litres is None else self.litres

    @property
    def lies_along_y(self) -> bool:
        return self.shape == "lying_cylinder" and not _alike(self.size[1], self.size[2])

    @property
    def volume(self) -> float:
        """That of its shape, L."""
        length, width, height = self.size
        return 1000.0 * length * width * height * (1.0 if self.shape == "box" else pi / 4)

    @model_validator(mode="after")
    def _is_possible(self) -> Tank:
        length, width, height = self.size
        if self.shape == "upright_cylinder" and not _alike(length, width):
            raise ValueError(f"an upright cylinder is as long as wide, but its size is {_listed(self.size)}")
        if self.shape == "lying_cylinder" and not (_alike(width, height) or _alike(length, height)):
            raise ValueError(
                f"a lying cylinder is as high as wide, or as high as long, its size is {_listed(self.size)}"
            )
        if self.capacity > self.volume * (1 + ROUNDING):
            raise ValueError(f"capacity is {self.capacity:g} L, but its size holds only {self.volume:.4g} L")
        if self.at_start > self.capacity:
            raise ValueError(f"litres is {self.at_start:g}, more than its capacity of {self.capacity:g} L")
        return self


def _alike(one: float, other: float) -> bool:
    return abs(one - other) <= ROUNDING * max(one, other)


def _listed(size: tuple[float, float, float]) -> str:
    return " × ".join(f"{s:g}" for s in size) + " m"
