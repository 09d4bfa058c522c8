"""A job: the lines of a field as they are to be flown and sprayed. It is a JSON file that people can read.

Places are metres east, north and up of the job's origin. Along a line they are given by the distance from where the
line begins.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from math import atan2, cos, hypot, radians, sin
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from airloom.basics.given import MEGABYTE, bytes_of
from airloom.farm.geojson import FarmError
from airloom.missions.pursuit import TOP_SPEED
from airloom.scenario.models import Origin
from airloom.world.geodesy import geodetic_to_local, local_to_geodetic

LARGEST_FILE = 64 * MEGABYTE
FARTHEST = 20_000.0  # m of a job from the origin of the world it is flown in
SQUARE_METRES = 1e4  # in a hectare
NEARBY = 30.0  # m: what is nearer is reached without climbing

Number = Annotated[float, Field(ge=-1e6, le=1e6)]
Positive = Annotated[float, Field(gt=0, le=1e6)]
NonNegative = Annotated[float, Field(ge=0, le=1e6)]
Sum = Annotated[float, Field(ge=0)]
Level = tuple[Number, Number]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)


def flow_for(rate: float, swath: float, speed: float) -> float:
    """L/min, for litres per hectare on a swath (m) at a speed (m/s)."""
    return rate * swath * speed * 60.0 / SQUARE_METRES


class Stretch(_Part):
    """A part of a line on which the nozzles are open."""

    start: NonNegative = Field(description="distance along the line where liquid is to come out first, m")
    end: NonNegative = Field(description="and last")
    rate: NonNegative = Field(description="L/ha")
    flow: NonNegative = Field(description="L/min at the job's speed")

    @property
    def length(self) -> float:
        return self.end - self.start


class JobLine(_Part):
    """Flown straight from one place to another, from rest to rest."""

    start: Level = Field(description="east and north, m")
    end: Level
    heights: list[tuple[NonNegative, Number]] = Field(
        min_length=2, description="distance along the line and height above the origin, m; straight in between"
    )
    spray: list[Stretch] = Field(default_factory=list)

    @model_validator(mode="after")
    def _goes_on(self) -> JobLine:
        ends = [end for stretch in self.spray for end in (stretch.start, stretch.end)]
        along = [distance for distance, _ in self.heights]
        if any(b < a for a, b in pairwise(ends)) or sorted(along) != along:
            raise ValueError("distances along a line must not decrease")
        if ends and ends[-1] > self.length + 0.01:
            raise ValueError(f"is sprayed up to {ends[-1]:g} m, but is {self.length:g} m long")
        return self

    @property
    def length(self) -> float:
        return hypot(self.end[0] - self.start[0], self.end[1] - self.start[1])

    @property
    def direction(self) -> float:
        """rad, counter-clockwise from east"""
        return atan2(self.end[1] - self.start[1], self.end[0] - self.start[0])

    def part(self, sprayed: tuple[float, float], room: float) -> JobLine:
        """What is sprayed between two distances, with so much of the line before and after it as there is."""
        first, last = max(sprayed[0] - room, 0.0), min(sprayed[1] + room, self.length)
        spans = [(s, max(s.start, sprayed[0]), min(s.end, sprayed[1])) for s in self.spray]
        inner = [(s, z) for s, z in self.heights if first < s < last]
        heights = [(first, self.height(first)), *inner, (last, self.height(last))]
        return JobLine(
            start=tuple(self.place(first)[:2]),
            end=tuple(self.place(last)[:2]),
            heights=[(s - first, z) for s, z in heights],
            spray=[Stretch(start=a - first, end=b - first, rate=s.rate, flow=s.flow) for s, a, b in spans if b > a],
        )

    @property
    def sprayed(self) -> float:
        """m"""
        return sum(stretch.length for stretch in self.spray)

    @cached_property
    def _profile(self) -> tuple[np.ndarray, np.ndarray]:
        along, heights = np.array(self.heights).T
        return along, heights

    def height(self, distance: float) -> float:
        return float(np.interp(distance, *self._profile))

    def place(self, distance: float) -> np.ndarray:
        x, y = self.start
        c, s = cos(self.direction), sin(self.direction)
        return np.array([x + distance * c, y + distance * s, self.height(distance)])

    def distance(self, position: Sequence[float] | np.ndarray) -> float:
        """Along the line, of the place on it that is nearest."""
        x, y = position[0] - self.start[0], position[1] - self.start[1]
        return float(x * cos(self.direction) + y * sin(self.direction))


class Refill(_Part):
    place: Level = Field(description="east and north, m")
    height: Number = Field(0.0, description="of the ground there above the origin, m")
    seconds: NonNegative = Field(60.0, description="it takes, from touching down to taking off")


class Totals(_Part):
    """What the plan comes to. It is told, and not read when the job is flown."""

    hectares: Sum = Field(description="of the field")
    sprayed_hectares: Sum = Field(description="of all swaths together")
    lines: int
    line_metres: Sum = Field(description="of all lines, with their ends in the headland")
    sprayed_metres: Sum
    turn_metres: Sum = Field(description="between lines")
    litres: Sum
    refills: int = Field(description="if the tank is full at the start")
    minutes: Sum = Field(description="in flight and refilling")


class Job(_Part):
    version: Literal[1] = 1
    name: str
    origin: Origin
    level: bool = Field(
        False, description="whether it was planned without a ground: heights count from height 0 wherever it is flown"
    )
    swath: Positive = Field(description="m")
    speed: Annotated[float, Field(gt=0, le=TOP_SPEED)] = Field(description="on the lines, m/s")
    height: Positive = Field(description="above the canopy, m")
    canopy: NonNegative = Field(description="its height above the ground, m")
    lag: Annotated[float, Field(ge=0, le=10)] = Field(description="from the command to the liquid leaving, s")
    headland: NonNegative = Field(description="how far lines go beyond what they spray, m")
    transit: Positive = Field(description="height above the ground on ways to other parts of the field, m")
    tank: Positive = Field(description="litres in a full one")
    refill: Refill
    totals: Totals
    outline: list[Level] = Field(description="the corners of the field")
    no_fly: list[Annotated[list[Level], Field(min_length=3)]] = Field(
        default_factory=list, description="the corners of areas that are flown around; one within another is a hole"
    )
    lines: list[JobLine] = Field(min_length=1, description="in the order in which they are flown")

    def seen_from(self, origin: Origin) -> Job:
        """The same places as another origin's east, north and up. Raises FarmError if it is too far away."""
        if origin == self.origin:
            return self
        own = self.origin.model_copy(update={"altitude": origin.altitude}) if self.level else self.origin
        shift = _Shift(own, origin)
        away = hypot(*shift.level(self.lines[0].start))
        if away > FARTHEST:
            where = f"latitude: {own.latitude:.6f}, longitude: {own.longitude:.6f}, altitude: {own.altitude:g}"
            raise FarmError(f"the job lies {away / 1000:,.0f} km from the world's origin; set world.origin={{{where}}}")
        return self.model_copy(
            update={
                "origin": origin,
                "refill": shift.refill(self.refill),
                "outline": [shift.level(corner) for corner in self.outline],
                "no_fly": [[shift.level(corner) for corner in ring] for ring in self.no_fly],
                "lines": [shift.line(line) for line in self.lines],
            }
        )


