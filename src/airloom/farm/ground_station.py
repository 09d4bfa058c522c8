"""A job as plans of QGroundControl, one for each tank, for autopilots and for Airloom's own mission reader.

What opens the nozzles depends on the autopilot:

- `sprayer`: MAV_CMD_DO_SPRAYER (216), ArduPilot's. It has one rate, in proportion to the speed, by its parameter
  SPRAY_PUMP_RATE. Param 2, which it does not read, is the flow in litres per minute for Airloom's reader.
- `servo`: MAV_CMD_DO_SET_SERVO (183), ArduPilot's, with a pulse of 1000 µs (shut) to 2000 µs (the greatest flow).
- `actuator`: MAV_CMD_DO_SET_ACTUATOR (187), PX4's, actuator 1 from −1 (shut) to 1 (the greatest flow).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from math import degrees, dist, inf, radians
from typing import Any, Literal

from airloom.farm.estimate import loads
from airloom.farm.job import NEARBY, Job, JobLine
from airloom.farm.routes import Point, Routes
from airloom.world.geodesy import local_to_geodetic

Highest = Callable[[Point, Point], float]
Sprayer = Literal["sprayer", "servo", "actuator"]
WAYPOINT, LAND, TAKEOFF, CHANGE_SPEED, SERVO, ACTUATOR, SPRAYER = 16, 21, 22, 178, 183, 187, 216
ABOVE_HOME, NO_PLACE = 3, 2
FIRMWARE = {"sprayer": 3, "servo": 3, "actuator": 12}
PULSES = 1000, 2000  # µs
MOST_PLANS = 100
APART = 2.0  # m: a change of height so near to one of the flow has no waypoint of its own


class _PlanWriter:
    def __init__(self, job: Job, sprayer: Sprayer, servo: int, most: float, highest: Highest) -> None:
        self._job, self._sprayer, self._servo, self._most, self._highest = job, sprayer, servo, most, highest
        self._routes, o = Routes(job.no_fly), job.origin
        self._origin = radians(o.latitude), radians(o.longitude), float(o.altitude)
        self._items: list[dict[str, Any]] = []

    def text(self, lines: list[JobLine]) -> str:
        job, (x, y) = self._job, self._job.refill.place
        self._items, here, height = [], (x, y), job.refill.height
        self._go(TAKEOFF, x, y, height + job.transit)
        self._do(CHANGE_SPEED, 1, job.speed, -1)
        for line in lines:
            if line is lines[0] or not self._is_clear(here, line.start, min(height, line.height(0.0))):
                self._travel(here, line.start, max(height, line.height(0.0)))
            self._fly(line)
            here, height = line.end, line.height(line.length)
        self._travel(here, job.refill.place, max(height, job.refill.height))
        self._go(LAND, *job.refill.place, job.refill.height)
        content = {
            "fileType": "Plan", "version": 1, "groundStation": "QGroundControl",
            "geoFence": {"circles": [], "polygons": [], "version": 2}, "rallyPoints": {"points": [], "version": 2},
            "mission": {
                "version": 2, "vehicleType": 2, "firmwareType": FIRMWARE[self._sprayer], "cruiseSpeed": job.speed,
                "hoverSpeed": job.speed, "globalPlanAltitudeMode": 1, "plannedHomePosition": self._home(),
                "items": self._items,
            },
        }  # fmt: skip
        return json.dumps(content, indent=1) + "\n"

    def _is_clear(self, here: Point, goal: Point, height: float) -> bool:
        """Whether it is near, and nothing stands on the straight way at a height."""
        is_near = dist(here, goal) <= NEARBY and self._routes.is_free(here, goal)
        return is_near and height > self._highest(here, goal) + self._job.height / 2

    def _travel(self, here: Point, goal: Point, height: float) -> None:
        """At the height for that and half of it above the highest on the way, around what is not flown over."""
        way, transit = self._routes.whole(here, goal), self._job.transit
        level = max(height + transit, *(self._highest(a, b) + transit / 2 for a, b in pairwise(way)))
        for x, y in way:
            self._go(WAYPOINT, x, y, level)

    def _fly(self, line: JobLine) -> None:
        """Waypoints where the height or the flow changes; what changes follows its waypoint, as autopilots do it."""
        for distance, flow in _stops(line, self._job.speed * self._job.lag):
            self._go(WAYPOINT, *line.place(distance))
            if flow is not None:
                self._spray(flow)

    def _go(self, command: int, x: float, y: float, z: float) -> None:
        latitude, longitude, altitude = self._on_earth(x, y, z)
        height = round(altitude - self._home()[2], 3)
        more = {"AMSLAltAboveTerrain": None, "Altitude": height, "AltitudeMode": 1}
        self._add(command, ABOVE_HOME, [0, 0, 0, None, latitude, longitude, height], more)

    def _do(self, command: int, *numbers: float | None) -> None:
        self._add(command, NO_PLACE, [*numbers, *[0] * (7 - len(numbers))], {})

    def _add(self, command: int, frame: int, numbers: list[Any], more: dict[str, Any]) -> None:
        self._items.append({
            "type": "SimpleItem", "autoContinue": True, "command": command, "doJumpId": len(self._items) + 1,
            "frame": frame, "params": numbers, **more,
        })  # fmt: skip

    def _spray(self, flow: float) -> None:
        share = min(flow / self._most, 1.0)
        if self._sprayer == "sprayer":
            self._do(SPRAYER, 1 if flow else 0, flow)
        elif self._sprayer == "servo":
            self._do(SERVO, self._servo, round(PULSES[0] + share * (PULSES[1] - PULSES[0])))
        else:
            self._do(ACTUATOR, round(2 * share - 1, 4), *[None] * 5)

    def _on_earth(self, x: float, y: float, z: float) -> tuple[float, float, float]:
        latitude, longitude, altitude = local_to_geodetic(float(x), float(y), float(z), *self._origin)
        return round(degrees(latitude), 9), round(degrees(longitude), 9), altitude

    def _home(self) -> list[float]:
        latitude, longitude, altitude = self._on_earth(*self._job.refill.place, self._job.refill.height)
        return [latitude, longitude, round(altitude, 3)]


def _stops(line: JobLine, lead: float) -> Iterator[tuple[float, float | None]]:
    """Distances along a line, and what the flow becomes there: as early as the lag wants it."""
    changes: dict[float, float] = {}
    for stretch in line.spray:
        changes[max(stretch.end - lead, 0.0)] = 0.0
        changes[max(stretch.start - lead, 0.0)] = stretch.flow
    levels = [s for s, _ in line.heights[1:-1] if min((abs(s - c) for c in changes), default=inf) > APART]
    for distance in sorted({0.0, line.length, *changes, *levels}):
        yield distance, changes.get(distance)


def plans_of(
    job: Job,
    sprayer: Sprayer = "sprayer",
    servo: int = 9,
    most: float | None = None,
    highest: Highest = lambda start, end: -inf,
) -> list[str]:
    """The texts of a job's plans, one for each tank, at most a hundred.

    Args:
        job: what is to be done.
        sprayer: the command that opens the nozzles.
        servo: the output of the pump, for `servo`.
        most: the greatest flow of the pump, L/min; that of the job if left out.
        highest: the top of what stands between two places (east, north), m; nothing is high if left out.
    """
    greatest = most or max(stretch.flow for line in job.lines for stretch in line.spray)
    writer = _PlanWriter(job, sprayer, servo, greatest, highest)
    return [writer.text(load) for load in loads(job.lines, job.swath, job.tank, job.headland)[:MOST_PLANS]]
