"""The guard over silent commanders: whoever steers by velocity or thrust must keep speaking, or the vehicle brakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from airloom.basics.clock import NS_PER_SECOND
from airloom.commands import Mode

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle

HOLDING = (Mode.IDLE, Mode.POSITION_YAW)
"""Modes that need nobody."""


class Commanded:
    """Vehicles that somebody speaks to at once, with what the guard asks of them at every word."""

    def __init__(self, vehicles: list[Vehicle]) -> None:
        self.vehicles = vehicles
        watched = {v.name: _as_ns(v.command_timeout) for v in vehicles if v.command_timeout is not None}
        self.watched = list(watched)
        self.timeouts = np.array(list(watched.values()), dtype=np.int64)


class Guard:
    """Brakes a vehicle to a hover when its commander has been silent for longer than the vehicle's timeout.

    A command that comes exactly at the timeout is in time. Idle and position modes need nobody: they hold by
    themselves. A guide never falls silent, nor does somebody who holds a mode until it is released.
    """

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._deadlines: dict[str, int] = {}
        self._held: dict[str, Mode] = {}
        self._next_look: int | None = None

    def forget(self) -> None:
        self._deadlines.clear()
        self._held.clear()
        self._next_look = None

    def drop(self, vehicle: Vehicle) -> None:
        self._deadlines.pop(vehicle.name, None)
        self._held.pop(vehicle.name, None)

    def hold(self, vehicle: Vehicle) -> None:
        """Somebody stands by the mode it is in, as if saying its last command again and again."""
        self._held[vehicle.name] = vehicle.mode
        self.heard(vehicle)

    def release(self, vehicle: Vehicle) -> None:
        """From now on silence counts again."""
        if self._held.pop(vehicle.name, None) is not None:
            self.heard(vehicle)

    def heard(self, vehicle: Vehicle) -> None:
        if self._sim.vehicles.get(vehicle.name) is not vehicle:
            return  # it has left the simulation
        timeout, mode = vehicle.command_timeout, vehicle.mode
        holds = mode in HOLDING or mode is self._held.get(vehicle.name)
        if holds or timeout is None or self._sim.guides.speaks_to(vehicle):
            self._deadlines.pop(vehicle.name, None)
            return
        deadline = self._sim.time_ns + _as_ns(timeout)
        self._deadlines[vehicle.name] = deadline
        self._look_by(deadline)

    def heard_all(self, commanded: Commanded, mode: Mode) -> None:
        """The same for many, all of which are in this mode now."""
        if mode in HOLDING:
            for name in commanded.watched if self._deadlines else ():
                self._deadlines.pop(name, None)
        elif self._held or self._sim.guides.has_any:
            for vehicle in commanded.vehicles:
                self.heard(vehicle)
        elif commanded.watched:
            deadlines = self._sim.time_ns + commanded.timeouts
            self._deadlines.update(zip(commanded.watched, deadlines.tolist(), strict=True))
            self._look_by(int(deadlines.min()))

    def _look_by(self, deadline: int) -> None:
        if self._next_look is None or deadline < self._next_look:
            self._look_after(deadline)

    def _look_after(self, deadline: int) -> None:
        self._next_look = deadline
        self._sim.call_at((deadline + 1) / NS_PER_SECOND, lambda: self._look(deadline))

    def _look(self, planned: int) -> None:
        if planned != self._next_look:
            return  # somebody with a shorter timeout has come since
        for name, deadline in list(self._deadlines.items()):
            if deadline < self._sim.time_ns:
                del self._deadlines[name]
                self._brake(self._sim.vehicles[name])
        self._next_look = None
        if self._deadlines:
            self._look_after(min(self._deadlines.values()))

    def _brake(self, vehicle: Vehicle) -> None:
        if vehicle.mode in HOLDING or vehicle.command_timeout is None:
            return
        text = f"no command for {vehicle.command_timeout:g} s in mode {vehicle.mode.label}: braking to a hover"
        self._sim.event(vehicle.name, text, level="warning")
        vehicle.recover()


def _as_ns(seconds: float) -> int:
    return round(seconds * NS_PER_SECOND)