class _Shift:
    def __init__(self, before: Origin, after: Origin) -> None:
        self._before = radians(before.latitude), radians(before.longitude), float(before.altitude)
        self._after = radians(after.latitude), radians(after.longitude), float(after.altitude)

    def place(self, x: float, y: float, z: float) -> tuple[float, float, float]:
        on_earth = local_to_geodetic(float(x), float(y), float(z), *self._before)
        return geodetic_to_local(*on_earth, *self._after)

    def level(self, point: Level) -> Level:
        return self.place(*point, 0.0)[:2]

    def refill(self, refill: Refill) -> Refill:
        x, y, z = self.place(*refill.place, refill.height)
        return refill.model_copy(update={"place": (x, y), "height": z})

    def line(self, line: JobLine) -> JobLine:
        places = [(distance, self.place(*line.place(distance))) for distance, _ in line.heights]
        return JobLine(
            start=self.level(line.start),
            end=self.level(line.end),
            heights=[(distance, place[2]) for distance, place in places],
            spray=line.spray,
        )


def read_job(file: str | Path) -> Job:
    """Raises FarmError with the key that is wrong."""
    file = Path(file)
    content = bytes_of(file, FarmError, LARGEST_FILE, "no job is that large")
    try:
        return Job.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"])) or "the file"
        more = f" ({error.error_count() - 1} more)" if error.error_count() > 1 else ""
        make = "airloom plan makes such files"
        raise FarmError(
            f"{file} is no job: {key}: {first['msg'].removeprefix('Value error, ')}{more}; {make}"
        ) from None


def job_text(job: Job) -> str:
    """With a line of text for each line of the field."""
    content = job.model_dump(mode="json")
    lines, outline, no_fly = content.pop("lines"), content.pop("outline"), content.pop("no_fly")
    head = json.dumps(content, indent=2, ensure_ascii=False).removesuffix("\n}")
    rows = ",\n    ".join(_compact({k: v for k, v in line.items() if v != []}) for line in lines)
    areas = f',\n  "no_fly": {_compact(no_fly)}' if no_fly else ""
    return f'{head},\n  "outline": {_compact(outline)}{areas},\n  "lines": [\n    {rows}\n  ]\n}}\n'


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
