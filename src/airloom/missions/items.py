"""What a mission in a file is made of: takeoff, goto, follow, circle, loiter, turn, sleep, hold, spray, return, land,
with their options.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag

from airloom.missions.legs import ACCEPTANCE
from airloom.missions.pilot import Pilot
from airloom.plugin import Parameters
from airloom.scenario.errors import hint
from airloom.scenario.models import NonNegative, Number, Positive, Vector3

FASTEST = 100.0
ACCEPTED = (
    "how far from a place an aeroplane may pass it to turn before it, or else it flies over it, m; "
    "that of the mission if left out"
)
Speed = Annotated[Number, Field(gt=0, le=FASTEST, description="m/s")]


class Paced(Parameters):
    """An item that is flown at a speed; what is left out is the pilot's to choose."""

    def pace(self) -> dict[str, float]:
        return {"speed": self.speed} if "speed" in self.model_fields_set else {}  # type: ignore[attr-defined]


class TakeOff(Paced):
    """Rise straight up."""

    takeoff: Positive = Field(description="how far to rise, m")
    speed: Speed = 1.5

    async def fly(self, pilot: Pilot) -> None:
        await pilot.takeoff(self.takeoff, **self.pace())


class GoTo(Paced):
    """Fly straight to a place and stop there."""

    goto: Vector3 = Field(description="world, m")
    yaw: Number | None = Field(None, description="rad; as it is if left out")
    speed: Speed = 2.0
    above_ground: bool = Field(False, description="whether z counts from the ground below, which it follows on the way")
    acceptance: NonNegative | None = Field(None, description=ACCEPTED)
    line: bool = Field(
        False,
        description="whether the way from the place before is a line that an aeroplane flies from end to end: it comes "
        "onto its course before it begins, and flies over both ends",
    )

    async def fly(self, pilot: Pilot) -> None:
        await pilot.goto(self.goto, self.yaw, above_ground=self.above_ground, **self.pace())


class Follow(Paced):
    """Fly along a path."""

    follow: list[Vector3] = Field(min_length=2, description="points, world, m")
    method: Literal["smooth", "pursuit"] = Field("smooth", description="minimum snap or pure pursuit")
    yaw: Literal["path"] | Number | Vector3 = Field("path", description="along the path, fixed (rad), or to a point")
    speed: Speed = 2.0
    acceptance: NonNegative | None = Field(None, description=ACCEPTED)

    async def fly(self, pilot: Pilot) -> None:
        await pilot.follow(self.follow, yaw=self.yaw, method=self.method, **self.pace())


class Circle(Paced):
    """Fly around a place, looking at it."""

    circle: Vector3 = Field(description="its centre, world, m")
    radius: Positive = Field(10.0, description="m; for an aeroplane its usual one if left out")
    turns: Positive = Field(1.0, description="how many, parts of one too")
    clockwise: bool = Field(False, description="as seen from above")
    speed: Speed = 2.0

    async def fly(self, pilot: Pilot) -> None:
        wide = {"radius": self.radius} if "radius" in self.model_fields_set else {}
        await pilot.circle(self.circle, turns=self.turns, clockwise=self.clockwise, **wide, **self.pace())


class Loiter(Parameters):
    """Hold at a place for a while; an aeroplane circles it."""

    loiter: Vector3 = Field(description="world, m")
    seconds: NonNegative | None = Field(0.0, description="once it is there, s; for good if empty")
    radius: Positive | None = Field(None, description="of an aeroplane's circles, m; the usual one if left out")
    clockwise: bool = Field(False, description="as seen from above")

    async def fly(self, pilot: Pilot) -> None:
        await pilot.loiter(self.loiter, self.radius, self.clockwise, self.seconds)


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


