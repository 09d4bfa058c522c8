"""A pilot flies one vehicle in a mission: `await pilot.takeoff(5)`, `await pilot.goto(…)`, and so on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from dataclasses import replace
from itertools import pairwise
from math import atan2, cos, dist, hypot, inf, pi, sin
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from airloom.basics.rotations import yaw_from_quaternion
from airloom.bus import messages
from airloom.commands import EDGE, Mode, PositionYaw, VelocityYawRate
from airloom.missions import cruise
from airloom.missions.guides import Arrival
from airloom.missions.legs import ACCEPTANCE
from airloom.missions.pursuit import TOP_SPEED, Polyline, Pursuit, Targets
from airloom.missions.tasks import All, Cancelled, MissionError, Sleep, Task, Until
from airloom.missions.trajectory import ARRIVED_WITHIN, PathError, PiecewisePolynomial, through
from airloom.physics.attitude import rotation
from airloom.world.ground import first_buried, ground

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle

LOOKS_WITHIN = 0.05  # rad
NEAR_OF_REACH = 0.5  # of its reach: how near a large vehicle comes where it is said to have arrived
SAG = 0.5  # m that a line may pass below the heights it is given, where they change suddenly
LOOK = 0.5  # m between two looks for the highest ground
LONG = 1e9  # s
CALM = 0.6  # m/s of wind, in which an airship may look anywhere
SPRAY_PERIOD = 0.1  # s between two flows that follow the speed


class Pilot:
    """Flies one vehicle. Everything it does can be awaited, cancelled and given a timeout in seconds."""

    def __init__(self, sim: Simulation, vehicle: Vehicle) -> None:
        self.sim, self.vehicle = sim, vehicle
        self.next_place: Any = None
        """Where it goes after what it is told now, if that is known: aeroplanes begin to turn before they are there."""
        self.acceptance = ACCEPTANCE
        """How far from a place an aeroplane may pass it to turn before it; otherwise it flies over it, m."""
        self.is_on_line, self.next_is_line = False, False
        """Whether the way to a place, and that to the next one, is a line that aeroplanes fly from end to end."""
        self.passed: list[tuple[tuple[float, float], float]] = []
        """Places that an aeroplane has passed, and how far off, m."""
        self._spraying: Task | None = None

    @property
    def name(self) -> str:
        return self.vehicle.name

    turns_on_the_spot: ClassVar[bool] = True
    refuses: ClassVar[dict[str, str]] = {}
    """Items of missions that it cannot do, and why."""

    @property
    def speeds(self) -> tuple[float, float]:
        """The least and the greatest of its missions, m/s."""
        controller = self.vehicle.controller
        return 0.0, TOP_SPEED if controller is None else min(TOP_SPEED, controller.top_speed)

    def possible(self, speed: float) -> float:
        """The nearest one that it can fly."""
        low, high = self.speeds
        return min(max(speed, low), high)

    @property
    def range_of_speeds(self) -> str:
        low, high = self.speeds
        return f"at {low:.3g} to {high:.3g} m/s"

    def why_not_in(self, mode: Mode) -> str | None:
        """What keeps it from being flown in a mode now, if anything does."""
        return None

    async def sleep(self, seconds: float) -> None:
        """Wait in simulation time."""
        await Sleep(seconds)

    async def takeoff(self, height: float = 6.0, speed: float = 1.5, timeout: float | None = None) -> None:
        """Rise straight up by `height` metres."""
        if not height > 0:
            raise MissionError(f"{self.name}: cannot take off to {height} m")
        await self._fly_to(self.vehicle.position + np.array([0.0, 0.0, height]), self._yaw(), speed, timeout, "takeoff")

    async def goto(
        self,
        position: Any,
        yaw: float | None = None,
        speed: float = 2.0,
        timeout: float | None = None,
        above_ground: bool = False,
    ) -> None:
        """Fly straight to a position (world, m) and stop there.

        With `above_ground` the third number is the height above the ground, and the flight follows the ground.
        """
        self._must_be_in_the_air("goto")
        await self._fly_to(position, self._yaw() if yaw is None else yaw, speed, timeout, "goto", above_ground)

    async def fly_to(self, position: Any, yaw: float | None = None) -> None:
        """Be there from now on, without a smooth path, which would begin too gently to be seen; take off if need be."""
        if not self.vehicle.armed:
            await self.takeoff(position[2] - self.vehicle.position[2])
        self.vehicle.command(PositionYaw(tuple(position), float(self.vehicle.euler[2]) if yaw is None else yaw))

    async def loiter(
        self, place: Any, radius: float | None = None, clockwise: bool = False, seconds: float | None = 0.0
    ) -> None:
        """Fly to a place and hold there for some seconds; None is for good. Aeroplanes circle it instead."""
        await self.goto(place)
        await Sleep(LONG if seconds is None else seconds)

    async def fly_line(
        self, end: Any, height: Callable[[float, float], float], speed: float = 2.0, timeout: float | None = None
    ) -> None:
        """Fly straight to a place, at the heights that a function of x and y gives, looking ahead."""
        self._must_be_in_the_air("fly a line")
        goal, here, now = self._place(end, "a line"), np.array(self.vehicle.setpoint.position), self._yaw()
        turn = _short_way(atan2(*(goal - here)[1::-1]) - now)
        trajectory = cruise.over_ground(here, goal, now, turn, self._within(speed), height, -SAG)
        self._check_reachable(trajectory.places())
        await self._fly(trajectory, timeout, "a line")

    async def turn(
        self,
        yaw: float,
        rate: float = 0.8,
        clockwise: bool | None = None,
        relative: bool = False,
        timeout: float | None = None,
    ) -> None:
        """Turn on the spot to a yaw, or with `relative` by an angle (rad): the short way round, or the given one."""
        self._must_be_in_the_air("turn")
        if not rate > 0:
            raise MissionError(f"{self.name}: cannot turn at {rate} rad/s")
        wind = hypot(*self.vehicle.wind[:2])
        if self.vehicle.controller is not None and self.vehicle.controller.faces_wind and wind > CALM:
            raise MissionError(f"{self.name}: faces the wind of {wind:.1f} m/s, and cannot turn elsewhere in it")
        now, here = self._yaw(), np.array(self.vehicle.setpoint.position)
        angle = yaw if relative else _short_way(yaw - now)
        if clockwise is not None:
            angle = abs(angle) if relative else (-angle if clockwise else angle) % (2 * pi)
            angle *= -1 if clockwise else 1
        await self._fly(cruise.straight(here, here, now, angle, 1.0, rate), timeout, "turn")
        looking = Until(lambda: abs(_short_way(now + angle - self._yaw())) < LOOKS_WITHIN, f"{self.name}: turn", 15.0)
        await self._or_brake(looking)

    async def circle(
        self,
        centre: Any,
        radius: float,
        turns: float = 1.0,
        clockwise: bool = False,
        speed: float = 2.0,
        timeout: float | None = None,
    ) -> None:
        """Fly to the nearest point of a circle around a centre (world, m), and around it, looking at the centre."""
        self._must_be_in_the_air("circle")
        middle = self._place(centre, "circle")
        if not (radius > 0 and turns > 0):
            raise MissionError(f"{self.name}: a circle needs a radius and turns above 0, got {radius} m, {turns}")
        speed = self._within(speed)
        slower = cruise.circle_speed(radius, speed)
        if slower < speed:
            why = f"to stay within {cruise.ACCELERATION:g} m/s²"
            text = f"circles of {radius:g} m are flown at {slower:.3g} m/s instead of {speed:g}, {why}"
            self.sim.event(self.name, text, level="warning")
        x, y, _ = self.vehicle.position - middle
        bearing = atan2(y, x) if hypot(x, y) > 0.1 else self._yaw()
        begin = middle + radius * np.array([cos(bearing), sin(bearing), 0.0])
        await self.goto(begin, bearing + pi, speed, timeout)
        angle = 2 * pi * turns * (-1 if clockwise else 1)
        await self._fly(cruise.circle(middle, radius, bearing, angle, speed), timeout, "circle")

    async def follow(
        self,
        path: Any,
        speed: float = 2.0,
        yaw: Any = "path",
        method: str = "smooth",
        timeout: float | None = None,
    ) -> None:
        """Fly along a path: `smooth` (minimum snap through its points) or `pursuit` (pure pursuit of its legs).

        `yaw` is "path" (along the movement), a number (fixed), or a point to look at.
        """
        self._must_be_in_the_air("follow")
        speed, points = self._within(speed), np.array([self._place(it, "follow") for it in Polyline(path).points])
        if method == "pursuit":
            await self._pursue(Pursuit(Polyline(points), speed, yaw), timeout)
        elif method == "smooth":
            if dist(points[0], self.vehicle.position) > ARRIVED_WITHIN:
                points = np.vstack([self.vehicle.position, points])
            self._check_reachable(points)
            await self._fly(through(points, self._yaws(points, yaw), speed), timeout, "follow")
        else:
            raise MissionError(f"{self.name}: no way to follow a path is called '{method}'; known are smooth, pursuit")

    async def return_home(self, least_height: float = 0.0, speed: float = 2.0, timeout: float | None = None) -> None:
        """Fly straight to above where the scenario puts it, at least so much higher than there, and land."""
        self._must_be_in_the_air("return")
        x, y, z = self.vehicle.description.pose.position
        height = max(float(self.vehicle.position[2]), z + least_height)
        here = self.vehicle.position
        if height - here[2] > ARRIVED_WITHIN:
            await self._fly_to([here[0], here[1], height], self._yaw(), speed, timeout, "return")
        await self._fly_to([x, y, height], self._yaw(), speed, timeout, "return")
        await self.land(timeout=timeout)

    async def land(
        self, speed: float = 0.7, timeout: float | None = None, at: Any = None, course: float | None = None
    ) -> None:
        """Go straight down to the ground, above a point `at` if it is given, and stop the rotors."""
        self._must_be_in_the_air("land")
        if at is not None:
            await self.goto([at[0], at[1], float(self.vehicle.setpoint.position[2])], course)
        x, y, z = self.vehicle.position
        below = self._resting_height(x, y)
        drop = max(z - below, 0.1)
        trajectory = through(np.array([[x, y, z], [x, y, below - 0.15]]), self._yaw(), speed)
        self._start(trajectory)
        limit = 3 * drop / speed + 10 if timeout is None else timeout
        await self._or_brake(
            Until(self._is_down, f"{self.name}: land", limit, earliest=min(0.6 * trajectory.duration, limit))
        )
        self.sim.guides.end(self.vehicle)
        self.vehicle.kill()

    def spray(self, flow: float, speed: float = 0.0, of_pump: bool = False) -> None:
        """Spray litres per minute from now on, 0 for none; with a speed (m/s), in proportion to that of the vehicle.

        With `of_pump` it is a share of what the pump can give. A vehicle without a tank tells of it and flies on.
        """
        if not (0 <= flow < inf and 0 <= speed < inf):
            raise MissionError(f"{self.name}: cannot spray {flow} L/min at {speed} m/s")
        if self._spraying is not None:
            self._spraying.cancel()
            self._spraying = None
        tank = self.vehicle.tank
        if tank is None:
            self.sim.event(self.name, f"would spray {flow:g} {'of its pump' if of_pump else 'L/min'}, had it a tank")
            return
        flow *= tank.max_flow if of_pump else 1.0
        if flow > 0 and speed > 0:
            self._spraying = self.sim.start(self._spray_by_speed(flow / speed), f"{self.name} sprays")
            self._spraying.when_done(lambda _: None)
        else:
            tank.command(flow)

    async def _spray_by_speed(self, flow_per_speed: float) -> None:
        """So that a metre gets as much wherever the vehicle is slow."""
        tank = self.vehicle.tank
        assert tank is not None
        try:
            while True:
                x, y, _ = self.vehicle.velocity
                tank.command(flow_per_speed * hypot(x, y))
                await Sleep(SPRAY_PERIOD)
        finally:
            tank.command(0.0)

    def brake(self) -> None:
        """Leave whatever is being flown, and hover, with the nozzles shut; a vehicle that is idle stays so."""
        if self._spraying is not None:
            self.spray(0.0)
        self.sim.guides.end(self.vehicle)
        if self.vehicle.armed:
            self.vehicle.recover()

    async def together(self, *coroutines: Coroutine) -> list[Any]:
        """Run several coroutines at once and wait for all."""
        return await All([self.sim.start(c, f"{self.name}.{k}") for k, c in enumerate(coroutines)])

    # -- how ---------------------------------------------------------------------------------------------------------

    def _yaw(self) -> float:
        return yaw_from_quaternion(self.vehicle.attitude)

    def _must_be_in_the_air(self, what: str) -> None:
        if not self.vehicle.armed:
            raise MissionError(f"{self.name}: cannot {what} while idle; take off first")

    def ground(self, x: float, y: float) -> float:
        """Its height, m."""
        return float(ground(self.sim.fleet.flight.world, float(x), float(y))[0])

    def highest(self, start: Any, end: Any) -> float:
        """The highest ground on the way between two places, and as far aside as the vehicle reaches, m."""
        way = np.subtract(end[:2], start[:2])
        length = max(float(np.hypot(*way)), 1e-9)
        aside = self.vehicle.airframe.reach * np.array([-way[1], way[0]]) / length
        return max(
            self.ground(*(start[:2] + share * way + side * aside))
            for share in np.linspace(0.0, 1.0, int(length / LOOK) + 2)
            for side in (-1.0, 0.0, 1.0)
        )

    def _resting_height(self, x: float, y: float) -> float:
        return self.ground(x, y) + self._rise()

    def _rise(self) -> float:
        """How far above the ground it is when it stands."""
        return self.vehicle.description.stands

    def _check_reachable(self, points: np.ndarray) -> None:
        if np.abs(points).max() > EDGE:
            raise MissionError(f"{self.name}: the world ends {EDGE:g} m from its origin, and this would lead beyond")
        buried = first_buried(self.sim.fleet.flight.world, points, self._rise() - 1e-3)
        if buried >= 0:
            x, y, z = points[buried]
            raise MissionError(f"{self.name}: ({x:g}, {y:g}, {z:g}) lies in the ground")

    def _yaws(self, points: np.ndarray, yaw: Any) -> np.ndarray:
        if isinstance(yaw, str):
            if yaw != "path":
                raise MissionError(f"{self.name}: yaw is 'path', a number, or a point, got '{yaw}'")
            return np.array(list(self._headings(points.tolist())))
        if np.ndim(yaw) == 0:
            return np.full(len(points), float(yaw))
        gaps = np.asarray(yaw, dtype=float)[None, :2] - points[:, :2]
        return np.arctan2(gaps[:, 1], gaps[:, 0])

    def _headings(self, points: list[list[float]]) -> Iterator[float]:
        """As it looks now, then at each point as it flew there; steep legs turn nobody."""
        yield (now := self._yaw())
        for (x, y, _), (next_x, next_y, _) in pairwise(points):
            level = hypot(next_x - x, next_y - y) > 1e-3
            yield atan2(next_y - y, next_x - x) if level else now

    async def _fly_to(
        self, position: Any, yaw: float, speed: float, timeout: float | None, what: str, above_ground: bool = False
    ) -> None:
        goal = self._place(position, what)
        if above_ground:
            goal[2] += self.ground(*goal[:2])
        self._check_reachable(goal[None])
        here = self.vehicle.position if not self.vehicle.armed else np.array(self.vehicle.setpoint.position)
        now = self._yaw()
        turn = _short_way(yaw - now)
        if not 0 < speed < inf:
            raise PathError(f"{self.name}: {what} takes a speed above 0, got {speed} m/s")
        speed = self._within(speed)
        if above_ground:
            lowest = min(here[2] - self.ground(*here[:2]), goal[2] - self.ground(*goal[:2])) / 2
            trajectory = cruise.over_ground(here, goal, now, turn, speed, self.ground, lowest)
            self._check_reachable(trajectory.places())
        else:
            trajectory = cruise.straight(here, goal, now, turn, speed)
        await self._fly(trajectory, timeout, what)

    def _within(self, speed: float) -> float:
        """A speed that the vehicle can keep up; of multirotors that is for their controllers to say."""
        return speed

    def _place(self, position: Any, what: str) -> np.ndarray:
        place = np.array(position, dtype=float)
        if place.shape != (3,) or not np.isfinite(place).all():
            raise MissionError(f"{self.name}: {what} takes a position of three finite numbers, got {position}")
        return place

    def _start(self, trajectory: PiecewisePolynomial) -> None:
        """Who flies alone need not keep a time: the setpoint waits for a vehicle that wind or a push holds back."""
        x, y, z, yaw = trajectory.at(0.0).tolist()
        self.vehicle.command(PositionYaw((x, y, z), yaw))
        self.sim.guides.begin(self.vehicle, replace(trajectory, waits=True, within=self._near()))

    def _near(self) -> float:
        """How near a place it is said to have arrived, m."""
        return max(ARRIVED_WITHIN, NEAR_OF_REACH * self.vehicle.airframe.reach)

    async def _fly(self, trajectory: PiecewisePolynomial, timeout: float | None, what: str) -> None:
        self._start(trajectory)
        limit = 2 * trajectory.duration + 15 if timeout is None else timeout
        await self._or_brake(Arrival(self.vehicle, f"{self.name}: {what}", limit, earliest=trajectory.duration))
        self.sim.guides.end(self.vehicle)
        x, y, z, yaw = trajectory.end.tolist()
        self.vehicle.command(PositionYaw((x, y, z), yaw))

    async def _or_brake(self, flight: Awaitable) -> None:
        """Brake if the flight fails or is cancelled."""
        try:
            await flight
        except (Exception, Cancelled):
            self.brake()
            raise

    async def _pursue(self, pursuit: Pursuit, timeout: float | None) -> None:
        limit = 3 * pursuit.path.length / pursuit.speed + 20 if timeout is None else timeout
        topic = self.sim.bus.advertise(f"/{self.name}/pursuit_target", messages.pose("world"))
        targets = Targets(topic, pursuit, self.sim.fleet.guide_ticks)
        self.sim.record(targets)
        try:
            await self._or_brake(self._steer_along(pursuit, limit))
        finally:
            targets.over = True
        self.sim.guides.end(self.vehicle)
        self.vehicle.command(PositionYaw(tuple(pursuit.path.points[-1]), self._yaw()))

    async def _steer_along(self, pursuit: Pursuit, limit: float) -> None:
        vehicle = self.vehicle
        velocity, yaw_rate = pursuit.steer(vehicle.position, vehicle.velocity, self._yaw())
        self.sim.guides.begin(vehicle, pursuit)
        vehicle.command(VelocityYawRate(tuple(velocity), yaw_rate))
        await Arrival(vehicle, f"{self.name}: pursuit", limit)

    def _is_down(self) -> bool:
        x, y, z = self.vehicle.position
        lowest = self._resting_height(x, y) + max(self._lean(x, y), self._tilt())
        return z < lowest + 0.02 and abs(self.vehicle.velocity[2]) < 0.15

    def _tilt(self) -> float:
        """How much higher its middle is than if it stood level, with one corner on the ground."""
        sizes = self.vehicle.airframe.vehicle.body.size
        up = np.abs(rotation(*self.vehicle.attitude)[6:])
        return 0.5 * float(up @ sizes - sizes[2])

    def _lean(self, x: float, y: float) -> float:
        """How much higher it stands on a slope, level, with one corner on the ground; whichever way it looks."""
        _, east, north = ground(self.sim.fleet.flight.world, float(x), float(y))
        length, width, _ = self.vehicle.airframe.vehicle.body.size
        return 0.5 * hypot(length, width) * hypot(east, north)


def _short_way(angle: float) -> float:
    return angle - 2 * pi * round(angle / (2 * pi))
