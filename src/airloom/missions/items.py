"""What a mission in a file is made of: takeoff, goto, follow, circle, turn, sleep, hold, spray, return, land, with
their options.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag

from airloom.missions.pilot import Pilot
from airloom.missions.pursuit import TOP_SPEED
from airloom.plugin import Parameters
from airloom.scenario.errors import hint
from airloom.scenario.models import NonNegative, Number, Positive, Vector3

Speed = Annotated[Number, Field(gt=0, le=TOP_SPEED, description="m/s")]


class TakeOff(Parameters):
    """Rise straight up."""

    takeoff: Positive = Field(description="how far to rise, m")
    speed: Speed = 1.5

    async def fly(self, pilot: Pilot) -> None:
        await pilot.takeoff(self.takeoff, self.speed)


class GoTo(Parameters):
    """Fly straight to a place and stop there."""

    goto: Vector3 = Field(description="world, m")
    yaw: Number | None = Field(None, description="rad; as it is if left out")
    speed: Speed = 2.0
    above_ground: bool = Field(False, description="whether z counts from the ground below, which it follows on the way")

    async def fly(self, pilot: Pilot) -> None:
        await pilot.goto(self.goto, self.yaw, self.speed, above_ground=self.above_ground)


class Follow(Parameters):
    """Fly along a path."""

    follow: list[Vector3] = Field(min_length=2, description="points, world, m")
    method: Literal["smooth", "pursuit"] = Field("smooth", description="minimum snap or pure pursuit")
    yaw: Literal["path"] | Number | Vector3 = Field("path", description="along the path, fixed (rad), or to a point")
    speed: Speed = 2.0

    async def fly(self, pilot: Pilot) -> None:
        await pilot.follow(self.follow, self.speed, self.yaw, self.method)


class Circle(Parameters):
    """Fly around a place, looking at it."""

    circle: Vector3 = Field(description="its centre, world, m")
    radius: Positive = Field(10.0, description="m")
    turns: Positive = Field(1.0, description="how many, parts of one too")
    clockwise: bool = Field(False, description="as seen from above")
    speed: Speed = 2.0

    async def fly(self, pilot: Pilot) -> None:
        await pilot.circle(self.circle, self.radius, self.turns, self.clockwise, self.speed)


class Turn(Parameters):
    """Turn on the spot."""

    turn: Number = Field(description="the yaw to look at, rad")
    relative: bool = Field(False, description="whether it is the angle to turn by instead")
    clockwise: bool | None = Field(None, description="which way round, as seen from above; the short one if left out")
    rate: Positive = Field(0.8, description="rad/s")

    async def fly(self, pilot: Pilot) -> None:
        await pilot.turn(self.turn, self.rate, self.clockwise, self.relative)


class Rest(Parameters):
    """Hold for a while."""

    sleep: NonNegative = Field(description="s")

    async def fly(self, pilot: Pilot) -> None:
        await pilot.sleep(self.sleep)


class Hold(Parameters):
    """Brake, and stay there."""

    hold: None = Field(description="takes no value")

    async def fly(self, pilot: Pilot) -> None:
        pilot.brake()


class Spray(Parameters):
    """Open the nozzles, or shut them, and fly on."""

    spray: NonNegative = Field(description="L/min from now on; 0 shuts the nozzles")
    speed: NonNegative = Field(
        0.0, description="at which it is so much, in proportion to it, m/s; 0 for always so much"
    )
    of_pump: bool = Field(False, description="whether it is a share of what the pump can give instead, 0 to 1")

    async def fly(self, pilot: Pilot) -> None:
        pilot.spray(self.spray, self.speed, self.of_pump)


class Return(Parameters):
    """Fly straight to where it began, and land there."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True, serialize_by_alias=True)
    least_height: NonNegative | None = Field(
        alias="return", description="above the start, on the way, m; no higher than it is if left empty"
    )
    speed: Speed = 2.0

    async def fly(self, pilot: Pilot) -> None:
        await pilot.return_home(self.least_height or 0.0, self.speed)


class Land(Parameters):
    """Go straight down and stop the rotors."""

    land: None = Field(description="takes no value")
    speed: Speed = 0.7

    async def fly(self, pilot: Pilot) -> None:
        await pilot.land(self.speed)


KINDS = {
    "takeoff": TakeOff, "goto": GoTo, "follow": Follow, "circle": Circle, "turn": Turn, "sleep": Rest, "hold": Hold,
    "spray": Spray, "return": Return, "land": Land,
}  # fmt: skip


def _kind_of(item: Any) -> str:
    """The tag of an item; no key is spelled like a tag, so that error paths can tell them apart."""
    return next(f"{kind} item" for kind in KINDS if kind in item or isinstance(item, KINDS[kind]))


def _says_what_to_do(item: Any) -> Any:
    if isinstance(item, tuple(KINDS.values())):
        return item
    if not isinstance(item, dict):
        raise ValueError(f"must be a mapping such as 'takeoff: 5', got {item!r}")
    found = [kind for kind in KINDS if kind in item]
    if len(found) > 1:
        raise ValueError(f"{' and '.join(found)} must be items of their own, one after the other")
    if not found:
        word = next(iter(map(str, item)), "")
        raise ValueError(f"no mission item is called '{word}'{hint(word, KINDS, 'Known')}")
    return item


Item = Annotated[
    Annotated[TakeOff, Tag("takeoff item")]
    | Annotated[GoTo, Tag("goto item")]
    | Annotated[Follow, Tag("follow item")]
    | Annotated[Circle, Tag("circle item")]
    | Annotated[Turn, Tag("turn item")]
    | Annotated[Rest, Tag("sleep item")]
    | Annotated[Hold, Tag("hold item")]
    | Annotated[Spray, Tag("spray item")]
    | Annotated[Return, Tag("return item")]
    | Annotated[Land, Tag("land item")],
    Discriminator(_kind_of),
    BeforeValidator(_says_what_to_do),
]


async def fly_items(pilot: Pilot, items: Sequence[Any], again_from: int | None = None) -> None:
    """Fly one item after the other; with `again_from`, those from there on again and again."""
    for item in items:
        await item.fly(pilot)
    while again_from is not None:
        for item in items[again_from:]:
            await item.fly(pilot)
