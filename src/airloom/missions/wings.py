"""A pilot of an aeroplane, which passes places instead of stopping there, and circles where others hover."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import atan2, ceil, cos, hypot, pi, sin, sqrt, tan
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from airloom.commands import Mode, PositionYaw, ThrustAttitude
from airloom.missions.arcs import Piece, Pose, Way, length_of, risen, to_point, to_pose
from airloom.missions.guides import Arrival, Guide
from airloom.missions.legs import Leg, Turns, past_places
from airloom.missions.pilot import LONG, Pilot
from airloom.missions.pursuit import Polyline
from airloom.missions.runway import FLARE_TIME, Landing, TakeoffRoll
from airloom.missions.tasks import MissionError, Until
from airloom.missions.track import Track
from airloom.world.atmosphere import STANDARD_DENSITY

if TYPE_CHECKING:
    from airloom.control.plane import Plane

GLIDE_SLOPE = 0.09  # tangent of an approach's angle, 5°
TURNS_AT = 0.7  # of the greatest bank, for turns that are planned
START_THRUST = 0.6  # of the weight
LIFT_OFF, APPROACH = 1.1, 1.3  # of the stall speed
AIRBORNE = 4.0  # m, from where on a take-off is an ordinary climb
LOWEST_FINAL, HIGHEST_FINAL = 12.0, 25.0  # m above the ground, where an approach begins
SETTLES = 3.0  # s of level flight before the glide
STEEP = 0.8  # of the steepest climb, on the way to a place
GROUND_STEP = 20.0  # m between two looks at the ground
AT_HEIGHT = 3.0  # m
LEAST_FLARE = 1.0  # m/s of sinking, at the end of a glide
LEAD_TIME = 4.0  # s of straight flight before a line begins
BEYOND = 5.0  # m beyond the acceptance distance that gusts may carry it without being told
RUNWAY_LOOK = 60.0  # m over which the rise of a runway is taken


class WingsPilot(Pilot):
    """Flies an aeroplane. Speeds are through the air; the usual one is the controller's cruise speed."""

    @property
    def _plane(self) -> Plane:
        return self.vehicle.controller  # type: ignore[return-value]

    turns_on_the_spot = False
    _passed_last: Pose | None = None
    needs_thrust: ClassVar[bool] = True
    """Whether it comes down without."""

    @property
    def speeds(self) -> tuple[float, float]:
        return self._plane.slowest, self._plane.fastest

    @property
    def range_of_speeds(self) -> str:
        return f"{super().range_of_speeds} (it stalls at {self._plane.stall_speed:.3g})"

    def why_not_in(self, mode: Mode) -> str | None:
        if mode in (Mode.POSITION_YAW, Mode.VELOCITY_YAWRATE) and not self.is_flying:
            return f"{self.name}: stands on the ground, and cannot fly from there; take off first"
        return None

    # -- what it does ------------------------------------------------------------------------------------------------

    async def takeoff(self, height: float = 30.0, speed: float | None = None, timeout: float | None = None) -> None:
        """Roll along where it looks, lift off, and climb straight on by `height` metres; one in flight only climbs."""
        if not height > 0:
            raise MissionError(f"{self.name}: cannot take off to {height} m")
        pace, goal = self._pace(speed), float(self.vehicle.position[2]) + height
        if not self.is_flying:
            await self._roll(timeout)
        x, y, course = here = self._pose()
        climb = max(goal - float(self.vehicle.position[2]), 0.0)
        ahead = climb / (0.8 * self._plane.climb) * pace
        way = risen([Piece(here, max(ahead, pace))], goal - climb, goal)
        self._check_reachable(np.array([[*way[0].end[:2], goal]]))
        await self._track(way, pace, timeout, "takeoff")
        await self._until(lambda: self.vehicle.position[2] > goal - AT_HEIGHT, "takeoff", 60.0)
        if self.next_place is None:
            self._circle_at(x + ahead * cos(course), y + ahead * sin(course), goal)

    async def _roll(self, timeout: float | None) -> None:
        vehicle, plane = self.vehicle, self._plane
        if not vehicle.description.wheels:
            raise MissionError(
                f"{self.name}: has no wheels to roll on; start it in the air with motion.velocity of "
                f"{plane.cruise_speed:.3g} m/s, as if thrown"
            )
        runway = Pose(float(vehicle.position[0]), float(vehicle.position[1]), self._yaw())
        guide = TakeoffRoll(
            runway, self._resting_height(*runway[:2]), self._rise_of(runway), self._start_thrust(),
            plane.climb_pitch, LIFT_OFF * plane.stall_speed, AIRBORNE,
        )  # fmt: skip
        await self._guided(guide, 60.0 if timeout is None else timeout, "takeoff")

    def _start_thrust(self) -> float:
        """All there is, but no more than takes a light aeroplane into the air in good time, N."""
        weight = self.vehicle.mass * self.vehicle.airframe.gravity
        return min(0.99 * self.vehicle.max_thrust, START_THRUST * weight)

    async def goto(
        self,
        position: Any,
        yaw: float | None = None,
        speed: float | None = None,
        timeout: float | None = None,
        above_ground: bool = False,
    ) -> None:
        """Fly to a place (world, m) and past it; circle it if nothing follows. It looks where it flies."""
        self._must_be_in_the_air("goto")
        goal, pace = self._place(position, "goto"), self._pace(speed)
        if above_ground:
            goal[2] += self.ground(*goal[:2])
        await self._pass([goal], pace, self._follow_ground(goal) if above_ground else None, timeout, "goto")

    async def fly_to(self, position: Any, yaw: float | None = None) -> None:
        """Take off if need be, and circle a place from now on, at no less than a safe height."""
        x, y, z = self._place(position, "goto")
        z = max(z, self.ground(x, y) + HIGHEST_FINAL)
        if not self.is_flying:
            await self.takeoff(max(z - float(self.vehicle.position[2]), HIGHEST_FINAL))
        self._circle_at(x, y, z)

    async def fly_line(
        self,
        end: Any,
        height: Callable[[float, float], float],
        speed: float | None = None,
        timeout: float | None = None,
    ) -> None:
        """Fly to a place at the heights that a function of x and y gives."""
        self._must_be_in_the_air("fly a line")
        await self._pass([self._place(end, "a line")], self._pace(speed), height, timeout, "a line")

    async def follow(
        self,
        path: Any,
        speed: float | None = None,
        yaw: Any = "path",
        method: str = "smooth",
        timeout: float | None = None,
    ) -> None:
        """Fly from point to point, with turns that begin before each."""
        self._must_be_in_the_air("follow")
        await self._pass(list(Polyline(path).points), self._pace(speed), None, timeout, "follow")

    async def turn(self, *_: Any, **__: Any) -> None:
        """There is no such thing."""
        raise MissionError(f"{self.name}: an aeroplane cannot turn on the spot; tell it where to go instead")

    async def circle(
        self,
        centre: Any,
        radius: float | None = None,
        turns: float = 1.0,
        clockwise: bool = False,
        speed: float | None = None,
        timeout: float | None = None,
    ) -> None:
        """Fly around a place; on and on, if nothing follows."""
        self._must_be_in_the_air("circle")
        (x, y, z), pace = self._place(centre, "circle"), self._pace(speed)
        if not (turns > 0 and (radius is None or radius > 0)):
            raise MissionError(f"{self.name}: a circle needs a radius and turns above 0, got {radius} m, {turns}")
        radius = self._radius(radius, pace)
        way = self._onto_circle(x, y, radius, -1.0 if clockwise else 1.0)
        way, last = risen(way[:-1], float(self.vehicle.position[2]), z) if len(way) > 1 else [], way[-1]
        arc = replace(last, length=2 * pi * radius * turns, z=z)
        await self._track([*way, arc], pace, timeout, "circle")
        if self.next_place is None:
            self._circle_at(x, y, z, radius, clockwise)

    async def loiter(
        self, place: Any, radius: float | None = None, clockwise: bool = False, seconds: float | None = 0.0
    ) -> None:
        """Circle a place until the height is reached, and some seconds longer; None is for good."""
        self._must_be_in_the_air("loiter")
        x, y, z = self._place(place, "loiter")
        self._check_reachable(np.array([[x, y, z]]))
        wide = self._radius(radius, self._pace(None))
        self._circle_at(x, y, z, wide, clockwise)

        def is_there() -> bool:
            px, py, pz = self.vehicle.position
            return hypot(px - x, py - y) < 1.3 * wide and abs(pz - z) < AT_HEIGHT

        here = self.vehicle.position
        far = hypot(here[0] - x, here[1] - y) + abs(here[2] - z) / min(self._plane.climb, self._plane.sink)
        await self._until(is_there, "loiter", 60.0 + 3.0 * far)
        end = self.sim.time + (LONG if seconds is None else seconds)
        await self._until(lambda: self.sim.time >= end, "loiter", 2 * LONG)

    async def return_home(
        self, least_height: float = 0.0, speed: float | None = None, timeout: float | None = None
    ) -> None:
        """Fly to where the scenario puts it, at least so much higher than there, and land there."""
        self._must_be_in_the_air("return")
        x, y, _ = self.vehicle.description.pose.position
        height = max(float(self.vehicle.position[2]), self.ground(x, y) + max(least_height, LOWEST_FINAL))
        self.next_place = None
        await self.goto([x, y, height], speed=speed, timeout=timeout)
        await self.land(timeout=timeout)

    async def land(
        self,
        speed: float | None = None,
        timeout: float | None = None,
        at: Any = None,
        course: float | None = None,
    ) -> None:
        """Approach, flare, touch down, roll out, and stop the motors.

        Without a place it comes down where it began, along the way it stood there; without a course, against the wind.
        """
        self._must_be_in_the_air("land")
        runway = self._runway(at, course)
        pace, pose = self._plane.cruise_speed, self._pose()
        final = self._approach_speed() if speed is None else self._pace(speed)
        stands, rise = self._resting_height(*runway[:2]), self._rise_of(runway)
        flare = FLARE_TIME * GLIDE_SLOPE * final
        height = min(max(float(self.vehicle.position[2]) - stands, LOWEST_FINAL), HIGHEST_FINAL)
        glide = (height - flare) / GLIDE_SLOPE
        level = SETTLES * final
        back = glide + level + FLARE_TIME * final
        gate = Pose(runway.x - back * cos(runway.course), runway.y - back * sin(runway.course), runway.course)
        way = to_pose(pose, gate, self._turn_radius(pace))
        drop = float(self.vehicle.position[2]) - stands - height
        if drop > 0.7 * self._plane.sink / pace * length_of(way):
            await self.loiter([gate.x, gate.y, stands + height])
            way = to_pose(self._pose(), gate, self._turn_radius(pace))
        await self._track(risen(way, float(self.vehicle.position[2]), stands + height), pace, timeout, "approach")
        begin = Piece(gate, level, z=stands + height)
        await self._track([begin, Piece(begin.end, glide, 0.0, stands + height, -GLIDE_SLOPE)], final, timeout, "land")
        await self._guided(Landing(runway, stands, rise), 60.0 if timeout is None else timeout, "land")
        self.vehicle.kill()

    def brake(self) -> None:
        """Leave whatever is being flown, and circle; one that rolls stops its motors."""
        if self._spraying is not None:
            self.spray(0.0)
        self.sim.guides.end(self.vehicle)
        if self.vehicle.armed and not self.is_flying:
            self.vehicle.kill()
        elif self.vehicle.armed:
            self.vehicle.recover()

    # -- how ---------------------------------------------------------------------------------------------------------

    @property
    def is_flying(self) -> bool:
        """Low, it must be fast enough; high, a gust may have taken its airspeed."""
        through_air = self.vehicle.velocity - self.vehicle.wind
        x, y, z = self.vehicle.position
        is_fast = float(np.linalg.norm(through_air)) > self._plane.stall_speed
        return bool(z > self._resting_height(x, y) + (0.5 if is_fast else AIRBORNE))

    def _must_be_in_the_air(self, what: str) -> None:
        if not self.is_flying:
            raise MissionError(f"{self.name}: cannot {what} on the ground; take off first")

    def _pace(self, speed: float | None) -> float:
        if speed is None:
            return self._plane.cruise_speed
        if self.possible(speed) != speed:
            raise MissionError(f"{self.name}: flies {self.range_of_speeds}, got {speed:g}")
        return speed

    def _pose(self) -> Pose:
        """Place and course."""
        (x, y, _), (vx, vy, _) = self.vehicle.position.tolist(), self.vehicle.velocity.tolist()
        return Pose(x, y, atan2(vy, vx))

    def _approach_speed(self) -> float:
        """As pilots have it: with half of the wind added, for what gusts may take away."""
        wind_x, wind_y, _ = self.vehicle.wind
        return min(APPROACH * self._plane.stall_speed + 0.5 * hypot(wind_x, wind_y), self._plane.cruise_speed * 1.2)

    def _turn_radius(self, pace: float) -> float:
        """Which it can fly whatever way the wind pushes it."""
        true_speed = pace * sqrt(STANDARD_DENSITY / self.vehicle.air_density)
        wind_x, wind_y, _ = self.vehicle.wind
        fastest = true_speed + hypot(wind_x, wind_y)
        return fastest**2 / (self.vehicle.airframe.gravity * tan(TURNS_AT * self._plane.parameters.max_bank))

    def _radius(self, wanted: float | None, pace: float) -> float:
        """Of a circle: as wanted, or the usual one; told if it must be wider."""
        least = self._turn_radius(pace)
        if wanted is not None and wanted < least:
            text = f"circles {least:.0f} m wide around a place instead of {wanted:g}: it cannot turn more tightly here"
            self.sim.event(self.name, text, level="warning")
        return max(self._plane.radius if wanted is None else wanted, least)

    def _circle_at(self, x: float, y: float, z: float, radius: float | None = None, clockwise: bool = False) -> None:
        """From now on."""
        self.sim.guides.end(self.vehicle)
        wide = self._radius(None, self._plane.cruise_speed) if radius is None else radius
        turn = (-1.0 if clockwise else 1.0) * self._plane.cruise_speed / wide
        self.vehicle.command(PositionYaw((x, y, z), yaw_rate=turn))

    def _onto_circle(self, x: float, y: float, radius: float, side: float) -> Way:
        """To where a line from here touches it, then the circle; from within, straight on to it."""
        here = self._pose()
        dx, dy = x - here.x, y - here.y
        far = hypot(dx, dy)
        if far <= radius:
            bearing = atan2(-dy, -dx) if far > 0.0 else here.course
            on = Pose(x + radius * cos(bearing), y + radius * sin(bearing), bearing + side * 0.5 * pi)
            return [Piece(on, 0.0, side / radius)]
        touch, length = atan2(dy, dx) - side * atan2(radius, sqrt(far**2 - radius**2)), sqrt(far**2 - radius**2)
        on = Pose(here.x + length * cos(touch), here.y + length * sin(touch), touch)
        way = to_point(here, on.x, on.y, self._turn_radius(self._plane.cruise_speed))
        return [*way, Piece(on, 0.0, side / radius)]

    async def _pass(
        self,
        places: list[np.ndarray],
        pace: float,
        height: Callable[[float, float], float] | None,
        timeout: float | None,
        what: str,
        stops: bool = False,
    ) -> None:
        """Past places one after the other, and to what follows; where it stops nothing is passed."""
        self._check_reachable(np.array(places))
        if height is None:
            await self._near_height(places[0], pace)
        z = float(self.vehicle.position[2])
        legs = [Leg(_point(place), self.acceptance, self.is_on_line) for place in places]
        if stops:
            legs[-1] = replace(legs[-1], is_told=False)
        after = None if self.next_place is None else Leg(_point(self.next_place), is_line=self.next_is_line)
        way = past_places(self._pose(), z, self._leg_begins(), legs, after, self._turns(pace))
        await self._track(way if height is None else _at_heights(way, height), pace, timeout, what)
        self._passed_last = None if stops else Pose(*legs[-1].end[:2], 0.0)
        if self.next_place is None:
            self._circle_at(*places[-1])

    def _leg_begins(self) -> Pose | None:
        """At the place that was passed last, if it has just been."""
        here, last = self._pose(), self._passed_last
        near = self._turns(self._plane.cruise_speed)
        is_there = last is not None and hypot(here.x - last.x, here.y - last.y) < near.radius + self.acceptance
        return last if is_there else None

    def _turns(self, pace: float) -> Turns:
        wind_x, wind_y, _ = self.vehicle.wind
        return Turns(self._turn_radius(pace), LEAD_TIME * (pace + hypot(wind_x, wind_y)))

    async def _near_height(self, place: np.ndarray, pace: float) -> None:
        """Circle first, if the way to a place is too short for the height between."""
        way = to_point(self._pose(), place[0], place[1], self._turn_radius(pace))
        lacks, can = place[2] - float(self.vehicle.position[2]), STEEP * length_of(way) / pace
        low, high = -can * self._plane.sink, can * self._plane.climb
        if low <= lacks <= high:
            return
        goal, circle = place[2] - (high if lacks > 0 else low), self._plane.holding(Mode.POSITION_YAW, self.vehicle)
        assert isinstance(circle, PositionYaw)
        x, y, _ = circle.position
        self._circle_at(x, y, goal)
        limit = 60.0 + 3 * abs(lacks) / min(self._plane.climb, self._plane.sink)
        await self._until(lambda: abs(self.vehicle.position[2] - goal) < AT_HEIGHT, "climb", limit)

    def _follow_ground(self, goal: np.ndarray) -> Callable[[float, float], float]:
        """Heights above the ground that change evenly from the present one to that of the goal."""
        x, y, z = self.vehicle.position
        now, then = z - self.ground(x, y), goal[2] - self.ground(*goal[:2])
        far = max(hypot(goal[0] - x, goal[1] - y), 1.0)

        def height(at_x: float, at_y: float) -> float:
            share = min(hypot(goal[0] - at_x, goal[1] - at_y) / far, 1.0)
            return self.ground(at_x, at_y) + share * now + (1.0 - share) * then

        return height

    async def _track(self, way: Way, pace: float, timeout: float | None, what: str) -> None:
        wind_x, wind_y, _ = self.vehicle.wind
        slowest = max(pace - hypot(wind_x, wind_y), 0.25 * pace)
        track = Track(way, pace, needs_thrust=self.needs_thrust)
        try:
            await self._guided(track, 2 * length_of(way) / slowest + 30 if timeout is None else timeout, what)
        finally:
            for place, off in track.passed():
                self._tell_passed(place, off)

    def _tell_passed(self, place: tuple[float, float], off: float) -> None:
        self.passed.append((place, off))
        text = f"passed ({place[0]:g}, {place[1]:g}) {off:.1f} m off"
        if off > self.acceptance + BEYOND:
            self.sim.event(self.name, f"{text}, where {self.acceptance:g} m were allowed", level="warning")
        else:
            self.sim.event(self.name, text)

    async def _guided(self, guide: Guide, limit: float, what: str) -> None:
        """The guide speaks until the next one does, so that nobody is without between two ways."""
        self.sim.guides.begin(self.vehicle, guide)
        if self.vehicle.mode is not guide.mode:
            first = ThrustAttitude(0.0) if isinstance(guide, TakeoffRoll | Landing) else self.vehicle.holding_command()
            self.vehicle.command(first)
        await self._or_brake(Arrival(self.vehicle, f"{self.name}: {what}", limit))
        while isinstance(guide, Track) and guide.has_lost_thrust:
            await self._glide(what)
            guide.go_on()
            await self._or_brake(Arrival(self.vehicle, f"{self.name}: {what}", limit))

    async def _until(self, condition: Callable[[], bool], what: str, limit: float) -> None:
        """As long as there is thrust."""
        is_over = Until(lambda: self.vehicle.alarm is not None or condition(), f"{self.name}: {what}", limit)
        await self._or_brake(is_over)
        while self.vehicle.alarm is not None:
            await self._glide(what)
            await self._or_brake(is_over)

    async def _glide(self, what: str) -> None:
        """Along the way, which the stack does by itself, until there is thrust again; or else come down."""

        def is_over() -> bool:
            x, y, z = self.vehicle.position
            return self.vehicle.alarm is None or bool(z - self._resting_height(x, y) < LOWEST_FINAL)

        await self._or_brake(Until(is_over, f"{self.name}: its glide", LONG))
        if self.vehicle.alarm is not None:
            await self._come_down(what)

    async def _come_down(self, what: str) -> None:
        """Without thrust: straight on, flare and roll out; then whatever was flown has failed."""
        here, z = self._pose(), float(self.vehicle.position[2])
        self.sim.guides.begin(self.vehicle, Track([Piece(here, 1.0, z=z)], self._plane.cruise_speed))

        def is_low() -> bool:
            x, y, z = self.vehicle.position
            return bool(
                z - self._resting_height(x, y) < FLARE_TIME * max(-float(self.vehicle.velocity[2]), LEAST_FLARE)
            )

        await self._or_brake(Until(is_low, f"{self.name}: its glide", LONG))
        runway = self._pose()
        landing = Landing(runway, self._resting_height(*runway[:2]), self._rise_of(runway))
        await self._guided(landing, 60.0, "land")
        self.vehicle.kill()
        x, y, _ = self.vehicle.position
        raise MissionError(f"{self.name}: {what}: it lost its thrust, and came down at ({x:.0f}, {y:.0f})")

    def _runway(self, at: Any, course: float | None) -> Pose:
        pose = self.vehicle.description.pose
        x, y = pose.position[:2] if at is None else (float(at[0]), float(at[1]))
        wind_x, wind_y, _ = self.vehicle.wind
        if course is not None:
            return Pose(x, y, course)
        if at is None:
            ahead = wind_x * cos(pose.yaw) + wind_y * sin(pose.yaw)
            return Pose(x, y, pose.yaw if ahead < 1.0 else pose.yaw + pi)
        calm = hypot(wind_x, wind_y) < 1.0
        return Pose(x, y, self._pose().course if calm else atan2(-wind_y, -wind_x))

    def _rise_of(self, runway: Pose) -> float:
        """How much it rises in a metre."""
        end = Piece(runway, RUNWAY_LOOK).end
        return (self.ground(*end[:2]) - self.ground(*runway[:2])) / RUNWAY_LOOK


def _point(place: Any) -> tuple[float, float, float]:
    x, y, z = map(float, place)
    return x, y, z


def _at_heights(way: Way, height: Callable[[float, float], float]) -> Way:
    """The same way in short pieces, at the heights of a function of x and y."""
    found: Way = []
    for piece in way:
        count = max(ceil(piece.length / GROUND_STEP), 1)
        step = piece.length / count
        poses = [piece.at(k * step) for k in range(count + 1)]
        heights = [height(pose.x, pose.y) for pose in poses]
        for k in range(count):
            slope = (heights[k + 1] - heights[k]) / step if step else 0.0
            found.append(Piece(poses[k], step, piece.curvature, heights[k], slope))
        found[-1] = replace(found[-1], passes=piece.passes)
    return found