class Return(Paced):
    """Fly straight to where it began, and land there."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True, serialize_by_alias=True)
    least_height: NonNegative | None = Field(
        alias="return", description="above the start, on the way, m; no higher than it is if left empty"
    )
    speed: Speed = 2.0

    async def fly(self, pilot: Pilot) -> None:
        await pilot.return_home(self.least_height or 0.0, **self.pace())


class Land(Paced):
    """Go straight down and stop the rotors; an aeroplane approaches, touches down and rolls out."""

    land: None = Field(description="takes no value")
    at: tuple[Number, Number] | None = Field(
        None, description="where, world, m; below it if left out, for an aeroplane where it began"
    )
    course: Number | None = Field(
        None,
        description="of an aeroplane's approach, rad; if left out as it stood where it began, or against the wind",
    )
    speed: Speed = 0.7

    async def fly(self, pilot: Pilot) -> None:
        await pilot.land(at=self.at, course=self.course, **self.pace())


KINDS = {
    "takeoff": TakeOff, "goto": GoTo, "follow": Follow, "circle": Circle, "loiter": Loiter, "turn": Turn,
    "sleep": Rest, "hold": Hold, "spray": Spray, "return": Return, "land": Land,
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
    | Annotated[Loiter, Tag("loiter item")]
    | Annotated[Turn, Tag("turn item")]
    | Annotated[Rest, Tag("sleep item")]
    | Annotated[Hold, Tag("hold item")]
    | Annotated[Spray, Tag("spray item")]
    | Annotated[Return, Tag("return item")]
    | Annotated[Land, Tag("land item")],
    Discriminator(_kind_of),
    BeforeValidator(_says_what_to_do),
]


def complaint(item: Any, pilot: Pilot) -> str | None:
    """Why a pilot cannot fly an item, as far as that is known before."""
    if (why := next((why for word, why in pilot.refuses.items() if isinstance(item, KINDS[word])), None)) is not None:
        return f"{pilot.name}: {why}"
    if isinstance(item, Turn) and not pilot.turns_on_the_spot:
        return f"{pilot.name} cannot turn on the spot; tell it where to go instead"
    speed = _given_speed(item)
    if speed is not None and pilot.possible(speed) != speed:
        return f"speed: {pilot.name} flies {pilot.range_of_speeds}, got {speed:g}"
    return None


def at_possible_speed(item: Any, pilot: Pilot) -> Any:
    """The same item, at the nearest speed that the pilot can fly."""
    speed = _given_speed(item)
    if speed is None or pilot.possible(speed) == speed:
        return item
    return item.model_copy(update={"speed": pilot.possible(speed)})


def _given_speed(item: Any) -> float | None:
    return item.pace().get("speed") if isinstance(item, Paced) else None


async def fly_items(
    pilot: Pilot, items: Sequence[Any], again_from: int | None = None, acceptance: float = ACCEPTANCE
) -> None:
    """Fly one item after the other; with `again_from`, those from there on again and again."""
    first = 0
    while first < len(items):
        for k in range(first, len(items)):
            await fly_item(pilot, items, k, again_from, acceptance)
        first = len(items) if again_from is None else again_from


async def fly_item(
    pilot: Pilot, items: Sequence[Any], k: int, again_from: int | None, acceptance: float = ACCEPTANCE
) -> None:
    """One of several, knowing where the next one leads."""
    item, after = items[k], _next_that_moves(items, k, again_from)
    pilot.next_place = None if after is None else _begin_of(after, pilot)
    pilot.is_on_line, pilot.next_is_line = _is_line(item), _is_line(after)
    own = item.acceptance if isinstance(item, GoTo | Follow) else None
    pilot.acceptance = acceptance if own is None else own
    await item.fly(pilot)


def _next_that_moves(items: Sequence[Any], k: int, again_from: int | None) -> Any:
    """The item after one; nozzles are opened and shut on the way."""
    behind = [*items[k + 1 :], *(items[again_from:] if again_from is not None else [])]
    return next((item for item in behind if not isinstance(item, Spray)), None)


def _is_line(item: Any) -> bool:
    return isinstance(item, GoTo) and item.line


def _begin_of(item: Any, pilot: Pilot) -> Vector3 | None:
    """The place an item leads to first, if it is one that is passed."""
    if isinstance(item, GoTo):
        x, y, z = item.goto
        return x, y, z + (pilot.ground(x, y) if item.above_ground else 0.0)
    return item.follow[0] if isinstance(item, Follow) else None
