"""Guides move the setpoints of vehicles inside the compiled loop, so that a mission need not be asked on the way.

A guide is a kernel and a plan. The kernel is called 50 times a second for each vehicle that it guides, and notes in the
plan whether the vehicle has arrived. Who waits for an arrival is woken on a grid of times common to all.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from airloom.basics.clock import NS_PER_SECOND
from airloom.commands import Mode
from airloom.compiled import Kernel, compiled, numbers_at, tables
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.control.flight_stack import ARRIVED
from airloom.missions.tasks import LOOK_PERIOD_NS, MissionError, MissionTimeout, Task, Wait

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle


class Guide(Protocol):
    kernel: ClassVar[Kernel]
    mode: ClassVar[Mode]
    """whose setpoint it moves"""

    def plan(self, tick: int, step: float) -> np.ndarray:
        """The numbers for the kernel of a vehicle that begins at this tick; the kernel may write to them."""


class Guides:
    """Who guides which vehicle, and who waits for its arrival."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._flying: dict[str, tuple[Guide, np.ndarray]] = {}
        self._arrivals: dict[int, Arrival] = {}
        self._next_look: float | None = None
        self._places = np.empty(sim.fleet.flight.vehicles.size, dtype=np.int64)

    def forget(self) -> None:
        """A reset of the fleet has emptied its table."""
        self._flying.clear()
        self._arrivals.clear()
        self._next_look = None

    def begin(self, vehicle: Vehicle, guide: Guide) -> None:
        """From now on; an earlier guide of the vehicle is dropped. One that has left the simulation is not guided."""
        if self._sim.vehicles.get(vehicle.name) is not vehicle:
            return
        plan = guide.plan(self._sim.tick, self._sim.scenario.step)
        self._flying[vehicle.name] = guide, plan  # the loop knows only where the plan lies
        self._tell_loop(vehicle, guide, plan)

    def _tell_loop(self, vehicle: Vehicle, guide: Guide, plan: np.ndarray) -> None:
        self._sim.fleet.set_guide(*vehicle.place_in_blocks, (guide.kernel.address, plan.ctypes.data, plan.size))

    def settle(self) -> None:
        """The vehicles have taken places in another fleet, and some have left: whoever waits for those is told."""
        self._places = np.empty(self._sim.fleet.flight.vehicles.size, dtype=np.int64)
        for name, (guide, plan) in list(self._flying.items()):
            if vehicle := self._sim.vehicles.get(name):
                self._tell_loop(vehicle, guide, plan)
            else:
                del self._flying[name]
        waiting, self._arrivals = list(self._arrivals.values()), {}
        for arrival in waiting:
            if arrival.settle():
                self._arrivals[arrival.place] = arrival
        for arrival in waiting:
            if arrival not in self._arrivals.values():
                arrival.miss()

    def end(self, vehicle: Vehicle) -> None:
        """Leave the setpoint where it is; from now on somebody else must speak."""
        if self._flying.pop(vehicle.name, None) is not None:
            self._sim.fleet.set_guide(*vehicle.place_in_blocks, (0, 0, 0))
            self._sim.guard.heard(vehicle)

    @property
    def has_any(self) -> bool:
        """Whether anybody is guided."""
        return bool(self._flying)

    def speaks_to(self, vehicle: Vehicle) -> bool:
        """Whether the vehicle flies by what a guide tells it."""
        guide, _ = self._flying.get(vehicle.name, (None, None))
        return guide is not None and guide.mode is vehicle.mode

    # -- arrivals ------------------------------------------------------------------------------------------------------

    def expect(self, arrival: Arrival) -> None:
        self._arrivals[arrival.place] = arrival
        self._look_by(arrival.earliest_look, arrival.deadline)

    def expect_no_more(self, arrival: Arrival) -> None:
        if self._arrivals.get(arrival.place) is arrival:
            del self._arrivals[arrival.place]

    def _look_by(self, earliest: int, deadline: float) -> None:
        """On the next turn of the common grid, but not before the earliest, and at the deadline at the latest."""
        turn = min((max(earliest, self._sim.time_ns) // LOOK_PERIOD_NS + 1) * LOOK_PERIOD_NS, deadline)
        if self._next_look is None or turn < self._next_look:
            self._next_look = turn
            self._sim.call_at(turn / NS_PER_SECOND, lambda: self._look(turn))

    def _look(self, planned: float) -> None:
        if planned != self._next_look:
            return  # somebody who may arrive earlier has come since
        self._next_look = None
        flight, now = self._sim.fleet.flight, self._sim.time_ns
        count = find_ends(flight.blocks, flight.guides, self._places)
        ended = [self._arrivals[place] for place in self._places[:count].tolist() if place in self._arrivals]
        late = [arrival for arrival in self._arrivals.values() if arrival.deadline <= now]
        for arrival in ended:
            if arrival in late or arrival.looks_at(planned):
                self._wake(arrival, arrival.end)
        for arrival in late:
            self._wake(arrival, arrival.give_up)
        if self._arrivals:
            earliest = min(map(attrgetter("earliest_look"), self._arrivals.values()))
            self._look_by(earliest, min(map(attrgetter("deadline"), self._arrivals.values())))

    def _wake(self, arrival: Arrival, tell: Callable[[], None]) -> None:
        """Unless it was told before, or abandoned by somebody who was."""
        if self._arrivals.get(arrival.place) is arrival:
            del self._arrivals[arrival.place]
            tell()


@compiled
def find_ends(blocks, guides, places):
    """Count and places (block · LANES + lane) of the guided vehicles that have arrived or are idle."""
    count = 0
    for b in range(guides.shape[0]):
        for i in range(LANES):
            if guides[b, i, tables.GUIDE_KERNEL] == 0:
                continue
            if (
                blocks[b, row.MODE + i] == 0.0
                or numbers_at(guides[b, i, tables.PLAN], guides[b, i, tables.PLAN_LENGTH])[ARRIVED] != 0.0
            ):
                places[count] = b * LANES + i
                count += 1
    return count


class Arrival(Wait):
    """Wait until a guided vehicle has arrived, not before `earliest` seconds; give up after `timeout` seconds."""

    def __init__(self, vehicle: Vehicle, what: str, timeout: float, earliest: float = 0.0) -> None:
        self._vehicle, self._what, self._timeout, self._earliest = vehicle, what, timeout, earliest
        self._find_place()

    def _find_place(self) -> None:
        block, lane = self._vehicle.place_in_blocks
        self.place = block * LANES + lane

    def begin(self, task: Task) -> None:
        self._task, now = task, task.sim.time_ns
        self.earliest_look = now + round(self._earliest * NS_PER_SECOND)
        self.deadline = now + (round(self._timeout * NS_PER_SECOND) if self._timeout < inf else inf)
        task.sim.guides.expect(self)

    def settle(self) -> bool:
        """Look at the vehicle's new place; tells whether it is still there."""
        self._find_place()
        return self._task.sim.vehicles.get(self._vehicle.name) is self._vehicle

    def abandon(self) -> None:
        self._task.sim.guides.expect_no_more(self)

    def looks_at(self, turn: float) -> bool:
        """Not at a deadline of others: a vehicle must not depend on who else flies."""
        return turn % LOOK_PERIOD_NS == 0 and turn > self.earliest_look

    def end(self) -> None:
        idle = None if self._vehicle.armed else MissionError(f"{self._vehicle.name} was switched to idle")
        self._task.wake(error=idle)

    def miss(self) -> None:
        self._task.wake(error=MissionError(f"{self._vehicle.name} has left the simulation"))

    def give_up(self) -> None:
        self._task.wake(error=MissionTimeout(f"{self._what} took longer than {self._timeout:g} s"))
