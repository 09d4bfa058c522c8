"""What a world may say of its water, and a vehicle of its hull."""

from __future__ import annotations

from itertools import pairwise
from math import pi
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from .values import Bounded, Extent, Model, Name, NonNegative, Positive, Vector3

MOST_LAYERS = 4
MOST_WAVES = 4
Six = tuple[Bounded, Bounded, Bounded, Bounded, Bounded, Bounded]
SixPositive = tuple[NonNegative, NonNegative, NonNegative, NonNegative, NonNegative, NonNegative]


class Layer(Model):
    """Denser water below a height, down to the next layer."""

    below: Bounded = Field(description="height of its upper end, m")
    density: Positive = Field(le=25_000, description="kg/m³")


class Wave(Model):
    """A regular wave on deep water, as Airy has it."""

    amplitude: Positive = Field(le=100, description="half the height from trough to crest, m")
    length: Extent = Field(description="from crest to crest, m")
    direction: Bounded = Field(0.0, description="where it goes to, from east to north, rad")
    phase: Bounded = Field(0.0, description="rad")

    @model_validator(mode="after")
    def _does_not_break(self) -> Wave:
        if 2 * self.amplitude > self.length / 7:
            raise ValueError(
                f"a wave of {self.length:g} m breaks before it is {2 * self.amplitude:g} m high: "
                "at most a seventh of its length"
            )
        return self


class Current(Model):
    """Of the water: at a depth, at a time."""

    velocity: Vector3 = Field((0.0, 0.0, 0.0), description="world, m/s")
    depth: NonNegative | None = Field(None, description="where it has died away, m; the same at all depths if left out")
    period: Positive | None = Field(None, description="of a current that comes and goes as a sine, s")


class Water(Model):
    """A sea or a lake all over the world; what is below its level is wet."""

    level: Bounded = Field(0.0, description="height of its surface, m")
    density: Positive = Field(1025.0, le=25_000, description="kg/m³")
    layers: list[Layer] = Field(default_factory=list, max_length=MOST_LAYERS - 1, description="denser water below")
    current: Current = Current()
    waves: list[Wave] = Field(default_factory=list, max_length=MOST_WAVES)

    @model_validator(mode="after")
    def _is_in_order(self) -> Water:
        heights = [self.level, *(layer.below for layer in self.layers)]
        densities = [self.density, *(layer.density for layer in self.layers)]
        if any(b >= a for a, b in pairwise(heights)):
            raise ValueError(f"layers must lie one below the other, below the level: {heights}")
        if any(b < a for a, b in pairwise(densities)):
            raise ValueError(f"layers must be denser the deeper they lie: {densities}")
        return self


class _Shape(Model):
    position: Vector3 = Field((0.0, 0.0, 0.0), description="its middle from the vehicle's origin, m")
    roll: Bounded = Field(0.0, description="rad")
    pitch: Bounded = Field(0.0, description="rad")
    yaw: Bounded = Field(0.0, description="rad")


class BoxShape(_Shape):
    kind: Literal["box"]
    size: tuple[Extent, Extent, Extent] = Field(description="m")


class BallShape(_Shape):
    kind: Literal["ball"]
    radius: Extent = Field(description="m")


class CylinderShape(_Shape):
    """About its z axis."""

    kind: Literal["cylinder"]
    radius: Extent = Field(description="m")
    length: Extent = Field(description="m")


class CapsuleShape(_Shape):
    """About its z axis; a cylinder with a half ball at each end."""

    kind: Literal["capsule"]
    radius: Extent = Field(description="m")
    length: Extent = Field(description="of the cylinder, m")


HullShape = Annotated[BoxShape | BallShape | CylinderShape | CapsuleShape, Field(discriminator="kind")]


def volume(shape: HullShape) -> float:
    """m³"""
    if isinstance(shape, BoxShape):
        return float(np.prod(shape.size))
    ball = 4 / 3 * pi * shape.radius**3
    if isinstance(shape, BallShape):
        return ball
    return pi * shape.radius**2 * shape.length + (ball if isinstance(shape, CapsuleShape) else 0.0)


class Hull(Model):
    """What displaces water, or air, and what the water does against its motion, about the centre of mass, body axes."""

    shapes: dict[Name, HullShape] = Field(min_length=1, max_length=16)
    added_mass: Six | list[Six] = Field(
        (0.0,) * 6, description="of the water that moves along: the diagonal, or six rows; kg, kg m, kg m²"
    )
    damping: SixPositive = Field((0.0,) * 6, description="per m/s along x, y, z and per rad/s about them, N, N m")
    quadratic_damping: SixPositive = Field((0.0,) * 6, description="the same per square")

    def matrix(self) -> np.ndarray:
        """6 × 6."""
        given = np.array(self.added_mass, dtype=float)
        return np.diag(given) if given.ndim == 1 else given

    @model_validator(mode="after")
    def _is_possible(self) -> Hull:
        matrix = self.matrix()
        if matrix.shape != (6, 6):
            raise ValueError("added_mass needs six numbers, or six rows of six")
        if not np.allclose(matrix, matrix.T, rtol=1e-6, atol=1e-9):
            raise ValueError("added_mass must be symmetric")
        return self
