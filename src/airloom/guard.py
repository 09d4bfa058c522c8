"""The guard over silent commanders: whoever steers by velocity or thrust must keep speaking, or the vehicle brakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airloom.clock import NS_PER_SECOND
from airloom.commands import Mode

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle


class Guard:
    """Brakes a vehicle to a hover when its commander has been silent for longer than the vehicle's timeout.

    Idle and position modes need nobody: they hold by themselves.
    """

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._deadlines: dict[str, int] = {}
        self._watching = False

    def forget(self) -> None:
        self._deadlines.clear()
        self._watching = False

    def heard(self, vehicle: Vehicle) -> None:
        timeout = vehicle.command_timeout
        if vehicle.mode in (Mode.IDLE, Mode.POSITION_YAW) or timeout is None:
            self._deadlines.pop(vehicle.name, None)
            return
        self._deadlines[vehicle.name] = self._sim.time_ns + round(timeout * NS_PER_SECOND)
        if not self._watching:
            self._watching = True
            self._sim.call_at(self._deadlines[vehicle.name] / NS_PER_SECOND, self._look)

    def _look(self) -> None:
        now = self._sim.time_ns
        for name, deadline in list(self._deadlines.items()):
            if deadline <= now:
                del self._deadlines[name]
                self._brake(self._sim.vehicles[name])
        self._watching = bool(self._deadlines)
        if self._watching:
            self._sim.call_at(min(self._deadlines.values()) / NS_PER_SECOND, self._look)

    def _brake(self, vehicle: Vehicle) -> None:
        if vehicle.mode in (Mode.IDLE, Mode.POSITION_YAW):
            return
        text = f"no command for {vehicle.command_timeout:g} s in mode {vehicle.mode.label}: braking to a hover"
        self._sim.event(vehicle.name, text, level="warning")
        vehicle.recover()
