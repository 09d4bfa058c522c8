"""A field becomes a job: lines, heights, rates, turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, dist, isfinite, sin
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import ValidationError

from airloom.farm.estimate import totals
from airloom.farm.field import Field, frame_of, read_field
from airloom.farm.geojson import DEGREES, FarmError, shapely
from airloom.farm.heights import Clearance, Ground, Surface
from airloom.farm.job import Job, JobLine, Refill, Stretch, flow_for
from airloom.farm.lines import Edge, Pass, in_order, lay_lines, patches
from airloom.farm.prescription import Constant, Rates, read_prescription
from airloom.farm.routes import NEAREST, Point, Routes
from airloom.farm.rows import Rows, rows_in
from airloom.missions.cruise import ACCELERATION, STEEPEST
from airloom.missions.pursuit import TOP_SPEED
from airloom.scenario import load_world
from airloom.scenario.models import Survey, World
from airloom.terrain.frame import crs_of

STEP = 1.0  # m along a line for which one rate holds
ACROSS = 5  # places across the swath of whose rates the mean counts
FINENESS = 0.01  # of the greatest rate: smaller changes are none
SPARE = 0.5  # m at full speed before the nozzles are told to open
MOST_SAMPLES = 20_000_000
CORNERS = 0.1  # m by which the outline of a no-fly area may be simplified

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Wishes:
    """What is wanted of the work; lengths in m, speed in m/s."""

    rate: float = 20.0
    """L/ha, where no prescription says anything else"""
    swath: float = 4.0
    speed: float = 4.0
    height: float = 2.5
    """above the canopy"""
    canopy: float = 0.0
    """its height above the ground"""
    surface: Surface = "ground"
    """what the terrain is: the ground, or the top of the canopy"""
    edge: Edge = "cover"
    headland: float | None = None
    """how far the vehicle may go beyond what it sprays; as far as it needs if None"""
    hop: float = 30.0
    """the longest gap in a line that is flown over with the nozzles shut"""
    lag: float = 0.3
    """from the command to the liquid leaving the nozzles, s"""
    tank: float = 10.0
    """litres"""
    flow: tuple[float, float] | None = None
    """the least and the greatest that pump and nozzles give, L/min"""
    transit: float = 12.0
    """height above the ground on longer ways"""

    def __post_init__(self) -> None:
        for key in ("swath", "speed", "height", "tank", "transit"):
            if not 0 < getattr(self, key) < 1e6:
                raise FarmError(f"{key} must be above 0, got {getattr(self, key):g}")
        for key in ("rate", "canopy", "headland", "hop", "lag"):
            value = getattr(self, key)
            if value is not None and not 0 <= value < 1e6:
                raise FarmError(f"{key} must be 0 or more, got {value:g}")
        if self.speed > TOP_SPEED:
            raise FarmError(f"{self.speed:g} m/s is too fast: jobs are flown at {TOP_SPEED:g} m/s at most")
        if self.flow and not (0 <= self.flow[0] <= self.flow[1] and self.flow[1] > 0 and isfinite(self.flow[1])):
            raise FarmError(
                f"the flow has a least and a greatest value in L/min, got {self.flow[0]:g},{self.flow[1]:g}"
            )

    @property
    def run_up(self) -> float:
        """To be at full speed, in time for the nozzles: see `missions/cruise.py`."""
        needed = STEEPEST * self.speed**2 / (2 * ACCELERATION) + self.speed * self.lag + SPARE
        return needed if self.headland is None else min(needed, self.headland)


@dataclass(frozen=True)
class Shortfall:
    """Where pump and nozzles cannot give what is asked for."""

    line: int
    stretch: Stretch
    asked: float
    """L/ha"""

    def square_metres(self, swath: float) -> float:
        return self.stretch.length * swath


@dataclass(frozen=True)
class Plan:
    field: Field
    wishes: Wishes
    rates: Rates
    job: Job
    clearance: Clearance
    shortfalls: list[Shortfall]
    rows: Rows | None
    """those of the world in the field, if it has some"""

    @property
    def overspray(self) -> float:
        """m² of swaths outside the field."""
        swaths = shapely().union_all([swath for line in self.job.lines for swath in swaths_of(line, self.job.swath)])
        return float(swaths.difference(self.field.area).area)


def plan_field(
    file: str | Path,
    *,
    world: str | None = None,
    terrain: str | Path | None = None,
    rows: float | None = None,
    prescription: str | Path | None = None,
    crs: str | None = None,
    elsewhere: Literal["rate", "none"] = "rate",
    refill: tuple[float, float] | None = None,
    progress: Progress = lambda what, part: None,
    **wishes: Any,
) -> Plan:
    """Plan the treatment of a field.

    Args:
        file: GeoJSON with the field.
        world: a bundled world or a file, over whose ground heights are kept, and whose origin counts.
        terrain: a terrain folder, instead of a world.
        rows: compass direction of the rows, degrees; by the file, or along the longest edge, if left out.
        prescription: a GeoTIFF or GeoJSON with litres per hectare.
        crs: of the prescription, if it names none.
        elsewhere: what is given where the prescription says nothing: the `rate`, or nothing.
        refill: longitude and latitude of the place of refilling; by the file, or where the first line begins.
        progress: called with what is being done and the part of it that is done.
        wishes: rate, swath, speed and whatever else `Wishes` has.
    """
    wanted = Wishes(**wishes)
    progress("Reading the field", 0.0)
    ground = ground_of(world, terrain)
    land = read_field(file, ground.origin, rows)
    ground.check_is_under(land)
    rates: Rates = Constant(wanted.rate)
    if prescription is not None:
        rates = read_prescription(prescription, land, wanted.rate if elsewhere == "rate" else 0.0, crs)
    place = _local_place(refill, land) if refill else land.refill
    return _Planner(land, wanted, ground, rates, place, progress).plan()


def ground_of(world: str | None, terrain: str | Path | None) -> Ground:
    if world and terrain:
        raise FarmError("give a world or a terrain, not both: a world has its terrain")
    if terrain:
        survey = Survey(kind="survey", folder=str(Path(terrain).absolute()))
        try:
            return Ground(World.model_validate({"terrain": survey.model_dump()}))
        except ValidationError as error:
            raise FarmError(f"--terrain: {error.errors()[0]['msg'].removeprefix('Value error, ')}") from None
    return Ground(load_world(world) if world else None)


def _local_place(place: tuple[float, float], land: Field) -> Point:
    longitude, latitude = place
    if not (abs(longitude) <= 180 and abs(latitude) <= 90):
        raise FarmError(f"the place of refilling is a longitude and a latitude, got {longitude:g},{latitude:g}")
    local = frame_of(land.origin, crs_of(DEGREES, "refill")).local(longitude, latitude, land.origin.altitude)
    if dist(local[0, :2], land.outline.centroid.coords[0]) > 20_000:
        raise FarmError(f"the place of refilling, {longitude:g},{latitude:g}, lies more than 20 km from the field")
    return float(local[0, 0]), float(local[0, 1])


class _Planner:
    def __init__(
        self, land: Field, wishes: Wishes, ground: Ground, rates: Rates, refill: Point | None, progress: Progress
    ) -> None:
        self._land, self._wishes, self._rates, self._refill, self._progress = land, wishes, rates, refill, progress
        fineness = ground.fineness(land.outline.area)
        self._clearance = Clearance(ground, wishes.height, wishes.canopy, wishes.surface, wishes.swath, fineness)
        self._no_fly = _rings(land.no_fly)
        self._routes = Routes(self._no_fly)
        self._c, self._s = cos(land.rows), sin(land.rows)
        self._made: list[JobLine] = []
        self._shortfalls: list[Shortfall] = []
        self._greatest = 0.0

    def plan(self) -> Plan:
        land, wishes = self._land, self._wishes
        if land.area.area / wishes.swath / STEP * ACROSS > MOST_SAMPLES:
            raise FarmError(f"{land.hectares:,.0f} ha in swaths of {wishes.swath:g} m are too much: divide the field")
        self._progress("Laying lines", 0.0)
        rows = rows_in(land, self._clearance.ground.world, self._turned)
        lines = lay_lines(land, wishes.swath, wishes.edge, wishes.hop, self._turned, rows)
        start = self._refill or tuple(np.array(land.outline.exterior.coords)[0])
        passes = in_order(patches(lines), self._along_and_across(start))
        for number, one in enumerate(passes):
            self._progress("Following the ground", number / len(passes))
            line = self._line(one)
            if line.spray:
                self._made.append(line)
        if not self._made:
            raise FarmError("nothing is to be sprayed: the rate is 0 all over the field")
        refill = self._refill_at(self._refill or self._made[0].start)
        sums = totals(
            land.hectares, self._made, wishes.swath, wishes.speed, wishes.tank, refill, wishes.transit, self._routes
        )
        job = Job(
            name=land.name, origin=land.origin, level=self._clearance.ground.world is None, swath=wishes.swath,
            speed=wishes.speed, height=wishes.height,
            canopy=wishes.canopy, lag=wishes.lag, headland=round(wishes.run_up, 2), transit=wishes.transit,
            tank=wishes.tank, refill=refill, totals=sums, lines=self._made,
            outline=[_rounded(corner) for corner in land.outline.exterior.coords[:-1]], no_fly=self._no_fly,
        )  # fmt: skip
        return Plan(land, wishes, self._rates, job, self._clearance, self._shortfalls, rows)

    def _refill_at(self, place: Point) -> Refill:
        if not self._routes.keeps_clear(place):
            raise FarmError(
                f"the place of refilling, at ({place[0]:.1f}, {place[1]:.1f}) m, lies in a no-fly area or within "
                f"{NEAREST:g} m of one; move it"
            )
        height = self._clearance.ground.heights(np.array(place[:1]), np.array(place[1:]))[0]
        return Refill(place=_rounded(place), height=round(float(height), 3))

    def _turned(self, geometry: Any) -> Any:
        """In the axes of the rows."""
        return _rotated(geometry, self._c, -self._s)

    def _along_and_across(self, point: Point) -> Point:
        return point[0] * self._c + point[1] * self._s, point[1] * self._c - point[0] * self._s

    def _east_and_north(self, u: float, v: float) -> Point:
        return u * self._c - v * self._s, u * self._s + v * self._c

    def _line(self, one: Pass) -> JobLine:
        side = 1.0 if one.forward else -1.0
        direction = side * self._c, side * self._s
        first, last = self._east_and_north(*one.start), self._east_and_north(*one.end)
        before = self._routes.room(first, (-direction[0], -direction[1]), self._wishes.run_up)
        after = self._routes.room(last, direction, self._wishes.run_up)
        start = first[0] - before * direction[0], first[1] - before * direction[1]
        end = last[0] + after * direction[0], last[1] + after * direction[1]
        spans = [
            sorted(side * (u - one.start[0]) + before for u in stretch)
            for stretch in one.line.stretches[:: 1 if one.forward else -1]
        ]
        spray = [stretch for a, b in spans for stretch in self._stretches(start, direction, a, b)]
        return JobLine(start=_rounded(start), end=_rounded(end), heights=self._clearance.along(start, end), spray=spray)

    def _stretches(self, start: Point, direction: Point, a: float, b: float) -> list[Stretch]:
        """Of rates that hardly differ, those of 0 left out; limited to what pump and nozzles give."""
        wishes, count = self._wishes, max(round((b - a) / STEP), 1)
        ends = np.linspace(a, b, count + 1)
        rates = self._asked(start, direction, (ends[:-1] + ends[1:]) / 2)
        self._greatest = max(self._greatest, float(rates.max()))
        steps = np.round(rates / max(FINENESS * self._greatest, 1e-6))
        found = []
        changes = np.flatnonzero(np.diff(steps)) + 1
        for first, last in zip([0, *changes], [*changes, count], strict=True):
            asked = float(rates[first:last].mean())
            if steps[first] <= 0:
                continue
            given = self._limited(asked)
            stretch = Stretch(
                start=round(ends[first], 3), end=round(ends[last], 3), rate=round(given, 3),
                flow=round(flow_for(given, wishes.swath, wishes.speed), 4),
            )  # fmt: skip
            found.append(stretch)
            if abs(given - asked) > 1e-9:
                self._shortfalls.append(Shortfall(len(self._made) + 1, stretch, asked))
        return found

    def _asked(self, start: Point, direction: Point, along: np.ndarray) -> np.ndarray:
        """L/ha at distances along a line, the mean over the swath."""
        if isinstance(self._rates, Constant):
            return np.full(len(along), self._rates.rate)
        across = (np.arange(ACROSS) + 0.5) / ACROSS - 0.5
        x = start[0] + along[:, None] * direction[0] - self._wishes.swath * across * direction[1]
        y = start[1] + along[:, None] * direction[1] + self._wishes.swath * across * direction[0]
        return self._rates.at(x.ravel(), y.ravel()).reshape(x.shape).mean(axis=1)

    def _limited(self, rate: float) -> float:
        if self._wishes.flow is None:
            return float(rate)
        per_rate = flow_for(1.0, self._wishes.swath, self._wishes.speed)
        least, most = self._wishes.flow
        return float(np.clip(rate, least / per_rate, most / per_rate))


def swaths_of(line: JobLine, swath: float) -> list[Any]:
    """What each stretch of a line covers, as polygons."""
    aside = np.array([-sin(line.direction), cos(line.direction)]) * swath / 2
    found = []
    for stretch in line.spray:
        a, b = line.place(stretch.start)[:2], line.place(stretch.end)[:2]
        found.append(shapely().Polygon([a - aside, b - aside, b + aside, a + aside]))
    return found


def _rotated(geometry: Any, c: float, s: float) -> Any:
    turn = np.array([[c, -s], [s, c]])
    return shapely().transform(geometry, lambda xy: xy @ turn.T)


def _rings(areas: Any) -> list[list[Point]]:
    """The corners of areas, and of holes in them."""
    parts = [part for part in shapely().get_parts(areas.simplify(CORNERS)) if not part.is_empty]
    rings = [ring for part in parts for ring in (part.exterior, *part.interiors)]
    return [[_rounded(corner) for corner in ring.coords[:-1]] for ring in rings]


def _rounded(point: Any) -> Point:
    return round(float(point[0]), 3), round(float(point[1]), 3)
