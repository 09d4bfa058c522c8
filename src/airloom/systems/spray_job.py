"""Fly a job of `airloom plan`: line by line, with the nozzles open where they should be, and refills on the way."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from math import dist
from typing import Any

import numpy as np
from pydantic import Field

from airloom.farm.geojson import FarmError
from airloom.farm.job import NEARBY, SQUARE_METRES, JobLine, flow_for, read_job
from airloom.farm.routes import NEAREST, Point, Routes
from airloom.missions.pilot import Pilot
from airloom.missions.pilots import pilot_of
from airloom.missions.tasks import MissionError, Sleep
from airloom.plugin import Parameters
from airloom.scenario import ScenarioError
from airloom.scenario.models import Name, NonNegative
from airloom.system import System
from airloom.systems.selection import unable_to_hover
from airloom.watch.origin import told
from airloom.world.ground import first_buried

PERIOD = 0.1  # s between two looks at speed and tank, at most
SLOW = 0.05  # m/s: what is slower does not move along its line
CLIMB = 1.5  # m/s
ROUNDING = 1e-3  # of a flow in a file
RUN_UP = 12.0  # m of a way within which one cannot climb over what is high
ROUNDED = 0.1  # m
WORTH = 5.0  # m of a line that a tank must last for to begin with it


class OutOfLiquid(MissionError):
    """The tank does not last; liquid came out up to a distance along the line."""

    def __init__(self, distance: float) -> None:
        super().__init__(f"out of liquid at {distance:.1f} m of the line")
        self.distance = distance


class SprayJobParameters(Parameters):
    vehicle: Name = Field(description="its name")
    file: str = Field(description="the job, as `airloom plan` makes it, relative to the scenario")
    start: float = Field(1.0, ge=0, description="lift-off, s")
    reserve: NonNegative = Field(0.1, description="what is left in the tank when it flies to be refilled, L")
    lag: NonNegative | None = Field(None, le=10, description="from command to liquid, s; that of the job if left out")
    refill_time: NonNegative | None = Field(None, description="s; that of the job if left out")
    dry: bool = Field(False, description="whether to fly without spraying, which needs no tank")


class SprayJob(System):
    """Fly a job over a field: lines at their heights, spraying, return to refill, resume, and land in the end."""

    Parameters = SprayJobParameters
    parameters: SprayJobParameters

    @classmethod
    def mistakes(cls, parameters, scenario):
        name, vehicle = parameters.vehicle, scenario.vehicles.get(parameters.vehicle)
        if vehicle is None:
            yield "vehicle", f"no vehicle is called '{name}'; there are {', '.join(scenario.vehicles)}"
        elif vehicle.tank is None and not parameters.dry:
            yield "vehicle", f"{name} has no tank to spray from; choose a vehicle with one, or set dry: true"
        yield from (("vehicle", f"a job {what}") for what in unable_to_hover(scenario, name, "in water"))
        try:
            job = read_job(parameters.file).seen_from(scenario.world.origin)
        except FarmError as error:
            yield "file", str(error)
            return
        if vehicle and not Routes(job.no_fly).keeps_clear(vehicle.pose.position[:2]):
            yield "vehicle", f"{name} starts in a no-fly area of the job, or within {NEAREST:g} m; move pose.position"
        most = max((stretch.flow for line in job.lines for stretch in line.spray), default=0.0)
        if vehicle and vehicle.tank and most > vehicle.tank.max_flow * (1 + ROUNDING) and not parameters.dry:
            limit = vehicle.tank.max_flow
            what = f"the job asks for {most:.3g} L/min, and {name}'s pump gives {limit:g}"
            yield "file", f"{what}; plan it slower, with a lower rate, or with --flow 0,{limit:g}"

    def configure(self, sim) -> None:
        self._vehicle = sim.vehicles[self.parameters.vehicle]
        self.job = read_job(self.parameters.file).seen_from(sim.scenario.world.origin)
        self._routes = Routes(self.job.no_fly)
        self._tank: Any = None if self.parameters.dry else self._vehicle.tank
        self._lag = self.job.lag if self.parameters.lag is None else self.parameters.lag
        self._check_ground(sim)

    def _check_ground(self, sim) -> None:
        for number, line in enumerate(self.job.lines, start=1):
            places = np.array([line.place(distance) for distance in np.arange(0.0, line.length, 2.0)])
            buried = first_buried(sim.fleet.flight.world, places, 0.0)
            if buried >= 0:
                x, y, _ = places[buried]
                raise ScenarioError(
                    f"{sim.scenario.name}: systems.{self.name}: line {number} of the job leads into the ground at "
                    f"({x:.1f}, {y:.1f}); plan it over this ground: airloom plan … --world or --terrain"
                )

    def reset(self, sim) -> None:
        self._done_lines, self._sprayed, self._refills, self._is_over = 0, 0.0, 0, False
        self._given = 0.0
        sim.call_at(self.parameters.start, partial(self._begin, sim))

    def _begin(self, sim) -> None:
        sim.start(self._fly(pilot_of(sim, self._vehicle)), self._vehicle.name)

    async def _fly(self, pilot: Pilot) -> None:
        try:
            await self._work(pilot)
        except Exception as error:
            self._command(0.0)
            self._is_over = True
            pilot.sim.fail(self.name, f"{self._progress()}: {told(error)}")
            pilot.brake()
        else:
            self._is_over = True
            pilot.sim.succeed(self.name, self._progress())

    def conclude(self, sim) -> None:
        if not self._is_over:
            sim.fail(self.name, f"the run is over after {self._progress()}")

    def _progress(self) -> str:
        job = self.job
        hectares, whole = self._sprayed * job.swath / SQUARE_METRES, job.totals.sprayed_hectares
        refills = f", {self._refills} refill{'s' if self._refills != 1 else ''}" if self._refills else ""
        litres = f", {self._used():.2f} L" if self._tank else ", dry"
        return f"{self._done_lines} of {len(job.lines)} lines, {hectares:.3f} of {whole:.3f} ha{litres}{refills}"

    def _used(self) -> float:
        return self._given + self._full - self._tank.litres if self._done_lines or self._sprayed else 0.0

    # -- the work ----------------------------------------------------------------------------------------------------

    async def _work(self, pilot: Pilot) -> None:
        self._full = self._tank.litres if self._tank else 0.0
        await pilot.takeoff(self.job.transit, CLIMB)
        self._is_high = True
        for line in self.job.lines:
            await self._treat(pilot, line)
            self._done_lines += 1
        await self._return(pilot)

    async def _treat(self, pilot: Pilot, line: JobLine) -> None:
        """A line, in as many parts as the tank makes of it."""
        begun = 0.0
        while True:
            if self._is_nearly_empty(line, begun):
                await self._refill(pilot)
                if self._is_nearly_empty(line, begun):
                    raise MissionError(f"{pilot.name}: the tank holds {self._tank.litres:.2f} L after a refill")
            first = max(begun - self.job.headland, 0.0)
            await self._approach(pilot, line, first)
            try:
                await pilot.together(self._fly_to_the_end(pilot, line), self._spray(pilot, line, begun))
            except OutOfLiquid as stop:
                self._note(line, begun, stop.distance)
                begun = stop.distance
                x, y, _ = line.place(begun)
                pilot.sim.event(self.name, f"the tank is used up at ({x:.1f}, {y:.1f}); it goes on from there later")
                await self._refill(pilot)
            else:
                self._note(line, begun, line.length)
                return

    def _note(self, line: JobLine, begun: float, end: float) -> None:
        self._sprayed += sum(max(min(s.end, end) - max(s.start, begun), 0.0) for s in line.spray)

    def _is_nearly_empty(self, line: JobLine, begun: float) -> bool:
        """Whether the tank will not last for the rest of the line, nor for a part that is worth flying there."""
        if self._tank is None:
            return False
        left = [(s.rate, s.end - max(s.start, begun)) for s in line.spray if s.end > begun]
        need = sum(rate * length for rate, length in left) * self.job.swath / SQUARE_METRES
        worth = max((rate for rate, _ in left), default=0.0) * WORTH * self.job.swath / SQUARE_METRES
        return self._tank.litres - self.parameters.reserve < min(need, worth)

    async def _approach(self, pilot: Pilot, line: JobLine, first: float) -> None:
        place = line.place(first)
        (x, y, _), (to_x, to_y, _) = pilot.vehicle.position.tolist(), place.tolist()
        is_far = dist(place, pilot.vehicle.position) > NEARBY
        is_free = self._routes.is_free((x, y), (to_x, to_y)) and self._is_clear(pilot, place)
        if self._is_high or is_far or not is_free:
            await self._travel(pilot, (to_x, to_y), line.direction)
        await pilot.goto(place, line.direction, CLIMB if self._is_high else self.job.speed)
        self._is_high = False

    def _is_clear(self, pilot: Pilot, place: np.ndarray) -> bool:
        """Whether nothing juts out of the ground on the straight way to a place."""
        here = pilot.vehicle.position
        return min(here[2], place[2]) > pilot.highest(here, place) + self.job.height / 2

    async def _travel(self, pilot: Pilot, goal: Point, yaw: float | None = None) -> None:
        """At the height for that, around what is not flown over."""
        here_x, here_y, _ = pilot.vehicle.position.tolist()
        for here, there in pairwise(self._routes.whole((here_x, here_y), goal)):
            await self._rise(pilot, self._height_for_travel(pilot, here, there))
            height = self._height_for_travel(pilot, there, here) - pilot.ground(*there)
            await pilot.goto((*there, height), yaw, self.job.speed, above_ground=True)

    def _height_for_travel(self, pilot: Pilot, here: Point, there: Point) -> float:
        """At one end of a way: more than usual where something high stands near, that one could not climb over."""
        near = np.add(here, np.subtract(there, here) * min(1.0, RUN_UP / max(dist(here, there), RUN_UP)))
        return max(pilot.ground(*here) + self.job.transit, pilot.highest(here, near) + self.job.transit / 2)

    async def _rise(self, pilot: Pilot, height: float) -> None:
        x, y, z = pilot.vehicle.position
        if not self._is_high or z < height - ROUNDED:
            await pilot.goto((x, y, height), speed=CLIMB)
            self._is_high = True

    async def _return(self, pilot: Pilot) -> None:
        await self._travel(pilot, self.job.refill.place)
        await pilot.land()

    async def _refill(self, pilot: Pilot) -> None:
        await self._return(pilot)
        given = self.parameters.refill_time
        await pilot.sleep(self.job.refill.seconds if given is None else given)
        before = self._tank.litres
        self._tank.refill(min(self.job.tank, self._tank.capacity))
        self._given += self._tank.litres - before
        self._refills += 1
        await pilot.takeoff(self.job.transit, CLIMB)
        self._is_high = True

    async def _fly_to_the_end(self, pilot: Pilot, line: JobLine) -> None:
        height = lambda x, y: line.height(line.distance((x, y)))  # noqa: E731
        await pilot.fly_line(line.place(line.length), height, self.job.speed)

    # -- nozzles -----------------------------------------------------------------------------------------------------

    async def _spray(self, pilot: Pilot, line: JobLine, begun: float) -> None:
        """Command what the place needs that is reached when the liquid comes out.

        The next look comes when something changes, to a tick; while the nozzles are open, PERIOD later at the latest.
        """
        changes = sorted({end for s in line.spray for end in (s.start, s.end) if end > begun} | {begun})
        try:
            while True:
                along, speed = self._along(line)
                ahead = along + speed * self._lag
                rate = _rate(line, ahead) if ahead >= begun - 1e-6 else 0.0
                flow = flow_for(rate, self.job.swath, max(speed, 0.0))
                if self._is_used_up(flow):
                    await self._stop(line)
                self._command(flow)
                coming = [change for change in changes if change > ahead + 1e-6]
                if not coming and rate == 0.0:
                    return
                await Sleep(self._pause(coming[0] - ahead if coming else 0.0, speed, flow))
        finally:
            self._command(0.0)

    def _along(self, line: JobLine) -> tuple[float, float]:
        """Where on the line it believes to be, and how fast."""
        believed = self._vehicle.estimate
        step = line.place(1.0) - line.place(0.0)
        return line.distance(believed.position), float(believed.velocity[:2] @ step[:2])

    def _is_used_up(self, flow: float) -> bool:
        return self._tank is not None and flow > 0.0 and self._lasts(flow) <= 0.0

    async def _stop(self, line: JobLine) -> None:
        """Fly on until the last liquid is out."""
        self._command(0.0)
        await Sleep(self._lag)
        raise OutOfLiquid(self._along(line)[0])

    def _lasts(self, flow: float) -> float:
        """Seconds until a command to stop would leave the reserve."""
        return (self._tank.litres - self.parameters.reserve) * 60.0 / flow - self._lag

    def _pause(self, gap: float, speed: float, flow: float) -> float:
        if speed < SLOW:
            return PERIOD
        soonest = min(gap / speed, PERIOD) if gap > 0.0 else PERIOD
        return max(min(soonest, self._lasts(flow)) if self._tank and flow > 0.0 else soonest, 0.0)

    def _command(self, flow: float) -> None:
        if self._tank is not None:
            self._tank.command(min(flow, self._tank.max_flow))


def _rate(line: JobLine, distance: float) -> float:
    return next((s.rate for s in line.spray if s.start - 1e-6 <= distance < s.end - 1e-6), 0.0)
