"""A pilot flies one vehicle in a mission: `await pilot.takeoff(5)`, `await pilot.goto(…)`, and so on."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Iterator
from itertools import pairwise
from math import atan2, dist, hypot
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom import messages
from airloom.commands import EDGE, PositionYaw, VelocityYawRate
from airloom.missions.guides import Arrival
from airloom.missions.pursuit import Polyline, Pursuit, Targets
from airloom.missions.tasks import All, Cancelled, MissionError, Sleep, Task, Until
from airloom.missions.trajectory import ARRIVED_WITHIN, PiecewisePolynomial, through
from airloom.rotations import yaw_from_quaternion
from airloom.world.ground import first_buried, ground

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle


class Pilot:
    """Flies one vehicle. Everything it does can be awaited, cancelled and given a timeout in seconds."""

    def __init__(self, sim: Simulation, vehicle: Vehicle) -> None:
        self.sim, self.vehicle = sim, vehicle

    @property
    def name(self) -> str:
        return self.vehicle.name

    async def sleep(self, seconds: float) -> None:
        """Wait in simulation time."""
        await Sleep(seconds)

    async def takeoff(self, height: float = 6.0, speed: float = 1.5, timeout: float | None = None) -> None:
        """Rise straight up by `height` metres."""
        if not height > 0:
            raise MissionError(f"{self.name}: cannot take off to {height} m")
        await self._fly_to(self.vehicle.position + np.array([0.0, 0.0, height]), self._yaw(), speed, timeout, "takeoff")

    async def goto(
        self, position: Any, yaw: float | None = None, speed: float = 2.0, timeout: float | None = None
    ) -> None:
        """Fly straight to a position (world, m) and stop there."""
        self._must_be_in_the_air("goto")
        await self._fly_to(position, self._yaw() if yaw is None else yaw, speed, timeout, "goto")

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
        if method == "pursuit":
            await self._pursue(Pursuit(Polyline(path), speed, yaw), timeout)
        elif method == "smooth":
            points = Polyline(path).points
            if dist(points[0], self.vehicle.position) > ARRIVED_WITHIN:
                points = np.vstack([self.vehicle.position, points])
            self._check_reachable(points)
            await self._fly(through(points, self._yaws(points, yaw), speed), timeout, "follow")
        else:
            raise MissionError(f"{self.name}: no way to follow a path is called '{method}'; known are smooth, pursuit")

    async def land(self, speed: float = 0.7, timeout: float | None = None) -> None:
        """Go straight down to the ground and stop the rotors."""
        self._must_be_in_the_air("land")
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

    def brake(self) -> None:
        """Leave whatever is being flown, and hover; a vehicle that is idle stays so."""
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

    def _resting_height(self, x: float, y: float) -> float:
        return float(ground(self.sim.fleet.flight.world, float(x), float(y))[0]) + self._rise()

    def _rise(self) -> float:
        """How far above the ground it is when it stands."""
        body = self.vehicle.airframe.vehicle.body
        return body.size[2] / 2 - body.position[2]

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

    async def _fly_to(self, position: Any, yaw: float, speed: float, timeout: float | None, what: str) -> None:
        goal = np.asarray(position, dtype=float)
        if goal.shape != (3,) or not np.isfinite(goal).all():
            raise MissionError(f"{self.name}: {what} takes a position of three finite numbers, got {position}")
        self._check_reachable(goal[None])
        here = self.vehicle.position if not self.vehicle.armed else np.array(self.vehicle.setpoint.position)
        if dist(goal, here) < 1e-6:
            here[2] += 1e-6
        await self._fly(through(np.array([here, goal]), np.array([self._yaw(), yaw]), speed), timeout, what)

    def _start(self, trajectory: PiecewisePolynomial) -> None:
        x, y, z, yaw = trajectory.at(0.0).tolist()
        self.vehicle.command(PositionYaw((x, y, z), yaw))
        self.sim.guides.begin(self.vehicle, trajectory)

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
        return z < self._resting_height(x, y) + 0.02 and abs(self.vehicle.velocity[2]) < 0.15


def start_all(sim: Simulation, mission: Any, vehicles: Any) -> list[Task]:
    """Start `mission(pilot)` for each of several vehicles."""
    return [sim.start(mission(Pilot(sim, vehicle)), vehicle.name) for vehicle in vehicles]
