"""A pilot of a boat or an underwater vehicle, which is always where it can go from: nothing to take off from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from airloom.missions.pilot import Pilot
from airloom.missions.tasks import MissionError

if TYPE_CHECKING:
    from airloom.control.thrusters import VesselController


class VesselPilot(Pilot):
    """Steers a boat or an underwater vehicle, no faster than its thrusters can. A boat is sent to places on the
    surface: the heights of its mission mean nothing.
    """

    refuses: ClassVar[dict[str, str]] = {
        "takeoff": "does not take off; it is in the water already, send it with goto",
        "land": "does not land; send it home with goto or return, and let it hold there",
    }

    @property
    def _vessel(self) -> VesselController:
        return self.vehicle.controller  # type: ignore[return-value]

    @property
    def speeds(self) -> tuple[float, float]:
        return 0.0, self._vessel.top_speed

    async def takeoff(self, height: float = 6.0, speed: float = 1.5, timeout: float | None = None) -> None:
        raise MissionError(f"{self.name}: {self.refuses['takeoff']}")

    async def land(
        self, speed: float = 0.7, timeout: float | None = None, at: Any = None, course: float | None = None
    ) -> None:
        raise MissionError(f"{self.name}: {self.refuses['land']}")

    async def fly_to(self, position: Any, yaw: float | None = None) -> None:
        """Go there at once, without a smooth path."""
        self._must_be_in_the_air("goto")
        await super().fly_to(self._place(position, "goto").tolist(), yaw)

    async def turn(
        self,
        yaw: float,
        rate: float = 0.8,
        clockwise: bool | None = None,
        relative: bool = False,
        timeout: float | None = None,
    ) -> None:
        """Turn on the spot. A boat does so where nothing sets it off: in a drift it must point into that."""
        try:
            await super().turn(yaw, rate, clockwise, relative, timeout)
        except MissionError as error:
            if not self._vessel.floats:
                raise
            raise MissionError(f"{error}; a boat that drifts points into what sets it off, whatever its yaw") from None

    async def return_home(self, least_height: float = 0.0, speed: float = 2.0, timeout: float | None = None) -> None:
        """Go straight to where the scenario puts it, and hold there."""
        await self.goto(self.vehicle.description.pose.position, speed=speed, timeout=timeout)

    def _must_be_in_the_air(self, what: str) -> None:
        """It always is where it can begin: what is idle holds its place first."""
        if not self.vehicle.armed:
            self.vehicle.recover()

    def _place(self, position: Any, what: str) -> np.ndarray:
        place = super()._place(position, what)
        if self._vessel.floats:
            place[2] = self.vehicle.description.pose.position[2]
        return place

    async def _fly_to(
        self, position: Any, yaw: float, speed: float, timeout: float | None, what: str, above_ground: bool = False
    ) -> None:
        await super()._fly_to(position, yaw, speed, timeout, what, above_ground and not self._vessel.floats)

    def _within(self, speed: float) -> float:
        return min(speed, self._vessel.top_speed)

    def _near(self) -> float:
        return max(super()._near(), 0.3 * self._vessel.holds_within if self._vessel.floats else 0.0)

    def _check_reachable(self, points: np.ndarray) -> None:
        super()._check_reachable(points)
        water = self.sim.scenario.world.water
        if water is not None and not self._vessel.floats and points[:, 2].max() > water.level:
            x, y, z = points[np.argmax(points[:, 2])]
            raise MissionError(f"{self.name}: ({x:g}, {y:g}, {z:g}) lies above the water")
