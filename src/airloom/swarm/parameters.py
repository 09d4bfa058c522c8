"""What a scenario says of any swarm, and of a flock."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from airloom.basics.patterns import Pattern
from airloom.plugin import Parameters
from airloom.scenario.values import Bounded, NonNegative, Point, Positive
from airloom.swarm.reynolds import Reynolds
from airloom.swarm.surroundings import Arena, Obstacle, Shills
from airloom.swarm.vasarhelyi import Vasarhelyi

Law = Annotated[Vasarhelyi | Reynolds, Field(discriminator="kind")]


USUAL_REACH = 50.0  # m


class SwarmParameters(Parameters):
    vehicles: Pattern = Field("*", description="name or pattern")
    sensor: str = Field("gnss", description="name of the GNSS or odometry sensor by which each knows where it is")
    height: Bounded = Field(20.0, description="z at which they fly, m")
    climb: Positive = Field(2.0, le=20, description="greatest vertical speed, m/s")
    layer: Positive = Field(
        5.0, description="who is farther above or below is no neighbour; who has sunk so deep has fallen, m"
    )
    start: NonNegative = Field(1.0, description="lift-off, s")
    forget: Positive = Field(3.0, le=60, description="time without a word after which a neighbour is forgotten, s")
    collision_radius: Positive = Field(1.0, description="two that are nearer have collided, m")
    most_collisions: int | None = Field(None, ge=0, description="collisions above which the run has failed")

    @property
    def reach(self) -> float:
        """How far members have to do with each other, m: those that are nearer are in one cluster."""
        return USUAL_REACH


class FlockParameters(SwarmParameters):
    law: Law = Field(Vasarhelyi(kind="vasarhelyi"), description="how members act on each other")
    v_flock: Positive = Field(4.0, le=100, description="speed that each would fly alone, m/s")
    v_max: Positive = Field(8.0, le=100, description="greatest speed that is commanded, m/s")
    arena: Arena | None = Field(None, description="no walls if left out")
    obstacles: list[Obstacle] = Field(default_factory=list, max_length=1000)
    shills: Shills = Field(Shills(), description="how walls and obstacles turn members away")
    way: list[Point] = Field(default_factory=list, max_length=1000, description="points to go to in turn, m")
    near: Positive = Field(15.0, description="a point of the way is reached when the flock's middle is so near, m")
    again: bool = Field(True, description="whether the way begins anew after its last point")
    least_order: float | None = Field(
        None, ge=-1, le=1, description="mean order within clusters below which the run has failed"
    )

    @model_validator(mode="after")
    def _has_a_limit_above_its_speed(self) -> FlockParameters:
        if self.v_max < self.v_flock:
            raise ValueError(f"v_max ({self.v_max:g} m/s) must not be less than v_flock ({self.v_flock:g} m/s)")
        return self

    @property
    def reach(self) -> float:
        return self.law.reach(self.v_flock)
