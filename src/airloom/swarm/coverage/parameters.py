"""What a scenario says of an area that a swarm is to cover."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from airloom.basics.patterns import Pattern
from airloom.plugin import Parameters
from airloom.scenario.values import Name, NonNegative, Point, Positive
from airloom.swarm.coverage.area import AreaParameters
from airloom.swarm.parameters import SwarmParameters
from airloom.swarm.surroundings import Obstacle


class Spot(Parameters):
    """A place that matters more: a bell around it is added to the 1 that every place counts."""

    position: Point = Field(description="m")
    deviation: Positive = Field(20.0, description="how wide it is, m")
    weight: NonNegative = Field(5.0, description="its height")


class Lloyd(Parameters):
    """Each goes to the middle of what is nearer to it than to the others: in the end all of the area is watched."""

    kind: Literal["lloyd"] = Field(description="the law")
    covers: ClassVar[str] = "watched"


class Frontier(Parameters):
    """Each goes to where what it knows ends, and not where others go: in the end all of the area has been seen."""

    kind: Literal["frontier"] = Field(description="the law")
    detour: NonNegative = Field(
        2.0, description="so much farther, in radii of sight, a member goes rather than to where another goes"
    )
    relays: Pattern | None = Field(
        None, description="those that spread over what is known instead, so that what others tell is passed on"
    )
    covers: ClassVar[str] = "seen"


class CoverageParameters(SwarmParameters):
    area: AreaParameters = Field(description="what is to be covered")
    law: Annotated[Lloyd | Frontier, Field(discriminator="kind")] = Field(
        Lloyd(kind="lloyd"), description="where members go"
    )
    radius: Positive = Field(20.0, description="how far a member sees, m")
    speed: Positive = Field(5.0, le=100, description="greatest, m/s")
    acceleration: Positive = Field(2.0, le=100, description="with which they brake, m/s²")
    apart: Positive = Field(7.0, description="two that are nearer turn away from each other, m")
    clearance: NonNegative = Field(3.0, description="kept off obstacles, m")
    importance: list[Spot] = Field(
        default_factory=list, max_length=100, description="where those who keep watch gather; nowhere if left out"
    )
    obstacles: list[Obstacle] = Field(
        default_factory=list, max_length=1000, description="besides those of the world that reach up to them"
    )
    base: Name | None = Field(None, description="the station that members keep in touch with; none if left out")
    patience: Positive = Field(
        20.0, description="time without news of the base after which a member goes home until it has some, s"
    )
    endurance: dict[Pattern, Positive] = Field(
        default_factory=dict, description="names or patterns, and when their batteries are low, s: they land, silent"
    )
    targets: dict[Name, Point] = Field(
        default_factory=dict, description="what is to be found, m; who sees one tells the base"
    )
    least_covered: float | None = Field(
        None, ge=0, le=1, description="share of the area at the end below which the run has failed"
    )
