"""A mission that was read: what to fly, within which fence, and what was left out of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from airloom.missions.fence import Fence
from airloom.missions.items import Loiter, at_possible_speed, fly_items
from airloom.missions.legs import ACCEPTANCE
from airloom.missions.pilot import Pilot
from airloom.missions.tasks import MissionError, Until


@dataclass
class Mission:
    items: list[Any]
    warnings: list[str] = field(default_factory=list)
    again_from: int | None = None
    """With an endless jump, the item from which all are flown again and again."""
    fence: Fence = field(default_factory=Fence)
    acceptance: float = ACCEPTANCE
    """How far from a place an aeroplane may pass it to turn before it, m."""

    @property
    def ends(self) -> bool:
        """Whether it is over some time."""
        for_good = (isinstance(item, Loiter) and item.seconds is None for item in self.items)
        return self.again_from is None and not any(for_good)

    def fitted_to(self, pilot: Pilot) -> Mission:
        """The same at speeds that this pilot can fly, with a warning for each that it cannot."""
        items = [at_possible_speed(item, pilot) for item in self.items]
        slips = [
            f"item {k + 1}: {old.speed:g} m/s become {new.speed:.3g}: {pilot.name} flies {pilot.range_of_speeds}"
            for k, (old, new) in enumerate(zip(self.items, items, strict=True))
            if old is not new
        ]
        return replace(self, items=items, warnings=[*self.warnings, *slips])

    async def fly(self, pilot: Pilot) -> None:
        """All items; raises MissionError as soon as the vehicle is outside the fence."""
        if not self.fence:
            await fly_items(pilot, self.items, self.again_from, self.acceptance)
            return
        flight = pilot.sim.start(
            fly_items(pilot, self.items, self.again_from, self.acceptance), f"{pilot.name} within its fence"
        )
        flight.when_done(lambda _: None)
        await Until(lambda: flight.done or self._is_left_by(pilot), f"{pilot.name}: its flight")
        if not flight.done:
            flight.cancel()
            x, y, _ = pilot.vehicle.position
            raise MissionError(f"{pilot.name} has left the fence at ({x:.1f}, {y:.1f})")
        if flight.error is not None:
            raise flight.error

    def _is_left_by(self, pilot: Pilot) -> bool:
        x, y, _ = pilot.vehicle.position.tolist()
        return not self.fence.allows(x, y)
