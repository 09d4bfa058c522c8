"""A pilot of what hovers and cruises: it stops at places like a multirotor, and passes them on its wing."""

from __future__ import annotations

from collections.abc import Callable
from math import atan2
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.commands import Mode, PositionYaw
from airloom.missions.arcs import Pose
from airloom.missions.pilot import Pilot
from airloom.missions.pursuit import Polyline
from airloom.missions.tasks import Until
from airloom.missions.wings import WingsPilot

if TYPE_CHECKING:
    from airloom.control.plane import Plane
    from airloom.control.vtol import Vtol

BRAKES = 1.0  # m/s², before a place where it stops
NEAR, SLOW = 1.5, 1.0  # m and m/s, where it has stopped


class VtolPilot(WingsPilot):
    """Speeds above the `max_speed` of its controller are flown on the wing, through the air; others on the rotors.

    On the wing it passes what is followed by another place, with turns that begin before it, and stops where nothing
    follows.
    """

    needs_thrust = False

    @property
    def _stack(self) -> Vtol:
        return self.vehicle.controller  # type: ignore[return-value]

    @property
    def _plane(self) -> Plane:
        return self._stack.wing

    @property
    def speeds(self) -> tuple[float, float]:
        return 0.0, self._stack.fastest

    def possible(self, speed: float) -> float:
        slow, fast = self._stack.parameters.max_speed, self._stack.slowest_on_wing
        if slow < speed < fast:
            return slow if speed - slow < fast - speed else fast
        return super().possible(speed)

    @property
    def range_of_speeds(self) -> str:
        slow, fast, most = self._stack.parameters.max_speed, self._stack.slowest_on_wing, self._stack.fastest
        return f"at up to {slow:.3g} m/s on its rotors and at {fast:.3g} to {most:.3g} m/s on its wing"

    def _is_fast(self, speed: float) -> bool:
        return speed > self._stack.parameters.max_speed

    def why_not_in(self, mode: Mode) -> str | None:
        return None

    # -- on the wing, or not -----------------------------------------------------------------------------------------

    async def goto(
        self,
        position: Any,
        yaw: float | None = None,
        speed: float | None = 2.0,
        timeout: float | None = None,
        above_ground: bool = False,
    ) -> None:
        """Fly to a place (world, m); on the wing past it if another one follows, or else stop there."""
        self._must_be_in_the_air("goto")
        if speed is not None and not self._is_fast(speed):
            await self._stop()
            await Pilot.goto(self, position, yaw, speed, timeout, above_ground)
            return
        goal = self._place(position, "goto")
        if above_ground:
            goal[2] += self.ground(*goal[:2])
        await self._cruise([goal], speed, self._follow_ground(goal) if above_ground else None, timeout, "goto")

    async def follow(
        self,
        path: Any,
        speed: float | None = 2.0,
        yaw: Any = "path",
        method: str = "smooth",
        timeout: float | None = None,
    ) -> None:
        """Fly along a path; on the wing from point to point, with turns that begin before each."""
        self._must_be_in_the_air("follow")
        if speed is not None and not self._is_fast(speed):
            await self._stop()
            await Pilot.follow(self, path, speed, yaw, method, timeout)
        else:
            await self._cruise(list(Polyline(path).points), speed, None, timeout, "follow")

    async def fly_line(
        self,
        end: Any,
        height: Callable[[float, float], float],
        speed: float | None = 2.0,
        timeout: float | None = None,
    ) -> None:
        """Fly to a place at the heights that a function of x and y gives."""
        self._must_be_in_the_air("fly a line")
        if speed is not None and not self._is_fast(speed):
            await self._stop()
            await Pilot.fly_line(self, end, height, speed, timeout)
        else:
            await self._cruise([self._place(end, "a line")], speed, height, timeout, "a line")

    # -- on the rotors -----------------------------------------------------------------------------------------------

    async def takeoff(self, height: float = 6.0, speed: float | None = 1.5, timeout: float | None = None) -> None:
        """Rise straight up by `height` metres."""
        await Pilot.takeoff(self, height, 1.5 if speed is None else speed, timeout)

    async def fly_to(self, position: Any, yaw: float | None = None) -> None:
        await Pilot.fly_to(self, position, yaw)

    async def turn(self, *args: Any, **options: Any) -> None:
        """Turn on the spot."""
        await self._stop()
        await Pilot.turn(self, *args, **options)

    async def circle(self, *args: Any, **options: Any) -> None:
        """Around a place, looking at it."""
        await self._stop()
        await Pilot.circle(self, *args, **options)

    async def loiter(self, *args: Any, **options: Any) -> None:
        """Hold at a place for a while."""
        await self._stop()
        await Pilot.loiter(self, *args, **options)

    async def return_home(
        self, least_height: float = 0.0, speed: float | None = 2.0, timeout: float | None = None
    ) -> None:
        """Fly to above where the scenario puts it, at least so much higher than there, and land."""
        x, y, z = self.vehicle.description.pose.position
        self.next_place = None
        await self.goto([x, y, max(float(self.vehicle.position[2]), z + least_height)], speed=speed, timeout=timeout)
        await self.land(timeout=timeout)

    async def land(
        self,
        speed: float | None = 0.7,
        timeout: float | None = None,
        at: Any = None,
        course: float | None = None,
    ) -> None:
        """Go straight down to the ground and stop the rotors."""
        await self._stop()
        await Pilot.land(self, 0.7 if speed is None else speed, timeout, at, course)

    def brake(self) -> None:
        Pilot.brake(self)

    # -- how ---------------------------------------------------------------------------------------------------------

    def _must_be_in_the_air(self, what: str) -> None:
        Pilot._must_be_in_the_air(self, what)

    def _ground_speed(self) -> float:
        return float(np.hypot(*self.vehicle.velocity[:2]))

    def _pose(self) -> Pose:
        """One that hovers turns on the spot to where it shall fly."""
        if self._is_fast(self._ground_speed()):
            return super()._pose()
        x, y, _ = self.vehicle.position
        return Pose(float(x), float(y), atan2(self._towards[1] - y, self._towards[0] - x))

    async def _cruise(
        self,
        places: list[np.ndarray],
        speed: float | None,
        height: Callable[[float, float], float] | None,
        timeout: float | None,
        what: str,
    ) -> None:
        pace, end, stops = self._pace(speed), places[-1], self.next_place is None
        before = places[-2] if len(places) > 1 else self.vehicle.position
        if stops and not self.is_on_line:
            leg = end - before
            far = float(np.hypot(*leg[:2]))
            fastest = pace + float(np.hypot(*self.vehicle.wind[:2]))
            places = [*places[:-1], end - leg * min(0.5 * fastest**2 / BRAKES, 0.5 * far) / max(far, 1e-6)]
        self._towards = places[0]
        await self._pass(places, pace, height, timeout, what, stops=stops and not self.is_on_line)
        if stops:
            await self._hover_at(end, timeout, what)
            if not self.is_on_line:
                self._tell_passed((float(end[0]), float(end[1])), float(np.hypot(*(self.vehicle.position - end)[:2])))

    def _circle_at(self, x: float, y: float, z: float, radius: float | None = None, clockwise: bool = False) -> None:
        """It need not: what follows a way is a place to hover at."""

    async def _near_height(self, place: np.ndarray, pace: float) -> None:
        """Its rotors help."""

    async def _stop(self) -> None:
        """If it flies on its wing, come to a hover."""
        if self.vehicle.armed and self._is_fast(self._ground_speed()):
            ahead = 0.5 * self.vehicle.velocity * self._ground_speed() / BRAKES
            await self._hover_at(self.vehicle.position + ahead * [1.0, 1.0, 0.0], None, "stop")

    async def _hover_at(self, place: np.ndarray, timeout: float | None, what: str) -> None:
        self.sim.guides.end(self.vehicle)
        self.vehicle.command(PositionYaw(tuple(place.tolist()), self._yaw()))

        def is_there() -> bool:
            off = float(np.linalg.norm(self.vehicle.position - place))
            return off < NEAR and float(np.linalg.norm(self.vehicle.velocity)) < SLOW

        far = float(np.linalg.norm(self.vehicle.position - place))
        limit = 60.0 + 2 * far / self._stack.parameters.max_speed
        await self._or_brake(Until(is_there, f"{self.name}: {what}", limit if timeout is None else timeout))
